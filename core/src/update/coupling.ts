// How two centroid sets are compared, blind to their order ((E2) and (E3), or one permutation: transport), and what a link
// costs by the discrepancy d of its ends: d itself, its root, or no more than a limit.

import munkres from "munkres";
import { checkNumber, checkOneOf } from "../data/check.ts";
import { type Matrix, squaredDistance } from "../data/matrix.ts";
import type { PackedLinks } from "../graph/graph.ts";

/**
 * norm: sqrt(d + scale) - sqrt(scale), the root of the network lasso, rounded off near 0. truncated: min(d, scale), so
 * that a link between strangers pulls no more. The scale is in units of d.
 */
export interface ScaledPenalty {
  readonly name: "norm" | "truncated";
  readonly scale: number;
}

/** How the cost of a link grows with the distance of its ends' centroids. */
export type Penalty = "squared" | ScaledPenalty;

/** A name alone leaves the scale to `fit`. */
export type PenaltyOption = Penalty | ScaledPenalty["name"];

export const penalties = ["squared", "norm", "truncated"] as const;

export function checkPenalty(penalty: PenaltyOption) {
  if (typeof penalty !== "object" || penalty === null) return checkOneOf("penalty", penalty, penalties);
  checkOneOf("penalty.name", penalty.name, ["norm", "truncated"]);
  checkNumber("penalty.scale", penalty.scale, (value) => value > 0, "a finite number above 0");
}

/** A penalty that can be computed without data. */
export function checkScaledPenalty(penalty: PenaltyOption): Penalty {
  checkPenalty(penalty);
  if (penalty === "squared" || typeof penalty === "object") return penalty;
  throw new RangeError(
    `penalty must have a scale here, { name: "${penalty}", scale } (fit returns it), got "${penalty}"`,
  );
}

export function penaltyCost({ name, scale }: ScaledPenalty, d: number): number {
  // Not the difference of two roots: near 0 its digits would cancel.
  return name === "norm" ? d / (Math.sqrt(d + scale) + Math.sqrt(scale)) : Math.min(d, scale);
}

/**
 * The slope of the cost. Costs are concave in d, so the tangent at a state lies above them everywhere and touches them
 * there: an update that lowers the sum of A(i, j) slope d lowers the sum of A(i, j) cost. Both ends of a link compute the
 * same slope from the same state, so that holds for updates one by one and, under its rules, for all devices at once.
 */
export function penaltySlope({ name, scale }: ScaledPenalty, d: number): number {
  if (name === "norm") return 1 / (2 * Math.sqrt(d + scale));
  return d < scale ? 1 : 0;
}

/** As a multiple of the discrepancy that two devices with the same clusters have by chance. */
const SCALES = { norm: 0.01, truncated: 4 };

/** `chance`: the discrepancy that two devices with the same clusters have by chance. */
export function scaledPenalty(penalty: PenaltyOption, chance: () => number): Penalty {
  if (penalty === "squared" || typeof penalty === "object") return penalty;
  const scale = SCALES[penalty] * chance();
  if (scale > 0) return { name: penalty, scale };
  const rule = `{ name: "${penalty}", scale } (no device has more points than clusters, or they do not vary)`;
  throw new RangeError(`penalty must be ${rule}, got "${penalty}"`);
}

/**
 * nearest: d(V, W) = sum_c min_c' |v_c - w_c'|^2 + sum_c' min_c |v_c - w_c'|^2, the paper's.
 * transport: d(V, W) = min over permutations s of sum_c |v_c - w_s(c)|^2.
 */
export type Coupling = "nearest" | "transport";

export const couplings: readonly Coupling[] = ["nearest", "transport"];

/** The centroid sets of many devices in one array: set i is the rows from starts[i] up to starts[i + 1]. */
export interface CentroidSets {
  readonly data: Float64Array;
  readonly starts: Uint32Array;
  readonly cols: number;
  /** Of every set; 0 where they differ. */
  readonly rows: number;
}

/** Where a set begins. Where it can be told it is not looked up: one question less to the slow memory of a large network. */
export function setStart({ starts, rows }: CentroidSets, device: number): number {
  return rows > 0 ? rows * device : starts[device];
}

export function rowsOfSet({ starts, rows }: CentroidSets, device: number): number {
  return rows > 0 ? rows : starts[device + 1] - starts[device];
}

export function packSets(centroids: readonly Matrix[], cols: number): CentroidSets {
  const rows = centroids.map((own) => own.rows);
  const sets = emptyCentroidSets(rows, cols);
  for (let i = 0; i < centroids.length; i++) sets.data.set(centroids[i].data, sets.starts[i] * cols);
  return sets;
}

/** The set of one device, in the memory of all. */
export function setAt({ data, starts, cols }: CentroidSets, device: number): Matrix {
  const [from, to] = [starts[device], starts[device + 1]];
  return { data: data.subarray(from * cols, to * cols), rows: to - from, cols };
}

export function emptyCentroidSets(rows: ArrayLike<number>, cols: number): CentroidSets {
  const starts = new Uint32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) starts[i + 1] = starts[i] + rows[i];
  const first = rows.length > 0 ? rows[0] : 0;
  const areAlike = starts.every((start, i) => start === i * first);
  return { data: new Float64Array(starts[rows.length] * cols), starts, cols, rows: areAlike ? first : 0 };
}

/** Who is matched with whom between an own set and another one. */
export interface Matches {
  /** (E3): for every own centroid, the other's centroid it is matched with. */
  readonly toOther: Uint32Array;
  /** (E2): for every centroid of the other, the own one it is matched with. Not used by transport. */
  readonly toOwn: Uint32Array;
  /** Squared length of each entry of toOther. */
  readonly lengths: Float64Array;
}

export function emptyMatches(k: number): Matches {
  return { toOther: new Uint32Array(k), toOwn: new Uint32Array(k), lengths: new Float64Array(k) };
}

/** Fills `into` and returns the discrepancy d of the rows of `own` and of `other`, which start at the given rows. */
export function match(
  coupling: Coupling,
  own: Float64Array,
  ownStart: number,
  ownRows: number,
  other: Float64Array,
  otherStart: number,
  otherRows: number,
  cols: number,
  /* OUT */ into: Matches,
): number {
  const { toOther, lengths } = into;
  for (let c = 0; c < ownRows; c++) lengths[c] = Number.POSITIVE_INFINITY;
  let total =
    cols === 2
      ? matchInPlane(own, ownStart, ownRows, other, otherStart, otherRows, into)
      : matchNearest(own, ownStart, ownRows, other, otherStart, otherRows, cols, into);
  if (coupling === "transport") {
    // A nearest map that is one-to-one is the cheapest permutation, so the Hungarian method is rarely needed.
    if (!isOneToOne(toOther, ownRows)) transport(own, ownStart, ownRows, other, otherStart, cols, into);
    total = 0;
  }
  for (let c = 0; c < ownRows; c++) total += lengths[c];
  return total;
}

/** (E2) and (E3), where all lengths are infinite before; returns the sum of the lengths of (E2). */
function matchNearest(
  own: Float64Array,
  ownStart: number,
  ownRows: number,
  other: Float64Array,
  otherStart: number,
  otherRows: number,
  cols: number,
  /* IN OUT */ { toOther, toOwn, lengths }: Matches,
): number {
  let total = 0;
  for (let c = 0; c < otherRows; c++) {
    let shortest = Number.POSITIVE_INFINITY;
    for (let o = 0; o < ownRows; o++) {
      const square = squaredDistance(own, (ownStart + o) * cols, other, (otherStart + c) * cols, cols);
      if (square < shortest) {
        shortest = square;
        toOwn[c] = o;
      }
      // Other's centroids come in rising order, so a strict comparison leaves ties to the lowest index.
      if (square < lengths[o]) {
        lengths[o] = square;
        toOther[o] = c;
      }
    }
    total += shortest;
  }
  return total;
}

/** The same bits with the other's coordinates in registers: the paper's data are planar. */
function matchInPlane(
  own: Float64Array,
  ownStart: number,
  ownRows: number,
  other: Float64Array,
  otherStart: number,
  otherRows: number,
  /* IN OUT */ { toOther, toOwn, lengths }: Matches,
): number {
  let total = 0;
  for (let c = 0, at = 2 * otherStart; c < otherRows; c++, at += 2) {
    const x = other[at];
    const y = other[at + 1];
    let shortest = Number.POSITIVE_INFINITY;
    let nearest = 0;
    for (let o = 0, from = 2 * ownStart; o < ownRows; o++, from += 2) {
      const dx = own[from] - x;
      const dy = own[from + 1] - y;
      const square = dx * dx + dy * dy;
      if (square < shortest) {
        shortest = square;
        nearest = o;
      }
      if (square < lengths[o]) {
        lengths[o] = square;
        toOther[o] = c;
      }
    }
    toOwn[c] = nearest;
    total += shortest;
  }
  return total;
}

function isOneToOne(map: Uint32Array, size: number): boolean {
  for (let c = 1; c < size; c++) for (let o = 0; o < c; o++) if (map[c] === map[o]) return false;
  return true;
}

function transport(
  own: Float64Array,
  ownStart: number,
  rows: number,
  other: Float64Array,
  otherStart: number,
  cols: number,
  /* OUT */ into: Matches,
): void {
  const costs = Array.from({ length: rows }, (_, o) =>
    Array.from({ length: rows }, (_, c) =>
      squaredDistance(own, (ownStart + o) * cols, other, (otherStart + c) * cols, cols),
    ),
  );
  for (const [o, c] of munkres(costs)) {
    into.toOther[o] = c;
    into.lengths[o] = costs[o][c];
  }
}

/** d(V, W) of two sets that were checked. */
export function couplingDiscrepancy(a: Matrix, b: Matrix, coupling: Coupling): number {
  return match(coupling, a.data, 0, a.rows, b.data, 0, b.rows, a.cols, emptyMatches(Math.max(a.rows, b.rows)));
}

/** Devices whose neighbours are read together: enough for memory to be busy, few enough for the first cache. */
const TOGETHER = 8;

/** What was read ahead: written, so that nobody leaves the reading out. */
const readAhead = new Float64Array(1);

/**
 * Brings the sets of the neighbours of the devices from position `at` of an order into the cache, at every TOGETHER-th position. In
 * a very large network they lie anywhere in slow memory, which answers many such questions at a time, but the steps of a
 * matching ask one after the other.
 */
export function prefetchSets(sets: CentroidSets, links: PackedLinks, order: ArrayLike<number>, at: number): void {
  if (at % TOGETHER !== 0) return;
  const end = Math.min(order.length, at + TOGETHER);
  for (let position = at; position < end; position++) {
    readSets(sets, links, links.starts[order[position]], links.starts[order[position] + 1]);
  }
}

function readSets(sets: CentroidSets, { devices }: PackedLinks, from: number, to: number): void {
  const { data, cols } = sets;
  let read = 0;
  for (let at = from; at < to; at++) {
    const first = setStart(sets, devices[at]) * cols;
    // A set may begin in one line of the cache and end in the next.
    read += data[first] + data[first + rowsOfSet(sets, devices[at]) * cols - 1];
  }
  readAhead[0] = read;
}

/** GTV of some devices, or of all: the sum over their edges of A(i, j) times the penalty of d(W_i, W_j). */
export function couplingVariation(
  sets: CentroidSets,
  links: PackedLinks,
  coupling: Coupling,
  matches: Matches,
  penalty: Penalty,
  devices: ArrayLike<number> = new Uint32Array(sets.starts.length - 1).map((_, i) => i),
): number {
  const { data, cols } = sets;
  let total = 0;
  for (let n = 0; n < devices.length; n++) {
    prefetchSets(sets, links, devices, n);
    const i = devices[n];
    const [start, rows] = [setStart(sets, i), rowsOfSet(sets, i)];
    const end = links.starts[i + 1];
    for (let at = links.starts[i]; at < end; at++) {
      const j = links.devices[at];
      // An edge is counted at its lower end.
      if (j < i) continue;
      const d = match(coupling, data, start, rows, data, setStart(sets, j), rowsOfSet(sets, j), cols, matches);
      total += links.weights[at] * (penalty === "squared" ? d : penaltyCost(penalty, d));
    }
  }
  return total;
}
