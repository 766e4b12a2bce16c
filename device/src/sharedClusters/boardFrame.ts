// The frames of shared clusters to the byte. A board frame says where its sender is, and brings entries of the board that
// the receiver may lack. A proof frame brings those of the board before, for a receiver that has stayed behind. Pure; see
// docs/protocol.md#shared-clusters.

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
  type Stamp,
  setInteger,
  writeHeader,
} from "../wire/frames.ts";
import { LARGEST_FRAME_BYTES, MOST_ENTRIES } from "../wire/limits.ts";
import { type DecodedFrame, decodeFrame, frameRefusal } from "../wire/studyFrames.ts";
import { decodeEntry, type Entry, MARK_BYTES } from "./entry.ts";
import {
  type Base,
  type BaseOrder,
  decodeBoardBase,
  encodeBoardBase,
  hasCentroids,
  MEMBERS_HASH_BYTES,
  type Stage,
  stages,
} from "./generation.ts";
import { decodeMembers, type MembersMessage } from "./memberExchange.ts";
import { decodeOpening, OPENING_BYTES, type Opening, openingBytes } from "./openings.ts";
import { numbersIn } from "./plan.ts";
import { SCALAR_BYTES, sealBytes } from "./seal.ts";
import type { SumsShape } from "./shape.ts";

/**
 * What the sender knows of the receiver 8, hash of the base 32, hash of the generation 32, rank of the base 8, number 8,
 * integers of an entry 4, openings 2, marks 2, flags 2.
 */
const FIXED_BYTES = 98;
const BASE_FLAG = 1;
const ASKING_FLAG = 2;
const DROPPED_FLAG = 4;
const IDLE_FLAG = 8;
const WANTS_FLAG = 16;
const BELOW_FLAG = 32;
const HEARD_FLAG = 64;
const SEALED_FLAG = 128;
const SECRETS_FLAG = 256;

/** A board, or a part of it, on its way to a neighbour. */
export interface BoardMessage {
  /** "proof": of the board that led to the base where the sender is. */
  readonly kind: "board" | "proof";
  readonly stamp: Stamp;
  /** The latest epoch of the receiver that the sender has heard; 0: none. */
  readonly knows: number;
  /** The base and the generation that this frame is about. */
  readonly order: BaseOrder;
  readonly hash: Uint8Array;
  /** In a proof, and with sums over a tree. */
  readonly base: Omit<Base, "hash"> | undefined;
  /** With a base, of studies with founders: who was a member in this generation. */
  readonly members?: Uint8Array | undefined;
  readonly openings: readonly Opening[];
  /** The sender wants to be told: what leads to a later base, or that it was heard. */
  readonly isAsking: boolean;
  /** The receiver does not count for the sender, because it was silent or the sender is paused. */
  readonly isDropped: boolean;
  /** The sender has too few links to post, and is not to be waited for. */
  readonly isIdle: boolean;
  /** The sender must post again and has no right to open: its neighbours are to do it. */
  readonly wantsOpening: boolean;
  /** With sums over a tree: the sender learnt of this generation from the receiver, and has heard it in this generation. */
  readonly isBelow: boolean;
  readonly hasHeard: boolean;
  /** Marks of the entries that the sender has. */
  readonly have: readonly string[];
  /** How many integers each entry has. */
  readonly integers: number;
  readonly entries: readonly Entry[];
  /** In the proof of sums that were sealed: what opens them, of each entry. */
  readonly secrets?: ReadonlyMap<string, Uint8Array> | undefined;
}

/** A board as a frame of the protocol. */
export function encodeBoardMessage(
  contract: Contract,
  message: Omit<BoardMessage, "base"> & { readonly base: Base | undefined },
): Uint8Array {
  const { kind, stamp, knows, order, hash, base, members, openings, have, integers, entries, secrets } = message;
  const fixed = new Uint8Array(HEADER_BYTES + FIXED_BYTES);
  const view = writeHeader(fixed, kind, contract);
  view.setUint16(COUNT_AT, entries.length, true);
  setInteger(view, EPOCH_AT, stamp.epoch);
  setInteger(view, SEQUENCE_AT, stamp.sequence);
  setInteger(view, HEADER_BYTES, knows);
  fixed.set(order.hash, HEADER_BYTES + 8);
  fixed.set(hash, HEADER_BYTES + 40);
  setInteger(view, HEADER_BYTES + 72, order.rank);
  setInteger(view, HEADER_BYTES + 80, order.number);
  view.setUint32(HEADER_BYTES + 88, integers, true);
  view.setUint16(HEADER_BYTES + 92, openings.length, true);
  view.setUint16(HEADER_BYTES + 94, have.length, true);
  const flags =
    (base === undefined ? 0 : BASE_FLAG) +
    (message.isAsking ? ASKING_FLAG : 0) +
    (message.isDropped ? DROPPED_FLAG : 0) +
    (message.isIdle ? IDLE_FLAG : 0) +
    (message.wantsOpening ? WANTS_FLAG : 0) +
    (message.isBelow ? BELOW_FLAG : 0) +
    (message.hasHeard ? HEARD_FLAG : 0) +
    (entries.some(({ seal }) => seal.length > 0) ? SEALED_FLAG : 0) +
    (secrets === undefined ? 0 : SECRETS_FLAG);
  view.setUint16(HEADER_BYTES + 96, flags, true);
  return concatBytes(
    fixed,
    ...(base === undefined ? [] : [encodeBoardBase(base), members ?? new Uint8Array(0)]),
    ...openings.map(openingBytes),
    hexToBytes(have.join("")),
    ...entries.flatMap(({ id, body, signature }) => [body, signature, secrets?.get(id) ?? new Uint8Array(0)]),
  );
}

/** Doubts, books and evidence, and which of these the sender has; see books.ts for what they say. */
export interface BookMessage {
  readonly kind: "books";
  readonly stamp: Stamp;
  readonly have: readonly string[];
  readonly items: readonly Uint8Array[];
}

/** After the header: number of marks 2, nothing 2, marks of 8, and items after their lengths in 4 bytes. */
export function encodeBookMessage(contract: Contract, { stamp, have, items }: BookMessage): Uint8Array {
  const head = new Uint8Array(HEADER_BYTES + 4);
  const view = writeHeader(head, "books", contract);
  view.setUint16(COUNT_AT, items.length, true);
  setInteger(view, EPOCH_AT, stamp.epoch);
  setInteger(view, SEQUENCE_AT, stamp.sequence);
  view.setUint16(HEADER_BYTES, have.length, true);
  const parts = items.flatMap((item) => {
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, item.length, true);
    return [length, item];
  });
  return concatBytes(head, hexToBytes(have.join("")), ...parts);
}

/** Each device may have a doubt, books and evidence against it. */
export const MOST_ITEMS = 3 * MOST_ENTRIES;
/** Items of a frame take no more, unless one alone does. */
export const FRAME_ITEMS_BYTES = 1 << 18;

function decodeBookMessage(frame: Uint8Array): DecodedFrame | BookMessage {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.length < HEADER_BYTES + 4) return frameRefusal("length");
  const stamp = { epoch: getInteger(view, EPOCH_AT), sequence: getInteger(view, SEQUENCE_AT) };
  if (!Object.values(stamp).every(Number.isSafeInteger)) return frameRefusal("stamp");
  const [many, marks] = [view.getUint16(COUNT_AT, true), view.getUint16(HEADER_BYTES, true)];
  if (Math.max(many, marks) > MOST_ITEMS) return frameRefusal("entry");
  let at = HEADER_BYTES + 4 + MARK_BYTES * marks;
  if (frame.length < at) return frameRefusal("length");
  if (many > 1 && frame.length - at - 4 * many > FRAME_ITEMS_BYTES) return frameRefusal("length");
  const have = Array.from({ length: marks }, (_, n) => {
    const from = HEADER_BYTES + 4 + MARK_BYTES * n;
    return bytesToHex(frame.subarray(from, from + MARK_BYTES));
  });
  const items: Uint8Array[] = [];
  for (let n = 0; n < many; n++) {
    const end = frame.length < at + 4 ? frame.length + 1 : at + 4 + view.getUint32(at, true);
    if (end > frame.length) return frameRefusal("length");
    items.push(frame.slice(at + 4, end));
    at = end;
  }
  return at === frame.length ? { kind: "books", stamp, have, items } : frameRefusal("length");
}

type SharedFrame = BoardMessage | BookMessage | MembersMessage;

/** Reads a frame of a study with shared clusters. Signatures, hashes and what may follow are the receiver's to check. */
export function decodeShared(shape: SumsShape): (contract: Contract, frame: Uint8Array) => DecodedFrame | SharedFrame {
  return (contract, frame) => {
    if (shape.isFounded && isOfKind(frame, "members") && isOfStudy(frame, contract))
      return (frame.length <= LARGEST_FRAME_BYTES && decodeMembers(frame)) || frameRefusal("entry");
    const kind = (["board", "proof", "books"] as const).find((one) => isOfKind(frame, one));
    if (kind === undefined || frame.length > LARGEST_FRAME_BYTES || !isOfStudy(frame, contract)) {
      // Centroids are no frame of this study; all else is read as ever, or refused with the same reasons.
      const decoded = decodeFrame(contract, frame);
      return decoded.kind === "centroids" ? frameRefusal("type") : decoded;
    }
    return kind === "books" ? decodeBookMessage(frame) : decodeMessage(shape, contract, frame, kind);
  };
}

function decodeMessage(
  shape: SumsShape,
  contract: Contract,
  frame: Uint8Array,
  kind: BoardMessage["kind"],
): DecodedFrame | BoardMessage {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (view.getUint16(6, true) !== contract.k || view.getUint16(8, true) !== contract.d) return frameRefusal("shape");
  let at = HEADER_BYTES + FIXED_BYTES;
  if (frame.length < at) return frameRefusal("length");
  const stamp = { epoch: getInteger(view, EPOCH_AT), sequence: getInteger(view, SEQUENCE_AT) };
  const knows = getInteger(view, HEADER_BYTES);
  const [rank, number] = [getInteger(view, HEADER_BYTES + 72), getInteger(view, HEADER_BYTES + 80)];
  if (![stamp.epoch, stamp.sequence, knows, rank, number].every(Number.isSafeInteger)) return frameRefusal("stamp");
  const many = view.getUint16(COUNT_AT, true);
  const [opened, marks] = [view.getUint16(HEADER_BYTES + 92, true), view.getUint16(HEADER_BYTES + 94, true)];
  // Counted before they are read: a frame may not cost more than it is worth.
  if (Math.max(many, opened, marks) > MOST_ENTRIES) return frameRefusal("entry");
  const flags = view.getUint16(HEADER_BYTES + 96, true);
  const { releasing, isFounded } = shape;
  if (flags & ~(shape.isTree ? 127 : releasing === undefined ? 31 : 415)) return frameRefusal("flags");
  let [base, members]: [Omit<Base, "hash"> | undefined, Uint8Array | undefined] = [undefined, undefined];
  if (flags & BASE_FLAG) {
    const found = decodeBoardBase(frame, at, (head) => numbersIn(shape, head), releasing !== undefined, isFounded);
    if (found === undefined) return frameRefusal("entry");
    ({ base, end: at } = found);
    if (isFounded) members = frame.slice(at, at + MEMBERS_HASH_BYTES);
    at += members?.length ?? 0;
    if (isFounded && members?.length !== MEMBERS_HASH_BYTES) return frameRefusal("length");
    // Nobody asks private rows for other sums than those that are paid for.
    const isOfAll = base.stage === stages.rest || base.stage === stages.census;
    const isPrivateStage = base.stage > stages.census && base.stage <= stages.frozen;
    if (!isOfAll && isPrivateStage !== (releasing !== undefined)) return frameRefusal("flags");
    if (!isAsked(shape, base.stage)) return frameRefusal("flags");
    if (!base.numbers.every(Number.isFinite)) return frameRefusal("number");
    if (hasCentroids(base) && !isInside(shape, base.numbers.subarray(0, shape.k * shape.d)))
      return frameRefusal("bounds");
  }
  const openings: Opening[] = [];
  for (let n = 0; n < opened; n++, at += OPENING_BYTES) {
    const opening = decodeOpening(frame, at);
    if (opening === undefined) return frameRefusal("entry");
    openings.push(opening);
  }
  const entriesAt = at + MARK_BYTES * marks;
  if (frame.length < entriesAt) return frameRefusal("length");
  const have: string[] = [];
  for (; at < entriesAt; at += MARK_BYTES) have.push(bytesToHex(frame.subarray(at, at + MARK_BYTES)));
  const integers = view.getUint32(HEADER_BYTES + 88, true);
  const entries: Entry[] = [];
  const ids = new Set<string>();
  const secrets = flags & SECRETS_FLAG ? new Map<string, Uint8Array>() : undefined;
  const sealLength = (links: number) => (flags & SEALED_FLAG ? sealBytes(releasing?.colluders ?? 0, links) : 0);
  for (let n = 0; n < many; n++) {
    const found = decodeEntry(frame, at, integers, sealLength);
    if (found === undefined) return frameRefusal("entry");
    // Of each device one: more would be checked for nothing.
    if (ids.has(found.entry.id)) return frameRefusal("entry");
    ids.add(found.entry.id);
    entries.push(found.entry);
    at = found.end;
    if (secrets === undefined) continue;
    secrets.set(found.entry.id, frame.slice(at, at + SCALAR_BYTES));
    at += SCALAR_BYTES;
  }
  if (at !== frame.length) return frameRefusal("length");
  return {
    ...{ kind, stamp, knows, base, members, openings, have, integers, entries, secrets },
    order: { rank, number, hash: frame.slice(HEADER_BYTES + 8, HEADER_BYTES + 40) },
    hash: frame.slice(HEADER_BYTES + 40, HEADER_BYTES + 72),
    isAsking: (flags & ASKING_FLAG) !== 0,
    isDropped: (flags & DROPPED_FLAG) !== 0,
    isIdle: (flags & IDLE_FLAG) !== 0,
    wantsOpening: (flags & WANTS_FLAG) !== 0,
    isBelow: (flags & BELOW_FLAG) !== 0,
    hasHeard: (flags & HEARD_FLAG) !== 0,
  };
}

/** Columns are described, and k chosen, where the study leaves them open, and nothing else is; answers are validated if it says so. */
function isAsked({ describing, choosing, replicates }: SumsShape, stage: Stage): boolean {
  if (stage === stages.validate) return replicates !== undefined;
  if (stage === stages.approved) return describing !== undefined || choosing !== undefined;
  if (stage === stages.describe || stage === stages.described) return describing !== undefined;
  if (stage === stages.choose || stage === stages.chosen) return choosing !== undefined;
  const isFit = stage === stages.rows || stage === stages.cores;
  return describing === undefined && (choosing === undefined || !isFit);
}

function isInside({ ranges, d }: SumsShape, numbers: Float64Array): boolean {
  // A millionth is left for rounding, as for centroids.
  return numbers.every((value, i) => Math.abs(value) <= 0.5000005 * ranges[i % d]);
}
