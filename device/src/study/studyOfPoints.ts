// A study made of points that exist in memory only, for demonstrations and trials, and the objective that its devices minimise:
// GTVMin, in which weighting "sample" weighs devices by typical rows.

import { type Graph, type Matrix, objective } from "@fedkm/core";
import type { Feature, Study } from "./study.ts";

/** GTVMin as the devices of a study see it, at scaled rows and centroids. */
export function studyObjective(
  study: Study,
  datasets: readonly Matrix[],
  centroids: readonly Matrix[],
  graph: Graph,
): number {
  const { alpha, coupling, weighting } = study;
  const scale = weightScale(study, datasets);
  return scale * objective(datasets, centroids, graph, { alpha: alpha / scale, coupling, weighting });
}

/** What the weights of devices are in units of those of core: devices divide by typical rows, core by the mean. */
export function weightScale({ typicalRows }: Study, datasets: readonly Matrix[]): number {
  const mean = datasets.reduce((sum, { rows }) => sum + rows, 0) / datasets.length;
  return typicalRows === null ? 1 : mean / typicalRows;
}

/** A study with a feature for each column, bounded by the points themselves. Scales are 1, so results compare with `fit`. */
export function studyOfPoints(
  datasets: readonly Matrix[],
  columns: readonly string[],
  { name, ...choices }: Pick<Study, "name"> & Partial<Study>,
): Study {
  const features = columns.map((feature, column): Feature => {
    const values = datasets.flatMap(({ data, cols }) => Array.from(data).filter((_, i) => i % cols === column));
    const [min, max] = [Math.floor(Math.min(...values)) - 1, Math.ceil(Math.max(...values)) + 1];
    return { name: feature, unit: "", min, max, scale: 1 };
  });
  const weights = { alpha: 1, coupling: "nearest", weighting: "device", typicalRows: null } as const;
  return { name, k: 3, features, ...weights, privacy: "open", minimum: 1, ...choices };
}

/** A data file's text: the names of the features, then a line for each point. */
export function pointsAsCsv({ features }: Study, { data, rows, cols }: Matrix): string {
  const lines = Array.from({ length: rows }, (_, row) => data.subarray(row * cols, (row + 1) * cols).join(","));
  return `${[features.map(({ name }) => name).join(","), ...lines].join("\n")}\n`;
}
