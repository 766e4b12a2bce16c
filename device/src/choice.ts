// Which of two ends of an update a device keeps, where it began at several starts: the common seed, its own k-means.

import { type DeviceUpdate, discrepancy, type Matrix } from "@fedkm/core";
import type { Study } from "./study/study.ts";

/**
 * An end whose loss is more times that of another is not taken, whatever neighbours say. Honest devices with skewed rows
 * end at up to 2.7 times the loss of their own k-means; without a limit a member with other rows took them to 73 times.
 */
const MOST_LOSS = 4;

/**
 * Whether `found` is better than `kept`: by the objective without a gate, because to a gate a neighbour in another basin
 * looks like a liar, and everybody would stay with clusters of its own instead of the common ones.
 */
export function isBetterUpdate(
  found: DeviceUpdate,
  kept: DeviceUpdate,
  neighbours: readonly Matrix[],
  { alpha, coupling }: Study,
): boolean {
  if (found.loss > MOST_LOSS * kept.loss) return false;
  if (kept.loss > MOST_LOSS * found.loss) return true;
  const objectiveOf = ({ loss, centroids }: DeviceUpdate) =>
    neighbours.reduce((sum, other) => sum + alpha * discrepancy(centroids, other, coupling), loss);
  return objectiveOf(found) < objectiveOf(kept);
}
