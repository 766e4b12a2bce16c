// One numbering of clusters for all devices: counterparts share a number, and cluster 0 has the most rows of all.

import { type Matrix, matchCentroids, predict } from "@fedkm/core";

/** The same centroids in the common order. Counterparts are those of the largest device: what it has is known best. */
export function inCommonOrder(centroids: readonly Matrix[], datasets: readonly Matrix[]): Matrix[] {
  const reference = centroids[largestOf(datasets)];
  const k = reference.rows;
  const toReference = centroids.map((own) => matchCentroids(own, reference));
  const sizes = new Float64Array(k);
  datasets.forEach((points, i) => {
    if (points.rows > 0) for (const label of predict(centroids[i], points)) sizes[toReference[i][label]]++;
  });
  const order = Array.from(sizes.keys()).sort((a, b) => sizes[b] - sizes[a] || a - b);
  return centroids.map(({ data, rows, cols }, i) => {
    const own = order.map((cluster) => toReference[i].indexOf(cluster));
    const ordered = new Float64Array(data.length);
    own.forEach((c, at) => {
      ordered.set(data.subarray(c * cols, (c + 1) * cols), at * cols);
    });
    return { data: ordered, rows, cols };
  });
}

function largestOf(datasets: readonly Matrix[]): number {
  return datasets.reduce((largest, { rows }, i) => (rows > datasets[largest].rows ? i : largest), 0);
}
