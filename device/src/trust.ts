// What a device learns of its neighbours from its robust updates: whose pulls were left out, and how far they pull it.

import { type DeviceUpdate, largestDrift } from "@fedkm/core";
import type { Neighbour } from "./neighbour.ts";

/** The share of a neighbour's pulls that were left out is a mean over this many of the latest rounds. */
const REMEMBERED_ROUNDS = 100;

/** Fewer rounds say little: in an opening everybody is far from everybody. */
const LEAST_ROUNDS = 20;

/** Centroids that have come this far towards the cap on their drift are worth a look: 3 of 5 standard errors. */
const WORTH_A_LOOK = 0.6;

/** `counting`: the neighbours of the update, in its order. Who is trusted is not judged. */
export function noteRejected(counting: Iterable<Neighbour>, update: DeviceUpdate | undefined): void {
  if (update !== undefined && update.rejected === undefined) return;
  let n = 0;
  for (const { rejections } of counting) {
    rejections.push(update?.rejected?.[n++] ?? 0);
    if (rejections.length > REMEMBERED_ROUNDS) rejections.shift();
  }
}

/** Null: it has not been heard for long enough to say. */
export function rejectedShare({ rejections }: Neighbour): number | null {
  if (rejections.length < LEAST_ROUNDS) return null;
  return rejections.reduce((sum, share) => sum + share, 0) / rejections.length;
}

/** How far the farthest centroid is from the mean of its own rows, in standard errors, and whether that is much. */
export function pullOf(update: DeviceUpdate | undefined): {
  readonly drift: number | null;
  readonly isPulled: boolean;
} {
  if (update?.drift === undefined) return { drift: null, isPulled: false };
  const { drift, counts } = update;
  return {
    drift: Math.max(...drift),
    isPulled: drift.some((errors, c) => errors > WORTH_A_LOOK * largestDrift(counts[c])),
  };
}
