// Frames about keys to the byte: successors (type 4) and revocations (type 5). They are of no study, so that what would
// name one is 0 in their header; the statements that follow it are signed by themselves.

import { VERSION } from "../version.ts";
import { HEADER_BYTES, MAGIC } from "../wire/studyFrames.ts";
import { MOST_REVOCATIONS, MOST_SUCCESSORS } from "./limits.ts";
import { peerOf, publicKeyOf } from "./peer.ts";
import { type Revocation, readRevocations } from "./revocation.ts";
import { PUBLIC_BYTES } from "./signature.ts";
import { readSuccessors, type Successor } from "./successor.ts";

const SUCCESSORS = 4;
const REVOCATIONS = 5;
/** How many statements follow. */
const COUNT_AT = 10;

export type KeyFrame =
  | { readonly kind: "successors"; readonly successors: readonly Successor[] }
  /** The sender knows the receiver by this id, and lets it in under it. */
  | { readonly kind: "known"; readonly peer: string }
  | { readonly kind: "revocations"; readonly revocations: readonly Revocation[] };

/** The latest ones of a chain that is too long for a frame. */
export function encodeSuccessors(successors: readonly Successor[]): Uint8Array {
  const latest = successors.slice(-MOST_SUCCESSORS);
  return keyFrame(
    SUCCESSORS,
    latest.length,
    latest.map(({ bytes }) => bytes),
  );
}

export function encodeKnown(peer: string): Uint8Array {
  return keyFrame(SUCCESSORS, 0, [publicKeyOf(peer)]);
}

export function encodeRevocations(revocations: readonly Revocation[]): Uint8Array {
  return keyFrame(
    REVOCATIONS,
    revocations.length,
    revocations.map(({ bytes }) => bytes),
  );
}

/** Judged by its first bytes. */
export function isAboutKeys(frame: Uint8Array): boolean {
  if (frame.length < HEADER_BYTES || (frame[5] !== SUCCESSORS && frame[5] !== REVOCATIONS)) return false;
  return frameView(frame).getUint32(0, true) === MAGIC;
}

/** Reads a frame that is about keys. Undefined: it is malformed. Signatures are not judged here. */
export function decodeKeyFrame(frame: Uint8Array): KeyFrame | undefined {
  const count = frameView(frame).getUint16(COUNT_AT, true);
  const body = frame.subarray(HEADER_BYTES);
  if (frame[5] === REVOCATIONS) {
    const revocations = count <= MOST_REVOCATIONS ? readRevocations(body, count) : undefined;
    return revocations !== undefined && count > 0 ? { kind: "revocations", revocations } : undefined;
  }
  if (count === 0) return body.length === PUBLIC_BYTES ? { kind: "known", peer: peerOf(body) } : undefined;
  const successors = count <= MOST_SUCCESSORS ? readSuccessors(body) : undefined;
  return successors?.length === count ? { kind: "successors", successors } : undefined;
}

function frameView({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function keyFrame(type: number, count: number, parts: readonly Uint8Array[]): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  const view = new DataView(header.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint8(4, VERSION);
  view.setUint8(5, type);
  view.setUint16(COUNT_AT, count, true);
  return new Uint8Array(Buffer.concat([header, ...parts]));
}
