// How many clusters there are, without pooling: each k is tried from one flooded seed and judged by sums over the devices.

import { checkInteger, checkNetwork, checkSignal } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { ln } from "../data/elementary.ts";
import type { Matrix } from "../data/matrix.ts";
import { checkOptions, type OptionNames } from "../data/optionNames.ts";
import type { FitOptions } from "../fit/fitOptions.ts";
import type { Graph } from "../graph/graph.ts";
import { addTraffic, sumTraffic, type Traffic } from "../graph/traffic.ts";
import { lossOf } from "../kernel/model.ts";
import { silhouetteOf } from "../measures/measures.ts";
import { findCommonClusters } from "./commonClusters.ts";
import { spreadOverGrids } from "./grids.ts";
import { type ChoiceCosts, choiceSample, type Participants, participantsOf } from "./participants.ts";
import { roundClusters } from "./tubes.ts";
import {
  checkedSettings,
  clusterGroups,
  type JudgedClusters,
  judgeClusters,
  type PairVerdict,
  ROWS_A_COLUMN,
  type VerdictSettings,
} from "./verdict.ts";

/** Options of `chooseK`. */
export interface ChooseKOptions extends Pick<FitOptions, "restarts" | "minimum" | "seed" | "kernel" | "signal"> {
  /**
   * No larger k is tried. Default: 60, or a tenth of the points if that is less; the search ends before, where the curve is over.
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
  /** How many of the k clusters are apart from all their neighbours; strays do not count. */
  readonly clusters: number;
  /** The share of all points that they have. */
  readonly apart: number;
}

/** A number of clusters that somebody may want, and why. */
export interface KCandidate {
  readonly k: number;
  /** The k of a fit that finds them. It is larger where strays take clusters for themselves. */
  readonly fitted: number;
  /**
   * most: no k has more clusters that are apart. fewer, coarse: so are all clusters of this k, the next and the least.
   * long: so many are apart on axes along which they are round, which a fit on the columns as they are would cut across.
   * none: no gap can be shown at any k.
   */
  readonly reason: "most" | "fewer" | "coarse" | "long" | "none";
}

/** What `chooseK` found, and what it cost. */
export interface KChoice extends ChoiceCosts {
  /** The most clusters that are apart from all their neighbours; 1 if none are. */
  readonly k: number;
  /** The k to fit with: of the first candidate that is not long. It is larger where strays take clusters for themselves. */
  readonly fitted: number;
  /** At most three, the chosen one first. */
  readonly candidates: readonly KCandidate[];
  /** False: no gap between clusters can be shown at any k. */
  readonly structure: boolean;
  /** Whether the best k is the largest that was tried: a larger one may be better. */
  readonly atLimit: boolean;
  /** Where the inertia bends. */
  readonly elbow: number;
  /** Where the silhouette is highest. */
  readonly silhouette: number;
  /** Whether `elbow`, `silhouette` and `k` are the same. */
  readonly agree: boolean;
  /** One entry for each k that was tried, rising from 1: every one up to 18, then in wider steps, then around the best. */
  readonly curve: readonly KScore[];
}

/**
 * Inertia and silhouette are what people look at, and both mislead: the first falls for ever, the second joins clusters
 * that are near each other, and neither can say that there are none. So gaps decide: a cluster counts if rows thin out
 * between it and every neighbour. One that is cut in two loses both halves, and a few strays are no cluster.
 * @example chooseK(paperData("iso", 4, 60, 1).datasets, ring(4)).k // 3
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
  const { largestK, signal } = options;
  if (largestK !== undefined) checkInteger("largestK", largestK, 1);
  checkSignal(signal);
  const settings = checkedSettings(options);
  const { minimum, seed } = settings;
  const participants = participantsOf(datasets, graph, minimum, "minimum");
  const judged = { ...participants, datasets: spreadOverGrids(participants.datasets, seed) };
  const judge = judgeOf(judged, settings);
  const largest = largestOf(participants, largestK, minimum);
  const tried = search((k) => {
    signal?.throwIfAborted();
    return judge(k);
  }, largest);
  const long = longClusters(judged, tried, candidatesOf(tried)[0], largest, settings);
  return {
    ...choiceOf(tried, long.candidates),
    leftOut: participants.leftOut,
    ...addTraffic(long.traffic, ...tried.map(({ traffic }) => traffic)),
    reveals: revealed(minimum),
  };
}

/** What follows from all k that were tried, rising, and from long clusters where they were looked for. */
export function choiceOf(tried: readonly TriedK[], long: readonly KCandidate[] = []): Omit<KChoice, keyof ChoiceCosts> {
  const curve = gated(tried).map(({ k, inertia, silhouette, clusters, apart }) => {
    return { k, inertia, silhouette, clusters, apart };
  });
  const candidates = [...long, ...candidatesOf(tried)].slice(0, 3);
  const [{ k }] = candidates;
  const { fitted = k } = candidates.find(({ reason }) => reason !== "long") ?? {};
  const elbow = elbowOf(curve);
  const silhouette = curve.reduce((best, score) => (score.silhouette > best.silhouette ? score : best)).k;
  const last = curve[curve.length - 1].k;
  return {
    k,
    fitted,
    candidates,
    structure: k > 1,
    atLimit: last > 1 && fitted === last,
    elbow,
    silhouette,
    agree: elbow === k && silhouette === k,
    curve,
  };
}

/** Clusters of fewer points than this, on average, are not looked for unless `largestK` asks for them. */
const POINTS_PER_CLUSTER = 10;
/** Nor are more of them than people can name. */
const MOST_CLUSTERS = 60;

function largestOf({ datasets }: Participants, largestK: number | undefined, minimum: number): number {
  const points = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const mostPoints = datasets.reduce((most, { rows }) => Math.max(most, rows), 0);
  const wanted = largestK ?? Math.min(MOST_CLUSTERS, Math.floor(points / POINTS_PER_CLUSTER));
  return Math.max(1, Math.min(wanted, Math.floor(mostPoints / minimum)));
}

/** What is known of a k. */
export interface TriedK extends KScore, Pick<JudgedClusters, "chance"> {
  /** Clusters that are no strays and no tails; and how many there are if all of them are likely to be apart, else 0. */
  readonly sizable: number;
  readonly likely: number;
  /** Groups of clusters that are joined. */
  readonly groups: number;
  /** Of a valley like that of each pair, the largest first. */
  readonly chances: readonly number[];
}

interface JudgedK extends TriedK {
  readonly centroids: Matrix;
  readonly traffic: Traffic;
}

/** Everyone's sums for one k, and what it took to add them up. */
function judgeOf({ datasets, graph }: Pick<Participants, "datasets" | "graph">, settings: VerdictSettings) {
  return (k: number): JudgedK => {
    const { centroids, traffic } = findCommonClusters(datasets, graph, { ...settings, k });
    const totals = totalsOf(datasets, centroids);
    // Loss, silhouette and number of points.
    const common = addTraffic(traffic, sumTraffic(graph, 3));
    if (k === 1) return { ...triedK(k, totals, undefined), centroids, traffic: common };
    const judged = judgeClusters(datasets, graph, centroids, settings);
    return { ...triedK(k, totals, judged), centroids, traffic: addTraffic(common, judged.traffic) };
  };
}

/** `judged`: what tubes say of k clusters; undefined: there is one cluster. */
export function triedK(
  k: number,
  totals: Pick<KScore, "inertia" | "silhouette">,
  judged: Omit<JudgedClusters, "traffic"> | undefined,
): TriedK {
  if (judged === undefined)
    return { k, ...totals, ...{ clusters: 1, apart: 1, chance: 1, groups: 1, sizable: 1, likely: 1, chances: [1] } };
  const rows = judged.sizes.reduce((sum, size) => sum + size, 0);
  const surely = apartClusters(judged, ({ isApart }) => isApart);
  const likely = apartClusters(
    judged,
    ({ isApart, chance, depth }) => isApart || (chance < LIKELY.chance && depth <= LIKELY.depth),
  );
  return {
    ...{ k, ...totals, chance: judged.chance, groups: surely.groups },
    clusters: surely.clusters,
    apart: surely.rows / rows,
    sizable: surely.clusters + surely.others,
    likely: likely.others === 0 ? likely.clusters : 0,
    chances: judged.pairs.map(({ chance }) => chance).sort((a, b) => b - a),
  };
}

/** A cluster that has this share of the rows of a group is apart with its tails; one that is cut in two is not. */
const CORE = 0.8;

/** Clusters that are apart, alone or with their tails, and the rows of these; and the other clusters that are no strays. */
function apartClusters(judged: Omit<JudgedClusters, "traffic">, isApart: (pair: PairVerdict) => boolean) {
  const { sizes, least, pairs } = judged;
  const groups = clusterGroups(judged, isApart);
  let [clusters, others, rows] = [0, 0, 0];
  for (const own of groups) {
    const size = own.reduce((sum, c) => sum + sizes[c], 0);
    const core = own.reduce((most, c) => Math.max(most, sizes[c]), 0);
    const isJudged = pairs.some(({ a, b }) => own.includes(a) !== own.includes(b));
    if (isJudged && core >= CORE * size) {
      clusters++;
      rows += size;
    } else others += own.filter((c) => sizes[c] >= least).length;
  }
  return { clusters, others, rows, groups: groups.length };
}

function totalsOf(datasets: readonly Matrix[], centroids: Matrix): Pick<KScore, "inertia" | "silhouette"> {
  const points = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const silhouettes = datasets.map((own) => own.rows * silhouetteOf(own, centroids));
  const inertias = datasets.map((own) => lossOf(own, centroids));
  return { inertia: inertias.reduce((a, b) => a + b), silhouette: silhouettes.reduce((a, b) => a + b) / points };
}

function revealed(minimum: number): string {
  const points = minimum === 1 ? "1 point" : `${minimum} points`;
  const warning = minimum === 1 ? "; a cluster of 1 point is that point, so raise minimum where that matters" : "";
  return (
    "a device says which values its columns have where these are few; " +
    `for each k it floods centroids of its points with their counts, none of fewer than ${points}, and adds to sums, which ` +
    "its parent in a tree sees before they are complete: its number of points, loss and silhouette, count, sum and " +
    `products of its points in each cluster where it has at least ${points}, and how many of them lie where between the ` +
    `centroids of neighbouring clusters${warning}`
  );
}

/** Nothing is left of an inertia that has fallen to this share; its logarithm would have no end. */
const NOTHING = 1e-12;

/**
 * Without clusters the inertia falls about as a power of k, which is a straight line in logarithms: the elbow is the k
 * farthest below the line from the first to the last.
 */
export function elbowOf(curve: readonly KScore[]): number {
  const first = curve[0].inertia;
  const fallen = curve.map(({ inertia }) => (first > 0 ? ln(Math.max(NOTHING, inertia / first)) : 0));
  const slope = curve.length > 1 ? fallen[fallen.length - 1] / ln(curve[curve.length - 1].k) : 0;
  const below = fallen.map((value, at) => slope * ln(curve[at].k) - value);
  // The ends lie on the line, up to rounding.
  return curve[below.reduce((best, value, at) => (value > Math.max(0, below[best]) + 1e-9 ? at : best), 0)].k;
}

// The search: k rises until far fewer clusters are apart than there are, in wider steps where k is large; then every k near the best is tried.

/** Every k up to here is tried, then about every twelfth part more. */
const EVERY = 18;
const STEP = 0.08;

/** Every k near the best. */
const NEAR = 3;

function search<T extends TriedK>(judge: (k: number) => T, largest: number): T[] {
  const tried = new Map<number, T>();
  const attempt = (k: number) => {
    if (k >= 1 && k <= largest && !tried.has(k)) tried.set(k, judge(k));
  };
  const best = () => gated([...tried.values()]).reduce((top, own) => (own.clusters > top.clusters ? own : top));
  for (let k = 1; k <= largest; k += k <= EVERY ? 1 : Math.max(1, Math.floor(STEP * k))) {
    attempt(k);
    if (k >= 12 && k > 1.6 * best().clusters + 6) break;
  }
  for (let top = best(); ; top = best()) {
    for (let k = top.k - NEAR; k <= top.k + NEAR; k++) attempt(k);
    for (let k = top.clusters - 1; k <= top.clusters + 2; k++) attempt(k);
    if (best().k === top.k) break;
  }
  return [...tried.values()].sort((a, b) => a.k - b.k);
}

/** Of chance for all pairs of one k; several k are tried. */
const ANY = 0.003;

/** One pair in many may have too few rows to be surely apart. */
const LIKELY = { chance: 0.5, depth: 0.6, share: 0.9 };

/** So small a chance of any gap leaves no doubt that there are some, at whichever k. */
const CERTAIN = 1e-4;

/** Clusters count at a k where the chance of any gap is small, or at every k once there is no doubt. */
function gated(tried: readonly TriedK[]): TriedK[] {
  const isCertain = tried.some(({ k, chance }) => k > 1 && chance < CERTAIN);
  return tried.map((own) => (own.k === 1 || isCertain || own.chance < ANY ? own : { ...own, clusters: 0, apart: 0 }));
}

/** Where one k has all its clusters apart, another must have this many more of them, and this share of the most. */
const MARGIN = { clusters: 2, share: 0.93 };

/** A single cluster beside others that are joined must have this share of the points, and so must these. */
const ONE_OF_TWO = 0.1;

/** The chosen one, then up to two with fewer clusters. */
function candidatesOf(tried: readonly TriedK[]): KCandidate[] {
  const known = gated(tried).filter(({ k, clusters, chance }) => k > 1 && (clusters > 0 || chance < ANY));
  const isWhole = ({ clusters, sizable }: TriedK) => clusters > 1 && clusters === sizable;
  const sure = known.filter((own) => isWhole(own) && isSure(own));
  const shown = known.filter((own) => !isWhole(own) || !sure.some((other) => isCutOf(own, other)));
  const most = shown.reduce((top, { clusters }) => Math.max(top, clusters), 0);
  const whole = shown
    .flatMap((own) => {
      const { k: fitted, clusters, likely, chance } = own;
      if (isWhole(own)) return [{ k: clusters, fitted, clusters }];
      const isNearly = clusters === most && clusters >= LIKELY.share * likely;
      const isCertain = most === 1 && clusters === 1 && chance < CERTAIN;
      return likely > 1 && (isNearly || isCertain) ? [{ k: likely, fitted, clusters }] : [];
    })
    .sort((a, b) => b.k - a.k || a.fitted - b.fitted);
  const top = whole.find(({ clusters }) => clusters >= Math.min(most - 1, MARGIN.share * most));
  const chosen: KCandidate =
    top !== undefined && most < top.k + MARGIN.clusters
      ? { k: top.k, fitted: top.fitted, reason: "most" }
      : partly(shown, most);
  if (chosen.k === 1) return [chosen];
  const others = whole.filter(({ k, clusters }) => clusters === k && k < chosen.k);
  const [fewer, coarse] = [others.at(0), others.findLast(({ k }) => k < (others[0]?.k ?? 0))];
  const first = (k: number) => others.find((own) => own.k === k)?.fitted ?? k;
  return [
    chosen,
    ...(fewer === undefined ? [] : [{ k: fewer.k, fitted: fewer.fitted, reason: "fewer" as const }]),
    ...(coarse === undefined ? [] : [{ k: coarse.k, fitted: first(coarse.k), reason: "coarse" as const }]),
  ];
}

/** Axes may be chosen for clusters, and cuts for gaps: then valleys must be surer. */
const SURELY = 0.01;

const isSure = ({ chances: [weakest = 0] }: TriedK) => weakest < SURELY;

/** Clusters that are surely apart may have been cut in two by chance: then at least one pair a cut is not sure. */
function isCutOf({ clusters, chances }: TriedK, sure: TriedK): boolean {
  return sure.clusters < clusters && chances[clusters - sure.clusters - 1] >= SURELY;
}

/** Long clusters are looked for at so many k beyond the one that was found. */
const BEYOND = 3;

/**
 * Long clusters side by side are one to k-means, or are cut across. Where there are clusters at all, a few more are tried
 * on axes along which those that were found are round, and then along which these are.
 */
function longClusters(
  { datasets, graph }: Pick<Participants, "datasets" | "graph">,
  tried: readonly JudgedK[],
  { k: found, fitted }: KCandidate,
  largest: number,
  settings: VerdictSettings,
): { readonly candidates: readonly KCandidate[]; readonly traffic: Traffic } {
  const rows = datasets.reduce((sum, own) => sum + own.rows, 0);
  const centroids = tried.find(({ k }) => k === fitted)?.centroids;
  const traffic: Traffic[] = [];
  let most = found;
  if (found === 1 || centroids === undefined || rows < ROWS_A_COLUMN * centroids.cols) {
    return { candidates: [], traffic: addTraffic() };
  }
  const round = roundClusters(datasets, centroids, settings.minimum);
  for (let k = found + 1; round !== undefined && k <= Math.min(largest, found + BEYOND); k++) {
    const first = findCommonClusters(round, graph, { ...settings, k });
    const again = roundClusters(round, first.centroids, settings.minimum) as readonly Matrix[];
    const own = judgeOf({ datasets: again, graph }, settings)(k);
    // Products of columns, twice.
    const products = sumTraffic(graph, (centroids.cols * (centroids.cols + 1)) / 2);
    traffic.push(first.traffic, own.traffic, products, products);
    if (own.clusters === k && isSure(own)) most = k;
  }
  const candidates = most > found ? [{ k: most, fitted: most, reason: "long" as const }] : [];
  return { candidates, traffic: addTraffic(...traffic) };
}

/** Where this share of the clusters is apart, the others are taken for clusters too. */
const NEARLY_ALL = 0.85;

/** Where no k has all its clusters apart, or another has many more. */
function partly(shown: readonly TriedK[], most: number): KCandidate {
  const top = shown.find(({ clusters }) => clusters === most);
  if (top !== undefined && most > 1) {
    return { k: most >= NEARLY_ALL * top.sizable ? top.sizable : most, fitted: top.k, reason: "most" };
  }
  const one = shown.find(
    ({ clusters, groups, chance, apart }) =>
      clusters === 1 && groups > 1 && chance < CERTAIN && apart >= ONE_OF_TWO && apart <= 1 - ONE_OF_TWO,
  );
  return one === undefined ? { k: 1, fitted: 1, reason: "none" } : { k: 2, fitted: 2, reason: "most" };
}
