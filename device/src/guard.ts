// The fate of a neighbour's frame: taken, or refused because it is malformed, out of order or one too many.
// A refused frame changes nothing but a counter.

import { FRAME_BURST, FRAMES_PER_SECOND } from "./link/limits.ts";
import { type Contract, type Decoded, decode, type Refusal, type Stamp } from "./protocol.ts";

export type Reason = Refusal | "flood" | "order";

/** What is remembered of one neighbour's frames. */
export interface Guard {
  /** Of the last frame that was taken. */
  last: Stamp | undefined;
  tokens: number;
  refilledAt: number;
  readonly refused: Map<Reason, number>;
}

export function createGuard(last: Stamp | undefined, now: number): Guard {
  return { last, tokens: FRAME_BURST, refilledAt: now, refused: new Map() };
}

export type Verdict = Exclude<Decoded, { kind: "refused" }> | { readonly kind: "refused"; readonly reason: Reason };

/** Takes or refuses a frame that came at `now`. */
export function examine(contract: Contract, guard: Guard, frame: Uint8Array, now: number): Verdict {
  const verdict = judge(contract, guard, frame, now);
  if (verdict.kind === "refused") guard.refused.set(verdict.reason, (guard.refused.get(verdict.reason) ?? 0) + 1);
  return verdict;
}

function judge(contract: Contract, guard: Guard, frame: Uint8Array, now: number): Verdict {
  guard.tokens = Math.min(FRAME_BURST, guard.tokens + ((now - guard.refilledAt) / 1000) * FRAMES_PER_SECOND);
  guard.refilledAt = now;
  // Unread: a flood must cost less to drop than to send.
  if (guard.tokens < 1) return { kind: "refused", reason: "flood" };
  guard.tokens--;
  const decoded = decode(contract, frame);
  if (decoded.kind !== "centroids") return decoded;
  if (guard.last !== undefined && !isLater(decoded.stamp, guard.last)) return { kind: "refused", reason: "order" };
  guard.last = decoded.stamp;
  return decoded;
}

function isLater(stamp: Stamp, than: Stamp): boolean {
  return stamp.epoch > than.epoch || (stamp.epoch === than.epoch && stamp.sequence > than.sequence);
}
