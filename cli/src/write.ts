// A file that is either whole or not there.

import { renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemReason } from "./failure.ts";

/** Written beside its place and moved there, so that an interruption leaves the old file or the new one. */
export function writeWhole(file: string, text: string | Uint8Array): void {
  const beside = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
  try {
    writeFileSync(beside, text);
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    throw new Error(`cannot write ${file}: ${systemReason(error)}`, { cause: error });
  }
}
