// Where the devices begin: given centroids, finished local k-means, or raw seeds.

import { checkOneOf, checkShape } from "./check.ts";
import type { Graph } from "./graph.ts";
import type { Kernel } from "./kernel/kernel.ts";
import { bestOf, plusPlus } from "./kmeans.ts";
import type { Matrix } from "./matrix.ts";
import { randomStream } from "./random.ts";

/**
 * local: each device's own k-means, best of `restarts`. kmeans++: its raw seeds, which are records: for simulation
 * only, a real device must not send them.
 */
export type Init = readonly Matrix[] | "local" | "kmeans++";

export interface StartOptions {
  readonly k: number;
  readonly init: Init;
  readonly restarts: number;
  readonly seed: number;
  readonly kernel: Kernel;
}

/** The first centroids of every device, fresh copies. */
export function startingCentroids(
  datasets: readonly Matrix[],
  network: Graph,
  cols: number,
  options: StartOptions,
): Matrix[] {
  const { k, init } = options;
  if (Array.isArray(init)) {
    if (init.length !== datasets.length) {
      throw new RangeError(`init must have ${datasets.length} matrices (one for each of datasets), got ${init.length}`);
    }
    return init.map((centroids: Matrix, i) => {
      checkShape(`init[${i}]`, centroids, k, cols, "k and the columns of datasets");
      return { ...centroids, data: centroids.data.slice() };
    });
  }
  checkOneOf("init", init, ["local", "kmeans++"]);
  const own = datasets.map((points, i) => (points.rows >= k ? seededDevice(points, i, options) : undefined));
  return adoptFromNearest(own, datasets, network, k);
}

function seededDevice(points: Matrix, device: number, { k, init, restarts, seed, kernel }: StartOptions): Matrix {
  const run = { points, prepared: kernel.prepare(points), k, maxIter: 300, tol: 0 };
  if (init === "kmeans++") {
    return { data: plusPlus(run, randomStream(seed, "init", device)), rows: k, cols: points.cols };
  }
  return bestOf(run, restarts, (restart) => randomStream(seed, "init", device, restart)).centroids;
}

/** A device with fewer points than k begins with the centroids of the nearest device that has enough. */
function adoptFromNearest(
  own: readonly (Matrix | undefined)[],
  datasets: readonly Matrix[],
  network: Graph,
  k: number,
): Matrix[] {
  const found = [...own];
  let frontier = found.flatMap((centroids, i) => (centroids === undefined ? [] : [i]));
  while (frontier.length > 0) {
    const next: number[] = [];
    for (const device of frontier) {
      for (const other of network.neighbours[device]) {
        if (found[other] !== undefined) continue;
        const { data, rows, cols } = found[device] as Matrix;
        found[other] = { data: data.slice(), rows, cols };
        next.push(other);
      }
    }
    frontier = next;
  }
  return found.map((centroids, i) => {
    if (centroids !== undefined) return centroids;
    const rule = `at least k = ${k} points, a given init or a path to a device with that many points`;
    throw new RangeError(`device ${i} must have ${rule}, got ${datasets[i].rows} points and no such path`);
  });
}
