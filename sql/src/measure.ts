// Distances of rows from all centroids, in SQL.

import type { Matrix } from "@fedkm/core";
import type { Dialect, Measure } from "./dialect.ts";
import { own, x } from "./steps.ts";

/** The parts of a measure that do not depend on how a distance is computed. */
type Shape = Pick<Measure, "steps" | "least" | "label" | "countWithin">;

/** Explicit differences, as the kernel has them, one after the other. The text grows with k times the columns. */
export function byDifferences(dialect: Dialect, centroids: Matrix): Measure {
  const shape = inColumns(dialect, centroids, (centroid) => squaredDistance(dialect, centroid));
  return { ...shape, isLength: false, isExact: true };
}

export function squaredDistance({ number }: Dialect, centroid: Float64Array): string {
  // A product: a power takes more than twice as long.
  const products = Array.from(centroid, number).map((w, j) => `(${x(j)} - ${w}) * (${x(j)} - ${w})`);
  return products.join(" + ");
}

/** A column of distances for each centroid. Of equal centroids only the first has one: it has the rows. */
export function inColumns(dialect: Dialect, centroids: Matrix, distance: (centroid: Float64Array) => string): Shape {
  const first = firstEqual(centroids);
  const clusters = [...new Set(first)];
  const name = (c: number) => own(`d${c}`);
  return {
    steps: [clusters.map((c) => ({ name: name(c), as: distance(rowOf(centroids, c)) }))],
    least: dialect.least(clusters.map(name)),
    // Without an ELSE nothing is taken for the last cluster: what compares with nothing has no label.
    label: (best) => `CASE ${clusters.map((c) => `WHEN ${best} = ${name(c)} THEN ${c}`).join(" ")} END`,
    countWithin: (limit) => `(${first.map((c) => `CASE WHEN ${name(c)} <= ${limit} THEN 1 ELSE 0 END`).join(" + ")})`,
  };
}

/** Rows of a matrix, each by itself. */
export function rowsOf(centroids: Matrix): Float64Array[] {
  return Array.from({ length: centroids.rows }, (_, c) => rowOf(centroids, c));
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
