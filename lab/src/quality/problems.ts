// The paper's setting, and what counts as a wrong answer in it.

import {
  distortion,
  erdosRenyi,
  type Graph,
  kmeans,
  type Matrix,
  type PaperKind,
  paperData,
  randomStream,
  stack,
  toRows,
} from "@fedkm/core";

export const kinds: readonly PaperKind[] = ["iso", "var", "aniso"];

export interface Setting {
  readonly datasets: readonly Matrix[];
  readonly network: Graph;
  readonly all: Matrix;
  readonly reference: Matrix;
  /** Cost of the reference on all points. */
  readonly cost: number;
  readonly seed: number;
}

export function setting(kind: PaperKind, points: number, seed: number, probability = 0.7): Setting {
  const { datasets } = paperData(kind, 10, points, seed);
  return settingOf(datasets, erdosRenyi(10, probability, randomStream(seed, "graph")), 3, seed, 20);
}

export function settingOf(datasets: readonly Matrix[], network: Graph, k: number, seed: number, restarts: number) {
  const all = stack(datasets);
  const { centroids, inertia } = kmeans(all, { k, restarts, seed, maxIter: 10_000 });
  return { datasets, network, all, reference: centroids, cost: inertia, seed };
}

/** Cost of centroids on all points, relative to the reference's. */
export function relativeCost({ all, cost }: Pick<Setting, "all" | "cost">, centroids: Matrix): number {
  return (2 * distortion([all], [centroids])) / cost;
}

/** No one-to-one match of the reference by nearest centroids, or more than 10 % above its cost on all points. */
export function isWrong(at: Pick<Setting, "all" | "cost" | "reference">, centroids: Matrix): boolean {
  return relativeCost(at, centroids) > 1.1 || !isOneToOne(centroids, at.reference);
}

/** Every reference centroid is the nearest of exactly one. */
export function isOneToOne(centroids: Matrix, reference: Matrix): boolean {
  const rows = toRows(reference);
  return new Set(toRows(centroids).map((row) => nearestRow(row, rows))).size === rows.length;
}

function nearestRow(row: readonly number[], rows: readonly (readonly number[])[]): number {
  const squares = rows.map((other) => other.reduce((sum, x, i) => sum + (x - row[i]) * (x - row[i]), 0));
  return squares.indexOf(Math.min(...squares));
}

export const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
