// How many clusters, without pooling: every k is tried from one flooded seed and judged by sums over the devices.

import { checkInteger, checkNetwork } from "../check.ts";
import { defaults } from "../defaults.ts";
import { ln } from "../elementary.ts";
import { type FitOptions, fitOn } from "../fit.ts";
import type { Graph } from "../graph.ts";
import type { Matrix } from "../matrix.ts";
import { silhouetteOf } from "../measures.ts";
import { lossOf } from "../objective.ts";
import { addTraffic, sumTraffic, type Traffic } from "../traffic.ts";
import { askedOf } from "./asked.ts";
import { separationOf } from "./separation.ts";

export interface ChooseKOptions extends Pick<FitOptions, "restarts" | "minimum" | "seed" | "kernel" | "signal"> {
  /** Every k from 1 to this is tried that the largest device has `minimum` points for. Default 10. */
  largestK?: number;
}

/** What the devices find out together about one k. */
export interface KScore {
  readonly k: number;
  /** The sum of all losses. */
  readonly inertia: number;
  /** The mean simplified silhouette of all points. */
  readonly silhouette: number;
  /** How far the two least separate clusters are apart, in nats per point; 0 is an even spread. */
  readonly separation: number;
  /** More separation than this is no chance. */
  readonly needed: number;
}

export interface KChoice {
  /** The largest k whose clusters are all apart from each other, 1 if there is none. */
  readonly k: number;
  /** False: the points are spread like one cluster, or evenly. */
  readonly structure: boolean;
  /** Where the inertia bends. */
  readonly elbow: number;
  /** Where the silhouette is highest. */
  readonly silhouette: number;
  /** Whether `elbow`, `silhouette` and `k` are the same. */
  readonly agree: boolean;
  /** One entry for each k from 1. */
  readonly curve: readonly KScore[];
  /** Devices without a path to those that were asked. */
  readonly leftOut: readonly number[];
  readonly messages: number;
  readonly bytes: number;
  /** What a device has to send for this. */
  readonly reveals: string;
}

/**
 * Inertia and silhouette are what people look at, and both mislead: the first falls for ever, the second joins clusters
 * that are near each other. So a third criterion decides, which knows how points without clusters behave.
 *
 * A device floods, for each k, a sketch of its points (as `init: "federated"` does) and adds to sums over the network:
 * its loss, its silhouette and, until labels settle, the count, sum and products of the points of each cluster.
 */
export function chooseK(datasets: readonly Matrix[], graph: Graph, options: ChooseKOptions = {}): KChoice {
  checkNetwork(datasets, graph);
  return chooseKOn(datasets, graph, options);
}

/** The same on data that were checked. */
export function chooseKOn(datasets: readonly Matrix[], graph: Graph, options: ChooseKOptions): KChoice {
  const { largestK = 10, ...fitting } = options;
  const { minimum = defaults.minimum } = fitting;
  checkInteger("largestK", largestK, 1);
  checkInteger("minimum", minimum, 1);
  const asked = askedOf(datasets, graph, minimum, "minimum");
  const scores = Array.from({ length: Math.min(largestK, Math.floor(asked.mostPoints / minimum)) }, (_, at) => {
    const seed = fitOn(asked.datasets, asked.graph, { ...fitting, k: at + 1, alpha: 1, init: "federated", rounds: 0 });
    const score = scoreOf(asked.datasets, asked.graph, seed.centroids[0], minimum);
    return { ...score, traffic: addTraffic(seed, score.traffic) };
  });
  const curve = scores.map(({ traffic, ...score }): KScore => score);
  const k = curve.reduce((found, score) => (score.separation > score.needed ? score.k : found), 1);
  const elbow = elbowOf(curve);
  const silhouette = curve.reduce((best, score) => (score.silhouette > best.silhouette ? score : best)).k;
  return {
    k,
    structure: k > 1,
    elbow,
    silhouette,
    agree: elbow === k && silhouette === k,
    curve,
    leftOut: asked.leftOut,
    ...addTraffic(...scores.map(({ traffic }) => traffic)),
    reveals: revealed(minimum),
  };
}

/** Everyone's sums at common centroids, and what it took to add them up. */
function scoreOf(
  datasets: readonly Matrix[],
  graph: Graph,
  centroids: Matrix,
  minimum: number,
): KScore & { readonly traffic: Traffic } {
  const { separation, needed, sums } = separationOf(datasets, centroids, minimum);
  const points = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const silhouettes = datasets.map((own) => own.rows * silhouetteOf(own, centroids));
  const inertias = datasets.map((own) => lossOf(own, centroids));
  return {
    k: centroids.rows,
    inertia: inertias.reduce((a, b) => a + b),
    silhouette: silhouettes.reduce((a, b) => a + b) / points,
    separation,
    needed,
    // Loss, silhouette and number of points, then a sum for every labelling.
    traffic: addTraffic(sumTraffic(graph, 3), ...sums.map((numbers) => sumTraffic(graph, numbers))),
  };
}

function revealed(minimum: number): string {
  const points = minimum === 1 ? "1 point" : `${minimum} points`;
  const warning = minimum === 1 ? "; a cluster of 1 point is that point, so raise minimum where that matters" : "";
  return (
    `for each k a device floods centroids of its points with their counts, none of fewer than ${points}, and adds to ` +
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
  const slope = curve.length > 1 ? fallen[fallen.length - 1] / ln(curve.length) : 0;
  const below = fallen.map((value, at) => slope * ln(at + 1) - value);
  // The ends lie on the line, up to rounding.
  return 1 + below.reduce((best, value, at) => (value > Math.max(0, below[best]) + 1e-9 ? at : best), 0);
}
