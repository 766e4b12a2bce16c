// Whether the rows of a source have changed, without reading them: by the largest value of a column, or by the clock.

import { parseAddress } from "./address.ts";
import { gather } from "./engine.ts";
import { openEngine, relationOf } from "./open.ts";

/** Seconds between two looks at a watermark, where nothing else is said. */
const EVERY = 60;

/** How sources looked last, and when. */
const known = new Map<string, { readonly at: number; readonly look: string }>();

/**
 * A text that stays the same while the rows do. With `watermark=COLUMN` it is made of the number of rows and the largest
 * value of that column, which are asked for every 60 or `every` seconds. With `every=SECONDS` alone it changes after so
 * many. Without both it never changes.
 */
export async function lookAtSource(text: string, env: NodeJS.ProcessEnv, now = Date.now()): Promise<string> {
  const { watermark, every } = parseAddress(text);
  if (watermark === undefined) return every === undefined ? "once" : String(Math.floor(now / (1000 * every)));
  const before = known.get(text);
  if (before !== undefined && now - before.at < 1000 * (every ?? EVERY)) return before.look;
  // A server that is away has not changed its rows.
  const look = await askFor(text, watermark, env).catch(() => before?.look ?? "away");
  known.set(text, { at: now, look });
  return look;
}

async function askFor(text: string, watermark: string, env: NodeJS.ProcessEnv): Promise<string> {
  const address = parseAddress(text);
  const engine = await openEngine(address, { env });
  try {
    const { double, fingerprint, quote } = engine.dialect;
    const asked = `${double("count(*)", false)}, ${fingerprint(`max(${quote(watermark)})`)}`;
    const { data } = await gather(engine.blocks(`SELECT ${asked} FROM ${relationOf(address, engine)} AS s`, 2), 2);
    return data.join(" ");
  } finally {
    await engine.close();
  }
}
