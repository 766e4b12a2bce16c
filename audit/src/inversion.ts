// The inversion of (M) from recorded messages: how many rows a device has, and size and sum of each of its clusters.

import { type Equation, equationShare, equationSum, equationsOf } from "@fedkm/core/privacy";
import type { Study } from "@fedkm/device";
import type { ObservedMessage } from "./observation.ts";

/** What an attacker knows of all clusters of a device at one message. */
export interface ClusterSnapshot {
  /** The message's number. */
  readonly message: number;
  /** Of the device. */
  readonly rows: number;
  readonly counts: readonly number[];
  /** Of the rows of each cluster, in the scaled units of the study. */
  readonly sums: readonly Float64Array[];
  /** How far a coordinate of a sum can be off. */
  readonly error: number;
}

/** What the study says about every message, and what a coordinate is rounded to; 0: nothing. */
export interface PublicRules extends Pick<Study, "alpha" | "coupling" | "typicalRows"> {
  readonly grain: number;
}

/** Relative noise of doubles that went through a few operations. */
const NOISE = 1e-13;
/** Of the devices that an attack considers. */
const MOST_ROWS = 20_000;
/** Further apart from whole numbers, counts are not believed. */
const NEARLY_WHOLE = 0.05;

/** Every message that gives, with the one before it, the sizes and sums of all clusters. */
export function inversionSnapshots(messages: readonly ObservedMessage[], rules: PublicRules): ClusterSnapshot[] {
  const readings = messages.map((message) => inversionReadings(message, rules));
  const found: ClusterSnapshot[] = [];
  for (let t = 1; t < messages.length; t++) {
    if (messages[t].stamp.epoch !== messages[t - 1].stamp.epoch) continue;
    pairs: for (const after of readings[t]) {
      for (const before of readings[t - 1]) {
        const snapshot = solve(before, after, t, rules);
        if (snapshot === undefined) continue;
        found.push(snapshot);
        break pairs;
      }
    }
  }
  return found;
}

/** Every way to read a message: who counted, and whether matches were made at these centroids or at those before. */
export function inversionReadings(
  { centroids, before, neighbours }: ObservedMessage,
  rules: PublicRules,
): Equation[][] {
  return neighbours.flatMap((counted) =>
    [before ?? centroids, centroids].flatMap((matchedAt, n) =>
      n === 1 && before === undefined
        ? []
        : [equationsOf({ sent: centroids, neighbours: counted }, rules.alpha, rules.coupling, matchedAt)],
    ),
  );
}

function solve(
  before: Equation[],
  after: Equation[],
  message: number,
  rules: PublicRules,
): ClusterSnapshot | undefined {
  const shares: number[] = [];
  const doubts: number[] = [];
  for (const [c, equation] of after.entries()) {
    const found = equationShare(before[c], equation);
    if (found === undefined) return undefined;
    const doubt = doubtOf(before[c], equation, found.share, rules.grain);
    if (!(found.error * found.share <= 4 * doubt)) return undefined;
    shares.push(found.share);
    doubts.push(doubt);
  }
  const counts = rules.typicalRows === null ? sizesOf(shares, doubts) : wholes(shares, doubts, rules.typicalRows);
  if (counts === undefined) return undefined;
  const rows = counts.reduce((sum, count) => sum + count, 0);
  return { message, rows, counts, ...inversionSums(after, counts, rules.typicalRows ?? rows, rules.grain) };
}

/** How far a share can be off: the noise of both messages against the move between them. */
function doubtOf(before: Equation, after: Equation, share: number, grain: number): number {
  const move = Math.hypot(...after.at.map((x, d) => x - before.at[d]));
  const size = Math.hypot(...after.at) + 1e-300;
  return ((share + after.weight) * 2 * (grain + NOISE * size)) / move;
}

/** The smallest number of rows of which all shares are whole numbers. */
function sizesOf(shares: readonly number[], doubts: readonly number[]): number[] | undefined {
  if (Math.abs(shares.reduce((sum, share) => sum + share, -1)) > NEARLY_WHOLE) return undefined;
  for (let rows = 1; rows <= MOST_ROWS; rows++) {
    const counts = wholes(shares, doubts, rows);
    if (counts?.reduce((sum, count) => sum + count, 0) === rows) return counts;
    if (Math.max(...doubts) * rows > NEARLY_WHOLE) return undefined;
  }
  return undefined;
}

function wholes(shares: readonly number[], doubts: readonly number[], rows: number): number[] | undefined {
  const counts = shares.map((share) => Math.round(share * rows));
  const isWhole = counts.every((count, c) => {
    const slack = Math.min(NEARLY_WHOLE, 4 * doubts[c] * rows);
    return count > 0 && Math.abs(count - shares[c] * rows) <= Math.max(slack, 1e-9 * rows);
  });
  return isWhole ? counts : undefined;
}

/** With whole counts, sums are as exact as the message. `unit`: rows that weigh 1. */
export function inversionSums(
  equations: readonly Equation[],
  counts: readonly number[],
  unit: number,
  grain: number,
): Pick<ClusterSnapshot, "sums" | "error"> {
  const sums = equations.map((equation, c) => equationSum(equation, counts[c] / unit).map((x) => unit * x));
  const error = Math.max(
    ...equations.map(({ at, weight, sum }, c) => {
      const size = (counts[c] / unit + weight) * Math.hypot(...at) + Math.hypot(...sum);
      return unit * (NOISE * size + (counts[c] / unit + weight) * grain);
    }),
  );
  return { sums, error };
}
