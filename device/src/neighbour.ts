// One neighbour as a device knows it: a single register with its latest centroids, and whether it counts.

import type { Matrix } from "@fedkm/core";
import { createGuard, type Guard } from "./guard.ts";
import { AWAY_MILLISECONDS, AWAY_ROUNDS } from "./pace.ts";
import type { Order, Stamp } from "./protocol.ts";

export interface Neighbour {
  readonly peer: string;
  readonly guard: Guard;
  isConnected: boolean;
  /** Latest only. */
  centroids: Matrix | undefined;
  /** When something was last heard, by the clock and by own rounds. */
  heardAt: number;
  heardRound: number;
  /** Without its edge until it returns. */
  isAway: boolean;
  framesHeard: number;
  /** Why nothing is sent to it: it takes part in another study. */
  refusal: string | undefined;
  /** Whether studies were exchanged on this connection. */
  studySent: boolean;
  studyHeard: boolean;
  /** What it last said about the order of our frames, and when it was last sent this about its own. */
  order: (Order & { readonly at: number }) | undefined;
  orderSentAt: number;
}

export function createNeighbour(peer: string, now: number, last?: Stamp, centroids?: Matrix): Neighbour {
  return {
    peer,
    guard: createGuard(last, now),
    isConnected: false,
    centroids,
    heardAt: now,
    heardRound: 0,
    isAway: false,
    framesHeard: 0,
    refusal: undefined,
    studySent: false,
    studyHeard: false,
    order: undefined,
    orderSentAt: Number.NEGATIVE_INFINITY,
  };
}

/** A new connection. It may have come back with another study, or at last with ours. */
export function meet(neighbour: Neighbour): void {
  neighbour.isConnected = true;
  neighbour.refusal = undefined;
  neighbour.studySent = false;
  neighbour.studyHeard = false;
  neighbour.orderSentAt = Number.NEGATIVE_INFINITY;
}

/** Puts what was heard into the register. Returns whether it is news: a heartbeat is none. */
export function hear(neighbour: Neighbour, centroids: Matrix, now: number, round: number): boolean {
  const isNews = neighbour.isAway || !isEqual(neighbour.centroids, centroids);
  neighbour.centroids = centroids;
  neighbour.heardAt = now;
  neighbour.heardRound = round;
  neighbour.isAway = false;
  neighbour.framesHeard++;
  return isNews;
}

/** Returns whether the neighbour has just become away. */
export function checkAway(neighbour: Neighbour, now: number, round: number): boolean {
  if (neighbour.isAway || neighbour.centroids === undefined) return false;
  neighbour.isAway = now - neighbour.heardAt > AWAY_MILLISECONDS && round - neighbour.heardRound > AWAY_ROUNDS;
  return neighbour.isAway;
}

function isEqual(before: Matrix | undefined, after: Matrix): boolean {
  if (before === undefined || before.rows !== after.rows) return false;
  for (let i = 0; i < after.data.length; i++) if (before.data[i] !== after.data[i]) return false;
  return true;
}
