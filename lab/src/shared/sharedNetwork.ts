// The networks of the runs with shared clusters, and what their answers are held against.

import {
  distortion,
  erdosRenyi,
  type Graph,
  kmeans,
  type Matrix,
  type PaperKind,
  paperData,
  predict,
  randomStream,
  splitByLabel,
  stack,
} from "@fedkm/core";
import {
  contractOf,
  type Simulation,
  type SimulationOptions,
  type Study,
  simulate,
  studyOfPoints,
} from "@fedkm/device";
import { blobs } from "../quality/hard.ts";

export interface SharedProblem {
  readonly study: Study;
  readonly datasets: readonly Matrix[];
  readonly graph: Graph;
  readonly seed: number;
}

export type SharedKind = PaperKind | "skewed";

/** Between two moments at which a device sends, at least: what a round is here. */
export const ROUND_MILLISECONDS = 30;

/** The paper's data, or 15 overlapping clusters of which devices hold different ones, on ten devices. */
export function sharedProblem(
  kind: SharedKind,
  seed: number,
  privacy: "open" | "guarded" = "open",
  rows = 100,
): SharedProblem {
  const isSkewed = kind === "skewed";
  const datasets = isSkewed ? skewed(seed) : paperData(kind, 10, rows, seed).datasets;
  const choices = { k: isSkewed ? 15 : 3, alpha: 0, privacy, minimum: privacy === "open" ? 1 : 10 };
  const study = studyOfPoints(datasets, ["x1", "x2"], { name: `${kind} ${seed}`, ...choices });
  const graph = linked(sharedGraph(seed));
  return { study: { ...study, clusters: "shared", colluders: 1 }, datasets, graph, seed };
}

export const sharedGraph = (seed: number): Graph => erdosRenyi(10, 0.7, randomStream(seed, "graph"));

function skewed(seed: number): readonly Matrix[] {
  return splitByLabel(blobs(15, 3_000, 0.6, 2, seed), 10, 0.2, seed).datasets;
}

/** Shared clusters need two links for each device. */
function linked(graph: Graph): Graph {
  const weak = graph.neighbours.some(({ length }) => length < 2);
  if (weak) throw new RangeError("every device of the graph must have two links");
  return graph;
}

export async function network(given: SharedProblem, options: Partial<SimulationOptions> = {}): Promise<Simulation> {
  const contract = await contractOf(given.study);
  return simulate({ ...given, contract, staggerMilliseconds: 0, ...options });
}

/** Lets time pass until all these devices have settled; returns when that was, or undefined. */
export function settledAt(
  network: Simulation,
  devices: readonly number[],
  withinMilliseconds: number,
  lookMilliseconds = 10,
): number | undefined {
  const end = network.now() + withinMilliseconds;
  while (network.now() < end) {
    network.run(lookMilliseconds);
    if (devices.every((i) => network.status(i).phase === "settled")) return network.now();
  }
  return undefined;
}

export interface Judged {
  readonly isSame: boolean;
  /** How far a step of k-means on all rows moves a coordinate. */
  readonly step: number;
  /** Cost on all rows over that of the best of ten pooled k-means, minus 1. */
  readonly excess: number;
}

export function judge(answers: readonly Matrix[], datasets: readonly Matrix[]): Judged {
  const [first] = answers;
  const isSame = answers.every(({ data }) => data.every((value, i) => value === first.data[i]));
  const pooled = stack(datasets);
  const best = kmeans(pooled, { k: first.rows, restarts: 10, seed: 1 });
  return { isSame, step: pooledStep(first, pooled), excess: (2 * distortion([pooled], [first])) / best.inertia - 1 };
}

export function pooledStep(centroids: Matrix, { data, rows, cols }: Matrix): number {
  const labels = predict(centroids, { data, rows, cols });
  const counts = new Float64Array(centroids.rows);
  const sums = new Float64Array(centroids.data.length);
  // Counted from the centroid, so that what is measured is the step and not the rounding of large sums.
  for (let r = 0; r < rows; r++) {
    counts[labels[r]]++;
    for (let i = 0; i < cols; i++) {
      sums[labels[r] * cols + i] += data[r * cols + i] - centroids.data[labels[r] * cols + i];
    }
  }
  return sums.reduce((most, sum, i) => Math.max(most, Math.abs(sum) / Math.max(1, counts[Math.floor(i / cols)])), 0);
}
