// Outcomes of attacks that read: what neighbours computed from messages, held against the truth.

import { type DeviceSketch, sketchCentroids } from "../../device/src/loop/sketch.ts";
import { type ClusterSnapshot, type PublicRules, snapshotsOf } from "./inversion.ts";
import { groupsError, meansError, rowError, type Truth } from "./judge.ts";
import type { ObservedMessage } from "./observation.ts";
import type { Attack, Outcome } from "./outcome.ts";
import { isolatedRows, type PublishedGroup } from "./rowSpace.ts";
import { type RowClaim, rowClaims } from "./rowTracking.ts";

export interface Reconstruction {
  readonly messages: readonly ObservedMessage[];
  readonly snapshots: readonly ClusterSnapshot[];
  readonly claims: readonly RowClaim[];
}

/** `least`: a device of fewer rows sends nothing. */
export function reconstruct(messages: readonly ObservedMessage[], rules: PublicRules, least: number): Reconstruction {
  const snapshots = snapshotsOf(messages, rules);
  return { messages, snapshots, claims: rowClaims(messages, snapshots, rules, least) };
}

/** Of the means that were found, the least error. */
export function groupsFound(
  { messages, snapshots }: Pick<Reconstruction, "messages" | "snapshots">,
  truth: Truth,
): number | undefined {
  const errors = snapshots.flatMap((snapshot) => groupsError(snapshot, messages[snapshot.message], truth) ?? []);
  return errors.length > 0 ? Math.min(...errors) : undefined;
}

export function rowsOutcome(
  attack: Attack,
  claims: readonly Pick<RowClaim, "values" | "error">[],
  truth: Truth,
): Outcome {
  const errors = claims.map((claim) => rowError(claim, truth));
  const right = errors.filter((error) => error !== undefined);
  return {
    attack,
    rows: right.length,
    wrong: errors.length - right.length,
    ...(right.length > 0 ? { rowError: Math.min(...right) } : {}),
  };
}

/** What every device of the network is sent of a device's own clusters, the first sketch of it on the rows of `truth`. */
export function sketchesOutcome(sketches: readonly DeviceSketch[], truth: Truth, everyRow: Truth): Outcome {
  const given = sketches.map(sketchCentroids);
  const claims = given.flatMap(({ data, rows, cols }) =>
    Array.from({ length: rows }, (_, c) => ({ values: data.slice(c * cols, (c + 1) * cols), error: 0 })),
  );
  const groups = given.length > 0 ? meansError(given[0], truth) : undefined;
  // A mean is not meant to be a row, so one that is none is not a wrong claim.
  return { ...rowsOutcome("sketches", claims, everyRow), wrong: 0, groups };
}

/** Everything that was ever published, against somebody who knows who was in which group. */
export function rowSpaceOutcome(published: readonly PublishedGroup[]): Outcome {
  const { rows, smallestClass } = isolatedRows(published);
  return {
    attack: "row space",
    rows: rows.length,
    ...(rows.length > 0 ? { rowError: 0 } : {}),
    ...(Number.isFinite(smallestClass) ? { smallestClass } : {}),
  };
}
