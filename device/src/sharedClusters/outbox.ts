// What each partner must be told, and when: the generation, the own entry at once, what others posted a little later, and
// again what it has not confirmed; and who has stayed behind, what it lacks of the board before.

import {
  BEHIND_MILLISECONDS,
  BOARD_BEAT_MILLISECONDS,
  CONFIRM_MILLISECONDS,
  FORWARD_MILLISECONDS,
  PATIENCE_MILLISECONDS,
  SILENCE_MILLISECONDS,
  SMALL_INTEGERS,
} from "../wire/limits.ts";
import type { BoardMessage } from "./boardFrame.ts";
import { type Entry, entryBytes } from "./entry.ts";
import { type Generation, orderOf } from "./generation.ts";
import { type BoardPartner, isBehind, isLeftOut, isPending } from "./partner.ts";

/** A board as others are told of it. */
export interface ToldBoard {
  readonly generation: Generation;
  /** Of the generation, as text. */
  readonly hash: string;
  readonly entries: readonly Entry[];
  entryOf(id: string): Entry | undefined;
  /** Of sums that were sealed and are open. */
  readonly secrets?: ReadonlyMap<string, Uint8Array> | undefined;
}

/** Where a device is. */
export interface OutboxState extends ToldBoard {
  readonly self: string;
  /** The board that led here; undefined: none did, or sums go over a tree. */
  readonly before: ToldBoard | undefined;
  /** The keys that opened it, if they did. */
  readonly keysBefore: ToldBoard | undefined;
  readonly integers: number;
  readonly isPaused: boolean;
  /** It has too few links to post. */
  readonly isIdle: boolean;
  readonly wantsOpening: boolean;
  /** With sums over a tree; undefined: everybody has all entries. */
  readonly tree: { readonly parent: string | undefined } | undefined;
  /** When the device came to this generation. */
  readonly turnedAt: number;
}

/** The most that a frame's entries take: well below the largest frame. */
const FRAME_ENTRIES_BYTES = 1 << 18;

/** Neighbours that must be told something now, and when to look again. */
export function dueMessages(
  state: OutboxState,
  links: readonly BoardPartner[],
  now: number,
  hopeUntil: number,
): { readonly links: readonly BoardPartner[]; readonly nextAt: number } {
  const times = links.map((link) => ({ link, at: dueAt(state, link, now) }));
  // Who would be told in a moment is told with the rest.
  const until = times.some(({ at }) => at <= now) ? now + CONFIRM_MILLISECONDS : now;
  const later = times.flatMap(({ at }) => (at > until ? [at] : []));
  const looks = links.flatMap((link) => {
    const stuckAt = link.behindSince === undefined ? [] : [link.behindSince + BEHIND_MILLISECONDS + 1];
    if (link.counted > 0) return [link.heardAt + SILENCE_MILLISECONDS + 1, ...stuckAt];
    if (now < link.bannedUntil) return [link.bannedUntil];
    return isPending(link, now) ? [link.waitUntil] : [];
  });
  return {
    links: times.flatMap(({ link, at }) => (at <= until ? [link] : [])),
    nextAt: [...later, ...looks, ...(hopeUntil > now ? [hopeUntil] : [])].reduce(
      (least, at) => Math.min(least, at),
      Number.POSITIVE_INFINITY,
    ),
  };
}

function dueAt(state: OutboxState, link: BoardPartner, now: number): number {
  if (!link.isConnected) return Number.POSITIVE_INFINITY;
  return Math.min(boardDueAt(state, link, now), proofDueAt(state, link, now));
}

function boardDueAt(state: OutboxState, link: BoardPartner, now: number): number {
  if (link.toldHash !== state.hash || link.toldDropped !== isLeftOut(link, state.isPaused, now)) return now;
  if (link.toldIdle !== state.isIdle || link.toldWants !== state.wantsOpening) return now;
  let due = link.sentAt + BOARD_BEAT_MILLISECONDS;
  if (!link.isKnown) due = Math.min(due, link.sentAt + link.greeting);
  if (link.owedAt !== undefined) due = Math.min(due, link.owedAt + CONFIRM_MILLISECONDS);
  if (state.tree !== undefined && !link.hasHeard && link.counted > 0) due = Math.min(due, link.sentAt + link.patience);
  if (state.tree !== undefined && isBehind(link, state.generation.base))
    due = Math.min(due, link.sentAt + link.patience);
  for (const entry of state.entries) due = Math.min(due, entryDueAt(state, link, entry, now));
  return due;
}

/** It may be sent more often than needed. */
const isSmall = ({ words }: Entry) => words.length / 2 <= SMALL_INTEGERS;

function entryDueAt(state: OutboxState, link: BoardPartner, entry: Entry, now: number): number {
  const { self, turnedAt, tree } = state;
  const { id, mark } = entry;
  if (link.told.confirmed.has(mark) || id === link.id) return Number.POSITIVE_INFINITY;
  if (tree !== undefined && (id !== self || link.id !== tree.parent)) return Number.POSITIVE_INFINITY;
  const sentAt = link.told.flight.get(mark);
  if (sentAt !== undefined) return sentAt + link.patience;
  if (id === self) return now;
  return isAwaited(state, link, entry) ? turnedAt + 2 * PATIENCE_MILLISECONDS : link.sentAt + FORWARD_MILLISECONDS;
}

/** A long entry that comes to the neighbour over a link of its own. */
function isAwaited({ entryOf }: ToldBoard, link: BoardPartner, entry: Entry): boolean {
  return !isSmall(entry) && entryOf(link.id)?.links.has(entry.id) === true;
}

/** Who is still on the board before gets the entries that it lacks; who is further behind gets all of it. */
function proofDueAt(state: OutboxState, link: BoardPartner, now: number): number {
  if (state.before === undefined || !isBehind(link, state.generation.base)) return Number.POSITIVE_INFINITY;
  const provenAgain = Math.max(now, link.provedAt + link.proofPatience);
  const before = state.keysBefore ?? state.before;
  const lacking = entriesLacking(before, link);
  // Who has all of it and stays was not on it, and cannot close it by itself.
  if (lacking.length === 0) return provenAgain;
  return Math.min(...lacking.map((entry) => lackingDueAt(state, before, link, entry, now)));
}

/** It may have got the entry elsewhere in the meantime, and be about to say so. */
function lackingDueAt(state: OutboxState, before: ToldBoard, link: BoardPartner, entry: Entry, now: number): number {
  const sentAt = link.toldBefore.flight.get(entry.mark);
  if (sentAt !== undefined) return sentAt + link.proofPatience;
  const wait = isAwaited(before, link, entry) ? PATIENCE_MILLISECONDS : FORWARD_MILLISECONDS;
  return Math.max(now, state.turnedAt + wait);
}

/** Of a neighbour that is still at this board. */
function entriesLacking(before: ToldBoard, { id, toldBefore, place }: BoardPartner): Entry[] {
  if (place?.generation !== before.hash) return [];
  return before.entries.filter((entry) => entry.id !== id && !toldBefore.confirmed.has(entry.mark));
}

type BoardContent = Omit<BoardMessage, "stamp" | "base"> & { readonly base: Generation["base"] | undefined };

/** What this neighbour is told now; it counts as told. */
export function takeMessages(state: OutboxState, /* IN OUT */ link: BoardPartner, now: number): BoardContent[] {
  const until = now + FORWARD_MILLISECONDS;
  const isProofDue = proofDueAt(state, link, now) <= until;
  const proof = isProofDue && state.before !== undefined ? [takeProof(state, state.before, link, now)] : [];
  return boardDueAt(state, link, now) <= until || proof.length === 0 ? [takeBoard(state, link, now), ...proof] : proof;
}

function takeBoard(state: OutboxState, /* IN OUT */ link: BoardPartner, now: number): BoardContent {
  const { generation, hash, integers, isIdle, wantsOpening, tree } = state;
  const entries = someOf(
    state.entries.filter((entry) => entryDueAt(state, link, entry, now) <= now + FORWARD_MILLISECONDS),
  );
  const isLacking = tree !== undefined || entries.some(({ mark }) => link.told.flight.has(mark));
  const isDropped = isLeftOut(link, state.isPaused, now);
  if (link.toldHash === hash && isLacking) link.patience = Math.min(2 * link.patience, BOARD_BEAT_MILLISECONDS);
  if (!link.isKnown) link.greeting = Math.min(2 * link.greeting, BOARD_BEAT_MILLISECONDS);
  for (const { mark } of entries) link.told.flight.set(mark, now);
  const told = { toldHash: hash, toldDropped: isDropped, toldIdle: isIdle, toldWants: wantsOpening };
  Object.assign(link, { ...told, sentAt: now, owedAt: undefined });
  return {
    kind: "board",
    knows: link.epoch,
    order: orderOf(generation.base),
    hash: generation.hash,
    base: tree === undefined ? undefined : generation.base,
    openings: [...generation.openings.values()],
    isAsking: link.ahead !== undefined || !link.isKnown,
    isDropped,
    isIdle,
    wantsOpening,
    isBelow: tree !== undefined && tree.parent === link.id,
    hasHeard: tree !== undefined && link.isBelow !== undefined,
    have: state.entries.map(({ mark }) => mark),
    integers,
    entries,
  };
}

function takeProof(state: OutboxState, before: ToldBoard, /* IN OUT */ link: BoardPartner, now: number): BoardContent {
  const shown = state.keysBefore ?? before;
  const lacking = entriesLacking(shown, link);
  const isNear = lacking.length > 0;
  const until = now + FORWARD_MILLISECONDS;
  const isDue = (entry: Entry) => lackingDueAt(state, shown, link, entry, now) <= until;
  const wanted = isNear ? lacking.filter(isDue) : [...before.entries];
  const isRepeated = isNear
    ? wanted.some(({ mark }) => link.toldBefore.flight.has(mark))
    : Number.isFinite(link.provedAt);
  if (isRepeated) link.proofPatience = Math.min(2 * link.proofPatience, BOARD_BEAT_MILLISECONDS);
  // Of a board that does not fit in a frame, those that were sent longest ago.
  const sentAt = ({ mark }: Entry) => link.toldBefore.flight.get(mark) ?? Number.NEGATIVE_INFINITY;
  const entries = someOf(wanted.sort((a, b) => (sentAt(a) < sentAt(b) ? -1 : sentAt(a) > sentAt(b) ? 1 : 0)));
  for (const { mark } of entries) link.toldBefore.flight.set(mark, now);
  if (entries.length === wanted.length || isNear) link.provedAt = now;
  const { generation, secrets } = isNear ? shown : before;
  return { ...proofMessage(generation, entries, secrets), knows: link.epoch, isIdle: state.isIdle };
}

/** What shows that the board of a generation was closed, or a part of it. */
export function proofMessage(
  generation: Generation,
  entries: readonly Entry[],
  secrets?: ToldBoard["secrets"],
): BoardContent {
  const { base, openings, hash, members } = generation;
  return {
    ...{ kind: "proof", knows: 0, order: orderOf(base), hash, base, members, openings: [...openings.values()] },
    ...{ isAsking: false, isDropped: false, isIdle: false, wantsOpening: false, isBelow: false },
    ...{ hasHeard: false, have: [] },
    ...{ integers: (entries[0]?.words.length ?? 0) / 2, entries, secrets },
  };
}

/** As many of them as fit in a frame. */
function someOf(entries: readonly Entry[]): Entry[] {
  const found: Entry[] = [];
  let room = FRAME_ENTRIES_BYTES;
  for (const entry of entries) {
    room -= entryBytes(entry);
    if (room < 0 && found.length > 0) break;
    found.push(entry);
  }
  return found;
}
