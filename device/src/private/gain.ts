// Whether privacy is worth its noise: what a device can expect of a private study, from its own rows. It stays on the device.

import { kmeans } from "@fedkm/core";
import { devicesToGain, gridFor, reachIn, rhoOf } from "@fedkm/core/private";
import { inMemory, type Rows } from "../elsewhere.ts";
import { budgetOf, type Study } from "../study.ts";
import { scaleRows } from "../units.ts";
import { boxOf } from "./private.ts";

/**
 * From so many devices on the common answer is nearer to the truth than that of this device alone without noise; Infinity
 * where its clusters drown in the noise.
 */
export function devicesToGainBy(study: Study, rows: Rows): number {
  const { k, features, typicalRows } = study;
  const points = scaleRows(study, inMemory(rows));
  if (points.rows <= k) return Number.POSITIVE_INFINITY;
  const { epsilon, delta } = budgetOf(study);
  const { low, high } = boxOf(features);
  const { inertia } = kmeans(points, { k });
  return devicesToGain({
    rowsOfCluster: points.rows / k,
    variance: inertia / (points.rows - k) / features.length,
    reach: reachIn(low, high),
    rho: rhoOf(epsilon, delta),
    grid: gridFor({ low, high }, typicalRows ?? points.rows, epsilon),
  });
}
