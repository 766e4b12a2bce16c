// The built pages, for the commands that serve them: their own files and nothing else of this machine.

import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { site } from "@fedkm/web";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** Names of files as the build gives them. */
const FILE = /^\/(?:assets\/)?[\w-]+\.(?:html|js|css)$/;

export interface StaticFile {
  readonly type: string;
  readonly body: Buffer;
}

/** Undefined: there is no such file. */
export async function staticFile(path: string): Promise<StaticFile | undefined> {
  if (!FILE.test(path)) return undefined;
  try {
    return { type: types[extname(path)], body: await readFile(new URL(`.${path}`, site)) };
  } catch {
    return undefined;
  }
}
