// What a network of devices minimises: GTVMin, in which a study with weighting "sample" weighs devices by typical rows.

import { type Graph, type Matrix, objective } from "@fedkm/core";
import type { Study } from "./study/study.ts";

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
