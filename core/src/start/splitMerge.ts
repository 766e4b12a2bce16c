// Many clusters: two clusters that share one group become one where another cluster, split in two, gains more than that costs.

import { type Points, squaredDistance } from "../data/matrix.ts";

/** Iterations of the 2-means that tells what the split of a cluster gains. */
const SPLIT_ITERATIONS = 5;

/** Points with labels and with the centroids of their clusters, which `moveClusters` moves. */
interface LabelledClusters {
  readonly points: Points;
  readonly weights: Float64Array | undefined;
  readonly labels: Uint32Array;
  /* IN OUT */
  readonly centroids: Float64Array;
}

/**
 * Frees one centroid of each pair whose merger costs little, and takes it to the cluster whose split gains most, as long
 * as that is more. Every cluster has one part at most in it. Returns how many moved.
 */
export function moveClusters(clusters: LabelledClusters): number {
  const { points, centroids } = clusters;
  const { cols } = points;
  const counts = clusterWeights(clusters);
  const { gains, halves } = splitClusters(clusters);
  const splits = Array.from(gains.keys()).sort((a, b) => gains[b] - gains[a]);
  const mergers = cheapestMergers(centroids, counts, cols);
  const used = new Uint8Array(counts.length);
  let next = 0;
  let moved = 0;
  for (const { from, to, cost } of mergers) {
    if (used[from] === 1 || used[to] === 1) continue;
    while (next < splits.length && (used[splits[next]] === 1 || splits[next] === from || splits[next] === to)) next++;
    if (next === splits.length || !(gains[splits[next]] > cost)) break;
    const split = splits[next];
    for (const c of [from, to, split]) used[c] = 1;
    const share = counts[from] === 0 ? 0 : counts[from] / (counts[from] + counts[to]);
    for (let j = 0; j < cols; j++) {
      centroids[to * cols + j] += share * (centroids[from * cols + j] - centroids[to * cols + j]);
      centroids[from * cols + j] = halves[0][split * cols + j];
      centroids[split * cols + j] = halves[1][split * cols + j];
    }
    moved++;
  }
  return moved;
}

function clusterWeights({ points, weights, labels, centroids }: LabelledClusters): Float64Array {
  const counts = new Float64Array(centroids.length / points.cols);
  for (let r = 0; r < labels.length; r++) counts[labels[r]] += weights === undefined ? 1 : weights[r];
  return counts;
}

/** Every cluster with the one that it is merged with at the least cost, the cheapest first. */
function cheapestMergers(centroids: Float64Array, counts: Float64Array, cols: number) {
  const mergers = Array.from(counts, (own, from) => {
    let [to, cost] = [from, Number.POSITIVE_INFINITY];
    for (let other = 0; other < counts.length; other++) {
      if (other === from) continue;
      const apart = squaredDistance(centroids, from * cols, centroids, other * cols, cols);
      // What the rows of both cost more at their common mean.
      const more = own === 0 || counts[other] === 0 ? 0 : ((own * counts[other]) / (own + counts[other])) * apart;
      if (more < cost) [to, cost] = [other, more];
    }
    return { from, to, cost };
  });
  return mergers.sort((a, b) => a.cost - b.cost);
}

/** 2-means within every cluster, begun at its farthest row and opposite of that: what it gains, and the two centroids. */
function splitClusters({ points, weights, labels, centroids }: LabelledClusters) {
  const { data, rows, cols } = points;
  const k = centroids.length / cols;
  const farthest = new Float64Array(k);
  const costs = new Float64Array(k);
  const halves = [centroids.slice(), centroids.slice()] as const;
  for (let r = 0; r < rows; r++) {
    const at = labels[r] * cols;
    const square = squaredDistance(data, r * cols, centroids, at, cols);
    costs[labels[r]] += square * (weights === undefined ? 1 : weights[r]);
    if (square <= farthest[labels[r]]) continue;
    farthest[labels[r]] = square;
    for (let j = 0; j < cols; j++) {
      halves[0][at + j] = data[r * cols + j];
      halves[1][at + j] = 2 * centroids[at + j] - data[r * cols + j];
    }
  }
  const gains = costs.slice();
  for (let iteration = 0; iteration < SPLIT_ITERATIONS; iteration++) {
    const sums = [new Float64Array(k * cols), new Float64Array(k * cols)] as const;
    const counts = [new Float64Array(k), new Float64Array(k)] as const;
    gains.set(costs);
    for (let r = 0; r < rows; r++) {
      const at = labels[r] * cols;
      const weight = weights === undefined ? 1 : weights[r];
      const first = squaredDistance(data, r * cols, halves[0], at, cols);
      const second = squaredDistance(data, r * cols, halves[1], at, cols);
      const half = first <= second ? 0 : 1;
      gains[labels[r]] -= weight * Math.min(first, second);
      counts[half][labels[r]] += weight;
      for (let j = 0; j < cols; j++) sums[half][at + j] += weight * data[r * cols + j];
    }
    if (iteration === SPLIT_ITERATIONS - 1) break;
    for (const half of [0, 1]) {
      for (let c = 0; c < k; c++) {
        const count = counts[half][c];
        for (let j = c * cols; count > 0 && j < (c + 1) * cols; j++) halves[half][j] = sums[half][j] / count;
      }
    }
  }
  return { gains, halves };
}
