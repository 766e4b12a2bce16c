// The board frame of shared clusters to the byte: where its sender is, which entries of the board it has, and those
// that the receiver may lack. Pure; see docs/protocol.md#shared-clusters.

import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import {
  COUNT_AT,
  type Contract,
  EPOCH_AT,
  getInteger,
  HEADER_BYTES,
  isOfKind,
  isOfStudy,
  SEQUENCE_AT,
  setInteger,
  writeHeader,
} from "../wire/frames.ts";
import { LARGEST_FRAME_BYTES } from "../wire/limits.ts";
import { type DecodedFrame, decodeFrame, frameRefusal } from "../wire/studyFrames.ts";
import { TREE_INTEGERS } from "./board.ts";
import { decodeEntry, type Entry, MARK_BYTES } from "./entry.ts";
import {
  type Content,
  GENERATION_HEAD_BYTES,
  generationBytes,
  hasCentroids,
  hasRoster,
  type Stage,
  stages,
} from "./generation.ts";
import { sizesOf } from "./plan.ts";
import { decodeRoster } from "./roster.ts";
import type { SumsShape } from "./shape.ts";

const GENERATION_HASH_BYTES = 32;
/** What the sender knows of the receiver 8, hash of the generation 32, number of marks 2, flags 2. */
const FIXED_BYTES = 44;
const NUMBERS_FLAG = 1;
const ASKING_FLAG = 2;
const DROPPED_FLAG = 4;
const BELOW_FLAG = 8;
const HEARD_FLAG = 16;

export interface BoardMessage {
  readonly kind: "board";
  readonly stamp: { readonly epoch: number; readonly sequence: number };
  /** The latest epoch of the receiver that the sender has heard; 0: none. */
  readonly knows: number;
  /** The receiver does not count for the sender, because it was silent or the sender is paused. */
  readonly isDropped: boolean;
  readonly number: number;
  readonly hash: Uint8Array;
  /** Undefined: the receiver is expected to find them itself. */
  readonly content: Content | undefined;
  /** The sender wants to be told: the numbers of a later generation, or that it was heard. */
  readonly isAsking: boolean;
  /** With sums over a tree: the sender learnt of this generation from the receiver, and has heard it in this generation. */
  readonly isBelow: boolean;
  readonly hasHeard: boolean;
  /** Marks of the entries that the sender has. */
  readonly have: readonly string[];
  readonly entries: readonly Entry[];
}

export function encodeBoardMessage(
  contract: Contract,
  message: Omit<BoardMessage, "kind"> & { readonly stage: Stage },
): Uint8Array {
  const { stamp, knows, isDropped, number, hash, content, isAsking, isBelow, hasHeard, have, entries, stage } = message;
  const state = generationBytes({
    steps: 0,
    rows: 0,
    seeded: 0,
    numbers: new Float64Array(0),
    ...content,
    number,
    stage,
  });
  const fixed = new Uint8Array(HEADER_BYTES + FIXED_BYTES);
  const view = writeHeader(fixed, "board", contract);
  view.setUint16(COUNT_AT, entries.length, true);
  setInteger(view, EPOCH_AT, stamp.epoch);
  setInteger(view, SEQUENCE_AT, stamp.sequence);
  setInteger(view, HEADER_BYTES, knows);
  fixed.set(hash, HEADER_BYTES + 8);
  view.setUint16(HEADER_BYTES + 40, have.length, true);
  const flags =
    (content === undefined ? 0 : NUMBERS_FLAG) +
    (isAsking ? ASKING_FLAG : 0) +
    (isDropped ? DROPPED_FLAG : 0) +
    (isBelow ? BELOW_FLAG : 0) +
    (hasHeard ? HEARD_FLAG : 0);
  view.setUint16(HEADER_BYTES + 42, flags, true);
  const marks = hexToBytes(have.join(""));
  return concatBytes(fixed, state, marks, ...entries.flatMap(({ body, signature }) => [body, signature]));
}

/** Reads a frame of a study with shared clusters. Signatures and the generation's hash are the receiver's to check. */
export function decodeShared(shape: SumsShape): (contract: Contract, frame: Uint8Array) => DecodedFrame | BoardMessage {
  return (contract, frame) => {
    if (!isOfKind(frame, "board") || frame.length > LARGEST_FRAME_BYTES || !isOfStudy(frame, contract)) {
      // Centroids are no frame of this study; all else is read as ever, or refused with the same reasons.
      const decoded = decodeFrame(contract, frame);
      return decoded.kind === "centroids" ? frameRefusal("type") : decoded;
    }
    return decodeMessage(shape, contract, frame);
  };
}

function decodeMessage(shape: SumsShape, contract: Contract, frame: Uint8Array): DecodedFrame | BoardMessage {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (view.getUint16(6, true) !== contract.k || view.getUint16(8, true) !== contract.d) return frameRefusal("shape");
  const at = HEADER_BYTES + FIXED_BYTES;
  if (frame.length < at + GENERATION_HEAD_BYTES) return frameRefusal("length");
  const stamp = { epoch: getInteger(view, EPOCH_AT), sequence: getInteger(view, SEQUENCE_AT) };
  const [knows, number] = [getInteger(view, HEADER_BYTES), getInteger(view, at)];
  const [rows, seeded] = [getInteger(view, at + 12), getInteger(view, at + 20)];
  if (![stamp.epoch, stamp.sequence, knows, number, rows, seeded].every(Number.isSafeInteger))
    return frameRefusal("stamp");
  const marks = view.getUint16(HEADER_BYTES + 40, true);
  const flags = view.getUint16(HEADER_BYTES + 42, true);
  const stage = Object.values(stages).find((one) => one === view.getUint8(at + 8));
  if (flags > (shape.isTree ? 31 : 7) || stage === undefined || view.getUint8(at + 9) !== 0)
    return frameRefusal("flags");
  // Nobody asks private rows for other sums than those that are paid for.
  if (hasRoster(stage) !== (shape.releasing !== undefined)) return frameRefusal("flags");
  if (stage === stages.rest && !shape.isTree) return frameRefusal("flags");
  const sizes = sizesOf(shape, stage);
  let marksAt = at + GENERATION_HEAD_BYTES;
  let content: Content | undefined;
  if (flags & NUMBERS_FLAG) {
    marksAt += 8 * sizes.numbers;
    if (frame.length < marksAt) return frameRefusal("length");
    const numbers = Float64Array.from({ length: sizes.numbers }, (_, i) =>
      view.getFloat64(at + GENERATION_HEAD_BYTES + 8 * i, true),
    );
    if (!numbers.every(Number.isFinite)) return frameRefusal("number");
    if (hasCentroids(stage) && !isInside(shape, numbers)) return frameRefusal("bounds");
    content = { stage, steps: view.getUint16(at + 10, true), rows, seeded, numbers };
    if (hasRoster(stage)) {
      const found = decodeRoster(frame, marksAt);
      if (found === undefined) return frameRefusal("entry");
      content = { ...content, roster: found.roster };
      marksAt = found.end;
    }
  }
  const entriesAt = marksAt + MARK_BYTES * marks;
  if (frame.length < entriesAt) return frameRefusal("length");
  const have = Array.from({ length: marks }, (_, n) =>
    bytesToHex(frame.subarray(marksAt + MARK_BYTES * n, marksAt + MARK_BYTES * (n + 1))),
  );
  const entries: Entry[] = [];
  const integers = sizes.integers + (shape.isTree ? TREE_INTEGERS : 0);
  let end = entriesAt;
  for (let n = view.getUint16(COUNT_AT, true); n > 0; n--) {
    const found = decodeEntry(frame, end, integers);
    if (found === undefined) return frameRefusal("entry");
    entries.push(found.entry);
    end = found.end;
  }
  if (end !== frame.length) return frameRefusal("length");
  const hash = frame.slice(HEADER_BYTES + 8, HEADER_BYTES + 8 + GENERATION_HASH_BYTES);
  const isAsking = (flags & ASKING_FLAG) !== 0;
  const isDropped = (flags & DROPPED_FLAG) !== 0;
  const [isBelow, hasHeard] = [(flags & BELOW_FLAG) !== 0, (flags & HEARD_FLAG) !== 0];
  return { kind: "board", stamp, knows, isDropped, number, hash, content, isAsking, isBelow, hasHeard, have, entries };
}

function isInside({ ranges, d }: SumsShape, numbers: Float64Array): boolean {
  // A millionth is left for rounding, as for centroids.
  return numbers.every((value, i) => Math.abs(value) <= 0.5000005 * ranges[i % d]);
}
