// What a neighbour can learn in each mode, and do where it is trusted, in one sentence each: the same words in commands, files and pages.

import type { Study } from "./study/study.ts";

export const whatNeighboursLearn: Readonly<Record<Study["privacy"], string>> = {
  open: "neighbours can compute the means and sizes of this device's clusters and, over time, single rows: only for data that may be public",
  guarded:
    "neighbours can compute means and sizes of clusters, but no combination of everything ever sent isolates fewer rows than the study's minimum",
  private:
    "everything sent about one version of this device's rows is (epsilon, delta)-differentially private for adding or removing one row, however long it runs",
};

/** The same where clusters are shared: devices see masked numbers of each other, and all learn the sums over all. */
export const whatAllLearn: Readonly<Record<Study["privacy"], string>> = {
  open: "neighbours see masked numbers only, but every device learns the sums over all devices and, from how they change, single rows: only for data that may be public",
  guarded:
    "neighbours see masked numbers only; every device learns the sums over all devices, in which no combination isolates fewer rows of a device than the study's minimum",
  private:
    "neighbours see masked numbers only; every device learns sums over all devices with noise, (epsilon, delta)-differentially private for adding or removing one row while no more devices collude than the study says",
};

/** Of a study whose neighbours are trusted. */
export const whatTrustMeans = "neighbours are trusted: nothing is held back, and one that lies moves everybody";
