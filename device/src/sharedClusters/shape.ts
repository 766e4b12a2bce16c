// What a study with shared clusters says of the numbers that are summed up, and what a device can say of its rows.

import type { Matrix, Statistics } from "@fedkm/core";
import { isOpenStudy, type Study } from "../study/study.ts";
import { type DescriptionPlan, descriptionPlan, type LocalTable } from "./description.ts";
import { type ReleasePlan, releasePlan } from "./release.ts";

/** Points of which some count more than others. */
export interface Weighted {
  readonly points: Matrix;
  /** Whole numbers; undefined: each point counts once. */
  readonly weights: Float64Array | undefined;
}

export type CountsAndSums = Pick<Statistics, "counts" | "sums">;

/** The rows of one device, as far as sums are asked of them. */
export interface LocalSums {
  /** Other for other rows or devices, and nothing can be learnt from it: see `rowsMark`. */
  mark(): number;
  /** For the seed: its rows or, where they are guarded, the cores of its own k-means. */
  seed(): Weighted;
  /** Its columns, where the study leaves some open. */
  table(): LocalTable;
  /** Its rows, where they are open; and their weights in replicates, which nobody else can compute. */
  rows(): Matrix;
  weights(replicates: number): Uint8Array;
  /** Counts and sums of its rows at these centroids. */
  at(centroids: Float64Array): CountsAndSums;
}

/** How the sums of a study are laid out in integers. */
export interface SumsShape {
  readonly k: number;
  readonly d: number;
  /** Of each feature, divided by its scale. Coordinates are counted from the middle. */
  readonly ranges: Float64Array;
  readonly middle: Float64Array;
  readonly isGuarded: boolean;
  /** Sums go over a tree, and not to everybody. */
  readonly isTree: boolean;
  /** That one device may hold; undefined: nothing bounds what a device weighs. */
  readonly mostRows: number | undefined;
  /** The study names its founders. */
  readonly isFounded: boolean;
  /** Where the clusters begin, if the study says so. */
  readonly start: Float64Array | undefined;
  /** Of private studies only. */
  readonly releasing: ReleasePlan | undefined;
  /** Of studies that leave columns open, and of those that leave k open and nothing else. */
  readonly describing: DescriptionPlan | undefined;
  /** Of studies that validate their answer: how often rows are weighed anew. */
  readonly replicates: number | undefined;
  readonly choosing: { readonly from: number; readonly to: number } | undefined;
}

/** The layout of a study's sums. */
export function sumsShape(study: Study): SumsShape {
  const { k, leastK, validate, features, privacy, seed, sums, founders, mostRows } = study;
  const ranges = Float64Array.from(features, ({ min, max, scale }) => (max - min) / scale);
  const middle = Float64Array.from(features, ({ min, max, scale }) => (min + max) / 2 / scale);
  const at = (row: readonly number[]) => row.map((value, f) => value / features[f].scale - middle[f]);
  const start = seed && Float64Array.from(seed.flatMap(at));
  const releasing = releasePlan(study, ranges);
  const describing = descriptionPlan(study);
  // Private studies must have founders.
  const isFounded = founders !== undefined || releasing !== undefined;
  const modes = { isGuarded: privacy === "guarded", isTree: sums === "tree", isFounded };
  return {
    k,
    d: features.length,
    ranges,
    middle,
    ...modes,
    mostRows,
    start,
    releasing,
    describing,
    // What columns hold comes first.
    choosing: leastK === undefined || describing !== undefined ? undefined : { from: leastK, to: k },
    replicates: isOpenStudy(study) ? undefined : validate,
  };
}

/** The number of the nearest of some rows, the lowest among equals. */
export function nearest(point: Float64Array, centres: Float64Array): number {
  const cols = point.length;
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (let c = 0; c < centres.length / cols; c++) {
    let distance = 0;
    for (let i = 0; i < cols; i++) distance += (point[i] - centres[c * cols + i]) ** 2;
    if (distance < least) [best, least] = [c, distance];
  }
  return best;
}

/** Counts and sums of points, each for the cluster that `clusterOf` says. */
export function sumsBy(
  { points, weights }: Weighted,
  k: number,
  clusterOf: (point: Float64Array) => number,
): CountsAndSums {
  const { data, rows, cols } = points;
  const [counts, sums] = [new Float64Array(k), new Float64Array(k * cols)];
  for (let r = 0; r < rows; r++) {
    const point = data.subarray(r * cols, (r + 1) * cols);
    const c = clusterOf(point);
    const weight = weights?.[r] ?? 1;
    counts[c] += weight;
    for (let i = 0; i < cols; i++) sums[c * cols + i] += weight * point[i];
  }
  return { counts, sums };
}
