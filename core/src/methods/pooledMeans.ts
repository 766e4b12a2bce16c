// Pooled means without pooling: steps of Lloyd by summing over the network, first a few from a common seed and from
// starts around it. Few points leave many fixed points of almost equal cost, and the first one is not always the best.

import { normalStream, type Random, randomStream } from "../data/random.ts";
import { type Network, refreshStatistics } from "../fit/network.ts";
import { componentsOf } from "../graph/graph.ts";
import { addTraffic, sumTraffic, type Traffic } from "../graph/traffic.ts";
import { emptyStatistics, type Statistics } from "../kernel/kernel.ts";

/** Of 450 problems with 500 points in all, one start missed the best of 20 pooled restarts by 1e-4 in 9, eight in none. */
const STARTS = 8;
const STEPS = 2;

/** What a component knows after a sum: weighted counts and sums of all its points, and their loss. */
type Pooled = Statistics;

/**
 * Moves every device of a component to the pooled means of one labelling, near the common seed and as cheap as a few
 * steps find. The state's counts and sums are left as those of that labelling, device by device.
 */
export function moveToPooledMeans(state: Network, seed: number): void {
  const { graph, k, sets } = state;
  componentsOf(graph).forEach((devices, c) => {
    const labelled = cheapestNearby(state, devices, randomStream(seed, "nearby", c));
    for (const i of devices) {
      sets.data.set(labelled, i * labelled.length);
      refreshStatistics(state, i);
    }
    const means = meansOf(pooledStatistics(state, devices, labelled), labelled);
    for (const i of devices) sets.data.set(means, i * means.length);
  });
  // One sum for the seed's means, one for each step of all starts, one to judge them.
  const numbers = k * (sets.cols + 1) + 1;
  const sums = [1, ...new Array<number>(STEPS + 1).fill(STARTS)].map((starts) => sumTraffic(graph, starts * numbers));
  countTraffic(state, addTraffic(...sums));
}

/**
 * One step of Lloyd on the points of each component: the devices sum counts and sums at their common centroids, and all
 * move to the means. Leaves the state's counts and sums as those of the labelling. Returns the largest move.
 */
export function stepToPooledMeans(state: Network): number {
  const { graph, k, sets, counts, sums, pointScales } = state;
  const length = k * sets.cols;
  let largest = 0;
  for (const devices of componentsOf(graph)) {
    const total = emptyStatistics(k, sets.cols);
    for (const i of devices) {
      for (let c = 0; c < k; c++) total.counts[c] += pointScales[i] * counts[i * k + c];
      for (let x = 0; x < length; x++) total.sums[x] += pointScales[i] * sums[i * length + x];
    }
    const old = sets.data.slice(devices[0] * length, (devices[0] + 1) * length);
    const means = meansOf(total, old);
    for (let x = 0; x < length; x++) largest = Math.max(largest, Math.abs(means[x] - old[x]));
    for (const i of devices) sets.data.set(means, i * length);
  }
  countTraffic(state, sumTraffic(graph, k * (sets.cols + 1)));
  return largest;
}

function countTraffic(state: Network, { messages, bytes }: Traffic): void {
  state.messages += messages;
  state.bytes += bytes;
}

function cheapestNearby(state: Network, devices: readonly number[], random: Random): Float64Array {
  const length = state.k * state.sets.cols;
  const seed = state.sets.data.slice(devices[0] * length, (devices[0] + 1) * length);
  const first = pooledStatistics(state, devices, seed);
  const spread = standardError(
    first,
    state.k,
    state.sets.cols,
    devices.reduce((sum, i) => sum + state.datasets[i].rows, 0),
  );
  const means = meansOf(first, seed);
  const normal = normalStream(random);
  let best = { centroids: means, loss: Number.POSITIVE_INFINITY };
  for (let start = 0; start < STARTS; start++) {
    let centroids = start === 0 ? means : means.map((x) => x + spread * normal());
    for (let step = 0; step < STEPS; step++)
      centroids = meansOf(pooledStatistics(state, devices, centroids), centroids);
    const { loss } = pooledStatistics(state, devices, centroids);
    if (loss < best.loss) best = { centroids, loss };
  }
  return best.centroids;
}

/** How far chance alone would move a mean: the scale on which fixed points lie side by side. */
function standardError({ counts, loss }: Pooled, k: number, cols: number, points: number): number {
  const weight = counts.reduce((sum, count) => sum + count, 0);
  return weight === 0 ? 0 : Math.sqrt(loss / (weight * cols)) * Math.sqrt(k / points);
}

function pooledStatistics(
  { k, sets, points, pointScales }: Network,
  devices: readonly number[],
  centroids: Float64Array,
) {
  const total: Pooled = emptyStatistics(k, sets.cols);
  const own = emptyStatistics(k, sets.cols);
  for (const i of devices) {
    points[i].statistics(centroids, own);
    const scale = pointScales[i];
    for (let c = 0; c < k; c++) total.counts[c] += scale * own.counts[c];
    for (let x = 0; x < centroids.length; x++) total.sums[x] += scale * own.sums[x];
    total.loss += scale * own.loss;
  }
  return total;
}

function meansOf({ counts, sums }: Pooled, old: Float64Array): Float64Array {
  const cols = old.length / counts.length;
  return sums.map((sum, x) => {
    const count = counts[Math.floor(x / cols)];
    return count > 0 ? sum / count : old[x];
  });
}
