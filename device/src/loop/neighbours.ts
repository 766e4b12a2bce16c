// One neighbour as a device knows it: a register with its latest centroids, whether it counts, how much of its pull robust
// updates left out, and what is wrong between the two.

import { type DeviceUpdate, largestRobustDrift, type Matrix, matrix } from "@fedkm/core";
import { Allowance } from "../environment.ts";
import { AWAY_MILLISECONDS, AWAY_ROUNDS, BETWEEN_OPENINGS_MILLISECONDS, OPENING_BURST } from "../wire/limits.ts";
import type { CentroidsFrame, OpeningTag, OrderReport } from "../wire/studyFrames.ts";
import { createFrameFilter, type FrameFilter } from "./frameFilter.ts";
import type { SavedNeighbour } from "./savedState.ts";

export class Neighbour {
  readonly peer: string;
  readonly filter: FrameFilter;
  isConnected = false;
  /** Latest only. */
  centroids: Matrix | undefined;
  /** Hash of the common start that they began from. */
  start: number;
  /** As last heard on this connection. */
  tag: OpeningTag | undefined;
  /** Versions of the sketches that it is known to have, by origin, in the opening of `tag`. */
  readonly has = new Map<number, number>();
  /** The number of the opening in which it was last heard. */
  heardIn: number | undefined;
  /** On this connection it has brought more news of openings than are followed. */
  opensTooOften = false;
  /** Of news of openings. */
  readonly openings: Allowance;
  /** When it was last sent sketches, and how often it is still sent them while the difference stays the same. */
  agreeAt = Number.NEGATIVE_INFINITY;
  agreeLeft = 0;
  difference = "";
  /** When something was last heard, by the clock and by own rounds. */
  heardAt: number;
  heardRound = 0;
  /** Without its edge until it returns. */
  isAway = false;
  framesHeard = 0;
  /** Of the latest rounds, the share of its pulls that was left out. */
  readonly rejections: number[] = [];
  /** Why nothing is sent to it: it takes part in another study. */
  refusal: string | undefined;
  /** Whether studies were exchanged on this connection. */
  studySent = false;
  studyHeard = false;
  /** What it last said about the order of our frames, and when it was last sent this about its own. */
  order: (OrderReport & { readonly at: number }) | undefined;
  orderSentAt = Number.NEGATIVE_INFINITY;

  /** `known`: as it was saved, if it was. */
  constructor(peer: string, now: number, known?: SavedNeighbour) {
    this.peer = peer;
    this.filter = createFrameFilter(known && { epoch: known.epoch, sequence: known.sequence }, now);
    this.centroids = known && matrix(known.centroids);
    this.start = known?.start ?? 0;
    this.openings = new Allowance(OPENING_BURST, BETWEEN_OPENINGS_MILLISECONDS, now);
    this.heardAt = now;
  }
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
  const isNews = neighbour.isAway || neighbour.start !== tag.start || !isEqual(neighbour.centroids, centroids);
  neighbour.centroids = centroids;
  neighbour.start = tag.start;
  neighbour.heardAt = now;
  neighbour.heardRound = round;
  neighbour.isAway = false;
  neighbour.framesHeard++;
  return isNews;
}

/** The neighbour may bring as much news of openings as a new one. */
export function forgiveOpenings(neighbour: Neighbour): void {
  neighbour.openings.refill();
  neighbour.opensTooOften = false;
}

/** Returns whether the neighbour has just become away. */
export function checkNeighbourAway(neighbour: Neighbour, now: number, round: number): boolean {
  if (neighbour.isAway || neighbour.centroids === undefined) return false;
  neighbour.isAway = now - neighbour.heardAt > AWAY_MILLISECONDS && round - neighbour.heardRound > AWAY_ROUNDS;
  return neighbour.isAway;
}

function isEqual(before: Matrix | undefined, { data, rows }: Matrix): boolean {
  return before?.rows === rows && before.data.every((value, i) => value === data[i]);
}

/** The share of a neighbour's pulls that were left out is a mean over this many of the latest rounds. */
const REMEMBERED_ROUNDS = 100;

/** Fewer rounds say little: in an opening everybody is far from everybody. */
const LEAST_ROUNDS = 20;

/** Centroids that have come this far towards the cap on their drift are worth a look: 3 of 5 standard errors. */
const WORTH_A_LOOK = 0.6;

/** `counting`: the neighbours of the update, in its order. Who is trusted is not judged. */
export function noteRejected(counting: Iterable<Neighbour>, update: DeviceUpdate | undefined): void {
  if (update !== undefined && update.rejected === undefined) return;
  let n = 0;
  for (const { rejections } of counting) {
    rejections.push(update?.rejected?.[n++] ?? 0);
    if (rejections.length > REMEMBERED_ROUNDS) rejections.shift();
  }
}

/** Null: it has not been heard for long enough to say. */
export function rejectedShare({ rejections }: Neighbour): number | null {
  if (rejections.length < LEAST_ROUNDS) return null;
  return rejections.reduce((sum, share) => sum + share, 0) / rejections.length;
}

/** How far the farthest centroid is from the mean of its own rows, in standard errors, and who pulled it, if that is much. */
export function neighboursPull(
  update: DeviceUpdate | undefined,
  neighbours: readonly Neighbour[],
): { readonly drift: number | null; readonly pulledBy: readonly string[] | null } {
  if (update?.drift === undefined) return { drift: null, pulledBy: null };
  const { drift, counts } = update;
  const isFar = (errors: number, c: number) => errors > WORTH_A_LOOK * largestRobustDrift(counts[c]);
  const farthest = drift.reduce((most, errors, c) => (isFar(errors, c) && !(errors <= drift[most]) ? c : most), -1);
  return {
    drift: Math.max(...drift),
    pulledBy: farthest === -1 ? null : mainPullers(update.centroids, farthest, neighbours),
  };
}

/** Whoever does this share of a pull together is who pulls, if that is at most half of the neighbours. */
const MAIN_SHARE = 0.8;

/** The peers that pull centroid `c` while the others do not; none: all of them do, so that this device is the odd one. */
function mainPullers(centroids: Matrix, c: number, neighbours: readonly Neighbour[]): string[] {
  const own = centroids.data.subarray(c * centroids.cols, (c + 1) * centroids.cols);
  const pulls = neighbours.flatMap(({ peer, isAway, centroids: theirs }) => {
    return isAway || theirs === undefined || theirs.rows === 0 ? [] : [{ peer, towards: towardsNearest(own, theirs) }];
  });
  const sum = own.map((_, f) => pulls.reduce((total, { towards }) => total + towards[f], 0));
  const square = sum.reduce((total, value) => total + value * value, 0);
  const shares = pulls
    .map(({ peer, towards }) => ({ peer, share: towards.reduce((dot, value, f) => dot + value * sum[f], 0) / square }))
    .sort((a, b) => b.share - a.share);
  const few: string[] = [];
  for (let done = 0; done < MAIN_SHARE && few.length < shares.length; few.push(shares[few.length].peer)) {
    done += shares[few.length].share;
  }
  return few.length <= shares.length / 2 ? few : [];
}

/** From a centroid to the nearest one of others. */
function towardsNearest(own: Float64Array, { data, rows, cols }: Matrix): Float64Array {
  let nearest = new Float64Array(cols);
  let least = Number.POSITIVE_INFINITY;
  for (let r = 0; r < rows; r++) {
    const towards = own.map((value, f) => data[r * cols + f] - value);
    const square = towards.reduce((sum, value) => sum + value * value, 0);
    if (square < least) [nearest, least] = [towards as Float64Array<ArrayBuffer>, square];
  }
  return nearest;
}

/** What is wrong between a neighbour and this device of this epoch, as a sentence that begins after its name. */
export function neighbourConflict({ filter, order }: Neighbour, epoch: number, now: number): string | undefined {
  const { rival } = filter;
  if (rival !== undefined && isNeighbourRecent(rival.at, now)) {
    return isNeighbourRecent(rival.twiceAt, now)
      ? "runs twice with the same key: one of the two must stop, or get a key of its own"
      : "is refused: it sent later frames before, so its clock or a backup went back; it must be started again";
  }
  if (order === undefined || !isNeighbourRecent(order.at, now)) return undefined;
  return order.isTwice || order.refused !== epoch
    ? "hears this device twice: a copy with the same key runs elsewhere; stop one of the two, or give it a key of its own"
    : "refuses this device: it took later frames before, so the clock or a backup went back; start this device again";
}

/** What it sent that cannot be read, as a sentence that begins after its name. */
export function malformedFault({ filter: { malformed } }: Pick<Neighbour, "filter">, now: number): string | undefined {
  if (malformed === undefined || !isNeighbourRecent(malformed.at, now)) return undefined;
  return `sent a frame that cannot be read (${malformed.reason})`;
}

/** A copy that has stopped is forgotten after the time after which a silent neighbour is away. */
export function isNeighbourRecent(at: number | undefined, now: number): boolean {
  return at !== undefined && now - at < AWAY_MILLISECONDS;
}
