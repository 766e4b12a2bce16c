// The frame in which neighbours tell each other how far their histories have come: the sender's head, signed, and the latest
// head of the receiver that the sender has seen. Pure; see docs/protocol.md#histories.

import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import * as frames from "./frames.ts";

/** How far a device's history, or its ledger, has come. */
export interface HistoryHead {
  /** When this history began: a later one is one that the device's owner consented to. */
  readonly lineage: number;
  /** How often it was written since. */
  readonly count: number;
  /** Drawn at random when it was last written, in hex: a copy of the folder that goes on has other ones. */
  readonly mark: string;
}

export interface SignedHead extends HistoryHead {
  readonly signature: Uint8Array;
}

export interface HistoryMessage {
  /** The sender's; undefined: it has no history that outlives it. */
  readonly own: SignedHead | undefined;
  /** The latest of the receiver that the sender has seen; undefined: none. */
  readonly yours: SignedHead | undefined;
  /** The receiver is to say what it has seen of the sender. */
  readonly isAsking: boolean;
  /** The sender does not know what it has published, and sends nothing of its rows. */
  readonly isLost: boolean;
}

export const HEAD_MARK_BYTES = 16;
const SIGNATURE_BYTES = 64;
/** Lineage 8, count 8, mark 16, signature 64. */
const HEAD_BYTES = 96;
const FRAME_BYTES = frames.HEADER_BYTES + 2 * HEAD_BYTES;
const ASKING_FLAG = 1;
const LOST_FLAG = 2;

/** What a device signs of a head. */
export function signedHeadBytes({ lineage, count, mark }: HistoryHead): Uint8Array {
  const numbers = new Uint8Array(16);
  const view = new DataView(numbers.buffer);
  frames.setInteger(view, 0, lineage);
  frames.setInteger(view, 8, count);
  return concatBytes(utf8ToBytes("fedkm history\n"), numbers, hexToBytes(mark));
}

export function encodeHistoryFrame(contract: frames.Contract, message: HistoryMessage): Uint8Array {
  const frame = new Uint8Array(FRAME_BYTES);
  const view = frames.writeHeader(frame, "history", contract);
  const flags = (message.isAsking ? ASKING_FLAG : 0) + (message.isLost ? LOST_FLAG : 0);
  view.setUint16(frames.COUNT_AT, flags, true);
  [message.own, message.yours].forEach((head, n) => {
    if (head === undefined) return;
    const at = frames.HEADER_BYTES + n * HEAD_BYTES;
    frames.setInteger(view, at, head.lineage);
    frames.setInteger(view, at + 8, head.count);
    frame.set(hexToBytes(head.mark), at + 16);
    frame.set(head.signature, at + 16 + HEAD_MARK_BYTES);
  });
  return frame;
}

/** Of a frame of this kind; undefined: it is malformed. Signatures are the receiver's to check. */
export function decodeHistoryFrame(frame: Uint8Array): HistoryMessage | undefined {
  if (frame.length !== FRAME_BYTES) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const flags = view.getUint16(frames.COUNT_AT, true);
  const [own, yours] = [0, 1].map((n) => decodeHead(frame, view, frames.HEADER_BYTES + n * HEAD_BYTES));
  if (flags > ASKING_FLAG + LOST_FLAG || own === "malformed" || yours === "malformed") return undefined;
  return { own, yours, isAsking: (flags & ASKING_FLAG) !== 0, isLost: (flags & LOST_FLAG) !== 0 };
}

/** All zeros: there is none. */
function decodeHead(frame: Uint8Array, view: DataView, at: number): SignedHead | undefined | "malformed" {
  const [lineage, count] = [frames.getInteger(view, at), frames.getInteger(view, at + 8)];
  if (!Number.isSafeInteger(lineage) || !Number.isSafeInteger(count)) return "malformed";
  if (lineage === 0) return frame.subarray(at, at + HEAD_BYTES).every((byte) => byte === 0) ? undefined : "malformed";
  const markEnd = at + 16 + HEAD_MARK_BYTES;
  const mark = bytesToHex(frame.subarray(at + 16, markEnd));
  return { lineage, count, mark, signature: frame.slice(markEnd, markEnd + SIGNATURE_BYTES) };
}

/** A later history, or one that was written more often. */
export function compareHeads(a: HistoryHead, b: HistoryHead): number {
  return a.lineage - b.lineage || a.count - b.count;
}
