// Distances of the rows x0, x1, ... from all centroids, in SQL.

import type { Matrix } from "@fedkm/core";
import type { Dialect, Measure } from "./dialect.ts";

/** Explicit differences, as the kernel has them, one after the other. The text grows with k times the columns. */
export function byDifferences(dialect: Dialect, centroids: Matrix): Measure {
  const squared = (centroid: Float64Array) => {
    // A product: a power takes more than twice as long.
    const products = Array.from(centroid, dialect.number).map((w, j) => `(x${j} - ${w}) * (x${j} - ${w})`);
    return products.join(" + ");
  };
  return { ...byEach(dialect, centroids, squared), from: undefined, isLength: false, isExact: true };
}

/** A column of distances for each centroid. Of equal centroids only the first has one: it has the rows. */
export function byEach(
  dialect: Dialect,
  centroids: Matrix,
  distance: (centroid: Float64Array) => string,
): Omit<Measure, "from" | "isLength" | "isExact"> {
  const first = firstEqual(centroids);
  const clusters = [...new Set(first)];
  const names = clusters.map((c) => `d${c}`);
  return {
    distances: clusters.map((c) => `${distance(rowOf(centroids, c))} AS d${c}`).join(", "),
    names: names.join(", "),
    least: dialect.least(names),
    // Without an ELSE nothing is taken for the last cluster: what compares with nothing has no label.
    label: `CASE ${clusters.map((c) => `WHEN best = d${c} THEN ${c}`).join(" ")} END`,
    countWithin: (limit) => `(${first.map((c) => `CASE WHEN d${c} <= ${limit} THEN 1 ELSE 0 END`).join(" + ")})`,
  };
}

function rowOf({ data, cols }: Matrix, c: number): Float64Array {
  return data.subarray(c * cols, (c + 1) * cols);
}

/** For each centroid the first that is equal to it. */
function firstEqual(centroids: Matrix): number[] {
  const seen = new Map<string, number>();
  return Array.from({ length: centroids.rows }, (_, c) => {
    const text = rowOf(centroids, c).join();
    if (!seen.has(text)) seen.set(text, c);
    return seen.get(text) as number;
  });
}
