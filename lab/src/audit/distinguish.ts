// The best test of whether one row is among the data, by somebody who knows all other rows: what epsilon it shows.

import { randomBytes } from "node:crypto";
import { type Matrix, paperData, stack } from "@fedkm/core";
import {
  countCells,
  gridFor,
  reachIn,
  releaseCells,
  releaseResiduals,
  residualVariances,
  rhoOf,
  sumResiduals,
} from "@fedkm/core/privacy";
import { isHeld, print, progress } from "../measure.ts";

const BOX = { low: Float64Array.of(-13, -13), high: Float64Array.of(13, 13) };
/** One-sided, at 95 %: of both error rates together. */
const CONFIDENCE = 0.975;
const BARS = 40;

/** So much that an attacker must learn something, and less than it shows: 2,000 releases show 2 to 3, in 20 tries. */
const [EASY, SHOWN] = [8, 0.5];

/** Prints what epsilon an attack shows beside the stated one, and judges it. */
export function attackHeld(title: string, shownAt: (epsilon: number) => number): boolean {
  const rows = [0.5, 1, EASY].map((epsilon) => ({ epsilon, found: shownAt(epsilon) }));
  print(title, [
    ["epsilon stated", "epsilon shown, at 95 % confidence"],
    ...rows.map(({ epsilon, found }) => [String(epsilon), found.toFixed(2)]),
  ]);
  const missed = rows.filter(({ epsilon, found }) => found > epsilon || (epsilon === EASY && found < SHOWN));
  return isHeld(
    `at most the stated epsilon, and above ${SHOWN} of ${EASY}, which shows that the attack works`,
    missed.map(({ found }) => found.toFixed(2)),
  );
}

/** The largest epsilon that is shown with confidence by a threshold on the likelihood ratio of both releases. */
export function empiricalEpsilon(epsilon: number, delta: number, runs: number): number {
  const { datasets } = paperData("iso", 1, 100, 1);
  const without = datasets[0];
  // Far from every centroid, so that it changes the sums as much as a row can.
  const row: Matrix = { data: Float64Array.of(12.5, 12.5), rows: 1, cols: 2 };
  const withRow = stack([without, row]);
  const centroids: Matrix = { data: Float64Array.of(0, 0, 5, -5, -5, 5), rows: 3, cols: 2 };
  const rho = rhoOf(epsilon, delta) / 2;
  const grid = gridFor(BOX, 100, epsilon);
  const reach = reachIn(BOX.low, BOX.high);
  const of = (points: Matrix) => ({ cells: countCells(points, grid), ...sumResiduals(points, centroids, reach) });
  const [known, changed] = [of(without), of(withRow)];
  const variances = { cells: 1 / (2 * rho), ...residualVariances(rho, 2) };
  const ratioOf = (points: Matrix) => {
    const seen = {
      cells: releaseCells(points, grid, rho, randomBytes),
      ...releaseResiduals(points, centroids, reach, rho, randomBytes),
    };
    let ratio = 0;
    for (const part of ["cells", "counts", "sums"] as const) {
      seen[part].forEach((value, i) => {
        const step = Number(changed[part][i] - known[part][i]);
        ratio += (step * (Number(value - known[part][i]) - step / 2)) / variances[part];
      });
    }
    return ratio;
  };
  progress(`${runs} releases with a row and without, epsilon ${epsilon}`);
  const [absent, present] = [without, withRow].map((points) => Array.from({ length: runs }, () => ratioOf(points)));
  progress("");
  return shownEpsilon(absent, present, delta);
}

/** The same from likelihood ratios of releases without the row and with it. */
export function shownEpsilon(absent: readonly number[], present: readonly number[], delta: number): number {
  const runs = absent.length;
  // The threshold is chosen on one half and judged on the other, so that choosing shows nothing.
  const half = Math.floor(runs / 2);
  const sorted = [...absent.slice(0, half), ...present.slice(0, half)].sort((a, b) => a - b);
  const shown = (bar: number, from: number, to: number) => {
    const above = (values: readonly number[]) => values.slice(from, to).filter((value) => value > bar).length;
    const n = to - from;
    return Math.max(
      shownBy(above(present), above(absent), n, delta),
      shownBy(n - above(absent), n - above(present), n, delta),
    );
  };
  const bars = Array.from({ length: BARS }, (_, b) => sorted[Math.floor(((b + 0.5) * sorted.length) / BARS)]);
  const best = bars.reduce((a, b) => (shown(b, 0, half) > shown(a, 0, half) ? b : a));
  return Math.max(0, shown(best, half, runs));
}

/** ln((p - delta) / q) for the rates of two counts, each at the end of its interval that shows less. */
function shownBy(hits: number, falseHits: number, n: number, delta: number): number {
  const p = 1 - upperBound(n - hits, n);
  return Math.log(Math.max(1e-9, p - delta) / upperBound(falseHits, n));
}

/** Clopper and Pearson: the largest rate at which so few hits would not be a surprise. */
function upperBound(hits: number, n: number): number {
  if (hits === n) return 1;
  let [low, high] = [hits / n, 1];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (chanceOfAtMost(hits, n, middle) > 1 - CONFIDENCE) low = middle;
    else high = middle;
  }
  return high;
}

/** The binomial distribution function. */
function chanceOfAtMost(hits: number, n: number, rate: number): number {
  let logTerm = n * Math.log1p(-rate);
  let sum = Math.exp(logTerm);
  for (let i = 1; i <= hits; i++) {
    logTerm += Math.log(((n - i + 1) / i) * (rate / (1 - rate)));
    sum += Math.exp(logTerm);
  }
  return sum;
}
