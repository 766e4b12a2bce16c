// Quantiles over all devices from histograms that they add up: each round looks closer at the bins in which they lie.

import type { Matrix } from "@fedkm/core";

const BINS = 4096;
const ROUNDS = 3;
/** How far a quantile may be from the true one, as a share of the column's range: half of a bin of the last round. */
export const QUANTILE_ERROR = BINS ** -ROUNDS / 2;

/** Values from `low` up to, but without, `high`; in bins of one width. */
interface Interval {
  readonly low: number;
  readonly high: number;
  /** How many values are lower. */
  readonly below: number;
}

export interface Range {
  readonly least: number;
  readonly most: number;
  /** Values that are there. */
  readonly count: number;
}

/** Of one device. The ends are values of rows: who sends them shows two. */
function localRange({ data, cols }: Matrix, column: number): Range {
  let [least, most, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (let at = column; at < data.length; at += cols) {
    const value = data[at];
    if (Number.isNaN(value)) continue;
    if (value < least) least = value;
    if (value > most) most = value;
    count++;
  }
  return { least, most, count };
}

/** The least and the largest value of a column over all devices, and how many values there are. */
export function quantileRange(datasets: readonly Matrix[], column: number): Range {
  const ranges = datasets.map((points) => localRange(points, column));
  return ranges.reduce((a, b) => ({
    least: Math.min(a.least, b.least),
    most: Math.max(a.most, b.most),
    count: a.count + b.count,
  }));
}

/** The values below which so large shares of all values lie, shares in rising order from 0 to 1. */
export function federatedQuantiles(datasets: readonly Matrix[], column: number, shares: readonly number[]): number[] {
  const { least, most, count } = quantileRange(datasets, column);
  if (!(most > least)) return shares.map(() => least);
  // The largest value belongs to the last bin, also where a bin is smaller than the last bit of that value.
  const whole: Interval = { low: least, high: Math.max(nextAbove(most), most + (most - least) / BINS), below: 0 };
  let own: Interval[] = shares.map(() => whole);
  for (let round = 0; round < ROUNDS || (round === ROUNDS && own.some(holdsFewDoubles)); round++) {
    const intervals = [...new Set(own)];
    const histograms = summedHistograms(datasets, column, intervals);
    const narrowed = new Map<string, Interval>();
    own = own.map((interval, q) => {
      const at = intervals.indexOf(interval);
      const { bin, below } = binOf(histograms.subarray(at * BINS, (at + 1) * BINS), interval.below, shares[q], count);
      const known = narrowed.get(`${at} ${bin}`);
      const next = known ?? { low: edge(interval, bin), high: edge(interval, bin + 1), below };
      narrowed.set(`${at} ${bin}`, next);
      return next;
    });
  }
  return own.map(({ low, high }, q) => {
    if (shares[q] === 0) return least;
    if (shares[q] === 1) return most;
    const middle = (low + high) / 2;
    // Between two neighbouring doubles the middle is rounded to one of them, and only the lower one is in the interval.
    return middle < high ? Math.min(most, middle) : low;
  });
}

/** Two to four: which one it is changes the answer by a large share of a range of so few, and one more round decides it. */
function holdsFewDoubles({ low, high }: Interval): boolean {
  return nextAbove(low) < high && low + (high - low) / 8 === low;
}

function nextAbove(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  const bits = new BigInt64Array(Float64Array.of(value).buffer);
  bits[0] += value > 0 ? 1n : -1n;
  return new Float64Array(bits.buffer)[0];
}

function edge({ low, high }: Interval, bin: number): number {
  return bin === BINS ? high : low + ((high - low) / BINS) * bin;
}

/** The bin with the value of which so large a share is not larger. */
function binOf(counts: Float64Array, before: number, share: number, total: number): { bin: number; below: number } {
  const wanted = Math.max(1, Math.ceil(share * total));
  let below = before;
  let bin = 0;
  for (; bin < BINS - 1 && below + counts[bin] < wanted; bin++) below += counts[bin];
  return { bin, below };
}

/** All that meets on the network: sums of the devices' counts. Intervals do not overlap and are in rising order. */
function summedHistograms(datasets: readonly Matrix[], column: number, intervals: readonly Interval[]): Float64Array {
  const sums = new Float64Array(intervals.length * BINS);
  for (const points of datasets) {
    const own = localHistograms(points, column, intervals);
    for (let i = 0; i < sums.length; i++) sums[i] += own[i];
  }
  return sums;
}

function localHistograms({ data, cols }: Matrix, column: number, intervals: readonly Interval[]): Float64Array {
  const counts = new Float64Array(intervals.length * BINS);
  for (let at = column; at < data.length; at += cols) {
    const value = data[at];
    let [from, to] = [0, intervals.length - 1];
    while (from < to) {
      const middle = (from + to + 1) >> 1;
      if (intervals[middle].low <= value) from = middle;
      else to = middle - 1;
    }
    const interval = intervals[from];
    if (value >= interval.low && value < interval.high) counts[from * BINS + binAt(interval, value)]++;
  }
  return counts;
}

/** By the edges themselves: the next round asks whether a value lies between two of them. */
function binAt(interval: Interval, value: number): number {
  const { low, high } = interval;
  let bin = Math.min(BINS - 1, Math.floor(((value - low) / (high - low)) * BINS));
  while (bin > 0 && edge(interval, bin) > value) bin--;
  while (bin < BINS - 1 && edge(interval, bin + 1) <= value) bin++;
  return bin;
}
