// Hashes of 32 and 53 bits that name devices, rows, starts and tables of sketches. Nothing is secret about them.

import type { Matrix } from "@fedkm/core";

/** A pseudonym: whoever knows the device's id knows it, others do not. */
export function originHash(peer: string): number {
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let i = 0; i < peer.length; i++) {
    high = Math.imul(high ^ peer.charCodeAt(i), 0x01000193);
    low = Math.imul(low ^ peer.charCodeAt(i), 0x85ebca6b) ^ (low >>> 15);
  }
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0);
}

/** Which rows are in use, as a number: equal rows, equal numbers. */
export function rowsHash({ data, cols }: Matrix): number {
  return hashBytes(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), cols);
}

export function hashBytes(bytes: Uint8Array, start = 0): number {
  let hash = 0x811c9dc5 ^ start;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return mix(hash);
}

/** A number of 32 bits in which every bit of `value` has a part. */
function mix(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export function hashPair(a: number, b: number): number {
  const halves = (value: number) => mix((value % 2 ** 32) ^ mix(Math.floor(value / 2 ** 32)));
  return mix(halves(a) ^ Math.imul(halves(b), 0x9e3779b1));
}
