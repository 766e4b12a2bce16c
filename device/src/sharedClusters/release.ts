// The sums of a private study: rows in the cells of a grid, then the rows around given centroids, each once and with a
// share of noise from every device; and what follows from the sums of all, which nobody's rows are asked about again.

import { kmeans, type Matrix } from "@fedkm/core";
import {
  type CellGrid,
  cellsToRelease,
  countVariance,
  discreteGaussian,
  type RandomBytes,
  releasedCellSummary,
  releasedResidualSummary,
  releaseGrid,
  releaseReach,
  releaseVariances,
  residualsToRelease,
  rhoOf,
  STEPS,
  varianceAtLeast,
} from "@fedkm/core/privacy";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { ReleaseRequest } from "../privacy/privateRows.ts";
import { budgetOf, type Study } from "../study/study.ts";
import { type Base, type Content, stages } from "./generation.ts";
import { emptyRoster, isPlaceOf, isSafe, type Roster } from "./roster.ts";

/** How many clusters there are, of how many features, and how wide these are. */
interface Clusters {
  readonly k: number;
  readonly d: number;
  readonly ranges: Float64Array;
}

/** What a private study says of its releases. */
export interface ReleasePlan {
  /** A release is made with so many devices at least. */
  readonly devices: number;
  readonly colluders: number;
  /** What each of the two releases costs. */
  readonly rho: number;
  readonly grid: CellGrid;
  readonly reach: number;
}

/**
 * Counts are posted in these parts of a row, so that even a small share of noise has many steps: sums of coarse discrete
 * Gaussians are none. Kairouz, Liu and Steinke (2021) bound the difference, which is below 1e-100 here.
 */
const COUNT_STEPS = 1024;
const MOST_ROWS = 2 ** 33;

export function releasePlan(study: Study, ranges: Float64Array): ReleasePlan | undefined {
  if (study.privacy !== "private") return undefined;
  const { epsilon, delta } = budgetOf(study);
  const { devices = 0, colluders = 1, typicalRows } = study;
  const box = { low: ranges.map((range) => -range / 2), high: ranges.map((range) => range / 2) };
  // Nobody knows how many rows there are, nor should: the study says about how many.
  const grid = releaseGrid(box, devices * (typicalRows ?? 1), epsilon);
  return { devices, colluders, rho: rhoOf(epsilon, delta) / 2, grid, reach: releaseReach(box.low, box.high) };
}

export const cellsOfRelease = ({ grid }: ReleasePlan) => grid.perSide ** grid.low.length;

/** Where a private study begins, for this answer: with who is there. */
export function census(version: number): Content {
  const roster = emptyRoster(version);
  return { stage: stages.census, steps: 0, rows: 0, seeded: 0, numbers: new Float64Array(0), roster };
}

/**
 * Whether rows may be added to sums over these devices. The second release goes on with those that are left: their noise is
 * that of a whole release, and the first would be paid for nothing.
 */
function isEnough({ devices, colluders }: ReleasePlan, steps: number, roster: Roster): boolean {
  return (steps > 0 || roster.ids.length >= devices) && isSafe(roster, colluders);
}

/** Too few devices rest until somebody comes, or links to others. */
export function afterCensus(releasing: ReleasePlan, content: Content, roster: Roster): Content {
  const asked = content.steps === 0 ? stages.cells : stages.offsets;
  return { ...content, stage: isEnough(releasing, content.steps, roster) ? asked : stages.rest, roster };
}

/** Rosters that were looked at: the look takes longer the larger they are. */
const looked = new WeakMap<Roster, boolean>();

/**
 * Whether a device with these links may add to the sums of a generation. Private rows are added to sums over devices that
 * all know of each other, or not at all.
 */
export function mayAdd(
  releasing: ReleasePlan | undefined,
  { stage, steps, roster }: Content,
  id: string,
  partners: readonly { readonly id: string }[],
): boolean {
  if (releasing === undefined || stage === stages.census) return true;
  const named = partners.map((partner) => partner.id);
  if (roster === undefined || !isPlaceOf(roster, id, named)) return false;
  const isGood = looked.get(roster) ?? isEnough(releasing, steps, roster);
  looked.set(roster, isGood);
  return isGood;
}

/** Equal for sums over the same devices, for the same answer and around the same centroids, however they are linked. */
export function nameOfSums({ roster, numbers }: Content): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify([roster?.version, roster?.ids, Array.from(numbers)]))));
}

/** What a generation asks of private rows, or asked of them before the keys. */
export function releaseRequest(content: Content & Pick<Base, "number">): ReleaseRequest {
  const { stage, steps, roster, number } = content;
  const { version, ids } = roster ?? emptyRoster(0);
  const at = stage === stages.keys ? number - 1 : number;
  return { stage: steps === 0 ? "cells" : "means", of: nameOfSums(content), version, among: ids, at };
}

/** Sums of rows, and the variance that the noise of all devices together must have. */
interface NoisySums {
  readonly values: readonly bigint[];
  readonly variance: number;
}

/** What a stage asks of rows, without noise. */
export function askedSums(
  { rho, grid, reach }: ReleasePlan,
  { k, d }: Clusters,
  { stage, numbers }: Content,
  points: Matrix,
): NoisySums[] {
  const inSteps = (values: readonly bigint[], variance: number): NoisySums => ({
    values: values.map((value) => value * BigInt(COUNT_STEPS)),
    variance: variance * COUNT_STEPS ** 2,
  });
  if (stage === stages.cells) return [inSteps(cellsToRelease(points, grid), countVariance(rho))];
  const { counts, sums } = residualsToRelease(points, { data: numbers, rows: k, cols: d }, reach);
  const variances = releaseVariances(rho, d);
  return [inSteps(counts, variances.counts), { values: sums, variance: variances.sums }];
}

/** What the rows of a device add, with its share of the noise. At most `colluders` of all devices add none. */
export function sharedReleaseIntegers(
  releasing: ReleasePlan,
  clusters: Clusters,
  content: Content,
  points: Matrix,
  bytes: RandomBytes,
): Float64Array {
  const honest = (content.roster?.ids.length ?? 0) - releasing.colluders;
  const integers = askedSums(releasing, clusters, content, points).flatMap(({ values, variance }) => {
    const draw = discreteGaussian(varianceAtLeast(variance / honest), bytes);
    return values.map((value) => Number(value + draw()));
  });
  return Float64Array.from(integers);
}

/** What the totals of the second release say: counts, and sums of offsets. */
export function offsetsOf({ reach }: ReleasePlan, { k }: Pick<Clusters, "k">, totals: Float64Array) {
  return {
    counts: Array.from(totals.subarray(0, k), (total) => total / COUNT_STEPS),
    offsets: Array.from(totals.subarray(k), (total) => total * (reach / STEPS)),
  };
}

/** The first release: cells that have rows beyond doubt, and k-means on them. */
export function afterCells(
  { rho, grid, colluders }: ReleasePlan,
  { k, d }: Clusters,
  content: Content,
  totals: Float64Array,
  devices: number,
): Content | "implausible" {
  const counts = Array.from(totals, (total) => total / COUNT_STEPS);
  if (counts.some((count) => Math.abs(count) > MOST_ROWS)) return "implausible";
  // The noise of all together is that of the release and what colluders' shares may have added.
  const { points, weights } = releasedCellSummary(counts, grid, (rho * (devices - colluders)) / devices, k);
  // Fewer cells with rows than clusters: some begin in the middle and stay without rows.
  const missing = Math.max(0, k - points.rows);
  const data = new Float64Array((points.rows + missing) * d);
  data.set(points.data);
  const padded = [...weights, ...new Array<number>(missing).fill(1)];
  const found = kmeans({ data, rows: padded.length, cols: d }, { k, weights: padded, seed: 0 });
  const rows = Math.round(weights.reduce((sum, weight) => sum + weight, 0));
  return { ...content, stage: stages.offsets, steps: 1, rows, numbers: found.centroids.data.slice() };
}

/** The second release: the means that it gives are the answer, and stay. */
export function afterOffsets(
  { reach }: ReleasePlan,
  { k, d, ranges }: Clusters,
  content: Content,
  totals: Float64Array,
): Content | "implausible" {
  const counts = Array.from(totals.subarray(0, k), (total) => total / COUNT_STEPS);
  if (counts.some((count) => Math.abs(count) > MOST_ROWS)) return "implausible";
  const centroids = { data: content.numbers, rows: k, cols: d };
  const { points, weights } = releasedResidualSummary(
    { counts, sums: Array.from(totals.subarray(k)) },
    centroids,
    reach,
    0,
  );
  const numbers = points.data.map((value, i) => Math.min(ranges[i % d] / 2, Math.max(-ranges[i % d] / 2, value)));
  const rows = Math.round(weights.reduce((sum, weight) => sum + weight, 0));
  const roster = emptyRoster(content.roster?.version ?? 0);
  return { ...content, stage: stages.frozen, steps: 2, rows, numbers, roster };
}
