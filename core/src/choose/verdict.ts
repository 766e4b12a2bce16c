// Whether clusters are apart, and which run into each other: one verdict, of given centroids and for the choice of k.

import { checkInteger, checkMatrix, checkNetwork, checkSeed, checkShape } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { exp } from "../data/elementary.ts";
import { type Matrix, takeRows } from "../data/matrix.ts";
import { checkOptions, type OptionNames } from "../data/optionNames.ts";
import { hashRow } from "../data/random.ts";
import type { FitOptions } from "../fit/fitOptions.ts";
import type { Graph } from "../graph/graph.ts";
import { addTraffic, sumTraffic, type Traffic } from "../graph/traffic.ts";
import { checkKernel, type Kernel } from "../kernel/kernel.ts";
import { nearestCentroids } from "../kernel/model.ts";
import { fastKernel } from "../kernel/wasm.ts";
import { matchCentroids } from "../measures/measures.ts";
import { findCommonClusters } from "./commonClusters.ts";
import { spreadOverGrids } from "./grids.ts";
import { TUBE_BINS, type Tube, tubeRows, tubesBetween, valleyOf } from "./tubes.ts";

/** Two clusters that have nothing between them but a border. */
export interface PairVerdict {
  readonly a: number;
  readonly b: number;
  /** The chance of a valley like theirs where rows are spread evenly. */
  readonly chance: number;
  /** The rows that are left in the valley, of those at the lower peak. */
  readonly depth: number;
  readonly isApart: boolean;
  /**
   * How many rows lie where on the way from a to b, from a quarter of it before a to a quarter behind b; two lists where each
   * half of the rows judged the clusters of the other.
   */
  readonly bins: readonly Uint32Array[];
}

/** What `clusterVerdict` found. */
export interface ClusterVerdict {
  /** none: no gap can be shown. weak: some clusters are apart. clear: nearly all rows are in clusters that are. */
  readonly word: "clear" | "weak" | "none" | "too few rows";
  readonly pairs: readonly PairVerdict[];
}

/** Options of `clusterVerdict`. */
export type ClusterVerdictOptions = Pick<FitOptions, "restarts" | "minimum" | "seed" | "kernel">;

const verdictOptionNames: OptionNames<ClusterVerdictOptions> = {
  restarts: true,
  minimum: true,
  seed: true,
  kernel: true,
};

/**
 * Whether the clusters of all devices together are apart: whether rows thin out between the centroids of neighbours. All
 * that devices add up are counts and, once, products of columns in each cluster.
 * @example
 * const { datasets } = paperData("iso", 4, 100, 1);
 * clusterVerdict(datasets, ring(4), kmeans(stack(datasets), { k: 3 }).centroids).word // "clear"
 */
export function clusterVerdict(
  datasets: readonly Matrix[],
  graph: Graph,
  centroids: Matrix,
  options: ClusterVerdictOptions = {},
): ClusterVerdict {
  const cols = checkNetwork(datasets, graph);
  checkOptions(options, verdictOptionNames);
  checkMatrix("centroids", centroids);
  checkShape("centroids", centroids, centroids.rows, cols, "the columns of datasets");
  const settings = checkedSettings(options);
  return verdictOf(spreadOverGrids(datasets, settings.seed), graph, centroids, settings);
}

export interface VerdictSettings {
  readonly restarts: number;
  readonly minimum: number;
  readonly seed: number;
  readonly kernel: Kernel;
}

export function checkedSettings(options: ClusterVerdictOptions): VerdictSettings {
  const { seed = defaults.seed, minimum = defaults.minimum, restarts = defaults.restarts } = options;
  const { kernel = fastKernel } = options;
  checkSeed(seed);
  checkInteger("minimum", minimum, 1);
  checkInteger("restarts", restarts, 1);
  checkKernel(kernel);
  return { restarts, minimum, seed, kernel };
}

/** Of chance for all pairs together. */
const ANY = 0.01;

/** A pair of fewer rows cannot show a valley. */
const ENOUGH = 20;

/** What may be left in the valley where clusters are clearly apart. */
const CLEARLY = 0.35;
/** Beside pairs that are surely apart, one that is likely to be so counts as well. */
const LIKELY = 0.3;
/** The share of rows in clusters that are clearly apart, by the share of their neighbours, where the whole is clear. */
const MOST = 0.8;

/** Of the rows beside a border, those on it: clusters may be apart, and rows run across. */
const ACROSS = { clear: 0.5, none: 0.9 };
/** A border has a bridge where one of its tubes has so many rows in the middle, of what tubes inside clusters have. */
const BRIDGE = 0.7;

function verdictOf(
  datasets: readonly Matrix[],
  graph: Graph,
  centroids: Matrix,
  settings: VerdictSettings,
): ClusterVerdict {
  const judged = judgeClusters(datasets, graph, centroids, settings);
  const { pairs } = judged;
  const word = verdictWord(judged, () => acrossBorders(datasets, graph, centroids, settings));
  return { word, pairs };
}

/** The word for judged clusters; `lookAcross` is asked where the pairs alone would say that some are apart. */
export function verdictWord(
  judged: Omit<JudgedClusters, "traffic">,
  lookAcross: () => AcrossBorders | undefined,
): ClusterVerdict["word"] {
  const { pairs, sizes } = judged;
  if (pairs.every(({ bins }) => rowsOf(bins) < ENOUGH)) return "too few rows";
  if (judged.chance >= ANY || clusterGroups(judged).length < 2) return "none";
  const across = lookAcross();
  if (across !== undefined && across.ratio - across.error >= ACROSS.none) return "none";
  const clear = sizes.reduce((sum, size, c) => {
    const own = pairs.filter(({ a, b }) => a === c || b === c);
    if (!own.some(({ isApart }) => isApart) || own.some(({ depth }) => depth > CLEARLY)) return sum;
    return sum + (size * own.filter(({ chance }) => chance < LIKELY).length) / own.length;
  }, 0);
  const rows = sizes.reduce((sum, size) => sum + size, 0);
  const isBridged = across !== undefined && across.ratio > ACROSS.clear && across.bridge >= BRIDGE;
  return clear >= MOST * rows && !isBridged ? "clear" : "weak";
}

// The pairs of neighbours, each with its valley.

/** What pairs say of k clusters. */
export interface JudgedClusters {
  readonly pairs: readonly PairVerdict[];
  /** Of any of these valleys where there is none. */
  readonly chance: number;
  readonly sizes: Float64Array;
  /** Clusters of fewer rows are strays, however far they are. */
  readonly least: number;
  readonly traffic: Traffic;
}

/** A pair is apart by the chance of its valley, once the chance of any is small, and by what is left in it. */
const APART = { chance: 0.1, depth: 0.8 };
/** Two clusters of fewer rows together, for each column, may be halves that k-means chose for the gap between them. */
const FEW_ROWS = { aColumn: 25, chance: 0.01 };

/** Fewer rows in a tube say nothing of a pair. */
const FEWEST = 8;

/** Fewer rows for each column than this: the rows that placed the centroids must not judge them. */
export const ROWS_A_COLUMN = 50;

/** Evenly spread rows have a gain beyond this with a chance that falls by a factor e for each nat. */
const BY_CHANCE = 1.1;

export function judgeClusters(
  datasets: readonly Matrix[],
  graph: Graph,
  centroids: Matrix,
  settings: VerdictSettings,
): JudgedClusters {
  const { rows: k, cols } = centroids;
  const sizes = new Float64Array(k);
  for (const own of datasets) for (const label of nearestCentroids(centroids, own)) sizes[label]++;
  const isWhole = areRowsEnough(
    sizes.reduce((sum, size) => sum + size, 0),
    cols,
  );
  const { looks, traffic } = isWhole
    ? looksAt(datasets, graph, centroids, settings)
    : looksAcross(datasets, graph, centroids, settings);
  return { ...judgeTubes(looks, sizes, cols, isWhole), traffic };
}

/**
 * Whether all rows may judge centroids that they placed; else each half judges those of the other.
 * @example areRowsEnough(1000, 2) // true
 */
export const areRowsEnough = (rows: number, cols: number) => rows >= ROWS_A_COLUMN * cols;

/** What the tubes of one k say, with those of both halves unless `isWhole`; `sizes`: rows of each cluster. */
export function judgeTubes(
  looks: readonly (readonly Tube[])[],
  sizes: Float64Array,
  cols: number,
  isWhole: boolean,
): Omit<JudgedClusters, "traffic"> {
  const rows = sizes.reduce((sum, size) => sum + size, 0);
  const judged = isWhole ? looks.flatMap((tubes) => tubes.filter(isJudged).map((tube) => [tube])) : paired(looks);
  const chanceOf = ({ a, b }: Tube) =>
    isWhole && sizes[a] + sizes[b] < FEW_ROWS.aColumn * cols ? FEW_ROWS.chance : APART.chance;
  const pairs = withoutThin(
    judged.map((tubes) => pairOf(tubes, chanceOf(tubes[0]))),
    sizes,
  );
  const least = Math.max(5, 0.01 * rows * Math.min(1, 10 / sizes.length));
  return { pairs, chance: chanceOfAny(pairs), sizes, least };
}

/** The tubes of each pair, from both halves. */
function paired(looks: readonly (readonly Tube[])[]): Tube[][] {
  const pairs = new Map<string, Tube[]>();
  for (const tube of looks.flat().filter(isJudged)) {
    const key = `${tube.a} ${tube.b}`;
    pairs.set(key, [...(pairs.get(key) ?? []), tube]);
  }
  return [...pairs.values()];
}

/** A tube with fewer rows than `ENOUGH`, and than this share of the smaller cluster, only grazes the two. */
const THIN = 0.25;

/** Pairs that graze each other say little, where others say more of both clusters. */
function withoutThin(pairs: readonly PairVerdict[], sizes: Float64Array): PairVerdict[] {
  const isThin = ({ a, b, bins }: PairVerdict) => rowsOf(bins) < Math.min(ENOUGH, THIN * Math.min(sizes[a], sizes[b]));
  const known = new Set(pairs.filter((pair) => !isThin(pair)).flatMap(({ a, b }) => [a, b]));
  return pairs.filter((pair) => !isThin(pair) || !known.has(pair.a) || !known.has(pair.b));
}

const isJudged = ({ bins }: Tube) => tubeRows(bins) >= FEWEST;

function looksAt(datasets: readonly Matrix[], graph: Graph, centroids: Matrix, { minimum }: VerdictSettings) {
  const tubes = tubesBetween(datasets, centroids, { minimum });
  const traffic = tubesTraffic(graph, centroids, tubes.length);
  return { looks: [tubes], traffic };
}

/** Products of columns in each cluster, then the bins of every tube. */
function tubesTraffic(graph: Graph, { rows: k, cols }: Matrix, tubes: number): Traffic {
  return addTraffic(sumTraffic(graph, k * (1 + (cols * (cols + 1)) / 2)), sumTraffic(graph, TUBE_BINS * tubes));
}

/** Each half of the rows judges the clusters of the other. */
function looksAcross(datasets: readonly Matrix[], graph: Graph, centroids: Matrix, settings: VerdictSettings) {
  const { rows: k } = centroids;
  const halves = [0, 1].map((side) => datasets.map((own) => halfOfRows(own, side, settings.seed)));
  const traffic: Traffic[] = [];
  const looks: Tube[][] = [];
  for (const [side, half] of halves.entries()) {
    const least = Math.max(2 * k, settings.minimum);
    if (half.every((own) => own.rows < settings.minimum) || half.reduce((sum, own) => sum + own.rows, 0) < least) break;
    const found = findCommonClusters(half, graph, { ...settings, k });
    const numbers = matchCentroids(found.centroids, centroids);
    const tubes = tubesBetween(halves[1 - side], found.centroids, { minimum: settings.minimum, shapedBy: half });
    traffic.push(found.traffic, tubesTraffic(graph, centroids, tubes.length));
    looks.push(tubes.map((tube) => renumbered(tube, numbers)));
  }
  return { looks, traffic: addTraffic(...traffic) };
}

/**
 * The rows of one of two halves, by a hash: equal rows are in the same one.
 * @example halfOfRows(matrix([[1], [2], [3], [4], [5], [6]]), 0, HALVES_SEED).rows // 3
 */
export function halfOfRows(own: Matrix, side: number, seed: number): Matrix {
  const rows = Array.from({ length: own.rows }, (_, r) => r);
  return takeRows(
    own,
    rows.filter((r) => (hashRow(own, r, seed) & 1) === side),
  );
}

/** A tube between clusters that have other numbers elsewhere. */
export function renumbered({ a, b, bins }: Tube, numbers: ArrayLike<number>): Tube {
  const [from, to] = [numbers[a], numbers[b]];
  return from < to ? { a: from, b: to, bins } : { a: to, b: from, bins: bins.slice().reverse() };
}

/** Gains are added, never bins: a falling and a rising half add up to a valley that is in neither. */
function pairOf(tubes: readonly Tube[], least: number): PairVerdict {
  const [{ a, b }] = tubes;
  const bins = tubes.map((tube) => tube.bins);
  const valleys = bins.map(valleyOf);
  const excess = valleys.reduce((sum, { gain }) => sum + gain - BY_CHANCE, 0);
  // Two independent looks of an exponential chance each.
  const chance = tubes.length === 1 ? exp(-excess) : excess > 0 ? (1 + excess) * exp(-excess) : 1;
  const depth = valleys.reduce((sum, own, i) => sum + (tubeRows(bins[i]) / rowsOf(bins)) * own.depth, 0);
  return { a, b, chance: Math.min(1, chance), depth, isApart: chance < least && depth <= APART.depth, bins };
}

const rowsOf = (bins: readonly Uint32Array[]) => bins.reduce((sum, own) => sum + tubeRows(own), 0);

/** Clusters that are joined, directly or through others; groups of strays are left out. */
export function clusterGroups(
  { pairs, sizes, least }: Pick<JudgedClusters, "pairs" | "sizes" | "least">,
  isApart = (pair: PairVerdict) => pair.isApart,
): number[][] {
  const group = Array.from(sizes.keys());
  for (const pair of pairs) {
    // Strays between two clusters do not join them.
    if (isApart(pair) || sizes[pair.a] < least || sizes[pair.b] < least) continue;
    const [from, to] = [group[pair.b], group[pair.a]];
    group.forEach((own, c) => {
      if (own === from) group[c] = to;
    });
  }
  const all = Array.from(sizes.keys(), (g) => Array.from(sizes.keys()).filter((c) => group[c] === g));
  return all.filter((own) => own.reduce((sum, c) => sum + sizes[c], 0) >= least);
}

/** Simes. */
function chanceOfAny(pairs: readonly PairVerdict[]): number {
  const rising = pairs.map(({ chance }) => chance).sort((x, y) => x - y);
  return rising.reduce((least, chance, i) => Math.min(least, (chance * rising.length) / (i + 1)), 1);
}

// Rings and arcs have valleys between centroids, and none along themselves: finer cells show it.

interface AcrossBorders {
  /** Of all tubes between fine cells that cross a border, the rows in the middle over those at the ends. */
  readonly ratio: number;
  readonly error: number;
  /** The most rows in the middle of one of these tubes over what tubes inside clusters have there. */
  readonly bridge: number;
}

/** Undefined with too few rows to tell. */
function acrossBorders(
  datasets: readonly Matrix[],
  graph: Graph,
  centroids: Matrix,
  settings: VerdictSettings,
): AcrossBorders | undefined {
  const rows = datasets.reduce((sum, own) => sum + own.rows, 0);
  const k = Math.floor(Math.min(Math.max(12, 3 * centroids.rows), rows / 8));
  if (k <= centroids.rows) return undefined;
  const { centroids: fine } = findCommonClusters(datasets, graph, { ...settings, k });
  const owners = Array.from({ length: k }, () => new Float64Array(centroids.rows));
  for (const own of datasets) {
    const labels = nearestCentroids(centroids, own);
    nearestCentroids(fine, own).forEach((cell, r) => {
      owners[cell][labels[r]]++;
    });
  }
  const owner = owners.map((own) => own.indexOf(Math.max(...own)));
  const isMixed = owners.map((own, cell) => own[owner[cell]] < 0.8 * own.reduce((sum, count) => sum + count, 0));
  const [inner, outer]: [number[], number[]] = [[], []];
  let [middle, ends] = [0, 0];
  for (const { a, b, bins } of tubesBetween(datasets, fine, settings)) {
    const inside = tubeRows(bins.subarray(TUBE_BINS / 3, (2 * TUBE_BINS) / 3));
    const isOuter = owner[a] !== owner[b] || isMixed[a] || isMixed[b];
    (isOuter ? outer : inner).push(inside);
    if (!isOuter || tubeRows(bins) < FEWEST) continue;
    middle += inside;
    ends += (tubeRows(bins) - inside) / 2;
  }
  if (middle + 2 * ends < 25 || ends === 0) return undefined;
  const ratio = middle / ends;
  const usual = inner.reduce((sum, own) => sum + own, 0) / Math.max(1, inner.length);
  const bridge = outer.reduce((most, own) => Math.max(most, own), 0) / Math.max(1, usual);
  return { ratio, error: ratio * Math.sqrt(1 / Math.max(1, middle) + 1 / (2 * ends)), bridge };
}
