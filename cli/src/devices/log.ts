// Where a device's log goes: an output that may be full, closed or stuck. Lines that cannot be written are counted and
// dropped, because a log must never stop a device, nor grow in its memory.

import { systemReason } from "@fedkm/files";
import type { Output } from "../console.ts";

/** What may wait for a reader that does not read. A device writes a few lines an hour. */
const MOST_WAITING_BYTES = 65_536;

export interface LogOutput {
  write(line: string): void;
  /** Why the last line was lost; undefined once one was written again. */
  failure(): string | undefined;
  /** Lines lost so far. */
  lost(): number;
}

export function logOutput(output: Output): LogOutput {
  let failure: string | undefined;
  let lost = 0;
  const lose = (reason: string) => {
    failure = reason;
    lost += 1;
  };
  return {
    write(line) {
      if ((output.writableLength ?? 0) > MOST_WAITING_BYTES) {
        lose("nobody reads it");
        return;
      }
      output.write(line, (error) => {
        if (error) lose(systemReason(error));
        else failure = undefined;
      });
    },
    failure: () => failure,
    lost: () => lost,
  };
}
