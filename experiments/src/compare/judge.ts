// How good answers are: near to one pooled solution, which gets more restarts while a method finds a cheaper answer.

import {
  adjustedRandIndex,
  consensusVariation,
  distortion,
  type FitModel,
  type Graph,
  globalCentroidDeviation,
  type Matrix,
  methods,
  normalizedMutualInformation,
  predict,
  stack,
} from "@fedkm/core";
import { measuresOf, noPlugins, type Plugins } from "../plugins/plugin.ts";

export interface JudgedProblem {
  readonly datasets: readonly Matrix[];
  /** The class of every point, where known. */
  readonly labels?: readonly Uint32Array[] | undefined;
  readonly graph: Graph;
  readonly k: number;
  readonly alpha: number;
  readonly seed: number;
  /** Of which the measures are taken too. Default: none. */
  readonly plugins?: Plugins;
}

/** How good centroids are. */
export interface Quality {
  /** GCD to the pooled solution. */
  readonly gcd: number;
  readonly cv: number;
  /**
   * What a device's centroids cost on all points, relative to the pooled solution, in the mean over the devices. Null
   * where pooled costs nothing and a device does: there is no such ratio.
   */
  readonly costRatio: number | null;
  /** Whether that is cheaper than the pooled solution by more than rounding. */
  readonly beatsPooled: boolean;
  /** Against the classes, for all points by every device's centroids, in the mean; null without classes. */
  readonly nmi: number | null;
  readonly ari: number | null;
  /** Those of plug-ins, by name. */
  readonly measures: Readonly<Record<string, number | null>>;
}

/** What every result is held against. */
interface Reference {
  readonly centroids: Matrix;
  readonly restarts: number;
}

/** Sums in different orders differ by far less. */
const ROUNDING = 1e-9;

/** Beyond it a reference that is still beaten stays, and the rows that beat it say so. */
export const MOST_RESTARTS = 640;

function pooledReference(problem: JudgedProblem, restarts: number): Reference {
  const { datasets, graph, k, alpha, seed } = problem;
  return { centroids: methods.pooled(datasets, graph, { k, alpha, seed, restarts }).centroids[0], restarts };
}

/** Twice the restarts, and twice again, until none of the models is cheaper than the pooled solution. */
export function unbeatenReference(problem: JudgedProblem, restarts: number, models: readonly FitModel[]): Reference {
  const all = stack(problem.datasets);
  let reference = pooledReference(problem, restarts);
  for (;;) {
    const ratio = costRatioTo(reference, all);
    const next = 2 * reference.restarts;
    if (next > MOST_RESTARTS || !models.some((model) => isBeaten(ratio(model)))) return reference;
    reference = pooledReference(problem, next);
  }
}

function isBeaten(costRatio: number): boolean {
  return costRatio < 1 - ROUNDING;
}

/** In the mean over the devices; not finite where pooled costs nothing and a device does. */
function costRatioTo(reference: Reference, all: Matrix): (model: FitModel) => number {
  const cost = (centroids: Matrix) => distortion([all], [centroids]);
  const pooledCost = cost(reference.centroids);
  // Equal costs are equal also where both are 0.
  const ratio = (own: number) => (own === pooledCost ? 1 : own / pooledCost);
  return ({ centroids }) => meanOf(centroids, (own) => ratio(cost(own)));
}

function meanOf(centroids: readonly Matrix[], score: (own: Matrix) => number): number {
  return centroids.reduce((sum, own) => sum + score(own), 0) / centroids.length;
}

export function judgeOf(problem: JudgedProblem, reference: Reference): (model: FitModel) => Quality {
  const { datasets, graph, labels, plugins = noPlugins } = problem;
  const all = stack(datasets);
  const ratio = costRatioTo(reference, all);
  const classes = labels?.flatMap((own) => Array.from(own));
  return (model) => {
    const { centroids } = model;
    const mean = (score: (own: Matrix) => number) => meanOf(centroids, score);
    const costRatio = ratio(model);
    return {
      gcd: globalCentroidDeviation(centroids, reference.centroids),
      cv: consensusVariation(centroids, graph),
      costRatio: Number.isFinite(costRatio) ? costRatio : null,
      beatsPooled: isBeaten(costRatio),
      nmi: classes === undefined ? null : mean((own) => normalizedMutualInformation(predict(own, all), classes)),
      ari: classes === undefined ? null : mean((own) => adjustedRandIndex(predict(own, all), classes)),
      measures: measuresOf(plugins, { model, datasets, labels, graph, reference: reference.centroids }),
    };
  };
}
