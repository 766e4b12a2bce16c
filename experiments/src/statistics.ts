// Numbers about several runs: mean, standard error, 95 % interval, quantiles, and whether values rise or fall with a factor.

export function meanValue(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;
}

/** Of the mean; 0 for a single run, which says nothing about it. */
export function standardError(values: readonly number[]): number | null {
  const middle = meanValue(values);
  if (middle === null) return null;
  if (values.length === 1) return 0;
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
}

/** Student's t for 95 % and 1, 2, .. degrees of freedom. */
const studentT = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/** Half the width of the 95 % interval of the mean; 0 for a single run, as the standard error. */
export function intervalOf(values: readonly number[]): number | null {
  const error = standardError(values);
  if (error === null) return null;
  const freedom = Math.max(1, values.length - 1);
  // Beyond the table two terms of the expansion at the normal distribution are right to three decimals.
  return error * (studentT[freedom - 1] ?? 1.96 + 2.372 / freedom);
}

/** Between the two values next to it, as numpy and R have it. */
export function quantileOf(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

/** Fewer values cannot tell a trend from chance at 5 %. */
const LEAST_TREND = 4;

/**
 * Kendall's rank test over all values in the order of a factor, one-sided at 5 %: whether pairs that fall outnumber those
 * that rise by more than chance would have it. undefined: too few values.
 */
export function isFalling(values: readonly number[]): boolean | undefined {
  const n = values.length;
  if (n < LEAST_TREND) return undefined;
  let rising = 0;
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) if (!(values[i] < values[j])) rising++;
  // In how many orders of n values so many pairs or fewer rise: each further value adds from 0 to as many as there are.
  let orders = [1];
  for (let size = 1; size < n; size++) {
    const next = new Array<number>(orders.length + size).fill(0);
    for (const [pairs, count] of orders.entries()) for (let more = 0; more <= size; more++) next[pairs + more] += count;
    orders = next;
  }
  const total = orders.reduce((sum, count) => sum + count, 0);
  return orders.slice(0, rising + 1).reduce((sum, count) => sum + count, 0) <= 0.05 * total;
}
