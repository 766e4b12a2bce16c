// What each privacy mode promises, in one sentence each for commands, files and pages.

import type { Study } from "./study.ts";

/** What a mode promises depends on this. */
interface PromiseTerms {
  readonly privacy: Study["privacy"];
  readonly clusters?: string | undefined;
  readonly protects?: string | undefined;
}

const whatNeighboursLearn: Readonly<Record<Study["privacy"], string>> = {
  open: "neighbours can compute the means and sizes of this device's clusters and, over time, single rows: only for data that may be public",
  guarded:
    "neighbours can compute means and sizes of clusters, but no combination of everything ever sent isolates fewer rows than the study's minimum",
  private:
    "everything sent about one version of this device's rows is (epsilon, delta)-differentially private for adding or removing one row, however long it runs",
};

/** The same where clusters are shared: devices see masked numbers of each other, and all learn the sums over all. */
const whatAllLearn: Readonly<Record<Study["privacy"], string>> = {
  open: "neighbours see masked numbers only, but every device learns the sums over all devices and, from how they change, single rows: only for data that may be public",
  guarded:
    "neighbours see masked numbers only; every device learns the sums over all devices, in which no combination isolates fewer rows of a device than the study's minimum",
  private:
    "neighbours see masked numbers only; every device learns sums over all devices with noise, (epsilon, delta)-differentially private for adding or removing one row while no more devices collude than the study says",
};

/** What is added or removed, where that is not one row. */
const protectedWords: Readonly<Record<string, string>> = {
  persons:
    "all rows that a person has on one device, each of which counts for its share of the person (who has rows on several devices is covered with as many times epsilon and a larger delta)",
  devices: "all rows of a device, each of which counts for its share of the device",
};

/** What a study promises, in one sentence. */
export function privacyWords({ privacy, clusters, protects = "rows" }: PromiseTerms): string {
  const words = (clusters === "shared" ? whatAllLearn : whatNeighboursLearn)[privacy];
  return words.replace("one row", protectedWords[protects] ?? "one row");
}

/** Of a study whose neighbours are trusted. */
export const whatTrustMeans = "neighbours are trusted: nothing is held back, and one that lies moves everybody";
