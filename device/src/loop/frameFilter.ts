// The fate of a neighbour's frame: taken, or refused because it is malformed, out of order or one too many.
// A refused frame changes nothing but a counter.

import { Allowance } from "../environment.ts";
import { type Contract, type Stamp, VERSION_AT } from "../wire/frames.ts";
import { FRAME_BURST, FRAMES_PER_SECOND } from "../wire/limits.ts";
import { type DecodedFrame, decodeFrame, refusals } from "../wire/studyFrames.ts";

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
  readonly allowance: Allowance;
  readonly refused: Map<RefusalReason, number>;
  rival: Rival | undefined;
  /** Of the frames that were refused by their version since the last one that was taken. */
  version: number | undefined;
  /** The last frame that nobody who keeps to the protocol sends. */
  malformed: { readonly reason: RefusalReason; readonly at: number } | undefined;
}

/** Reasons that say nothing against a sender: another study or version, an earlier start, too many frames. */
const blameless: readonly RefusalReason[] = ["study", "version", "order", "flood"];

export function createFrameFilter(last: Stamp | undefined, now: number): FrameFilter {
  const allowance = new Allowance(FRAME_BURST, 1000 / FRAMES_PER_SECOND, now);
  return { last, rival: undefined, version: undefined, malformed: undefined, allowance, refused: new Map() };
}

/** A frame of shared clusters, as far as its order is judged. */
interface StampedBoard {
  readonly kind: "board" | "proof" | "members" | "books";
  readonly stamp: Stamp;
}

export type FrameVerdict<Board extends StampedBoard = StampedBoard> =
  | Exclude<DecodedFrame, { kind: "refused" }>
  | Board
  | { readonly kind: "refused"; readonly reason: RefusalReason };

/** Takes or refuses a frame that came at `now`. `read`: as frames of this study are read. */
export function filterFrame<Board extends StampedBoard = StampedBoard>(
  contract: Contract,
  filter: FrameFilter,
  frame: Uint8Array,
  now: number,
  read: (contract: Contract, frame: Uint8Array) => DecodedFrame | Board = decodeFrame,
): FrameVerdict<Board> {
  const verdict = verdictOn(filter, now, () => read(contract, frame), frame);
  if (verdict.kind !== "refused") return verdict;
  const { reason } = verdict;
  filter.refused.set(reason, (filter.refused.get(reason) ?? 0) + 1);
  if (!blameless.includes(reason)) filter.malformed = { reason, at: now };
  return verdict;
}

function verdictOn<Board extends StampedBoard>(
  filter: FrameFilter,
  now: number,
  read: () => DecodedFrame | Board,
  frame: Uint8Array,
): FrameVerdict<Board> {
  // Unread: a flood must cost less to drop than to send.
  if (!filter.allowance.take(now)) return { kind: "refused", reason: "flood" };
  const decoded = read();
  if (decoded.kind === "refused" && decoded.reason === "version") filter.version = frame[VERSION_AT];
  if (decoded.kind !== "centroids" && decoded.kind !== "board") return decoded;
  filter.version = undefined;
  const { last, rival } = filter;
  if (last !== undefined && !isLater(decoded.stamp, last)) {
    const { epoch } = decoded.stamp;
    filter.rival = { epoch, at: now, twiceAt: epoch === last.epoch ? now : rival?.twiceAt };
    return { kind: "refused", reason: "order" };
  }
  // A link keeps its order: an older frame between two of one start is another sender's. A new start may be the cure.
  const isSameStart = decoded.stamp.epoch === last?.epoch;
  if (rival !== undefined) filter.rival = isSameStart ? { ...rival, twiceAt: now } : undefined;
  filter.last = decoded.stamp;
  return decoded;
}

function isLater(stamp: Stamp, than: Stamp): boolean {
  return stamp.epoch > than.epoch || (stamp.epoch === than.epoch && stamp.sequence > than.sequence);
}
