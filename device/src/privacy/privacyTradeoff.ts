// What the noise of a private study costs a device with given rows. It stays on the device.

import { kmeans } from "@fedkm/core";
import { devicesForRelease, type Expectation, releaseGrid, releaseReach, rhoOf } from "@fedkm/core/privacy";
import { muOf, type NoiseVerdict, noiseVerdict, smallestSeenCluster } from "@fedkm/core/release";
import { type DeviceRows, rowsInMemory } from "../study/remoteRows.ts";
import { budgetOf, isReleasedInRounds, type Study } from "../study/study.ts";
import { scaleRows } from "../study/units.ts";
import { boxOf } from "./privateRows.ts";

/** What a device with these rows gains from a private study, in one line; "useless": nobody gains from it. */
export function gainFromStudy(
  study: Study,
  rows: DeviceRows,
): { readonly gain: "some" | "none" | "useless"; readonly words: string } {
  if (isReleasedInRounds(study)) {
    const { verdict, words } = noiseOfRelease(study);
    return { gain: verdict === "useless" ? verdict : verdict === "risky" ? "none" : "some", words };
  }
  const expected = expectationOf(study, rows);
  const devices = expected === undefined ? Number.POSITIVE_INFINITY : devicesForRelease(expected);
  if (devices <= MOST_EXPECTED_DEVICES) {
    const few = devices <= 2 ? "any neighbour" : `${devices} devices or more that have the same clusters`;
    const words = `with ${few} the common answer can be expected to be nearer to the truth than this device alone`;
    return { gain: "some", words };
  }
  const words = Number.isFinite(devices)
    ? `only ${devices} devices together would be nearer to the truth than this device alone`
    : "the clusters of these rows would drown in the noise, and this device would only follow its neighbours";
  return { gain: "none", words };
}

/** More devices than this hardly ever take part, and then privacy only costs. */
const MOST_EXPECTED_DEVICES = 1000;

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
