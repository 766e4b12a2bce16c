// The federated seed: everyone floods a sketch of its points once, everyone solves the same weighted k-means on all the
// sketches, and where that has several good answers, everyone's own losses decide.

import { defaults } from "./defaults.ts";
import { connectedComponents, type Graph } from "./graph.ts";
import { jsKernel } from "./kernel/js.ts";
import { emptyStatistics, type PreparedPoints } from "./kernel/kernel.ts";
import { bestOf, distinctOptima, MANY_ROWS, SHORT_RUN } from "./kmeans.ts";
import { columnsOf, type Matrix, stack, takeRows } from "./matrix.ts";
import { randomStream } from "./random.ts";
import { addTraffic, floodTraffic, leastSupport, sumTraffic, type Traffic } from "./traffic.ts";

export interface FederatedOptions {
  readonly k: number;
  readonly restarts: number;
  /** No centroid of fewer points leaves a device. */
  readonly minimum: number;
  readonly seed: number;
}

/** The devices of a network: their points, as given and prepared, and their links. */
export interface Devices {
  readonly datasets: readonly Matrix[];
  readonly points: readonly PreparedPoints[];
  readonly graph: Graph;
}

/** A sketch has a centroid for about this many points (or `minimum`), but at least k and at most SKETCH times k of them. */
const POINTS_PER_CENTROID = 4;
const SKETCH = 4;

/** Fine sketches need no best of ten. */
const SKETCH_RESTARTS = 3;

/** Different answers on the sketches that are judged on the points; more were never needed. */
const JUDGED = 4;

/** The weighted problem is small, so many starts are cheap; on a very large one ten must do. */
const startsFor = (rows: number) => Math.max(10, Math.min(50, Math.floor(100_000 / rows)));

/** What one device floods: centroids that stand for enough points, and how many each stands for. */
interface Sketch {
  readonly centroids: Matrix;
  readonly counts: Float64Array;
}

/** A component of the network: its devices, and what they know of their points. */
interface Member {
  readonly points: PreparedPoints;
  readonly sketch: Sketch;
}

/**
 * One seed for each connected component. A device with fewer points than k floods no sketch and takes what the others
 * found.
 */
export function federatedStart(
  { datasets, points: prepared, graph: network }: Devices,
  options: FederatedOptions,
): { readonly centroids: readonly Matrix[]; readonly traffic: Traffic } {
  const cols = columnsOf(datasets);
  const devices = datasets.map((points, i) => ({
    points: prepared[i],
    sketch: sketchOf({ points, prepared: prepared[i], cols }, i, {
      ...options,
      minimum: leastSupport(network, i, options.minimum),
    }),
  }));
  const component = connectedComponents(network);
  const members: Member[][] = [];
  component.forEach((c, i) => {
    members[c] ??= [];
    members[c].push(devices[i]);
  });
  const seeds = members.map((own, c) => componentSeed(own, c, component.indexOf(c), options));
  const flooded = floodTraffic(
    network,
    devices.map(({ sketch }) => sketch.centroids.data.length + sketch.counts.length),
  );
  // Losses are summed: nobody learns another's. Several components judge at the same time.
  const judged = sumTraffic(
    network,
    seeds.reduce((most, { losses }) => Math.max(most, losses), 0),
  );
  return {
    centroids: Array.from(component, (c) => ({ ...seeds[c].centroids, data: seeds[c].centroids.data.slice() })),
    traffic: seeds.some(({ losses }) => losses > 0) ? addTraffic(flooded, judged) : flooded,
  };
}

function sketchOf(
  { points, prepared, cols }: { points: Matrix; prepared: PreparedPoints; cols: number },
  device: number,
  { k, restarts, minimum, seed }: FederatedOptions,
): Sketch {
  if (points.rows < k) return { centroids: { data: new Float64Array(0), rows: 0, cols }, counts: new Float64Array(0) };
  const each = Math.max(POINTS_PER_CENTROID, minimum);
  const size = Math.min(SKETCH * k, Math.max(k, Math.floor(points.rows / each)));
  // Many points are sketched well by clusters that have not quite settled.
  const run = { points, prepared, k: size, maxIter: points.rows < MANY_ROWS ? defaults.maxIter : SHORT_RUN, tol: 0 };
  const starts = size === k ? restarts : Math.min(restarts, SKETCH_RESTARTS);
  const { centroids } = bestOf(run, starts, (restart) => randomStream(seed, "sketch", device, restart));
  const { counts } = statisticsAt(prepared, centroids);
  // A cluster without points still sits on a seed, which is a record.
  const kept = Array.from(counts.keys()).filter((c) => counts[c] >= Math.max(1, minimum));
  return { centroids: takeRows(centroids, kept), counts: Float64Array.from(kept, (c) => counts[c]) };
}

/** The seed of a component, and how many losses its devices summed to choose it. */
function componentSeed(members: readonly Member[], component: number, device: number, options: FederatedOptions) {
  const { k, minimum, seed } = options;
  const points = stack(members.map(({ sketch }) => sketch.centroids));
  if (points.rows === 0) {
    const rule = `a device with at least k = ${k} points and a cluster of at least ${minimum}, or a given init`;
    throw new RangeError(`the component of device ${device} must have ${rule}, got none`);
  }
  // Fewer distinct clusters than k: some are named twice.
  if (points.rows < k) {
    return {
      centroids: takeRows(
        points,
        Uint32Array.from({ length: k }, (_, c) => c % points.rows),
      ),
      losses: 0,
    };
  }
  const weights = Float64Array.from(members.flatMap(({ sketch }) => Array.from(sketch.counts)));
  const run = { points, weights, prepared: jsKernel.prepare(points, weights), k, maxIter: 100, tol: 0 };
  const streamOf = (restart: number) => randomStream(seed, "federated", component, restart);
  const optima = distinctOptima(run, startsFor(points.rows), streamOf, JUDGED).map(({ centroids }) => centroids);
  if (optima.length === 1) return { centroids: optima[0], losses: 0 };
  const losses = optima.map((centroids) =>
    members.reduce((sum, member) => sum + statisticsAt(member.points, centroids).loss, 0),
  );
  return { centroids: optima[losses.indexOf(Math.min(...losses))], losses: optima.length };
}

function statisticsAt(points: PreparedPoints, centroids: Matrix) {
  const statistics = emptyStatistics(centroids.rows, centroids.cols);
  points.statistics(centroids.data, statistics);
  return statistics;
}
