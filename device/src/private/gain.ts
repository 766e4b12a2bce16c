// Whether privacy is worth its noise: what a device can expect of a private study, from its own rows. It stays on the device.

import { kmeans } from "@fedkm/core";
import {
  devicesToGain,
  type Expectation,
  errorsUnderMasks,
  gridFor,
  noiseVariance,
  reachIn,
  rhoOf,
} from "@fedkm/core/privacy";
import { inMemory, type Rows } from "../elsewhere.ts";
import { budgetOf, type Study } from "../study.ts";
import { scaleRows } from "../units.ts";
import { boxOf } from "./private.ts";

/**
 * From so many devices on the common answer is nearer to the truth than that of this device alone without noise; Infinity
 * where its clusters drown in the noise.
 */
export function devicesToGainBy(study: Study, rows: Rows): number {
  const expected = expectationOf(study, rows);
  return expected === undefined ? Number.POSITIVE_INFINITY : devicesToGain(expected);
}

/**
 * With shared clusters: how far a coordinate of a centroid errs in scaled units, that of as many devices like this one as
 * the study asks for and that of this device alone. Undefined: it has too few rows for clusters of its own.
 */
export function errorsBy(study: Study, rows: Rows): ReturnType<typeof errorsUnderMasks> | undefined {
  const expected = expectationOf(study, rows);
  return expected && errorsUnderMasks(expected, study.devices ?? 1, study.colluders ?? 1);
}

/** Undefined: there are too few rows to say anything. */
function expectationOf(study: Study, rows: Rows): Expectation | undefined {
  const { k, features, typicalRows, devices = 1 } = study;
  const points = scaleRows(study, inMemory(rows));
  if (points.rows <= k) return undefined;
  const { epsilon, delta } = budgetOf(study);
  const { low, high } = boxOf(features);
  const { inertia } = kmeans(points, { k });
  return {
    rowsOfCluster: points.rows / k,
    variance: inertia / (points.rows - k) / features.length,
    reach: reachIn(low, high),
    rho: rhoOf(epsilon, delta),
    grid: gridFor({ low, high }, devices * (typicalRows ?? points.rows), epsilon),
  };
}

/** With shared clusters: how far noise alone moves a coordinate of a centroid, as a deviation in scaled units. */
export function noiseOfCentroids(study: Study): number {
  const { k, features, devices = 1, colluders = 1, typicalRows } = study;
  const { epsilon, delta } = budgetOf(study);
  const { low, high } = boxOf(features);
  const rho = (rhoOf(epsilon, delta) * (devices - colluders)) / devices;
  const rowsOfCluster = (devices * (typicalRows ?? 1)) / k;
  return Math.sqrt(noiseVariance({ rowsOfCluster, reach: reachIn(low, high), rho }, features.length));
}
