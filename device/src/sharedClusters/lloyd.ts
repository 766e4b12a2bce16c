// One step of pooled k-means on whole numbers. A device rounds once, to a 2^40th of a feature's range, so what the sums
// of n devices are short of the true ones is below n of these units; smaller moves are none, and the answer is at rest.

import type { Content, GenerationOutcome } from "./generation.ts";
import type { CountsAndSums, SumsShape } from "./shape.ts";

/**
 * Bits after the point. A sum over N rows of differences within a range is at most N 2^bits, and must stay below 2^63.
 * Three bits are left for rows that come before the number of rows is counted again.
 */
export function fractionBits(rows: number): number {
  return Math.min(40, 60 - Math.ceil(Math.log2(Math.max(1, rows))));
}

/** The counts, then for each coordinate by how much the sum of a cluster is off its centroid. */
export function clusterIntegers(
  { k, d, ranges }: SumsShape,
  { rows, numbers }: Content,
  { counts, sums }: CountsAndSums,
): Float64Array {
  const unit = 2 ** fractionBits(rows);
  const integers = new Float64Array(k * (d + 1));
  integers.set(counts);
  for (let i = 0; i < k * d; i++) {
    const off = sums[i] - counts[Math.floor(i / d)] * numbers[i];
    integers[k + i] = Math.round((off / ranges[i % d]) * unit);
  }
  return integers;
}

export function lloydStep(
  { k, d, ranges }: SumsShape,
  content: Content,
  totals: Float64Array,
  devices: number,
): GenerationOutcome {
  const counts = totals.subarray(0, k);
  const rows = counts.reduce((sum, count) => sum + count, 0);
  const steps = content.steps + 1;
  const bits = fractionBits(content.rows);
  // So many rows that the sums may have run over: they are asked again with fewer bits after the point.
  if (fractionBits(rows) < bits) return { ...content, rows, steps };
  const numbers = content.numbers.slice();
  let isMoved = false;
  for (let i = 0; i < k * d; i++) {
    const count = counts[Math.floor(i / d)];
    const off = totals[k + i];
    const range = ranges[i % d];
    if (count === 0 || Math.abs(off) <= devices) continue;
    numbers[i] = onGrid(numbers[i] + range * ((off * 2 ** -bits) / count), range);
    isMoved ||= numbers[i] !== content.numbers[i];
  }
  return isMoved ? { ...content, rows, steps, numbers } : "settled";
}

/**
 * Centroids that are asked for lie on a grid far finer than rows are apart. So networks that end with the same clusters
 * end at the same centroids, to the bit, whichever way they came.
 */
function onGrid(value: number, range: number): number {
  const step = range * 2 ** -32;
  return Math.round(value / step) * step;
}

/** The means of clusters at rest. */
export function sharedMeansAtRest(
  { k, d, ranges }: SumsShape,
  { rows, numbers }: Content,
  totals: Float64Array,
): Float64Array {
  const unit = 2 ** -fractionBits(rows);
  return numbers.map((value, i) => {
    const count = totals[Math.floor(i / d)];
    return count === 0 ? value : value + ranges[i % d] * ((totals[k + i] * unit) / count);
  });
}
