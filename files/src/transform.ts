// What is done to the values of a column before it is scaled: the logarithm, or the rank by knots. Both can be undone.

import type { Matrix } from "@fedkm/core";
import { federatedQuantiles, QUANTILE_ERROR } from "./quantiles.ts";

export type Transform =
  /** The natural logarithm, of values above 0. */
  | { readonly kind: "log" }
  /** The share of rows below a value: `shares` at the rising `knots`, on straight lines between, and flat outside. */
  | { readonly kind: "rank"; readonly knots: readonly number[]; readonly shares: readonly number[] };

/** NaN for the logarithm of what is not above 0. */
export function transformed(transform: Transform | null | undefined, value: number): number {
  if (!transform) return value;
  if (transform.kind === "log") return value > 0 ? Math.log(value) : Number.NaN;
  return onLine(transform.knots, transform.shares, value);
}

/** Back to the units of the files. */
export function untransformed(transform: Transform | null | undefined, value: number): number {
  if (!transform) return value;
  return transform.kind === "log" ? Math.exp(value) : onLine(transform.shares, transform.knots, value);
}

function onLine(from: readonly number[], to: readonly number[], value: number): number {
  const last = from.length - 1;
  if (Number.isNaN(value)) return value;
  if (value <= from[0]) return to[0];
  if (value >= from[last]) return to[last];
  let [low, high] = [0, last];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (from[middle] <= value) low = middle;
    else high = middle;
  }
  return to[low] + ((value - from[low]) / (from[high] - from[low])) * (to[high] - to[low]);
}

/** Ranks are off by at most what lies between two knots; next to a heap of equal values by up to half of the heap. */
const KNOTS = 64;

/** Ranks over all places. Rows with one value have one rank: the middle of those that they take. */
export function rankTransform(datasets: readonly Matrix[], column: number): Transform {
  const all = Array.from({ length: KNOTS + 1 }, (_, i) => i / KNOTS);
  const values = federatedQuantiles(datasets, column, all);
  const close = 2 * QUANTILE_ERROR * (values[KNOTS] - values[0]);
  const knots: number[] = [];
  const ties: number[][] = [];
  values.forEach((value, i) => {
    if (i > 0 && value - knots[knots.length - 1] <= close) ties[ties.length - 1].push(all[i]);
    else {
      knots.push(value);
      ties.push([all[i]]);
    }
  });
  return { kind: "rank", knots, shares: ties.map((own) => (own[0] + own[own.length - 1]) / 2) };
}
