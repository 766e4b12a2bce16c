// Which studies a device speaks, as a frame of type 6: the one that it runs, and the one that it is changing to.

import { studyId } from "./study/study.ts";
import { studyHashOf } from "./wire/frames.ts";
import { type Contract, HASH_BYTES, HEADER_BYTES, writeHeader } from "./wire/studyFrames.ts";

export const STATEMENT = 6;

/** The number of sketches in a frame of centroids. */
const FLAGS_AT = 10;

export interface StudyStatement {
  /** Hash of the study that the sender runs, in hex. */
  readonly current: string;
  /** The study that it is changing to and speaks as well. */
  readonly next: { readonly id: string; readonly text: string } | undefined;
  /** It wants to know which ones the receiver speaks. */
  readonly isAsking: boolean;
}

/** What a sender says: its contract, and that of the study that it is changing to with its canonical text. */
export interface StatementContent {
  readonly current: Contract;
  readonly next: { readonly contract: Contract; readonly text: string } | undefined;
  readonly isAsking: boolean;
}

/** The header of the study that is run; then, in a change, the other study's hash and its text. */
export function encodeStatement({ current, next, isAsking }: StatementContent): Uint8Array {
  const text = new TextEncoder().encode(next?.text ?? "");
  const frame = new Uint8Array(HEADER_BYTES + (next === undefined ? 0 : HASH_BYTES + text.length));
  writeHeader(frame, current, STATEMENT).setUint16(FLAGS_AT, isAsking ? 1 : 0, true);
  if (next !== undefined) {
    frame.set(next.contract.hash, HEADER_BYTES);
    frame.set(text, HEADER_BYTES + HASH_BYTES);
  }
  return frame;
}

/** Of a frame of this type; undefined: it is malformed. */
export function decodeStatement(frame: Uint8Array): StudyStatement | undefined {
  const flags = new DataView(frame.buffer, frame.byteOffset, frame.byteLength).getUint16(FLAGS_AT, true);
  const body = frame.subarray(HEADER_BYTES);
  if (flags > 1 || (body.length > 0 && body.length <= HASH_BYTES)) return undefined;
  const said = { current: studyId({ hash: studyHashOf(frame) }), isAsking: flags === 1 };
  if (body.length === 0) return { ...said, next: undefined };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body.subarray(HASH_BYTES));
    return { ...said, next: { id: studyId({ hash: body.subarray(0, HASH_BYTES) }), text } };
  } catch {
    return undefined;
  }
}
