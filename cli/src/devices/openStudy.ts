// A person's yes to an open study, before a device is linked: neighbours can learn single rows there.

import { createInterface } from "node:readline/promises";
import { type Study, whatNeighboursLearn } from "@fedkm/device";
import type { Console } from "../console.ts";
import { UsageError } from "../failure.ts";

/** Asks in a terminal. Where nobody can answer, the flag must be given. */
export async function agreeToOpen({ privacy }: Study, isAccepted: boolean, { stdin, stdout }: Console): Promise<void> {
  if (privacy !== "open" || isAccepted) return;
  const warning = `the study is open: ${whatNeighboursLearn.open}`;
  if (stdin?.isTTY !== true || stdout.isTTY !== true) {
    throw new UsageError(`--accept-open must be given to link in an open study, got nothing; ${warning}`);
  }
  const lines = createInterface({ input: stdin, output: process.stdout });
  const answer = await lines.question(`${warning}\nlink all the same? (yes or no) `);
  lines.close();
  if (answer.trim().toLowerCase() !== "yes") throw new UsageError("nothing was linked: the answer was not yes");
}
