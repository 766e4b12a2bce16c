// The problems of the fault runs: the paper's data on ten devices, as a study that devices share.

import { erdosRenyi, type Graph, type Matrix, type PaperKind, paperData, randomStream } from "@fedkm/core";
import { type Study, studyOfPoints } from "@fedkm/device";

export interface Problem {
  readonly study: Study;
  readonly datasets: readonly Matrix[];
  readonly graph: Graph;
}

/** Ten devices with 100 points each, linked as G(10, p), k = 3. Scales are 1, so that coordinates are comparable with `fit`. */
export function problem(kind: PaperKind, seed: number, probability = 0.4, alpha = 1): Problem {
  const { datasets } = paperData(kind, 10, 100, seed);
  const study = studyOfPoints(datasets, ["x1", "x2"], { name: `${kind} ${seed}`, alpha });
  return { study, datasets, graph: erdosRenyi(10, probability, randomStream(seed, "graph")) };
}
