// What each partner must be told, and when: the generation, the own entry at once, what others posted a little later, and again
// what it has not confirmed. A partner is a linked device as a member of the board knows it.

import {
  BOARD_BEAT_MILLISECONDS,
  CONFIRM_MILLISECONDS,
  FORWARD_MILLISECONDS,
  GREETING_MILLISECONDS,
  PATIENCE_MILLISECONDS,
  SILENCE_MILLISECONDS,
} from "../wire/limits.ts";
import type { Board } from "./board.ts";
import type { BoardMessage } from "./boardFrame.ts";
import { type Entry, entryBytes } from "./entry.ts";
import type { Generation } from "./generation.ts";

export class BoardPartner {
  readonly peer: string;
  readonly id: string;
  isConnected = false;
  /** As last heard; 0: never. */
  epoch = 0;
  /** The epoch under which it counts; 0: it does not. */
  counted = 0;
  /** It says that it has heard this device, or that this device does not count for it any more. */
  isKnown = false;
  isDropped = false;
  heardAt: number;
  /** It may still come to count until then, and nothing is posted without it. */
  waitUntil: number;
  /** Entries of this generation that it says it has, and when others were last sent to it. */
  readonly confirmed = new Set<string>();
  readonly flight = new Map<string, number>();
  /** With sums over a tree: it learnt of this generation from this device; undefined: it has not said. */
  isBelow: boolean | undefined;
  /** It has heard this device in this generation. */
  hasHeard = false;
  /** The generation that it was last told, and what it was told of itself. */
  toldHash = "";
  toldDropped = false;
  sentAt = Number.NEGATIVE_INFINITY;
  /** Since when it should be told what came from it; undefined: it need not. */
  owedAt: number | undefined;
  /** It is behind, and cannot find the numbers of this generation itself. */
  needsNumbers = false;
  /** How long it has for an answer until it is told again; twice as long each time. */
  patience = PATIENCE_MILLISECONDS;
  /** The same for a neighbour that has not heard this device. */
  greeting = GREETING_MILLISECONDS;
  /** What it said of a generation whose numbers are not known here. */
  ahead: BoardMessage | undefined;

  constructor(peer: string, id: string, now: number, waitMilliseconds: number) {
    this.peer = peer;
    this.id = id;
    this.heardAt = now;
    this.waitUntil = now + waitMilliseconds;
  }
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

/** Where a device is. */
export interface OutboxState {
  readonly self: string;
  readonly generation: Generation;
  /** Of the generation, as text. */
  readonly hash: string;
  readonly board: Board;
  /** Others find the numbers of this generation by themselves. */
  readonly isFound: boolean;
  /** Its entries are small enough to be sent more often than needed. */
  readonly isSmall: boolean;
  readonly isPaused: boolean;
  /** With sums over a tree; undefined: everybody has all entries. */
  readonly tree: { readonly parent: string | undefined } | undefined;
  /** When the device came to this generation. */
  readonly turnedAt: number;
}

/** The most that a frame's entries take: well below the largest frame. */
const FRAME_ENTRIES_BYTES = 1 << 18;

/** Neighbours that must be told something now, and when to look again. */
export function dueMessages(
  place: OutboxState,
  links: readonly BoardPartner[],
  now: number,
): { readonly links: readonly BoardPartner[]; readonly nextAt: number } {
  const times = links.map((link) => ({ link, at: dueAt(place, link, now) }));
  // Who would be told in a moment is told with the rest.
  const until = times.some(({ at }) => at <= now) ? now + CONFIRM_MILLISECONDS : now;
  const later = times.flatMap(({ at }) => (at > until ? [at] : []));
  const looks = links.flatMap((link) => {
    if (link.counted > 0) return [link.heardAt + SILENCE_MILLISECONDS + 1];
    return isPending(link, now) ? [link.waitUntil] : [];
  });
  return {
    links: times.flatMap(({ link, at }) => (at <= until ? [link] : [])),
    nextAt: [...later, ...looks].reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY),
  };
}

function dueAt(place: OutboxState, link: BoardPartner, now: number): number {
  if (!link.isConnected) return Number.POSITIVE_INFINITY;
  if (link.toldHash !== place.hash || link.toldDropped !== isLeftOut(link, place.isPaused, now)) return now;
  let due = link.sentAt + BOARD_BEAT_MILLISECONDS;
  if (!link.isKnown) due = Math.min(due, link.sentAt + link.greeting);
  if (link.owedAt !== undefined) due = Math.min(due, link.owedAt + CONFIRM_MILLISECONDS);
  if (place.tree !== undefined && !link.hasHeard && link.counted > 0) due = Math.min(due, link.sentAt + link.patience);
  if (link.needsNumbers) due = Math.min(due, link.sentAt + link.patience);
  for (const entry of place.board.entries) due = Math.min(due, entryDueAt(place, link, entry, now));
  return due;
}

function entryDueAt(place: OutboxState, link: BoardPartner, { id, mark }: Entry, now: number): number {
  const { board, self, isSmall, turnedAt, tree } = place;
  if (link.confirmed.has(mark) || id === link.id) return Number.POSITIVE_INFINITY;
  if (tree !== undefined && (id !== self || link.id !== tree.parent)) return Number.POSITIVE_INFINITY;
  const sentAt = link.flight.get(mark);
  if (sentAt !== undefined) return sentAt + link.patience;
  if (id === self) return now;
  const isElsewhere = !isSmall && board.entryOf(link.id)?.links.has(id);
  return isElsewhere ? turnedAt + 2 * PATIENCE_MILLISECONDS : link.sentAt + FORWARD_MILLISECONDS;
}

/** What this neighbour is told now; it counts as told. */
export function takeMessage(
  place: OutboxState,
  /* IN OUT */ link: BoardPartner,
  now: number,
): Omit<BoardMessage, "kind" | "stamp"> {
  const { generation, board, hash } = place;
  const entries = entriesFor(place, link, now);
  const isLacking = link.needsNumbers || place.tree !== undefined || entries.some(({ mark }) => link.flight.has(mark));
  const isDropped = isLeftOut(link, place.isPaused, now);
  const withNumbers = place.isSmall || !place.isFound || link.needsNumbers;
  if (link.toldHash === hash && isLacking) link.patience = Math.min(2 * link.patience, BOARD_BEAT_MILLISECONDS);
  if (!link.isKnown) link.greeting = Math.min(2 * link.greeting, BOARD_BEAT_MILLISECONDS);
  for (const { mark } of entries) link.flight.set(mark, now);
  link.toldHash = hash;
  link.toldDropped = isDropped;
  link.sentAt = now;
  link.owedAt = undefined;
  link.needsNumbers = false;
  return {
    knows: link.epoch,
    isDropped,
    number: generation.number,
    hash: generation.hash,
    content: withNumbers ? generation : undefined,
    isAsking: link.ahead !== undefined || !link.isKnown,
    isBelow: place.tree !== undefined && place.tree.parent === link.id,
    hasHeard: place.tree !== undefined && link.isBelow !== undefined,
    have: Array.from(board.entries, ({ mark }) => mark),
    entries,
  };
}

function entriesFor(place: OutboxState, link: BoardPartner, now: number): Entry[] {
  const found: Entry[] = [];
  let room = FRAME_ENTRIES_BYTES;
  for (const entry of place.board.entries) {
    // What would go in a moment goes with the rest.
    if (entryDueAt(place, link, entry, now) > now + FORWARD_MILLISECONDS) continue;
    room -= entryBytes(entry.links.size, entry.words.length / 2);
    if (room < 0 && found.length > 0) break;
    found.push(entry);
  }
  return found;
}
