// What the head of a frame says without reading the rest: its type, its study, and which frames it may replace.

import { VERSION } from "../version.ts";
import { type Contract, HASH_BYTES, HEADER_BYTES } from "./studyFrames.ts";

const VERSION_AT = 4;
const TYPE_AT = 5;
const HASH_AT = 12;

/** Undefined: it has no head that this device could read. */
export function frameKind(frame: Uint8Array): number | undefined {
  return frame.length >= HEADER_BYTES && frame[VERSION_AT] === VERSION ? frame[TYPE_AT] : undefined;
}

export function isOfStudy(frame: Uint8Array, { hash }: Pick<Contract, "hash">): boolean {
  return hash.every((byte, i) => frame[HASH_AT + i] === byte);
}

export function studyHashOf(frame: Uint8Array): Uint8Array {
  return frame.subarray(HASH_AT, HASH_AT + HASH_BYTES);
}

/**
 * Frames of one lane replace each other: those of one type and study. A device in a change of study sends the centroids
 * of two, and what it says once must not be lost to what it says often.
 */
export function laneOf(frame: Uint8Array): number {
  return [TYPE_AT, HASH_AT, HASH_AT + 1, HASH_AT + 2].reduce((lane, at) => 256 * lane + frame[at], 0);
}
