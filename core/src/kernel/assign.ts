// The assignment step (E1) on placed points: brings labels and sums in the kernel's memory up to date with new centroids.

import { ln } from "../data/elementary.ts";
import { codeCentroids, codeStep, type PointCodes, type ScreenBounds } from "./codes.ts";
import { CHUNK, type MemoryBlock, type WasmMachine } from "./module.ts";
import { hasPairBounds, type KernelEngine, kernelBoundShare, kernelPairShare } from "./pick.ts";
import {
  COUNTERS,
  FIELD,
  freeRows,
  layCodes,
  mayKeep,
  overRows,
  type PlacedPoints,
  reserveArrays,
  reserveRows,
  type Screen,
} from "./placedPoints.ts";
import { COORDINATES, writeAxes } from "./projection.ts";

export type PlacedClusters = NonNullable<ReturnType<typeof placeKernelClusters>>;

/** Clusters without rows, for points that are in none. Undefined when memory is full. */
export function placeKernelClusters(placed: PlacedPoints, k: number) {
  const { machine, points, layout, state } = placed;
  const { cols } = points;
  const pairs = (cols + 1) >> 1;
  const padded = paddedCount(k);
  // The small engine keeps eight labels where others have scores.
  const sizes = [16 * k * (cols + 1), 8 * k * cols, layout === "rows" ? kernelScoreBytes(k) : 32];
  if (layout === "rows")
    sizes.push(
      64 * cols * ((k + 7) >> 3),
      Math.max(4 * pairs * k, 2 * codeStride(cols) * padded),
      4 * padded,
      4 * k,
      kernelListBytes(k),
      32 * pairs,
      2 * padded,
    );
  const reserved = reserveArrays(machine, sizes);
  if (reserved === undefined) return undefined;
  const { block, addresses } = reserved;
  machine.f64().fill(0, addresses[0] / 8, addresses[0] / 8 + 2 * k * (cols + 1));
  const words = machine.i32();
  const first = state / 4;
  words[first + FIELD.k] = k;
  for (let i = 0; i < addresses.length; i++) words[first + ORDER[i]] = addresses[i];
  const [sums, centroids, scores, lanes, codes, starts, decrease, , , ways] = addresses;
  return {
    k,
    block,
    /** Addresses; those after `scores` are undefined for the small engine. */
    at: { sums, centroids, scores, lanes, codes, starts, decrease, ways },
    /** Labels and sums belong to the centroids in memory: there has been a call. */
    isAssigned: false,
    /** Their loss, where it is known. */
    loss: undefined as number | undefined,
    /** So does the slack of every row. */
    hasSlack: false,
    /** Lower bounds of all distances, where an engine keeps them. */
    pairBounds: undefined as PairBounds | undefined,
    /** Centroids that move this far leave too few rows with slack. */
    hopelessWay: Number.POSITIVE_INFINITY,
    /** Calls that are left to the plain engine after the screen was found useless. */
    rest: 0,
  };
}

/** A lower bound for every row and centroid, or four of them, in memory of its own. */
interface PairBounds {
  readonly kept: NonNullable<ReturnType<typeof reserveRows>>;
  /** Four centroids share a bound. */
  readonly isShared: boolean;
  /** The length of a unit. */
  unit: number;
  /** The bounds are those of the centroids in memory. */
  isKnown: boolean;
  /** Calls in a row that used them. */
  used: number;
  /** Calls that are left to another engine after they were found of little use. */
  rest: number;
  /** Where bounds come from that movement has used up; false once that was found of little use. */
  projection: Projection | undefined | false;
}

interface Projection {
  readonly block: MemoryBlock;
  /** Calls in a row that it did not help. */
  failed: number;
}

/** Gives the memory back. */
export function freeKernelClusters(placed: PlacedPoints, { block, pairBounds }: PlacedClusters): void {
  placed.machine.free(block);
  if (pairBounds === undefined) return;
  freeRows(placed, pairBounds.kept);
  if (pairBounds.projection) placed.machine.free(pairBounds.projection.block);
}

/** Centroids with padding, for vectors of 8. */
function paddedCount(k: number): number {
  return (k + 7) & ~7;
}

/** Bounds of a row with padding, where four centroids share one. */
function sharedCount(k: number): number {
  return paddedCount(paddedCount(k) / 4);
}

/** Numbers from the codes of one centroid to those of the next, where they lie one after the other. */
function codeStride(cols: number): number {
  return (cols + 7) & ~7;
}

/** The scores of eight points, what is found from them, the rows in doubt, their candidates and marks: see assembly/doubts.ts. */
export function kernelScoreBytes(k: number): number {
  return 34 * paddedCount(k) + 192 + sharedCount(k);
}

/** Two lists of the rows of a chunk, and the places of a counting sort by clusters: see assembly/moves.ts. */
export function kernelListBytes(k: number): number {
  return 8 * CHUNK + 4 * (k + 2);
}

/** The fields for the addresses above, in their order. */
const ORDER = [
  FIELD.sums,
  FIELD.centroids,
  FIELD.scores,
  FIELD.lanes,
  FIELD.codes,
  FIELD.starts,
  FIELD.decrease,
  FIELD.active,
  FIELD.packed,
  FIELD.ways,
];

/** Share of the distances which, if verified in float64, make the screen slower than the plain engine. */
const USELESS_SHARE = 0.15;
/** Calls after which a useless screen gets another chance: centroids have moved by then. */
const REST = 8;

export function assign(
  placed: PlacedPoints,
  clusters: PlacedClusters,
  centroids: Float64Array,
  wanted: KernelEngine,
): void {
  const { machine } = placed;
  const { at } = clusters;
  const engine = engineOfCall(placed, clusters, wanted);
  const f64 = machine.f64();
  const known = at.centroids / 8;
  // The centroids of the last call lie where those of this call go.
  const isMovement = (engine === "bounded" || hasPairBounds(engine)) && clusters.isAssigned;
  const ways = isMovement ? waysOf(f64, known, centroids, clusters.k) : undefined;
  // A plain loop: for a handful of numbers it is faster than `set`.
  for (let i = 0; i < centroids.length; i++) f64[known + i] = centroids[i];
  clusters.loss = undefined;
  if (engine === "small") {
    let loss = 0;
    overRows(placed, "points", (rows) => {
      loss = machine.assignTiles(placed.state, rows, loss);
    });
    clusters.loss = loss;
  } else if (engine === "plain" || !assignByScreen(placed, clusters, centroids, ways, engine)) {
    clusters.hasSlack = false;
    if (clusters.pairBounds) clusters.pairBounds.isKnown = false;
    assignPlainly(placed, clusters, centroids);
  }
  clusters.isAssigned = true;
}

function assignPlainly(placed: PlacedPoints, { at, k }: PlacedClusters, centroids: Float64Array): void {
  const { machine, points, state } = placed;
  const { cols } = points;
  const lanes = new Float64Array(machine.f64().buffer, at.lanes, ((k + 7) >> 3) * 8 * cols);
  lanes.fill(Number.POSITIVE_INFINITY);
  for (let c = 0; c < k; c++) {
    const first = (c >> 3) * 8 * cols + (c & 7);
    for (let j = 0; j < cols; j++) lanes[first + 8 * j] = centroids[c * cols + j];
  }
  overRows(placed, "points", (rows) => machine.assignRows("plain", state, rows));
}

/**
 * False if the screen is of no use for these points or centroids; then nothing has been assigned. `ways` are those of
 * the centroids since the last call, if bounds are wanted.
 */
function assignByScreen(
  placed: PlacedPoints,
  clusters: PlacedClusters,
  centroids: Float64Array,
  ways: Float64Array | undefined,
  engine: KernelEngine,
): boolean {
  const { machine, points, screen, state } = placed;
  if (screen === undefined) return false;
  if (clusters.rest > 0) {
    clusters.rest--;
    return false;
  }
  const { at, k } = clusters;
  const { cols } = points;
  const { buffer } = machine.f64();
  const isPruned = hasPairBounds(engine);
  const stride = isPruned ? codeStride(cols) : undefined;
  const bounds = codeCentroids(screen.codes, centroids, cols, {
    codes: new Int16Array(buffer, at.codes, stride === undefined ? 2 * k * ((cols + 1) >> 1) : stride * paddedCount(k)),
    stride,
    starts: new Int32Array(buffer, at.starts, paddedCount(k)),
  });
  if (bounds === undefined) return false;
  const way = ways && !isPruned && bounds.complete ? planMovement(placed, clusters, screen, ways) : undefined;
  const canFilter = way !== undefined && clusters.hasSlack;
  writeState(placed, bounds, way === undefined ? 0 : screen.slack.at, canFilter ? at.decrease : 0);
  if (isPruned) {
    planPairBounds(placed, clusters, screen, bounds, ways, engine === "grouped");
    planProjection(placed, clusters, screen, bounds);
  } else if (clusters.pairBounds) clusters.pairBounds.isKnown = false;
  layCodes(placed, isPruned);
  overRows(placed, "codes", (rows) => machine.assignRows("screen", state, rows));
  if (isPruned) judgePairBounds(placed, clusters);
  clusters.hasSlack = way !== undefined;
  const words = machine.i32();
  const looked = words[state / 4 + FIELD.looked];
  const share = looked / points.rows;
  const most = kernelBoundShare(cols, k);
  if (canFilter && share > most) clusters.hopelessWay = hopelessWay(way, share, most);
  if (words[state / 4 + FIELD.verified] > USELESS_SHARE * k * Math.max(1024, looked)) clusters.rest = REST;
  return true;
}

/** Units in the longest distance there can be. */
const UNITS = 30_000;
/** Sums of ways end here, so that they and a distance stay within uint16. */
const LONGEST_WAYS = 32_000;

/**
 * Adds the ways of the centroids since the last call to those since the bounds were begun, or begins new ones. Without
 * memory for them none are kept.
 */
function planPairBounds(
  placed: PlacedPoints,
  clusters: PlacedClusters,
  { codes }: Screen,
  { complete, farthest }: ScreenBounds,
  ways: Float64Array | undefined,
  isShared: boolean,
): void {
  const { machine, state } = placed;
  const { at, k } = clusters;
  if (clusters.pairBounds === undefined) {
    const kept = reserveRows(placed, pairBoundBytes(k, isShared));
    clusters.pairBounds = kept && { kept, isShared, unit: 0, isKnown: false, used: 0, rest: 0, projection: undefined };
  }
  const { pairBounds } = clusters;
  const { buffer } = machine.f64();
  const sums = new Uint16Array(buffer, at.ways, paddedCount(k));
  // A centroid without a score has no bound either.
  const usable = complete ? pairBounds : undefined;
  const holds = usable?.isKnown && ways !== undefined && addWays(sums, ways, usable);
  if (!holds) sums.fill(0);
  if (usable && !holds) usable.unit = farthest / UNITS;
  if (pairBounds) pairBounds.isKnown = complete;
  const words = machine.i32();
  words[state / 4 + FIELD.bounds] = usable?.kept.at ?? 0;
  words[state / 4 + FIELD.isBounded] = Number(holds ?? false);
  words[state / 4 + FIELD.isShared] = Number(usable?.isShared ?? false);
  if (usable) new Float32Array(buffer, state + 4 * FIELD.scale, 1)[0] = codeStep(codes.radius) / usable.unit;
}

/** Bytes of the bounds of a row. */
function pairBoundBytes(k: number, isShared: boolean): number {
  return 2 * (isShared ? sharedCount(k) : paddedCount(k));
}

/** Its codes are at most so long. */
const PROJECTED_LENGTH = 16_000;
/** Half a unit for each coordinate of a row and of a centroid, and what float64 is wrong by. */
const PROJECTED_ERROR = Math.sqrt(COORDINATES) + 0.1;
/** From so many clusters on, whose scores leave room for its scratch. */
const PROJECTED_CLUSTERS = 64;

/** Makes the projection ready where bounds are new or have just been used up by movement, as they are in the first calls. */
function planProjection(
  placed: PlacedPoints,
  { pairBounds, k }: PlacedClusters,
  { codes }: Screen,
  { unit, lengthError, centroidError, farthest }: ScreenBounds,
): void {
  const { machine, state } = placed;
  const words = machine.i32();
  const first = state / 4;
  words[first + FIELD.projection] = 0;
  if (pairBounds === undefined || words[first + FIELD.bounds] === 0 || k < PROJECTED_CLUSTERS) return;
  if (words[first + FIELD.isBounded] && pairBounds.used > 0) return;
  pairBounds.projection ??= placeProjection(placed, codes, k);
  if (!pairBounds.projection) return;
  machine.i32()[first + FIELD.projection] = pairBounds.projection.block.at;
  const step = codeStep(codes.radius);
  const scale = Math.fround((PROJECTED_LENGTH * step) / Math.max(codes.radius, farthest - codes.radius));
  const bound = step / pairBounds.unit;
  const off = (PROJECTED_ERROR / scale + lengthError + centroidError) * bound * (1 + 2 ** -20) + 0.5;
  new Float32Array(machine.f64().buffer, state + 4 * FIELD.rowScale, 4).set([
    scale,
    (scale * unit) / 2,
    (bound / scale) * (1 - 2 ** -18),
    off,
  ]);
  machine.project(state);
}

/** False without room for it, or if the rows have no use for it. */
function placeProjection(placed: PlacedPoints, codes: PointCodes, k: number): Projection | false {
  const { machine, points } = placed;
  const stride = codeStride(points.cols);
  const padded = paddedCount(k);
  const triangle = 2 * COORDINATES * stride;
  const centroids = triangle + 8 * COORDINATES ** 2;
  const block = machine.allocate(centroids + (2 * COORDINATES + 4) * padded);
  if (block === undefined) return false;
  const { buffer } = machine.f64();
  const isUsable = writeAxes(points, codes, stride, {
    codes: new Int16Array(buffer, block.at, COORDINATES * stride),
    triangle: new Float64Array(buffer, block.at + triangle, COORDINATES ** 2),
  });
  if (isUsable) return { block, failed: 0 };
  machine.free(block);
  return false;
}

/** Centroids that start at rows jump once; a second call that still scores so many pairs says that more will. */
function judgePairBounds({ machine, points, state }: PlacedPoints, { pairBounds, k }: PlacedClusters): void {
  if (pairBounds === undefined) return;
  const words = machine.i32().subarray(state / 4);
  pairBounds.used = words[FIELD.isBounded] ? pairBounds.used + 1 : 0;
  judgeProjection(machine, pairBounds, words[FIELD.projected], words[FIELD.helped]);
  const share = (words[FIELD.scored] >>> 0) / (points.rows * k);
  if (pairBounds.used > 1 && share > kernelPairShare(points.cols, pairBounds.isShared)) pairBounds.rest = REST;
}

/** Centroids that are rows are farther from the axes than their means, so it gets a second chance. */
function judgeProjection(machine: WasmMachine, pairBounds: PairBounds, tried: number, helped: number): void {
  const { projection } = pairBounds;
  if (!projection || tried === 0) return;
  projection.failed = 2 * helped > tried ? 0 : projection.failed + 1;
  if (projection.failed < 2) return;
  machine.free(projection.block);
  pairBounds.projection = false;
}

/** What has this call: pair bounds may rest, or rows in blocks may have no room for them. */
function engineOfCall(placed: PlacedPoints, { pairBounds, k }: PlacedClusters, wanted: KernelEngine): KernelEngine {
  if (wanted !== "pruned" && wanted !== "grouped") return wanted;
  if (pairBounds?.rest) {
    pairBounds.rest--;
    return "bounded";
  }
  if (wanted === "pruned" && mayKeep(placed, pairBoundBytes(k, false))) return wanted;
  return mayKeep(placed, pairBoundBytes(k, true)) ? "grouped" : "bounded";
}

/** Adds ways in whole units, rounded up; the longest of those that share a bound. False if a sum becomes too long. */
function addWays(
  /* IN OUT */ sums: Uint16Array,
  ways: Float64Array,
  { unit, isShared }: Pick<PairBounds, "unit" | "isShared">,
): boolean {
  const each = isShared ? 4 : 1;
  for (let c = 0; c < ways.length; c += each) {
    const way = ways.subarray(c, c + each).reduce((longest, other) => Math.max(longest, other));
    const sum = sums[c / each] + Math.ceil((way / unit) * (1 + 1e-9));
    if (!(sum <= LONGEST_WAYS)) return false;
    sums[c / each] = sum;
  }
  return true;
}

/**
 * The way beyond which more than the share `most` of the rows needs a look, after one of them left `share`: slack is taken
 * to be spread exponentially.
 */
function hopelessWay(way: number, share: number, most: number): number {
  return (way * ln(1 - most)) / ln(1 - Math.min(share, 0.999));
}

function writeState(placed: PlacedPoints, bounds: ScreenBounds, slack: number, decrease: number): void {
  const { machine, state } = placed;
  const words = machine.i32();
  const first = state / 4;
  words[first + FIELD.mask] = bounds.mask;
  words[first + FIELD.threshold] = bounds.threshold;
  words[first + FIELD.slack] = slack;
  words[first + FIELD.decrease] = decrease;
  for (const counter of COUNTERS) words[first + counter] = 0;
  const { unit, squareError, lengthError } = bounds;
  new Float32Array(machine.f64().buffer, state + 4 * FIELD.unit, 3).set([unit, squareError, lengthError]);
}

/**
 * The longest way of a centroid since the last call if slack is worth keeping, otherwise undefined. Writes what the
 * movement takes from the slack of a cluster's rows: the way of the own centroid and the longest way of another, in
 * steps. It is rounded up, and the surplus also pays for the rounding of the reference.
 */
function planMovement(
  placed: PlacedPoints,
  clusters: PlacedClusters,
  screen: Screen,
  ways: Float64Array,
): number | undefined {
  const { k, at } = clusters;
  const farthest = ways.reduce((best, way, c) => (way > ways[best] ? c : best), 0);
  const first = ways[farthest];
  const second = ways.reduce((longest, way, c) => (c !== farthest && way > longest ? way : longest), 0);
  // Slack has to be asked for in vain before the way is known to be too long; a fraction of the radius is a first guess.
  if (!(first < Math.min(clusters.hopelessWay, screen.codes.radius / 8))) return undefined;
  const into = new Float32Array(placed.machine.f64().buffer, at.decrease, k);
  const step = codeStep(screen.codes.radius);
  for (let c = 0; c < k; c++) {
    const way = ways[c] + (c === farthest ? second : first);
    into[c] = way === 0 ? 0 : (way / step) * (1 + 2 ** -18) + 2 ** -40;
  }
  return first;
}

/** How far every centroid has moved since those that lie in memory at `known`. */
function waysOf(memory: Float64Array, known: number, centroids: Float64Array, k: number): Float64Array {
  const cols = centroids.length / k;
  const ways = new Float64Array(k);
  for (let c = 0, at = 0; c < k; c++) {
    let square = 0;
    for (let j = 0; j < cols; j++, at++) square += (centroids[at] - memory[known + at]) ** 2;
    ways[c] = Math.sqrt(square);
  }
  return ways;
}
