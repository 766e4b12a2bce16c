// How version 1 of the protocol wrote and read frames, frozen: a device of that version, for tests. Never change it.

import type { Contract, Stamp } from "../../src/wire/studyFrames.ts";

const HEADER_BYTES = 44;

/** magic, version, type, k, d, flags, study, epoch, sequence, which centroids are present, centroids. All are present. */
export function encodeFrame1({ k, d, hash }: Contract, { epoch, sequence }: Stamp, centroids: readonly number[]) {
  const frame = new Uint8Array(HEADER_BYTES + Math.ceil(k / 8) + 8 * k * d);
  const view = new DataView(frame.buffer);
  view.setUint32(0, 0x6d6b6466, true);
  view.setUint8(4, 1);
  view.setUint8(5, 1);
  view.setUint16(6, k, true);
  view.setUint16(8, d, true);
  frame.set(hash, 12);
  view.setBigUint64(28, BigInt(epoch), true);
  view.setBigUint64(36, BigInt(sequence), true);
  for (let c = 0; c < k; c++) frame[HEADER_BYTES + (c >> 3)] |= 1 << (c & 7);
  for (const [i, value] of centroids.entries()) view.setFloat64(HEADER_BYTES + Math.ceil(k / 8) + 8 * i, value, true);
  return frame;
}

/** What a device of version 1 did with a frame: its numbers, or why it was refused and counted. */
export function decodeFrame1({ k, d, hash }: Contract, frame: Uint8Array): readonly number[] | string {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.length < HEADER_BYTES) return "length";
  if (view.getUint32(0, true) !== 0x6d6b6466) return "magic";
  if (view.getUint8(4) !== 1) return "version";
  if (view.getUint8(5) !== 1) return "type";
  if (!hash.every((byte, i) => frame[12 + i] === byte)) return "study";
  const at = HEADER_BYTES + Math.ceil(k / 8);
  if (frame.length !== at + 8 * k * d) return "length";
  return Array.from({ length: k * d }, (_, i) => view.getFloat64(at + 8 * i, true));
}
