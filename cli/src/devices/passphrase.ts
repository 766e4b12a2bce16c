// The passphrase of a backup: read from a file, because an argument would be seen by every user of the machine.

import { readFileSync } from "node:fs";
import { systemReason } from "@fedkm/files";
import { UsageError } from "../failure.ts";

/** The first line of the file; undefined: no file was named. */
export function readPassphrase(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`cannot read ${file}: ${systemReason(error)}`, { cause: error });
  }
  const [passphrase] = text.split(/\r?\n/);
  if (passphrase === "")
    throw new UsageError(`--passphrase-file must hold a passphrase in its first line, got ${file}`);
  return passphrase;
}
