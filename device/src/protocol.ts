// The frame to the byte: how what devices send each other is written and read. Pure; see docs/protocol.md.

import type { Matrix } from "@fedkm/core";
import { LARGEST_FRAME_BYTES } from "./link/limits.ts";

/** magic 4, version 1, type 1, k 2, d 2, flags 2, study hash 16, epoch 8, sequence 8. All numbers little-endian. */
const HEADER_BYTES = 44;
/** So much of the SHA-256 of the canonical study is in every frame. */
export const HASH_BYTES = 16;

const MAGIC = 0x6d6b6466; // "fdkm"
const VERSION = 1;
const CENTROIDS = 1;
const STUDY = 2;
const ORDER = 3;

/** What sender and receiver of a frame must have in common. */
export interface Contract {
  readonly k: number;
  readonly d: number;
  readonly hash: Uint8Array;
  /** A coordinate outside is refused, one number for each feature. */
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** Which frame of its sender this is: a later one replaces an earlier one. Epochs grow from start to start, sequences within one. */
export interface Stamp {
  readonly epoch: number;
  readonly sequence: number;
}

/** What a device says to a neighbour whose frames it refuses because they are older than others under the same key. */
export interface Order {
  /** Of the last frame that was taken. */
  readonly taken: Stamp;
  /** The epoch of the frame that was refused. */
  readonly refused: number;
  /** Frames of both come. */
  readonly isTwice: boolean;
}

export type Decoded =
  /** Absent centroids are left out: `centroids` has at most k rows. */
  | { readonly kind: "centroids"; readonly stamp: Stamp; readonly centroids: Matrix }
  /** The sender's canonical study, sent to a peer that has another one. */
  | { readonly kind: "study"; readonly text: string }
  | { readonly kind: "order"; readonly order: Order }
  | { readonly kind: "refused"; readonly reason: Refusal };

export const refusals = [
  "length",
  "magic",
  "version",
  "type",
  "study",
  "shape",
  "flags",
  "stamp",
  "presence",
  "number",
  "bounds",
  "text",
] as const;
type Refusal = (typeof refusals)[number];

/** 44 + ceil(k / 8) + 8 k d. */
export function frameBytes({ k, d }: { k: number; d: number }): number {
  return HEADER_BYTES + Math.ceil(k / 8) + 8 * k * d;
}

/** `present[c]` false: centroid c stands on nothing yet; its place is sent as zeros. */
export function encodeCentroids(
  contract: Contract,
  { epoch, sequence }: Stamp,
  centroids: Float64Array,
  present: readonly boolean[],
): Uint8Array {
  const { k, d } = contract;
  const frame = new Uint8Array(frameBytes(contract));
  const view = header(frame, contract, CENTROIDS);
  setInteger(view, 28, epoch);
  setInteger(view, 36, sequence);
  const numbers = HEADER_BYTES + Math.ceil(k / 8);
  for (let c = 0; c < k; c++) {
    if (!present[c]) continue;
    frame[HEADER_BYTES + (c >> 3)] |= 1 << (c & 7);
    for (let i = c * d; i < (c + 1) * d; i++) view.setFloat64(numbers + 8 * i, centroids[i], true);
  }
  return frame;
}

export function encodeStudy(contract: Contract, text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const frame = new Uint8Array(HEADER_BYTES + bytes.length);
  header(frame, contract, STUDY);
  frame.set(bytes, HEADER_BYTES);
  return frame;
}

export function encodeOrder(contract: Contract, { taken, refused, isTwice }: Order): Uint8Array {
  const frame = new Uint8Array(HEADER_BYTES + 8);
  const view = header(frame, contract, ORDER);
  view.setUint16(10, isTwice ? 1 : 0, true);
  setInteger(view, 28, taken.epoch);
  setInteger(view, 36, taken.sequence);
  setInteger(view, HEADER_BYTES, refused);
  return frame;
}

function header(frame: Uint8Array, { k, d, hash }: Contract, type: number): DataView {
  const view = new DataView(frame.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint8(4, VERSION);
  view.setUint8(5, type);
  view.setUint16(6, k, true);
  view.setUint16(8, d, true);
  frame.set(hash, 12);
  return view;
}

/** Reads a whole frame or refuses it. Never throws, keeps nothing of `frame`. */
export function decode(contract: Contract, frame: Uint8Array): Decoded {
  if (frame.length < HEADER_BYTES || frame.length > LARGEST_FRAME_BYTES) return refused("length");
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (view.getUint32(0, true) !== MAGIC) return refused("magic");
  if (view.getUint8(4) !== VERSION) return refused("version");
  const type = view.getUint8(5);
  if (type === STUDY) return decodeStudy(frame);
  if (type !== CENTROIDS && type !== ORDER) return refused("type");
  // Before the shape: another study often has another shape, and the study is the reason to name.
  for (let i = 0; i < HASH_BYTES; i++) if (frame[12 + i] !== contract.hash[i]) return refused("study");
  if (view.getUint16(6, true) !== contract.k || view.getUint16(8, true) !== contract.d) return refused("shape");
  if (type === ORDER) return decodeOrder(frame, view);
  if (frame.length !== frameBytes(contract)) return refused("length");
  if (view.getUint16(10, true) !== 0) return refused("flags");
  return decodeCentroids(contract, frame, view);
}

function decodeCentroids({ k, d, low, high }: Contract, frame: Uint8Array, view: DataView): Decoded {
  const stamp = { epoch: getInteger(view, 28), sequence: getInteger(view, 36) };
  if (!Number.isSafeInteger(stamp.epoch) || !Number.isSafeInteger(stamp.sequence)) return refused("stamp");
  const bitmap = Math.ceil(k / 8);
  // Bits beyond the last centroid are 0, so that every frame can be written in one way only.
  if (k % 8 !== 0 && frame[HEADER_BYTES + bitmap - 1] >> (k % 8) !== 0) return refused("presence");
  const data = new Float64Array(k * d);
  let rows = 0;
  for (let c = 0, at = HEADER_BYTES + bitmap; c < k; c++, at += 8 * d) {
    const isPresent = (frame[HEADER_BYTES + (c >> 3)] >> (c & 7)) & 1;
    for (let i = 0; i < d; i++) {
      const value = view.getFloat64(at + 8 * i, true);
      if (!isPresent) {
        if (!Object.is(value, 0)) return refused("presence");
        continue;
      }
      if (!Number.isFinite(value)) return refused("number");
      if (value < low[i] || value > high[i]) return refused("bounds");
      data[rows * d + i] = value;
    }
    if (isPresent) rows++;
  }
  if (rows === 0) return refused("presence");
  return { kind: "centroids", stamp, centroids: { data: data.subarray(0, rows * d), rows, cols: d } };
}

function decodeOrder(frame: Uint8Array, view: DataView): Decoded {
  if (frame.length !== HEADER_BYTES + 8) return refused("length");
  const flags = view.getUint16(10, true);
  if (flags > 1) return refused("flags");
  const taken = { epoch: getInteger(view, 28), sequence: getInteger(view, 36) };
  const order = { taken, refused: getInteger(view, HEADER_BYTES), isTwice: flags === 1 };
  const isStamp = [taken.epoch, taken.sequence, order.refused].every(Number.isSafeInteger);
  return isStamp ? { kind: "order", order } : refused("stamp");
}

function decodeStudy(frame: Uint8Array): Decoded {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(frame.subarray(HEADER_BYTES));
    return { kind: "study", text };
  } catch {
    return refused("text");
  }
}

function refused(reason: Refusal): Decoded {
  return { kind: "refused", reason };
}

/** A safe integer as 8 bytes. */
function setInteger(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 2 ** 32, true);
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
}

function getInteger(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}
