// What each privacy mode promises, in one sentence each for commands, files and pages, and what its noise costs a device with
// given rows. The latter stays on the device.

import { kmeans } from "@fedkm/core";
import { devicesForRelease, type Expectation, releaseGrid, releaseReach, rhoOf } from "@fedkm/core/privacy";
import { muOf, type NoiseVerdict, noiseVerdict, smallestSeenCluster } from "@fedkm/core/release";
import { type DeviceRows, rowsInMemory } from "../study/remoteRows.ts";
import { budgetOf, type Study } from "../study/study.ts";
import { scaleRows } from "../study/units.ts";
import { boxOf } from "./privateRows.ts";

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

/**
 * From so many devices on the common answer is nearer to the truth than that of this device alone without noise; Infinity
 * where its clusters drown in the noise.
 */
export function devicesToGainBy(study: Study, rows: DeviceRows): number {
  const expected = expectationOf(study, rows);
  return expected === undefined ? Number.POSITIVE_INFINITY : devicesForRelease(expected);
}

const noiseWords: Readonly<Record<NoiseVerdict, string>> = {
  fine: "the noise costs next to nothing",
  costly: "the noise makes clusters some percent worse",
  risky: "the noise can hide clusters, and makes others much worse",
  useless: "the noise would leave little more than one mean for all rows",
};

/** With shared clusters: what the noise will cost, from public figures alone, and in words for owners. */
export function noiseOfRelease(study: Study): { readonly verdict: NoiseVerdict; readonly words: string } {
  const { k, features, devices = 1, colluders = 1, typicalRows } = study;
  const { epsilon, delta } = budgetOf(study);
  // Shares of those who may collude come on top of the noise that is paid for.
  const mu = muOf(epsilon, delta) * Math.sqrt((devices - colluders) / devices);
  const rules = { k, low: boxOf(features).low, mu };
  const verdict = noiseVerdict(rules, devices * (typicalRows ?? 1));
  const missed = `a cluster of fewer than ${smallestSeenCluster(rules)} rows in all is likely to be missed`;
  return { verdict, words: `with ${devices} devices of ${typicalRows} rows ${noiseWords[verdict]}; ${missed}` };
}

/** Undefined: there are too few rows to say anything. */
function expectationOf(study: Study, rows: DeviceRows): Expectation | undefined {
  const { k, features, typicalRows } = study;
  const points = scaleRows(study, rowsInMemory(rows));
  if (points.rows <= k) return undefined;
  const { epsilon, delta } = budgetOf(study);
  const { low, high } = boxOf(features);
  const { inertia } = kmeans(points, { k });
  return {
    rowsOfCluster: points.rows / k,
    variance: inertia / (points.rows - k) / features.length,
    reach: releaseReach(low, high),
    rho: rhoOf(epsilon, delta),
    grid: releaseGrid({ low, high }, typicalRows ?? points.rows, epsilon),
  };
}
