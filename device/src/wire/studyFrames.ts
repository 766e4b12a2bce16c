// The frame to the byte: how what devices send each other is written and read. Pure; see docs/protocol.md.

import type { Matrix } from "@fedkm/core";
import type { DeviceSketch } from "../loop/sketch.ts";
import { VERSION } from "../version.ts";
import { LARGEST_FRAME_BYTES } from "./limits.ts";

/** magic 4, version 1, type 1, k 2, d 2, sketches 2, study hash 16, epoch 8, sequence 8. All numbers little-endian. */
export const HEADER_BYTES = 44;
/** The number of the opening 8, the hash of its sketches 4, the hash of its seed 4. */
const TAG_BYTES = 16;
const CENTROIDS_AT = HEADER_BYTES + TAG_BYTES;
/** Origin 8, version 8. */
const SKETCH_HEADER_BYTES = 16;
/** So much of the SHA-256 of the canonical study is in every frame. */
export const HASH_BYTES = 16;

export const MAGIC = 0x6d6b6466; // "fdkm"
const CENTROIDS = 1;
export const STUDY = 2;
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
export interface OrderReport {
  /** Of the last frame that was taken. */
  readonly taken: Stamp;
  /** The epoch of the frame that was refused. */
  readonly refused: number;
  /** Frames of both come. */
  readonly isTwice: boolean;
}

/** In which opening a device is, and from which seed its centroids began. See docs/protocol.md#the-opening. */
export interface OpeningTag {
  readonly number: number;
  /** Hash of the sketches that the sender knows. */
  readonly table: number;
  /** Hash of the seed; 0: none. */
  readonly seed: number;
}

export function isSameTag(a: OpeningTag, b: OpeningTag): boolean {
  return a.number === b.number && a.table === b.table && a.seed === b.seed;
}

/** A frame of centroids. Absent ones are left out: `centroids` has at most k rows. */
export interface CentroidsFrame {
  readonly kind: "centroids";
  readonly stamp: Stamp;
  readonly tag: OpeningTag;
  readonly centroids: Matrix;
  readonly sketches: readonly DeviceSketch[];
}

export type DecodedFrame =
  | CentroidsFrame
  /** The sender's canonical study, sent to a peer that has another one. */
  | { readonly kind: "study"; readonly text: string }
  | { readonly kind: "order"; readonly order: OrderReport }
  | { readonly kind: "refused"; readonly reason: Refusal };

export const refusals = [
  "length",
  "magic",
  "version",
  "type",
  "study",
  "shape",
  "sketch",
  "flags",
  "stamp",
  "presence",
  "number",
  "bounds",
  "text",
  "entry",
] as const;
type Refusal = (typeof refusals)[number];

/** 60 + ceil(k / 8) + 8 k d, without sketches. */
export function frameBytes({ k, d }: { k: number; d: number }): number {
  return CENTROIDS_AT + Math.ceil(k / 8) + 8 * k * d;
}

/** 16 + k + 8 k d. */
export function sketchBytes({ k, d }: { k: number; d: number }): number {
  return SKETCH_HEADER_BYTES + k + 8 * k * d;
}

/** What a device says in a frame. */
export interface CentroidsContent {
  readonly tag: OpeningTag;
  readonly centroids: Float64Array;
  /** False: the centroid stands on nothing yet; its place is sent as zeros. */
  readonly present: readonly boolean[];
  readonly sketches: readonly DeviceSketch[];
}

export function encodeCentroidsFrame(
  contract: Contract,
  { epoch, sequence }: Stamp,
  { tag, centroids, present, sketches }: CentroidsContent,
): Uint8Array {
  const { k, d } = contract;
  const frame = new Uint8Array(frameBytes(contract) + sketches.length * sketchBytes(contract));
  const view = writeHeader(frame, contract, CENTROIDS);
  view.setUint16(10, sketches.length, true);
  setInteger(view, 28, epoch);
  setInteger(view, 36, sequence);
  setInteger(view, 44, tag.number);
  view.setUint32(52, tag.table, true);
  view.setUint32(56, tag.seed, true);
  const numbers = CENTROIDS_AT + Math.ceil(k / 8);
  for (let c = 0; c < k; c++) {
    if (!present[c]) continue;
    frame[CENTROIDS_AT + (c >> 3)] |= 1 << (c & 7);
    for (let i = c * d; i < (c + 1) * d; i++) view.setFloat64(numbers + 8 * i, centroids[i], true);
  }
  sketches.forEach((sketch, n) => {
    writeSketch(view, frameBytes(contract) + n * sketchBytes(contract), sketch);
  });
  return frame;
}

function writeSketch(/* OUT */ view: DataView, at: number, { origin, version, shares, centroids }: DeviceSketch): void {
  setInteger(view, at, origin);
  setInteger(view, at + 8, version);
  shares.forEach((share, c) => {
    view.setUint8(at + SKETCH_HEADER_BYTES + c, share);
  });
  const numbers = at + SKETCH_HEADER_BYTES + shares.length;
  for (let i = 0; i < centroids.length; i++) view.setFloat64(numbers + 8 * i, centroids[i], true);
}

export function encodeStudyFrame(contract: Contract, text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const frame = new Uint8Array(HEADER_BYTES + bytes.length);
  writeHeader(frame, contract, STUDY);
  frame.set(bytes, HEADER_BYTES);
  return frame;
}

export function encodeOrderFrame(contract: Contract, { taken, refused, isTwice }: OrderReport): Uint8Array {
  const frame = new Uint8Array(HEADER_BYTES + 8);
  const view = writeHeader(frame, contract, ORDER);
  view.setUint16(10, isTwice ? 1 : 0, true);
  setInteger(view, 28, taken.epoch);
  setInteger(view, 36, taken.sequence);
  setInteger(view, HEADER_BYTES, refused);
  return frame;
}

export function writeHeader(/* OUT */ frame: Uint8Array, { k, d, hash }: Contract, type: number): DataView {
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
export function decodeFrame(contract: Contract, frame: Uint8Array): DecodedFrame {
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
  const sketches = view.getUint16(10, true);
  if (frame.length !== frameBytes(contract) + sketches * sketchBytes(contract)) return refused("length");
  return decodeCentroids(contract, frame, view);
}

function decodeCentroids(contract: Contract, frame: Uint8Array, view: DataView): DecodedFrame {
  const { k, d, low, high } = contract;
  const stamp = { epoch: getInteger(view, 28), sequence: getInteger(view, 36) };
  const tag = { number: getInteger(view, 44), table: view.getUint32(52, true), seed: view.getUint32(56, true) };
  if (![stamp.epoch, stamp.sequence, tag.number].every(Number.isSafeInteger)) return refused("stamp");
  const bitmap = Math.ceil(k / 8);
  // Bits beyond the last centroid are 0, so that every frame can be written in one way only.
  if (k % 8 !== 0 && frame[CENTROIDS_AT + bitmap - 1] >> (k % 8) !== 0) return refused("presence");
  const data = new Float64Array(k * d);
  let rows = 0;
  for (let c = 0, at = CENTROIDS_AT + bitmap; c < k; c++, at += 8 * d) {
    const isPresent = (frame[CENTROIDS_AT + (c >> 3)] >> (c & 7)) & 1;
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
  const sketches: DeviceSketch[] = [];
  for (let at = frameBytes(contract); at < frame.length; at += sketchBytes(contract)) {
    const sketch = readSketch(contract, view, at);
    if (sketch === undefined) return refused("sketch");
    sketches.push(sketch);
  }
  return { kind: "centroids", stamp, tag, centroids: { data: data.subarray(0, rows * d), rows, cols: d }, sketches };
}

/** Undefined: numbers that are too large, not finite or out of bounds, or a centroid where there is no share. */
function readSketch({ k, d, low, high }: Contract, view: DataView, at: number): DeviceSketch | undefined {
  const [origin, version] = [getInteger(view, at), getInteger(view, at + 8)];
  if (!Number.isSafeInteger(origin) || !Number.isSafeInteger(version)) return undefined;
  const shares = Uint8Array.from({ length: k }, (_, c) => view.getUint8(at + SKETCH_HEADER_BYTES + c));
  const centroids = new Float64Array(k * d);
  const numbers = at + SKETCH_HEADER_BYTES + k;
  for (let i = 0; i < k * d; i++) {
    const value = view.getFloat64(numbers + 8 * i, true);
    const f = i % d;
    const isRight = shares[(i - f) / d] > 0 ? value >= low[f] && value <= high[f] : Object.is(value, 0);
    if (!isRight) return undefined;
    centroids[i] = value;
  }
  return { origin, version, shares, centroids };
}

function decodeOrder(frame: Uint8Array, view: DataView): DecodedFrame {
  if (frame.length !== HEADER_BYTES + 8) return refused("length");
  const flags = view.getUint16(10, true);
  if (flags > 1) return refused("flags");
  const taken = { epoch: getInteger(view, 28), sequence: getInteger(view, 36) };
  const order = { taken, refused: getInteger(view, HEADER_BYTES), isTwice: flags === 1 };
  const isStamp = [taken.epoch, taken.sequence, order.refused].every(Number.isSafeInteger);
  return isStamp ? { kind: "order", order } : refused("stamp");
}

function decodeStudy(frame: Uint8Array): DecodedFrame {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(frame.subarray(HEADER_BYTES));
    return { kind: "study", text };
  } catch {
    return refused("text");
  }
}

function refused(reason: Refusal): DecodedFrame {
  return { kind: "refused", reason };
}

/** A safe integer as 8 bytes. */
export function setInteger(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 2 ** 32, true);
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
}

export function getInteger(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}
