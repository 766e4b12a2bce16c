// What the values of one column are like: how far they spread, where their quarters end, how lopsided they are.

import type { Matrix } from "@fedkm/core";

export interface Statistics {
  readonly count: number;
  readonly mean: number;
  readonly deviation: number;
  /** Below which a quarter, a half and three quarters of the values lie. */
  readonly quartiles: readonly [number, number, number];
  /** The mean cube in units of the deviation: 0 of a symmetric column, above 0 with a long tail of large values. */
  readonly skew: number;
  /** Different values. */
  readonly distinct: number;
}

/** Of the values that are there; undefined if none is. */
export function columnStatistics({ data, cols }: Matrix, column: number): Statistics | undefined {
  const values = Float64Array.from(data.filter((value, at) => at % cols === column && !Number.isNaN(value))).sort();
  const count = values.length;
  if (count === 0) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  let [squares, cubes] = [0, 0];
  for (const value of values) {
    squares += (value - mean) ** 2;
    cubes += (value - mean) ** 3;
  }
  const deviation = Math.sqrt(squares / count);
  const at = (share: number) => values[Math.max(0, Math.ceil(share * count) - 1)];
  return {
    count,
    mean,
    deviation,
    quartiles: [at(0.25), at(0.5), at(0.75)],
    skew: deviation > 0 ? cubes / count / deviation ** 3 : 0,
    distinct: values.reduce((sum, value, i) => sum + (i === 0 || value !== values[i - 1] ? 1 : 0), 0),
  };
}
