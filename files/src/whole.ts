// A small text file as a whole: links between devices, or bounds of columns.

import type { TextBytes } from "./csv/records.ts";
import { openFeed } from "./feed.ts";
import { wholeLimits } from "./limits.ts";
import { type Opener, reading } from "./source.ts";

/** UTF-8 without its byte order mark, its last line ended. */
export async function wholeText(open: Opener): Promise<TextBytes> {
  return reading(open, wholeLimits, async (source) => {
    const feed = await openFeed(source, wholeLimits, () => undefined);
    await feed.close();
    return feed;
  });
}
