// One linked device as a member of the board knows it: whether it counts, and what it has been told.

import type { BoardMessage } from "../sharedClusters/boardFrame.ts";
import { GREETING_MILLISECONDS, PATIENCE_MILLISECONDS, SILENCE_MILLISECONDS } from "./pace.ts";

export interface BoardPartner {
  readonly peer: string;
  readonly id: string;
  isConnected: boolean;
  /** As last heard; 0: never. */
  epoch: number;
  /** The epoch under which it counts; 0: it does not. */
  counted: number;
  /** It says that it has heard this device, or that this device does not count for it any more. */
  isKnown: boolean;
  isDropped: boolean;
  heardAt: number;
  /** It may still come to count until then, and nothing is posted without it. */
  waitUntil: number;
  /** Entries of this generation that it says it has, and when others were last sent to it. */
  readonly confirmed: Set<string>;
  readonly flight: Map<string, number>;
  /** With sums over a tree: it learnt of this generation from this device; undefined: it has not said. */
  isBelow: boolean | undefined;
  /** It has heard this device in this generation. */
  hasHeard: boolean;
  /** The generation that it was last told, and what it was told of itself. */
  toldHash: string;
  toldDropped: boolean;
  sentAt: number;
  /** Since when it should be told what came from it; undefined: it need not. */
  owedAt: number | undefined;
  /** It is behind, and cannot find the numbers of this generation itself. */
  needsNumbers: boolean;
  /** How long it has for an answer until it is told again; twice as long each time. */
  patience: number;
  /** The same for a neighbour that has not heard this device. */
  greeting: number;
  /** What it said of a generation whose numbers are not known here. */
  ahead: BoardMessage | undefined;
}

export function createPartner(peer: string, id: string, now: number, waitMilliseconds: number): BoardPartner {
  return {
    peer,
    id,
    isConnected: false,
    epoch: 0,
    counted: 0,
    isKnown: false,
    isDropped: false,
    heardAt: now,
    waitUntil: now + waitMilliseconds,
    confirmed: new Set(),
    flight: new Map(),
    isBelow: undefined,
    hasHeard: false,
    toldHash: "",
    toldDropped: false,
    sentAt: Number.NEGATIVE_INFINITY,
    owedAt: undefined,
    needsNumbers: false,
    patience: PATIENCE_MILLISECONDS,
    greeting: GREETING_MILLISECONDS,
    ahead: undefined,
  };
}

/** A new connection: whatever was under way is lost. */
export function connectPartner(/* OUT */ link: BoardPartner): void {
  link.isConnected = true;
  link.toldHash = "";
  link.flight.clear();
  link.patience = PATIENCE_MILLISECONDS;
  link.greeting = GREETING_MILLISECONDS;
}

/** In a new generation nobody has anything yet. */
export function beginGeneration(/* OUT */ link: BoardPartner): void {
  link.confirmed.clear();
  link.flight.clear();
  link.isBelow = undefined;
  link.hasHeard = false;
  link.owedAt = undefined;
  link.needsNumbers = false;
  link.patience = PATIENCE_MILLISECONDS;
}

/** Whether a device goes on without it. */
export function isLeftOut({ heardAt }: BoardPartner, isPaused: boolean, now: number): boolean {
  return isPaused || now - heardAt > SILENCE_MILLISECONDS;
}

export function isPending({ counted, waitUntil }: BoardPartner, now: number): boolean {
  return counted === 0 && now < waitUntil;
}

/** Links to just these peers from now on; returns whether one is gone that counted. */
export function setPartners(
  /* IN OUT */ links: Map<string, BoardPartner>,
  peers: readonly string[],
  added: (peer: string) => BoardPartner,
): boolean {
  let isLess = false;
  for (const [peer, { counted }] of links) {
    if (peers.includes(peer)) continue;
    links.delete(peer);
    isLess ||= counted > 0;
  }
  for (const peer of peers) if (!links.has(peer)) links.set(peer, added(peer));
  return isLess;
}

/** What it says that it has, in the same generation. */
export function confirmEntries(/* IN OUT */ link: BoardPartner, { have, isBelow, hasHeard }: BoardMessage): void {
  link.needsNumbers = false;
  link.confirmed.clear();
  for (const mark of have) link.confirmed.add(mark);
  link.isBelow = isBelow;
  link.hasHeard = hasHeard;
}
