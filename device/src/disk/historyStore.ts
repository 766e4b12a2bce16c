// The history of what was published, or the ledger of what was released, on disk: two equal copies, written before anything that rests on them is sent.

import { join } from "node:path";
import type { HistoryMemory } from "../privacy/history.ts";
import { encodeLedger, newLedger } from "../privacy/ledger.ts";
import type { Study } from "../study/study.ts";
import { type Disk, realDisk, writeReason } from "./disk.ts";
import { saveBothCopies, type TwoCopies, twoCopies } from "./stateFile.ts";

/** Without its ending. */
const HISTORY_FILE = "history";

interface OpenHistory extends Pick<HistoryMemory, "saved" | "isLost"> {
  readonly file: TwoCopies;
}

/** The history of a device that is made. A folder that comes without one has a past that nobody knows. */
export async function createHistoryStore(folder: string, { privacy }: Study): Promise<void> {
  const file = twoCopies(join(folder, HISTORY_FILE), realDisk);
  await file.load();
  await saveBothCopies(file, privacy === "private" ? encodeLedger(newLedger()) : new Uint8Array(0));
}

/** Where nothing is guarded the history ends, because more is sent than it would know. */
export async function openHistory(folder: string, disk: Disk, hasHistory: boolean): Promise<OpenHistory> {
  const file = twoCopies(join(folder, HISTORY_FILE), disk);
  if (!hasHistory) {
    for (const name of await disk.list(folder)) if (/^history\.[ab]$/.test(name)) await disk.remove(join(folder, name));
    return { file, saved: undefined, isLost: false };
  }
  const { newest } = await file.load();
  if (newest === undefined) return { file, saved: undefined, isLost: true };
  const { payload } = newest;
  // Both copies again: an older one beside the newest would be taken for it if that was damaged later.
  await saveBothCopies(file, payload);
  return { file, saved: payload.length === 0 ? undefined : payload, isLost: false };
}

/** What was written last, whether the device runs or not; nothing is changed. */
export async function readHistory(folder: string): Promise<Uint8Array | undefined> {
  return (await twoCopies(join(folder, HISTORY_FILE), realDisk).load()).newest?.payload;
}

export function historyStoreKeeper(file: TwoCopies) {
  let writing: Promise<void> = Promise.resolve();
  return {
    keep(history: Uint8Array, done: (failure: string | undefined) => void) {
      writing = saveBothCopies(file, history).then(
        () => done(undefined),
        (error) => done(writeReason(error)),
      );
    },
    close: () => writing,
  };
}
