// The journal of a long computation: every finished part is on disk before the next is reported, so that a run that was
// stopped, in whatever way, goes on from there.

import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileSystemReason } from "@fedkm/files";
import type { RunRow } from "./trial.ts";

/** Thrown where a run is to be resumed with other options than it was begun with. */
export class OtherRunError extends Error {
  override readonly name = "OtherRunError";
}

const NAME = "finished.jsonl";

/**
 * Opens the journal of a folder. Its first line says what rows depend on besides their cells: with `resume` the folder
 * must hold a journal of the same, else a new one begins. Batches are known by their cells, so that a sweep to which
 * something was added runs what is new.
 */
export function openJournal(folder: string, manifest: object, resume: boolean) {
  const file = join(folder, NAME);
  const first = JSON.stringify(manifest);
  try {
    mkdirSync(folder, { recursive: true });
    const whole = resume ? wholeLines(readFileSync(file, "utf8")) : [];
    if (resume && whole[0] !== first) {
      throw new OtherRunError(`the run in ${folder} has other options, which are ${whole[0] ?? "lost"}`);
    }
    const lines = whole.slice(1).map((line): [string, readonly RunRow[]] => JSON.parse(line));
    const output = resume ? continued(file, whole) : begun(file, first);
    return {
      /** What an earlier run has finished: the mark of a batch and its rows. */
      finished: new Map(lines),
      add(batch: string, rows: readonly RunRow[]) {
        writeSync(output, `${JSON.stringify([batch, rows])}\n`);
        fsyncSync(output);
      },
      close: () => closeSync(output),
    };
  } catch (error) {
    if (error instanceof OtherRunError) throw error;
    throw new Error(`cannot ${resume ? "resume from" : "write"} ${file}: ${fileSystemReason(error)}`, { cause: error });
  }
}

function begun(file: string, first: string): number {
  const output = openSync(file, "w");
  writeSync(output, `${first}\n`);
  fsyncSync(output);
  return output;
}

/** To be appended to, after a torn last line is cut off: nothing that was finished is ever out of the file. */
function continued(file: string, whole: readonly string[]): number {
  const output = openSync(file, "a");
  ftruncateSync(output, Buffer.byteLength(whole.map((line) => `${line}\n`).join("")));
  return output;
}

/** A line counts when its end was written. */
function wholeLines(text: string): string[] {
  return text.split("\n").slice(0, -1);
}
