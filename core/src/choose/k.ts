// How many clusters there are, without pooling: each k is tried from one flooded seed and judged by sums over the devices.

import { checkInteger, checkNetwork } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { ln } from "../data/elementary.ts";
import type { Matrix } from "../data/matrix.ts";
import { checkOptions, type OptionNames } from "../data/optionNames.ts";
import { fitOn } from "../fit/fit.ts";
import type { FitOptions } from "../fit/fitOptions.ts";
import type { Graph } from "../graph/graph.ts";
import { addTraffic, sumTraffic, type Traffic } from "../graph/traffic.ts";
import { lossOf } from "../kernel/model.ts";
import { silhouetteOf } from "../measures/measures.ts";
import { COMPACT, labelledMoments, momentsFloor, momentsLength, separateMoments } from "./clusterMoments.ts";
import { type ChoiceCosts, choiceColumns, choiceSample, type Participants, participantsOf } from "./participants.ts";

/** Options of `chooseK`. */
export interface ChooseKOptions extends Pick<FitOptions, "restarts" | "minimum" | "seed" | "kernel" | "signal"> {
  /**
   * No larger k is tried. Default: a tenth of the points, at least 10; the search ends before, where the curve is over.
   * Nor is one for which no device has k times `minimum` points.
   */
  largestK?: number | undefined;
  /** Rows of all devices together that are looked at, at most about this many. Default 20,000. */
  sample?: number | undefined;
}

export const chooseKOptionNames: OptionNames<ChooseKOptions> = {
  restarts: true,
  minimum: true,
  seed: true,
  kernel: true,
  signal: true,
  largestK: true,
  sample: true,
};

/** One k of the curve. */
export interface KScore {
  readonly k: number;
  /** The sum of all losses. */
  readonly inertia: number;
  /** The mean simplified silhouette of all points. */
  readonly silhouette: number;
  /** How much better k clusters describe the points than one does, in nats per point; chance is taken off. */
  readonly gain: number;
  /** The share of the points whose cluster is apart from every other. */
  readonly apart: number;
}

/** What `chooseK` found, and what it cost. */
export interface KChoice extends ChoiceCosts {
  /** The k of the largest gain among those where a third of the points or more is in clusters that are apart. */
  readonly k: number;
  /** False: the points are spread like one cluster, or evenly. */
  readonly structure: boolean;
  /** The next best k; undefined if only one was tried. */
  readonly runnerUp: number | undefined;
  /** Whether the best k is the largest that was tried: a larger one may be better. */
  readonly atLimit: boolean;
  /** Where the inertia bends. */
  readonly elbow: number;
  /** Where the silhouette is highest. */
  readonly silhouette: number;
  /** Whether `elbow`, `silhouette` and `k` are the same. */
  readonly agree: boolean;
  /** One entry for each k that was tried, rising from 1: every one up to 10, then in wider steps, then around the best. */
  readonly curve: readonly KScore[];
}

/**
 * Inertia and silhouette are what people look at, and both mislead: the first falls for ever, the second joins clusters
 * that are near each other. So a third criterion decides, which knows how points without clusters behave.
 *
 * A device floods, for each k, a sketch of its points (as `init: "federated"` does) and adds to sums over the network:
 * its loss, its silhouette and, until labels settle, the count, sum and products of the points of each cluster. Where
 * there are many columns for so few points, half of the points choose directions and the others are judged along them.
 */
export function chooseK(datasets: readonly Matrix[], graph: Graph, options: ChooseKOptions = {}): KChoice {
  checkNetwork(datasets, graph);
  checkOptions(options, chooseKOptionNames);
  const { sample, ...others } = options;
  const { datasets: looked, ...sampled } = choiceSample(datasets, options.seed ?? defaults.seed, sample);
  return { ...chooseKOn(looked, graph, others), ...sampled };
}

/** The same on data that were checked, all of them. */
export function chooseKOn(datasets: readonly Matrix[], graph: Graph, options: Omit<ChooseKOptions, "sample">): KChoice {
  const { largestK, ...fitting } = options;
  const { minimum = defaults.minimum, seed = defaults.seed } = fitting;
  if (largestK !== undefined) checkInteger("largestK", largestK, 1);
  checkInteger("minimum", minimum, 1);
  const participants = participantsOf(datasets, graph, minimum, "minimum");
  const looked = choiceColumns(participants.datasets, participants.graph, { ...fitting, minimum, seed });
  const judged = looked === undefined ? participants : { ...participants, ...looked };
  const judge = judgeOf(judged, { ...fitting, minimum });
  const scores = search(judge, looked === undefined ? { largest: 1, patience: 1 } : bounds(judged, largestK, minimum));
  const curve = scores.map(({ traffic, ...score }): KScore => score);
  const { k } = chosenOf(curve);
  const elbow = elbowOf(curve);
  const silhouette = curve.reduce((best, score) => (score.silhouette > best.silhouette ? score : best)).k;
  return {
    k,
    structure: k > 1,
    runnerUp: runnerUpOf(curve)?.k,
    atLimit: isAtLimit(curve),
    elbow,
    silhouette,
    agree: elbow === k && silhouette === k,
    curve,
    leftOut: participants.leftOut,
    ...addTraffic(...(looked === undefined ? [] : [looked.traffic]), ...scores.map(({ traffic }) => traffic)),
    reveals: revealed(minimum, looked !== undefined && looked.datasets !== participants.datasets),
  };
}

/** Clusters of fewer points than this, on average, are not looked for unless `largestK` asks for them. */
const POINTS_PER_CLUSTER = 10;

function bounds(
  { datasets }: Pick<Participants, "datasets">,
  largestK: number | undefined,
  minimum: number,
): SearchBounds {
  const points = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const mostPoints = datasets.reduce((most, { rows }) => Math.max(most, rows), 0);
  const wanted = largestK ?? Math.max(10, Math.floor(points / POINTS_PER_CLUSTER));
  const largest = Math.max(1, Math.min(wanted, Math.floor(mostPoints / minimum)));
  return { largest, patience: largestK ?? Math.ceil(Math.sqrt(points)) };
}

type JudgeOptions = Omit<ChooseKOptions, "largestK" | "sample"> & { readonly minimum: number };

/** Everyone's sums at the seed for one k, and what it took to add them up. The first k must be 1. */
function judgeOf({ datasets, graph }: Pick<Participants, "datasets" | "graph">, options: JudgeOptions) {
  let whole: { readonly floor: number; readonly length: number } | undefined;
  return (k: number): KScore & { readonly traffic: Traffic } => {
    const seed = fitOn(datasets, graph, { ...options, k, alpha: 1, init: "federated", rounds: 0 });
    const [centroids] = seed.centroids;
    const { alike, alone, summed } = labelledMoments(datasets, centroids, options.minimum);
    const floor = whole?.floor ?? momentsFloor(alike);
    const length = momentsLength(alone, floor);
    whole ??= { floor, length };
    const apart = separateMoments(alike);
    // Clusters that are not apart may be cells of an even spread, which gain by being compact.
    const gain = whole.length - length - COMPACT * (1 - apart);
    const totals = totalsOf(datasets, centroids);
    // Loss, silhouette and number of points, then a sum for every labelling.
    const added = [3, ...summed].map((numbers) => sumTraffic(graph, numbers));
    return { k, ...totals, gain, apart, traffic: addTraffic(seed, ...added) };
  };
}

function totalsOf(datasets: readonly Matrix[], centroids: Matrix): Pick<KScore, "inertia" | "silhouette"> {
  const points = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const silhouettes = datasets.map((own) => own.rows * silhouetteOf(own, centroids));
  const inertias = datasets.map((own) => lossOf(own, centroids));
  return { inertia: inertias.reduce((a, b) => a + b), silhouette: silhouettes.reduce((a, b) => a + b) / points };
}

function revealed(minimum: number, isNarrowed: boolean): string {
  const points = minimum === 1 ? "1 point" : `${minimum} points`;
  const warning = minimum === 1 ? "; a cluster of 1 point is that point, so raise minimum where that matters" : "";
  const before = isNarrowed ? ", and once before to choose directions," : "";
  return (
    `for each k${before} a device floods centroids of its points with their counts, none of fewer than ${points}, and adds to ` +
    "sums, which its parent in a tree sees before they are complete: its number of points, loss and silhouette and, " +
    `until labels settle, count, sum and products of its points in each cluster where it has at least ${points}${warning}`
  );
}

/** Nothing is left of an inertia that has fallen to this share; its logarithm would have no end. */
const NOTHING = 1e-12;

/**
 * Without clusters the inertia falls about as a power of k, which is a straight line in logarithms: the elbow is the k
 * farthest below the line from the first to the last.
 */
function elbowOf(curve: readonly KScore[]): number {
  const first = curve[0].inertia;
  const fallen = curve.map(({ inertia }) => (first > 0 ? ln(Math.max(NOTHING, inertia / first)) : 0));
  const slope = curve.length > 1 ? fallen[fallen.length - 1] / ln(curve[curve.length - 1].k) : 0;
  const below = fallen.map((value, at) => slope * ln(curve[at].k) - value);
  // The ends lie on the line, up to rounding.
  return curve[below.reduce((best, value, at) => (value > Math.max(0, below[best]) + 1e-9 ? at : best), 0)].k;
}

// The search: k rises until the gain falls, in wider steps where k is large, then every k near the best is tried.

type TriedK = Pick<KScore, "k" | "gain" | "apart">;

interface SearchBounds {
  readonly largest: number;
  /** As long as nothing has gained, the search goes on to this k. */
  readonly patience: number;
}

/**
 * Where this share of the points is in clusters that are apart from all others, and the gain is more than this, there is
 * structure; one pair that overlaps does not hide it. Noise may reach the share with three clusters, but not the gain.
 * Once there is structure, fewer clusters that are apart will do to find out how many there are.
 */
const STRUCTURE = { apart: 1 / 3, gain: 0.09 };
const FEWER_APART = 0.1;

/** Every k up to here is tried, then about every sixth part more. */
const EVERY = 10;
const STEP = 6;

/** All that were tried, by rising k. */
function search<T extends TriedK>(tryK: (k: number) => T, { largest, patience }: SearchBounds): T[] {
  const tried = new Map<number, T>();
  const attempt = (k: number) => tried.set(k, tryK(k));
  for (let k = 1; k <= largest; k = k < EVERY ? k + 1 : k + Math.max(1, Math.floor(k / STEP))) {
    attempt(k);
    const top = topOf([...tried.values()]).k;
    if (k >= Math.max(EVERY, top > 1 ? 2 * top : patience)) break;
  }
  for (;;) {
    const rising = [...tried.values()].sort((a, b) => a.k - b.k);
    const untried = topsOf(rising)
      .flatMap(({ k }) => between(rising, k, largest))
      .filter((k) => !tried.has(k));
    if (untried.length === 0) return rising;
    new Set(untried).forEach(attempt);
  }
}

/** Near the best of all, another top may turn out to be higher. */
const NEARLY = 0.9;

/** The chosen one, and the others that gain more than both beside them. */
function topsOf<T extends TriedK>(rising: readonly T[]): T[] {
  const chosen = chosenOf(rising);
  if (chosen.k === 1) return [];
  const gainAt = (at: number) => rising[at]?.gain ?? Number.NEGATIVE_INFINITY;
  return rising.filter((one, at) => {
    const isTop = one.gain > gainAt(at - 1) && one.gain > gainAt(at + 1);
    return one === chosen || (isTop && one.gain > NEARLY * chosen.gain);
  });
}

/** From the one that was tried before k to the one after it. */
function between(rising: readonly TriedK[], k: number, largest: number): number[] {
  const at = rising.findIndex((one) => one.k === k);
  const from = rising[at - 1]?.k ?? k;
  // Steps may have stopped short of the bound.
  const to = rising[at + 1]?.k ?? Math.min(largest, k + Math.floor(k / STEP));
  return Array.from({ length: to - from + 1 }, (_, x) => from + x);
}

/** Gains that differ by less are alike. */
const ALIKE = 0.002;

/** The largest gain of all, with as few clusters as give it. */
function topOf<T extends TriedK>(curve: readonly T[]): T {
  return curve.reduce((best, one) => (one.gain > best.gain + ALIKE ? one : best));
}

/** The largest gain, if there is structure at any k; else the single cluster. */
function chosenOf<T extends TriedK>(curve: readonly T[]): T {
  return topOf(candidates(curve));
}

function candidates<T extends TriedK>(curve: readonly T[]): T[] {
  const hasStructure = curve.some(({ k, gain, apart }) => k > 1 && apart >= STRUCTURE.apart && gain > STRUCTURE.gain);
  return curve.filter(({ k, apart }) => k === 1 || (hasStructure && apart >= FEWER_APART));
}

/** The next best; undefined if one k was tried. */
function runnerUpOf<T extends TriedK>(curve: readonly T[]): T | undefined {
  const others = curve.filter((one) => one !== chosenOf(curve));
  const structured = candidates(curve).filter((one) => one !== chosenOf(curve));
  if (others.length === 0) return undefined;
  return topOf(structured.length > 0 ? structured : others);
}

/** Whether the curve may go on rising beyond the largest k that was tried. */
function isAtLimit(curve: readonly TriedK[]): boolean {
  const last = curve[curve.length - 1];
  return last.k > 1 && (chosenOf(curve) === last || topOf(curve) === last);
}
