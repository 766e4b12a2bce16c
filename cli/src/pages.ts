// The built pages, served to this machine until Ctrl-C: the article, the playground and the documentation.

import { servePlayground } from "@fedkm/web/server";
import type { Console } from "./console.ts";
import { stoppable, untilStopped } from "./stop.ts";

/** Prints the address of one of them. */
export function servePagesUntilStopped(io: Console, port: number, path: string, words: string): Promise<void> {
  return stoppable(async (signal) => {
    const pages = await servePlayground(port);
    io.stdout.write(`http://127.0.0.1:${pages.port}/${path}\n`);
    io.stderr.write(`${words} Ctrl-C ends it.\n`);
    await untilStopped(signal);
    pages.close();
  });
}
