// Where the log of a device goes: an output that may be full, closed or stuck.

import { fileSystemReason } from "@fedkm/files";

/** What may wait for a reader that does not read. A device writes a few lines an hour. */
const MOST_WAITING_BYTES = 65_536;

interface LogStream {
  write(line: string, done: (error?: Error | null) => void): unknown;
  /** Bytes that wait to be written. */
  readonly writableLength?: number;
}

interface LogOutput {
  write(line: string): void;
  /** Why the last line was lost; undefined once one was written again. */
  failure(): string | undefined;
  /** Lines lost so far. */
  lost(): number;
}

/** Lines that cannot be written are counted and dropped: a log must never stop a device, nor grow in its memory. */
export function logOutput(output: LogStream): LogOutput {
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
        if (error) lose(fileSystemReason(error));
        else failure = undefined;
      });
    },
    failure: () => failure,
    lost: () => lost,
  };
}
