// The version of the command, from its package.

import { readFileSync } from "node:fs";

export function version(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return manifest.version;
}
