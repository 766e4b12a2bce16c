// Frames of a study to the byte: centroids, the study itself, reports about the order of frames, and which studies a
// device speaks. Pure; see docs/protocol.md.

import type { Matrix } from "@fedkm/core";
import * as frames from "./frames.ts";
import { LARGEST_FRAME_BYTES } from "./limits.ts";

/** The number of the opening 8, the hash of its sketches 4, the hash of its common start 4. */
const TAG_BYTES = 16;
const CENTROIDS_AT = frames.HEADER_BYTES + TAG_BYTES;
/** Origin 8, version 8. */
const SKETCH_HEADER_BYTES = 16;
/** The refused epoch 8. */
const ORDER_BYTES = frames.HEADER_BYTES + 8;

/** What a device says to a neighbour whose frames it refuses because they are older than others under the same key. */
export interface OrderReport {
  /** Of the last frame that was taken. */
  readonly taken: frames.Stamp;
  /** The epoch of the frame that was refused. */
  readonly refused: number;
  /** Frames of both come. */
  readonly isTwice: boolean;
}

/** In which opening a device is, and from which common start its centroids began. See docs/protocol.md#the-opening. */
export interface OpeningTag {
  readonly number: number;
  /** Hash of the sketches that the sender knows. */
  readonly table: number;
  /** Hash of the common start; 0: none. */
  readonly start: number;
}

export function isSameTag(a: OpeningTag, b: OpeningTag): boolean {
  return a.number === b.number && a.table === b.table && a.start === b.start;
}

/** The own clusters of one device. Nothing in it depends on neighbours. */
export interface DeviceSketch {
  /** Of the device's name, see `originOf`. */
  readonly origin: number;
  /** Of two sketches of one origin the larger counts. */
  readonly version: number;
  /** Of the rows, in 255ths, rounded up; 0: too few rows, and the centroid is not given. */
  readonly shares: Uint8Array;
  /** k rows, those of share 0 are zeros. */
  readonly centroids: Float64Array;
}

/** A frame of centroids. Absent ones are left out: `centroids` has at most k rows. */
export interface CentroidsFrame {
  readonly kind: "centroids";
  readonly stamp: frames.Stamp;
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
export function sketchFrameBytes({ k, d }: { k: number; d: number }): number {
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

/** Centroids as a frame of the protocol. */
export function encodeCentroidsFrame(
  contract: frames.Contract,
  { epoch, sequence }: frames.Stamp,
  { tag, centroids, present, sketches }: CentroidsContent,
): Uint8Array {
  const { k, d } = contract;
  const frame = new Uint8Array(frameBytes(contract) + sketches.length * sketchFrameBytes(contract));
  const view = frames.writeHeader(frame, "centroids", contract);
  view.setUint16(frames.COUNT_AT, sketches.length, true);
  frames.setInteger(view, frames.EPOCH_AT, epoch);
  frames.setInteger(view, frames.SEQUENCE_AT, sequence);
  frames.setInteger(view, frames.HEADER_BYTES, tag.number);
  view.setUint32(52, tag.table, true);
  view.setUint32(56, tag.start, true);
  const numbers = CENTROIDS_AT + Math.ceil(k / 8);
  for (let c = 0; c < k; c++) {
    if (!present[c]) continue;
    frame[CENTROIDS_AT + (c >> 3)] |= 1 << (c & 7);
    for (let i = c * d; i < (c + 1) * d; i++) view.setFloat64(numbers + 8 * i, centroids[i], true);
  }
  sketches.forEach((sketch, n) => {
    writeSketch(view, frameBytes(contract) + n * sketchFrameBytes(contract), sketch);
  });
  return frame;
}

function writeSketch(/* OUT */ view: DataView, at: number, { origin, version, shares, centroids }: DeviceSketch): void {
  frames.setInteger(view, at, origin);
  frames.setInteger(view, at + 8, version);
  shares.forEach((share, c) => {
    view.setUint8(at + SKETCH_HEADER_BYTES + c, share);
  });
  const numbers = at + SKETCH_HEADER_BYTES + shares.length;
  for (let i = 0; i < centroids.length; i++) view.setFloat64(numbers + 8 * i, centroids[i], true);
}

export function encodeStudyFrame(contract: frames.Contract, text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const frame = new Uint8Array(frames.HEADER_BYTES + bytes.length);
  frames.writeHeader(frame, "study", contract);
  frame.set(bytes, frames.HEADER_BYTES);
  return frame;
}

export function encodeOrderFrame(contract: frames.Contract, { taken, refused, isTwice }: OrderReport): Uint8Array {
  const frame = new Uint8Array(ORDER_BYTES);
  const view = frames.writeHeader(frame, "order", contract);
  view.setUint16(frames.COUNT_AT, isTwice ? 1 : 0, true);
  frames.setInteger(view, frames.EPOCH_AT, taken.epoch);
  frames.setInteger(view, frames.SEQUENCE_AT, taken.sequence);
  frames.setInteger(view, frames.HEADER_BYTES, refused);
  return frame;
}

/** Reads a whole frame or refuses it. Never throws, keeps nothing of `frame`. */
export function decodeFrame(contract: frames.Contract, frame: Uint8Array): DecodedFrame {
  if (frame.length < frames.HEADER_BYTES || frame.length > LARGEST_FRAME_BYTES) return frameRefusal("length");
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (view.getUint32(0, true) !== frames.MAGIC) return frameRefusal("magic");
  if (view.getUint8(frames.VERSION_AT) !== frames.VERSION) return frameRefusal("version");
  const code = view.getUint8(frames.KIND_AT);
  if (code === frames.frameKinds.study) {
    const text = decodeText(frame.subarray(frames.HEADER_BYTES));
    return text === undefined ? frameRefusal("text") : { kind: "study", text };
  }
  const { centroids, order, history } = frames.frameKinds;
  if (code !== centroids && code !== order && code !== history) return frameRefusal("type");
  // Before the shape: another study often has another shape, and the study is the reason to name.
  if (!frames.isOfStudy(frame, contract)) return frameRefusal("study");
  // Whoever keeps a history has read it already.
  if (code === history) return frameRefusal("type");
  if (view.getUint16(6, true) !== contract.k || view.getUint16(8, true) !== contract.d) return frameRefusal("shape");
  if (code === frames.frameKinds.order) return decodeOrder(frame, view);
  const sketches = view.getUint16(frames.COUNT_AT, true);
  if (frame.length !== frameBytes(contract) + sketches * sketchFrameBytes(contract)) return frameRefusal("length");
  return decodeCentroids(contract, frame, view);
}

function decodeCentroids(contract: frames.Contract, frame: Uint8Array, view: DataView): DecodedFrame {
  const { k, d, low, high } = contract;
  const stamp = {
    epoch: frames.getInteger(view, frames.EPOCH_AT),
    sequence: frames.getInteger(view, frames.SEQUENCE_AT),
  };
  const tag = {
    number: frames.getInteger(view, frames.HEADER_BYTES),
    table: view.getUint32(52, true),
    start: view.getUint32(56, true),
  };
  if (![stamp.epoch, stamp.sequence, tag.number].every(Number.isSafeInteger)) return frameRefusal("stamp");
  const bitmap = Math.ceil(k / 8);
  // Bits beyond the last centroid are 0, so that every frame can be written in one way only.
  if (k % 8 !== 0 && frame[CENTROIDS_AT + bitmap - 1] >> (k % 8) !== 0) return frameRefusal("presence");
  const data = new Float64Array(k * d);
  let rows = 0;
  for (let c = 0, at = CENTROIDS_AT + bitmap; c < k; c++, at += 8 * d) {
    const isPresent = (frame[CENTROIDS_AT + (c >> 3)] >> (c & 7)) & 1;
    for (let i = 0; i < d; i++) {
      const value = view.getFloat64(at + 8 * i, true);
      if (!isPresent) {
        if (!Object.is(value, 0)) return frameRefusal("presence");
        continue;
      }
      if (!Number.isFinite(value)) return frameRefusal("number");
      if (value < low[i] || value > high[i]) return frameRefusal("bounds");
      data[rows * d + i] = value;
    }
    if (isPresent) rows++;
  }
  if (rows === 0) return frameRefusal("presence");
  const sketches: DeviceSketch[] = [];
  for (let at = frameBytes(contract); at < frame.length; at += sketchFrameBytes(contract)) {
    const sketch = readSketch(contract, view, at);
    if (sketch === undefined) return frameRefusal("sketch");
    sketches.push(sketch);
  }
  return { kind: "centroids", stamp, tag, centroids: { data: data.subarray(0, rows * d), rows, cols: d }, sketches };
}

/** Undefined: numbers that are too large, not finite or out of bounds, or a centroid where there is no share. */
function readSketch({ k, d, low, high }: frames.Contract, view: DataView, at: number): DeviceSketch | undefined {
  const [origin, version] = [frames.getInteger(view, at), frames.getInteger(view, at + 8)];
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
  if (frame.length !== ORDER_BYTES) return frameRefusal("length");
  const flags = view.getUint16(frames.COUNT_AT, true);
  if (flags > 1) return frameRefusal("flags");
  const taken = {
    epoch: frames.getInteger(view, frames.EPOCH_AT),
    sequence: frames.getInteger(view, frames.SEQUENCE_AT),
  };
  const order = { taken, refused: frames.getInteger(view, frames.HEADER_BYTES), isTwice: flags === 1 };
  const isStamp = [taken.epoch, taken.sequence, order.refused].every(Number.isSafeInteger);
  return isStamp ? { kind: "order", order } : frameRefusal("stamp");
}

/** Undefined: these bytes are no text. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function frameRefusal(reason: Refusal): DecodedFrame {
  return { kind: "refused", reason };
}

/** Which studies a device speaks: the one that it runs, and the one that it is changing to. */
interface StudyStatement {
  /** Hash of the study that the sender runs, in hex. */
  readonly current: string;
  /** The study that it is changing to and speaks as well. */
  readonly next: { readonly id: string; readonly text: string } | undefined;
  /** It wants to know which ones the receiver speaks. */
  readonly isAsking: boolean;
  /** Its owner keeps it out of the study that it runs; nobody learns why. */
  readonly isOut: boolean;
}

/** The header of the study that is run; then, in a change, the other study's hash and its text. */
export function encodeStatementFrame({
  current,
  next,
  isAsking,
  isOut,
}: {
  readonly current: frames.Contract;
  readonly next: { readonly contract: frames.Contract; readonly text: string } | undefined;
  readonly isAsking: boolean;
  readonly isOut: boolean;
}): Uint8Array {
  const text = new TextEncoder().encode(next?.text ?? "");
  const frame = new Uint8Array(frames.HEADER_BYTES + (next === undefined ? 0 : frames.HASH_BYTES + text.length));
  frames
    .writeHeader(frame, "statement", current)
    .setUint16(frames.COUNT_AT, (isAsking ? 1 : 0) + (isOut ? 2 : 0), true);
  if (next !== undefined) {
    frame.set(next.contract.hash, frames.HEADER_BYTES);
    frame.set(text, frames.HEADER_BYTES + frames.HASH_BYTES);
  }
  return frame;
}

/** Of a frame of this kind; undefined: it is malformed. */
export function decodeStatementFrame(frame: Uint8Array): StudyStatement | undefined {
  const flags = new DataView(frame.buffer, frame.byteOffset, frame.byteLength).getUint16(frames.COUNT_AT, true);
  const body = frame.subarray(frames.HEADER_BYTES);
  if (flags > 3 || (body.length > 0 && body.length <= frames.HASH_BYTES)) return undefined;
  const current = frames.studyId({ hash: frames.frameStudyHash(frame) });
  const said = { current, isAsking: (flags & 1) === 1, isOut: (flags & 2) === 2 };
  if (body.length === 0) return { ...said, next: undefined };
  const text = decodeText(body.subarray(frames.HASH_BYTES));
  return text === undefined
    ? undefined
    : { ...said, next: { id: frames.studyId({ hash: body.subarray(0, frames.HASH_BYTES) }), text } };
}
