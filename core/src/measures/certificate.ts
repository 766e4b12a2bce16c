// A certificate of a result: how far one more exact update would move it, whether the objective ever rose, and how many
// points lie on a border between clusters. Whoever has the points can compute it again.

import { checkArray, checkNumber } from "../data/check.ts";
import { datasetRange, largestDifference, largestMagnitude, type Matrix, squaredDistance } from "../data/matrix.ts";
import { withoutUndefined } from "../data/optionNames.ts";
import type { RoundSummary } from "../fit/fit.ts";
import type { Graph } from "../graph/graph.ts";
import { type Kernel, kernelStatistics, type PreparedPoints } from "../kernel/kernel.ts";
import { centroidSetsOfModel, centroidsOfModel, type Predictor } from "../kernel/model.ts";
import { fastKernel } from "../kernel/wasm.ts";
import { couplingDiscrepancy, penaltySlope } from "../update/coupling.ts";
import { updateDevice } from "../update/updateDevice.ts";
import { checkedObjective, type ObjectiveOptions, type ObjectiveSettings, objectiveOf } from "./measures.ts";

/** What `certify` checked. */
export interface Certificate {
  /** F at the centroids. */
  readonly objective: number;
  /** Largest change of any coordinate by one more pass (E1) (E2) (E3) (M) of any device: 0 at a fixed point. */
  readonly residual: number;
  /** The same as a share of the points' range, the largest of their columns; the residual itself where that is 0. */
  readonly relativeResidual: number;
  /** Largest rise of the objective from one round to the next; 0 where none was above rounding. */
  readonly largestRise: number;
  /** Share of all points whose two nearest centroids are equally near within rounding: their label could be another. */
  readonly ties: number;
}

/** A model, and the rounds that led to it where it has them. */
type CertifiedModel = Predictor & {
  readonly history?: readonly Pick<RoundSummary, "objective">[] | undefined;
  readonly options?: object | undefined;
};

/**
 * Certifies a model, whoever made it, and the rounds that led there. By what it is judged is as for `objective`, and as the
 * model's own options say where nothing is said.
 * @example
 * const { datasets } = paperData("iso", 4, 30, 1);
 * certify(datasets, path(4), fit(datasets, path(4), { k: 3, alpha: 1 })).ties // 0
 */
export function certify(
  given: readonly Matrix[],
  graph: Graph,
  model: CertifiedModel,
  options: ObjectiveOptions = ownJudging(model),
): Certificate {
  checkArray("datasets", given, "matrices, one for each device");
  const { onScale } = centroidsOfModel(model);
  const history = checkedHistory(model.history ?? []);
  const [datasets, centroids] = [given.map(onScale), centroidSetsOfModel(model).map(onScale)];
  const judged = checkedObjective(datasets, centroids, graph, options);
  const looks = datasets.map((points, i) => {
    const prepared = fastKernel.prepare(points);
    const look = {
      tied: tiesOf(points, centroids[i], prepared),
      loss: kernelStatistics(prepared, centroids[i]).loss,
      move: moveOf(i, datasets, graph, centroids, judged, { name: fastKernel.name, prepare: () => prepared }),
    };
    prepared.release();
    return look;
  });
  const losses = looks.map(({ loss }) => loss);
  const residual = looks.reduce((most, { move }) => Math.max(most, move), 0);
  const range = datasetRange(datasets);
  const points = datasets.reduce((sum, { rows }) => sum + rows, 0);
  return {
    objective: objectiveOf(datasets, centroids, graph, judged, losses).objective,
    residual,
    relativeResidual: range > 0 ? residual / range : residual,
    largestRise: largestRise(history, roundingOf(centroids)),
    ties: looks.reduce((sum, { tied }) => sum + tied, 0) / points,
  };
}

function checkedHistory<T extends Pick<RoundSummary, "objective">>(history: readonly T[]): readonly T[] {
  checkArray("model.history", history, "rounds");
  history.forEach((round, at) => {
    checkNumber(`model.history[${at}].objective`, round?.objective, () => true, "a finite number");
  });
  return history;
}

/** The part of a model's options by which it is judged. */
function ownJudging(given: CertifiedModel): ObjectiveOptions {
  // What is no model is refused where it is read.
  const { options, ...model } = Object(given) as CertifiedModel;
  // A penalty with its scale is the model's own.
  const { alpha, coupling, weighting, penalty } = { ...model, ...options } as object as ObjectiveOptions;
  return withoutUndefined({ alpha, coupling, weighting, penalty }) as ObjectiveOptions;
}

/**
 * The residual of a certificate alone.
 * @example stationarityResidual([matrix([[0], [2]])], path(1), [matrix([[1]])], { alpha: 0 }) // 0
 */
export function stationarityResidual(
  datasets: readonly Matrix[],
  graph: Graph,
  centroids: readonly Matrix[],
  options: ObjectiveOptions,
): number {
  const judged = checkedObjective(datasets, centroids, graph, options);
  return datasets.reduce((most, _, i) => Math.max(most, moveOf(i, datasets, graph, centroids, judged)), 0);
}

/** The largest move of one unrelaxed pass of a device, with the others where they are. */
function moveOf(
  device: number,
  datasets: readonly Matrix[],
  { neighbours, weights }: Graph,
  centroids: readonly Matrix[],
  { alpha, coupling, weighting, penalty }: ObjectiveSettings,
  kernel: Kernel = fastKernel,
): number {
  const meanRows = datasets.reduce((sum, { rows }) => sum + rows, 0) / datasets.length;
  const points = datasets[device];
  const own = centroids[device];
  const others = Array.from(neighbours[device], (j) => centroids[j]);
  // A device without points has no weight of its own.
  const weight = weighting === "sample" && points.rows > 0 ? points.rows / meanRows : 1;
  // A pass with another penalty is one with links as strong as its slopes.
  const edgeWeights =
    penalty === "squared"
      ? weights[device]
      : weights[device].map((edge, n) => edge * penaltySlope(penalty, couplingDiscrepancy(own, others[n], coupling)));
  const once = { alpha, coupling, weight, edgeWeights, passes: 1, kernel };
  const { data } = updateDevice(points, own, others, once).centroids;
  return largestDifference(data, own.data);
}

/** What is left of an objective where every point has a centroid of its own: squares of the coordinates' last bits. */
function roundingOf(centroids: readonly Matrix[]): number {
  return centroids.reduce((sum, { data }) => sum + (4 * Number.EPSILON * largestMagnitude(data)) ** 2, 0);
}

/** Rises by no more than this share are rounding: objectives are sums of many squares. */
const ROUNDING_OF_SUMS = 1e-12;

function largestRise(history: readonly Pick<RoundSummary, "objective">[], rounding: number): number {
  let largest = 0;
  for (let round = 1; round < history.length; round++) {
    const before = history[round - 1].objective;
    const rise = history[round].objective - before;
    if (rise > ROUNDING_OF_SUMS * Math.abs(before) + rounding) largest = Math.max(largest, rise);
  }
  return largest;
}

/** A centroid that is farther by more than this share is out of the question, by far. */
const NEARLY_TIED = 1e-12;

/** Points for which the last bits of the centroids' coordinates, or of the distances, decide between two clusters. */
function tiesOf(points: Matrix, nearest: Matrix, prepared: PreparedPoints): number {
  const { data, rows, cols } = points;
  const { data: centroids, rows: k } = nearest;
  if (k < 2) return 0;
  const coordinate = largestMagnitude(centroids);
  const labels = new Uint32Array(rows);
  prepared.labels(centroids, labels);
  let ties = 0;
  for (let r = 0; r < rows; r++) {
    const first = squaredDistance(data, r * cols, centroids, labels[r] * cols, cols);
    const limit = first + NEARLY_TIED * (first + cols * coordinate * coordinate);
    let second = Number.POSITIVE_INFINITY;
    for (let c = 0; c < k; c++) {
      if (c === labels[r]) continue;
      const distance = distanceUpTo(limit, data, r * cols, centroids, c * cols, cols);
      if (distance < second) second = distance;
    }
    if (second > limit) continue;
    const moved = coordinate * (Math.sqrt(cols * first) + Math.sqrt(cols * second));
    if (second - first <= 4 * Number.EPSILON * (first + second + moved)) ties++;
  }
  return ties;
}

/** The squared distance, or a part of it that is above the limit already: most centroids are soon too far. */
function distanceUpTo(limit: number, a: Float64Array, at: number, b: Float64Array, bt: number, cols: number): number {
  let sum = 0;
  for (let c = 0; c < cols && sum <= limit; c++) {
    const difference = a[at + c] - b[bt + c];
    sum += difference * difference;
  }
  return sum;
}
