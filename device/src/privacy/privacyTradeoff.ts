// What the noise of a private study costs a device with given rows. It stays on the device.

import { kmeans } from "@fedkm/core";
import { devicesForRelease, type Expectation, releaseGrid, releaseReach, rhoOf } from "@fedkm/core/privacy";
import { muOf, type NoiseVerdict, noiseVerdict, smallestSeenCluster } from "@fedkm/core/release";
import { type DeviceRows, rowsInMemory } from "../study/remoteRows.ts";
import { budgetOf, type Study } from "../study/study.ts";
import { scaleRows } from "../study/units.ts";
import { boxOf } from "./privateRows.ts";

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

/** Of a release in rounds: what the noise will cost, from public figures alone, and in words for owners. */
export function noiseOfRelease(study: Study): { readonly verdict: NoiseVerdict; readonly words: string } {
  const { k, features, typicalRows, protects = "rows" } = study;
  const isShared = study.clusters === "shared";
  const { devices = 1, colluders = 1 } = isShared ? study : { colluders: 0 };
  const { epsilon, delta } = budgetOf(study);
  // Shares of those who may collude come on top of the noise that is paid for.
  const mu = muOf(epsilon, delta) * Math.sqrt((devices - colluders) / devices);
  const rules = { k, low: boxOf(features).low, mu };
  const verdict = noiseVerdict(rules, devices * (typicalRows ?? 1));
  const where = isShared ? "in all" : "on a device";
  const missed = `a cluster of fewer than ${smallestSeenCluster(rules)} ${protects} ${where} is likely to be missed`;
  const many = typicalRows === null ? "" : ` of ${typicalRows} ${protects}`;
  const who = isShared ? `${devices} devices${many}` : `${typicalRows} ${protects} on a device`;
  return { verdict, words: `with ${who} ${noiseWords[verdict]}; ${missed}` };
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
