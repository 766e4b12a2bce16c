// One neighbour as a device knows it: a single register with its latest centroids, and whether it counts.

import type { Matrix } from "@fedkm/core";
import { AWAY_MILLISECONDS, AWAY_ROUNDS, BETWEEN_OPENINGS_MILLISECONDS, OPENING_BURST } from "../pace.ts";
import type { CentroidsFrame, OpeningTag, OrderReport, Stamp } from "../wire/studyFrames.ts";
import { createFrameFilter, type FrameFilter } from "./frameFilter.ts";

export interface Neighbour {
  readonly peer: string;
  readonly guard: FrameFilter;
  isConnected: boolean;
  /** Latest only. */
  centroids: Matrix | undefined;
  /** Of the seed that they began from. */
  seed: number;
  /** As last heard on this connection. */
  tag: OpeningTag | undefined;
  /** Versions of the sketches that it is known to have, by origin, in the opening of `tag`. */
  readonly has: Map<number, number>;
  /** The number of the opening in which it was last heard. */
  heardIn: number | undefined;
  /** On this connection it has brought more news of openings than are followed. */
  opensTooOften: boolean;
  /** How often it may still bring news of openings, as of `newsAt`. */
  newsLeft: number;
  newsAt: number;
  /** When it was last sent sketches, and how often it is still sent them while the difference stays the same. */
  agreeAt: number;
  agreeLeft: number;
  difference: string;
  /** When something was last heard, by the clock and by own rounds. */
  heardAt: number;
  heardRound: number;
  /** Without its edge until it returns. */
  isAway: boolean;
  framesHeard: number;
  /** Of the latest rounds, the share of its pulls that was left out. */
  readonly rejections: number[];
  /** Why nothing is sent to it: it takes part in another study. */
  refusal: string | undefined;
  /** Whether studies were exchanged on this connection. */
  studySent: boolean;
  studyHeard: boolean;
  /** What it last said about the order of our frames, and when it was last sent this about its own. */
  order: (OrderReport & { readonly at: number }) | undefined;
  orderSentAt: number;
}

/** As it was known before, if it was. */
interface KnownNeighbour extends Stamp {
  readonly seed: number;
  readonly centroids: Matrix;
}

export function createNeighbour(peer: string, now: number, known?: KnownNeighbour): Neighbour {
  return {
    peer,
    guard: createFrameFilter(known && { epoch: known.epoch, sequence: known.sequence }, now),
    isConnected: false,
    centroids: known?.centroids,
    seed: known?.seed ?? 0,
    tag: undefined,
    has: new Map(),
    heardIn: undefined,
    opensTooOften: false,
    newsLeft: OPENING_BURST,
    newsAt: now,
    agreeAt: Number.NEGATIVE_INFINITY,
    agreeLeft: 0,
    difference: "",
    heardAt: now,
    heardRound: 0,
    isAway: false,
    framesHeard: 0,
    rejections: [],
    refusal: undefined,
    studySent: false,
    studyHeard: false,
    order: undefined,
    orderSentAt: Number.NEGATIVE_INFINITY,
  };
}

/** A new connection. It may have come back with another study, or at last with ours. */
export function connectNeighbour(neighbour: Neighbour): void {
  neighbour.isConnected = true;
  neighbour.tag = undefined;
  neighbour.has.clear();
  neighbour.opensTooOften = false;
  neighbour.refusal = undefined;
  neighbour.studySent = false;
  neighbour.studyHeard = false;
  neighbour.orderSentAt = Number.NEGATIVE_INFINITY;
}

/** Puts what was heard into the register. Returns whether it is news: a heartbeat is none. */
export function registerFrame(
  neighbour: Neighbour,
  { centroids, tag }: CentroidsFrame,
  now: number,
  round: number,
): boolean {
  const isNews = neighbour.isAway || neighbour.seed !== tag.seed || !isEqual(neighbour.centroids, centroids);
  neighbour.centroids = centroids;
  neighbour.seed = tag.seed;
  neighbour.heardAt = now;
  neighbour.heardRound = round;
  neighbour.isAway = false;
  neighbour.framesHeard++;
  return isNews;
}

/** Whether the neighbour may bring news of openings now; if so, it counts as brought. */
export function mayBringOpening(neighbour: Neighbour, now: number): boolean {
  const gained = (now - neighbour.newsAt) / BETWEEN_OPENINGS_MILLISECONDS;
  neighbour.newsLeft = Math.min(OPENING_BURST, neighbour.newsLeft + gained);
  neighbour.newsAt = now;
  if (neighbour.newsLeft < 1) return false;
  neighbour.newsLeft--;
  return true;
}

/** The neighbour may bring as much news of openings as a new one. */
export function forgiveOpenings(neighbour: Neighbour): void {
  neighbour.newsLeft = OPENING_BURST;
  neighbour.opensTooOften = false;
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
