// Stamps that go back: a neighbour that began again under an earlier epoch, or a key that two devices use. Both ends
// say so, and whoever is refused learns which of its own epochs it must go above.

import type { Neighbour } from "./neighbour.ts";
import { AWAY_MILLISECONDS, HEARTBEAT_MILLISECONDS, LARGEST_LEARNT_EPOCH } from "./pace.ts";
import { type Contract, encodeOrder, type Order } from "./protocol.ts";

/** The frame that says what was taken last from a neighbour whose older frames are refused, if it is due. */
export function orderFrame(contract: Contract, neighbour: Neighbour, now: number): Uint8Array | undefined {
  const { last, rival } = neighbour.guard;
  if (last === undefined || rival === undefined || !neighbour.isConnected) return undefined;
  if (!isRecent(rival.at, now) || now < neighbour.orderSentAt + HEARTBEAT_MILLISECONDS) return undefined;
  neighbour.orderSentAt = now;
  return encodeOrder(contract, { taken: last, refused: rival.epoch, isTwice: isRecent(rival.twiceAt, now) });
}

/** Notes what a neighbour says of our frames. Returns the epoch that the next start must be above, if there is one. */
export function hearOrder(neighbour: Neighbour, order: Order, epoch: number, now: number): number | undefined {
  // About an earlier start of ours, and over.
  if (order.taken.epoch < epoch) return undefined;
  neighbour.order = { ...order, at: now };
  // A lie must not use up all numbers.
  return order.refused === epoch && order.taken.epoch <= LARGEST_LEARNT_EPOCH ? order.taken.epoch : undefined;
}

/** What is wrong between a neighbour and this device of this epoch, as a sentence that begins after its name. */
export function conflictOf({ guard, order }: Neighbour, epoch: number, now: number): string | undefined {
  const { rival } = guard;
  if (rival !== undefined && isRecent(rival.at, now)) {
    return isRecent(rival.twiceAt, now)
      ? "runs twice with the same key: one of the two must stop, or get a key of its own"
      : "is refused: it sent later frames before, so its clock or a backup went back; it must be started again";
  }
  if (order === undefined || !isRecent(order.at, now)) return undefined;
  return order.isTwice || order.refused !== epoch
    ? "hears this device twice: a copy with the same key runs elsewhere; stop one of the two, or give it a key of its own"
    : "refuses this device: it took later frames before, so the clock or a backup went back; start this device again";
}

/** A copy that has stopped is forgotten after the time after which a silent neighbour is away. */
function isRecent(at: number | undefined, now: number): boolean {
  return at !== undefined && now - at < AWAY_MILLISECONDS;
}
