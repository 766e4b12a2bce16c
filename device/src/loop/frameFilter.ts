// The fate of a neighbour's frame: taken, or refused because it is malformed, out of order or one too many.
// A refused frame changes nothing but a counter.

import type { BoardMessage } from "../sharedClusters/boardFrame.ts";
import { FRAME_BURST, FRAMES_PER_SECOND } from "../wire/limits.ts";
import { type Contract, type DecodedFrame, decodeFrame, refusals, type Stamp } from "../wire/studyFrames.ts";

/** Why a frame can be refused. */
export const refusalReasons = [...refusals, "flood", "order"] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** A sender under a neighbour's key whose frames come after later ones were taken. */
interface Rival {
  readonly epoch: number;
  /** When the last of them came. */
  readonly at: number;
  /** When the later ones were last seen to come too, so that there are two senders; undefined: never. */
  readonly twiceAt: number | undefined;
}

/** What is remembered of one neighbour's frames. */
export interface FrameFilter {
  /** Of the last frame that was taken. */
  last: Stamp | undefined;
  tokens: number;
  refilledAt: number;
  readonly refused: Map<RefusalReason, number>;
  rival: Rival | undefined;
  /** Of the frames that were refused by their version since the last one that was taken. */
  version: number | undefined;
}

export function createFrameFilter(last: Stamp | undefined, now: number): FrameFilter {
  return { last, rival: undefined, version: undefined, tokens: FRAME_BURST, refilledAt: now, refused: new Map() };
}

type ReadFrame = DecodedFrame | BoardMessage;

export type FrameVerdict =
  | Exclude<ReadFrame, { kind: "refused" }>
  | { readonly kind: "refused"; readonly reason: RefusalReason };

/** Takes or refuses a frame that came at `now`. `read`: as frames of this study are read. */
export function filterFrame(
  contract: Contract,
  guard: FrameFilter,
  frame: Uint8Array,
  now: number,
  read: (contract: Contract, frame: Uint8Array) => ReadFrame = decodeFrame,
): FrameVerdict {
  const verdict = verdictOn(guard, now, () => read(contract, frame), frame);
  if (verdict.kind === "refused") guard.refused.set(verdict.reason, (guard.refused.get(verdict.reason) ?? 0) + 1);
  return verdict;
}

function verdictOn(guard: FrameFilter, now: number, read: () => ReadFrame, frame: Uint8Array): FrameVerdict {
  guard.tokens = Math.min(FRAME_BURST, guard.tokens + ((now - guard.refilledAt) / 1000) * FRAMES_PER_SECOND);
  guard.refilledAt = now;
  // Unread: a flood must cost less to drop than to send.
  if (guard.tokens < 1) return { kind: "refused", reason: "flood" };
  guard.tokens--;
  const decoded = read();
  if (decoded.kind === "refused" && decoded.reason === "version") guard.version = frame[4];
  if (decoded.kind !== "centroids" && decoded.kind !== "board") return decoded;
  guard.version = undefined;
  const { last, rival } = guard;
  if (last !== undefined && !isLater(decoded.stamp, last)) {
    const { epoch } = decoded.stamp;
    guard.rival = { epoch, at: now, twiceAt: epoch === last.epoch ? now : rival?.twiceAt };
    return { kind: "refused", reason: "order" };
  }
  // A link keeps its order: an older frame between two of one start is another sender's. A new start may be the cure.
  const isSameStart = decoded.stamp.epoch === last?.epoch;
  if (rival !== undefined) guard.rival = isSameStart ? { ...rival, twiceAt: now } : undefined;
  guard.last = decoded.stamp;
  return decoded;
}

function isLater(stamp: Stamp, than: Stamp): boolean {
  return stamp.epoch > than.epoch || (stamp.epoch === than.epoch && stamp.sequence > than.sequence);
}
