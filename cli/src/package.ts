// The command's own package: its version, and what starts it once more.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export function version(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return manifest.version;
}

/** Node and the command's main file. */
export const ownProgram = [process.execPath, fileURLToPath(new URL("../bin/fedkm.js", import.meta.url))] as const;
