// What private k-means of others does, by rules read in their papers and code: FastLloyd (Diaa, Humphries, Kerschbaum 2025) and
// DPLloyd (Su, Cao, Li, Bertino, Jin 2016) as diffprivlib has it. Own implementations; noise is continuous, which favours them.

import { type Matrix, normalStream, predict, type Random } from "@fedkm/core";
import { muOf } from "@fedkm/core/release";

/** Rows are offsets from the middle of a box of these half widths. */
interface PrivateProblem {
  readonly rows: Matrix;
  readonly k: number;
  readonly epsilon: number;
  readonly delta: number;
  readonly half: Float64Array;
}

export function fastLloyd({ rows, k, epsilon, delta, half }: PrivateProblem, random: Random): Matrix {
  const { cols } = rows;
  const normal = normalStream(random);
  const unit = 1 / muOf(epsilon, delta);
  const share = 0.8 / (2 * k ** (1 / cols));
  const diagonal = 2 * Math.hypot(...half);
  const balance = 1 + Math.sqrt(4 * cols);
  const fit = (0.004 * 4 * rows.rows ** 2) / (k ** 3 * (2 * Math.sqrt(cols) * share) ** 2 * balance ** 2 * unit ** 2);
  const steps = Math.floor(Math.max(2, Math.min(7, fit)));
  const centroids = packedSpheres(k, half, random);
  for (let step = 0; step < steps; step++) {
    const reach = step === 0 ? diagonal / 2 : Math.min(diagonal, diagonal * share);
    const { counts, sums } = offsetSums(rows, centroids, reach);
    const sumDeviation = ((unit * Math.sqrt(balance)) / (4 * cols) ** 0.25) * Math.sqrt(steps) * reach;
    for (let c = 0; c < k; c++) {
      // As in their code an empty cluster counts 1 at its old place.
      const count = Math.trunc(Math.max(1, counts[c]) + unit * Math.sqrt(balance * steps) * normal());
      const move = Array.from({ length: cols }, (_, i) => {
        return (sums[c * cols + i] + sumDeviation * normal()) / (count + 1e-9);
      });
      const cut = Math.min(1, reach / Math.hypot(...move));
      move.forEach((value, i) => {
        const at = c * cols + i;
        centroids.data[at] = folded(centroids.data[at] + cut * value, half[i]);
      });
    }
  }
  return centroids;
}

export function dpLloyd({ rows, k, epsilon, half }: PrivateProblem, random: Random): Matrix {
  const { cols } = rows;
  const forCounts = Math.cbrt(4 * cols * 0.225 ** 2);
  const least = Math.sqrt((500 * k ** 3 * (cols + forCounts) ** 3) / rows.rows ** 2);
  const steps = Math.floor(Math.max(2, Math.min(7, epsilon / least)));
  const perColumn = epsilon / steps / (cols + forCounts);
  const laplace = (scale: number) => scale * (Math.log(1 - random()) - Math.log(1 - random()));
  const centroids = packedSpheres(k, half, random);
  for (let step = 0; step < steps; step++) {
    const { counts, sums } = offsetSums(rows, centroids, Number.POSITIVE_INFINITY);
    for (let c = 0; c < k; c++) {
      if (counts[c] === 0) continue;
      const count = Math.max(1, Math.abs(counts[c] + laplace(1 / (forCounts * perColumn))));
      for (let i = 0; i < cols; i++) {
        const at = c * cols + i;
        const sum = sums[at] + counts[c] * centroids.data[at] + laplace((2 * half[i]) / perColumn);
        centroids.data[at] = Math.min(half[i], Math.max(-half[i], sum / count));
      }
    }
  }
  return centroids;
}

/** Rows within reach of their nearest centroid, and the sums of their offsets from it. */
function offsetSums(rows: Matrix, centroids: Matrix, reach: number) {
  const { cols } = rows;
  const labels = predict(centroids, rows);
  const counts = new Float64Array(centroids.rows);
  const sums = new Float64Array(centroids.data.length);
  for (let r = 0; r < rows.rows; r++) {
    let square = 0;
    for (let i = 0; i < cols; i++) square += (rows.data[r * cols + i] - centroids.data[labels[r] * cols + i]) ** 2;
    if (square > reach * reach) continue;
    counts[labels[r]]++;
    for (let i = 0; i < cols; i++) {
      sums[labels[r] * cols + i] += rows.data[r * cols + i] - centroids.data[labels[r] * cols + i];
    }
  }
  return { counts, sums };
}

/** Where the next value lies that is not beyond the bounds, as in a mirror. */
function folded(value: number, half: number): number {
  const turned = (((value + half) % (4 * half)) + 4 * half) % (4 * half);
  return (turned > 2 * half ? 4 * half - turned : turned) - half;
}

/** Starts at random that are as far apart as can be had with a hundred tries each. */
function packedSpheres(k: number, half: Float64Array, random: Random): Matrix {
  const cols = half.length;
  for (let radius = Math.max(...half); ; radius /= 2) {
    const data = new Float64Array(k * cols);
    let placed = 0;
    for (let tries = 0; tries < 100 && placed < k; tries++) {
      const place = half.map((width) => (2 * random() - 1) * Math.max(0, width - radius));
      const isApart = Array.from({ length: placed }, (_, c) => {
        return Math.hypot(...place.map((value, i) => value - data[c * cols + i])) >= 2 * radius;
      }).every(Boolean);
      if (!isApart) continue;
      data.set(place, placed++ * cols);
      tries = -1;
    }
    if (placed === k) return { data, rows: k, cols };
  }
}
