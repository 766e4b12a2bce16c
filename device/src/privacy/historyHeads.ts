// How far a history or a ledger has come: the heads that neighbours are told, so that they can tell an old copy of a folder
// from the latest. A head says nothing about rows: its mark is drawn at random.

import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { getInteger, setInteger } from "../wire/frames.ts";
import { compareHeads, HEAD_MARK_BYTES, type HistoryHead } from "../wire/historyFrames.ts";
import { MOST_HEADS } from "../wire/limits.ts";

export interface HistoryHeads extends HistoryHead {
  /** Of the counts before this one, the oldest first. */
  readonly before: readonly string[];
  /** A neighbour has seen later ones: what stands beside them is not all that was published. */
  readonly isOld: boolean;
}

export function firstHeads(lineage: number, mark: string): HistoryHeads {
  return { lineage, count: 0, mark, before: [], isOld: false };
}

/** Whether a history that has come this far can have had that head. Of one too old to be remembered nobody knows better. */
export function isFormerHead(heads: HistoryHeads, head: HistoryHead): boolean {
  const order = compareHeads(heads, head);
  if (order === 0) return heads.mark === head.mark;
  if (order < 0 || heads.lineage !== head.lineage) return order > 0;
  const known = heads.before.at(head.count - heads.count);
  return heads.count - head.count > heads.before.length || known === head.mark;
}

export type HeadsMemory = ReturnType<typeof headsMemory>;

/** The heads of a history that is kept somewhere. `write`: keeps them beside what is there already. */
export function headsMemory(given: HistoryHeads, newMark: () => string, write: (heads: HistoryHeads) => void) {
  let latest = given;
  let begun: number | undefined;
  return {
    latest: () => latest,
    /** Those of the history that is written next. */
    next(): HistoryHeads {
      const { lineage, count, mark, before } = latest;
      if (begun !== undefined) return { ...firstHeads(begun, newMark()), count: 1 };
      return { ...latest, lineage, count: count + 1, mark: newMark(), before: [...before, mark].slice(-MOST_HEADS) };
    },
    /** It is written. */
    follow(heads: HistoryHeads) {
      if (latest.isOld && begun === undefined) return;
      latest = heads;
      begun = undefined;
    },
    /** A neighbour has seen this one of the same device. */
    lose({ lineage, count, mark }: HistoryHead) {
      latest = { lineage, count, mark, before: [], isOld: true };
      begun = undefined;
      write(latest);
    },
    /** What is written next is another history: whatever was published before does not count in it. */
    begin(least: number) {
      begun = Math.max(least, latest.lineage + 1);
    },
  };
}

/** Lineage 8, count 8, whether it is old 1, marks 1; then the latest mark, and those before, the oldest first. */
const HEADS_BYTES = 18;

export function encodeHeads({ lineage, count, mark, before, isOld }: HistoryHeads): Uint8Array {
  const head = new Uint8Array(HEADS_BYTES);
  const view = new DataView(head.buffer);
  setInteger(view, 0, lineage);
  setInteger(view, 8, count);
  view.setUint8(16, isOld ? 1 : 0);
  view.setUint8(17, 1 + before.length);
  return concatBytes(head, hexToBytes(mark), ...before.map(hexToBytes));
}

/** The heads that a file begins with, and what follows them; undefined: there are none. */
export function decodeHeads(
  bytes: Uint8Array,
): { readonly heads: HistoryHeads; readonly content: Uint8Array } | undefined {
  if (bytes.length < HEADS_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const many = view.getUint8(17);
  const end = HEADS_BYTES + HEAD_MARK_BYTES * many;
  if (many === 0 || bytes.length < end) return undefined;
  const [mark, ...before] = Array.from({ length: many }, (_, n) => {
    const at = HEADS_BYTES + HEAD_MARK_BYTES * n;
    return bytesToHex(bytes.subarray(at, at + HEAD_MARK_BYTES));
  });
  const heads = { lineage: getInteger(view, 0), count: getInteger(view, 8), mark, before };
  return { heads: { ...heads, isOld: view.getUint8(16) === 1 }, content: bytes.slice(end) };
}
