// The history of what was published, or the ledger of what was released, on disk: two equal copies, written before anything that rests on them is sent.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import type { Clock } from "../environment.ts";
import type { HistoryMemory } from "../privacy/history.ts";
import { decodeHeads, encodeHeads, firstHeads, type HistoryHeads, headsMemory } from "../privacy/historyHeads.ts";
import { encodeLedger, newLedger } from "../privacy/ledger.ts";
import type { Study } from "../study/study.ts";
import { HEAD_MARK_BYTES, type HistoryHead, type SignedHead } from "../wire/historyFrames.ts";
import { type Disk, latestKeeper, realDisk, writeReason } from "./disk.ts";
import { saveBothCopies, twoCopies } from "./stateFile.ts";

/** Without its ending. */
const HISTORY_FILE = "history";

const newMark = () => randomBytes(HEAD_MARK_BYTES).toString("hex");
const payloadOf = (heads: HistoryHeads, content: Uint8Array) => concatBytes(encodeHeads(heads), content);

/** The history of a device that is made. A folder that comes without one has a past that nobody knows. */
export async function createHistoryStore(folder: string, { privacy }: Study): Promise<void> {
  const file = twoCopies(join(folder, HISTORY_FILE), realDisk);
  await file.load();
  const content = privacy === "private" ? encodeLedger(newLedger()) : new Uint8Array(0);
  await saveBothCopies(file, payloadOf(firstHeads(Date.now(), newMark()), content));
}

/** Where nothing is guarded the history ends, because more is sent than it would know. */
export async function endHistory(folder: string, disk: Disk): Promise<void> {
  for (const name of await disk.list(folder)) if (/^history\.[ab]$/.test(name)) await disk.remove(join(folder, name));
}

/** What was written last, whether the device runs or not; nothing is changed. */
export async function readHistory(folder: string): Promise<Uint8Array | undefined> {
  const { newest } = await twoCopies(join(folder, HISTORY_FILE), realDisk).load();
  return newest && decodeHeads(newest.payload)?.content;
}

/** The history of a device that runs. */
export async function openHistory(folder: string, disk: Disk): Promise<HistoryMemory & { close(): Promise<void> }> {
  const file = twoCopies(join(folder, HISTORY_FILE), disk);
  const { newest } = await file.load();
  const found = newest && decodeHeads(newest.payload);
  // Both copies again: an older one beside the newest would be taken for it if that was damaged later.
  if (newest !== undefined) await saveBothCopies(file, newest.payload);
  let content = found?.content ?? new Uint8Array(0);
  let writing: Promise<void> = Promise.resolve();
  const write = (heads: HistoryHeads, done: (failure: string | undefined) => void) => {
    const payload = payloadOf(heads, content);
    writing = writing
      .then(() => saveBothCopies(file, payload))
      .then(
        () => done(undefined),
        (error) => done(writeReason(error)),
      );
  };
  const heads = headsMemory(
    found?.heads ?? firstHeads(1, newMark()),
    newMark,
    // Neighbours say it again at the next start.
    (lost) => write(lost, () => {}),
  );
  return {
    saved: content.length === 0 ? undefined : content,
    isLost: found === undefined || found.heads.isOld,
    keep(history, done) {
      const next = heads.next();
      content = history;
      write(next, (failure) => {
        if (failure === undefined) heads.follow(next);
        done(failure);
      });
    },
    heads,
    close: () => writing,
  };
}

/** The latest heads of neighbours' histories, in `heads.a` and `heads.b`. What is damaged is heard again. */
export async function openNeighbourHeads(folder: string, disk: Disk, clock: Clock) {
  const file = twoCopies(join(folder, "heads"), disk);
  const { newest } = await file.load();
  const saved: Record<string, HistoryHead & { signature: string }> =
    newest === undefined ? {} : JSON.parse(new TextDecoder().decode(newest.payload));
  const heads = Object.entries(saved).map(([peer, head]): [string, SignedHead] => {
    return [peer, { ...head, signature: hexToBytes(head.signature) }];
  });
  const encode = (given: ReadonlyMap<string, SignedHead>) => {
    const written = Array.from(given, ([peer, head]) => [peer, { ...head, signature: bytesToHex(head.signature) }]);
    return new TextEncoder().encode(JSON.stringify(Object.fromEntries(written)));
  };
  // A disk that is full for a while is told of by the state, which is written to it as well.
  const keeper = latestKeeper(
    clock,
    (given: ReadonlyMap<string, SignedHead>) => file.save(encode(given)),
    () => {},
  );
  return { saved: new Map(heads), keep: keeper.keep, close: keeper.close };
}
