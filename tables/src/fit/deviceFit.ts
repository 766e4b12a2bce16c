// Whether one table of clusters fits every device: whose means lie elsewhere, and whose numbers mean something else.

import { BEYOND_CHANCE, type ClusterSums, squaredBetween } from "../model/clusterSums.ts";

export interface DevicesApart {
  /** Devices whose rows lie farther from the table's means, by squares, than they scatter around means of their own. */
  readonly differing: readonly number[];
  /** Devices with clusters that are nearer to another number's mean in the table than to that of their own number. */
  readonly misnumbered: readonly number[];
}

/** Fewer rows than this say little, about a cluster or about a device. */
export const FEW_ROWS = 10;

/** So large a share of a device's rows has to be in clusters of a wrong number before it is named. */
const MISNUMBERED_SHARE = 0.1;

/** A device is in one list at most: where numbers are mixed up, distances between equal numbers say nothing more. */
export function devicesApart(sums: ClusterSums): DevicesApart {
  const { k, counts } = sums;
  const differing: number[] = [];
  const misnumbered: number[] = [];
  for (let i = 0; i * k < counts.length; i++) {
    const rows = counts.subarray(i * k, (i + 1) * k).reduce((sum, count) => sum + count, 0);
    if (rows < FEW_ROWS || rows === totalOf(sums)) continue;
    if (misnumberedRows(sums, i) > MISNUMBERED_SHARE * rows) misnumbered.push(i);
    else if (differs(sums, i)) differing.push(i);
  }
  return { differing, misnumbered };
}

/**
 * What the table's means cost beyond the device's own ones, against the scatter that nobody can take away. The own means
 * are better by chance too, by about one variance for each cluster.
 */
function differs({ k, cols, counts, means, common, variances }: ClusterSums, i: number): boolean {
  let [excess, scatter, chance, chanceSquared] = [0, 0, 0, 0];
  for (let c = 0; c < k; c++) {
    const count = counts[i * k + c];
    const variance = variances[c];
    if (count === 0 || Number.isNaN(variance)) continue;
    excess += count * squaredBetween(means, i * k + c, common, c, cols);
    scatter += count * variance;
    chance += variance;
    chanceSquared += 2 * variance * variance;
  }
  return excess > scatter + chance + BEYOND_CHANCE * Math.sqrt(chanceSquared);
}

/** Rows of device i in clusters that are nearer, beyond chance, to another number's mean in the table. */
function misnumberedRows({ k, cols, counts, means, totals, common, variances }: ClusterSums, i: number): number {
  let rows = 0;
  for (let c = 0; c < k; c++) {
    const at = i * k + c;
    if (counts[at] === 0 || Number.isNaN(variances[c])) continue;
    let nearest = Number.POSITIVE_INFINITY;
    for (let other = 0; other < k; other++) {
      if (totals[other] > 0) nearest = Math.min(nearest, squaredBetween(means, at, common, other, cols));
    }
    const own = squaredBetween(means, at, common, c, cols);
    if (Math.sqrt(own) - Math.sqrt(nearest) > BEYOND_CHANCE * Math.sqrt(variances[c] / counts[at])) rows += counts[at];
  }
  return rows;
}

function totalOf({ totals }: ClusterSums): number {
  return totals.reduce((sum, total) => sum + total, 0);
}
