// What a neighbour can learn in each mode, in one sentence each: the same words in commands, files and pages.

import type { Study } from "./study.ts";

export const whatNeighboursLearn: Readonly<Record<Study["privacy"], string>> = {
  open: "neighbours can compute the means and sizes of this device's clusters and, over time, single rows: only for data that may be public",
  guarded:
    "neighbours can compute means and sizes of clusters, but no combination of everything ever sent isolates fewer rows than the study's minimum",
  private:
    "everything sent about one version of this device's rows is (epsilon, delta)-differentially private for adding or removing one row, however long it runs",
};
