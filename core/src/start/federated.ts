// The federated seed: everyone floods a sketch of its points once, everyone solves the same weighted k-means on all the
// sketches, and where that has several good answers, everyone's own losses decide. Sketches of devices with fewer rows
// than k are merged on their way up a tree, so that many small devices flood no more than a few large ones.

import { columnsOf, type Matrix, takeRows } from "../data/matrix.ts";
import { numberedStreams, randomStream } from "../data/random.ts";
import { breadthFirst, componentIn, type Forest, type Graph, membersOf, type PackedLinks } from "../graph/graph.ts";
import { addTraffic, floodTraffic, leastSupport, sumTraffic, type Traffic } from "../graph/traffic.ts";
import { emptyStatistics, type PreparedPoints } from "../kernel/kernel.ts";
import { fastKernel } from "../kernel/wasm.ts";
import { type CentroidSets, emptySets } from "../update/coupling.ts";
import { distinctOptima } from "./kmeans.ts";
import {
  joinedAt,
  joinSketches,
  mergeSketches,
  numbersOf,
  type PackedSketches,
  type PointSketch,
  packSketches,
  type SketchOptions,
  sketchAt,
  sketchPoints,
} from "./sketch.ts";

/** The devices of a network: their points, as given and prepared, and their links. */
export interface Devices {
  readonly datasets: readonly Matrix[];
  readonly points: readonly PreparedPoints[];
  readonly graph: Graph;
  /** Of the graph. */
  readonly links: PackedLinks;
}

/** Different answers on the sketches that are judged on the points; more were never needed. */
const JUDGED = 4;

/** The weighted problem is small, so many starts are cheap; on a very large one ten must do. */
const startsFor = (rows: number) => Math.max(10, Math.min(50, Math.floor(100_000 / rows)));

/** The points of all devices, and what each floods. */
interface Flooded {
  readonly points: readonly PreparedPoints[];
  readonly sketches: PackedSketches;
}

/** Where all begin, and the network as it was found on the way. */
export interface FederatedStart {
  readonly sets: CentroidSets;
  readonly traffic: Traffic;
  readonly forest: Forest;
  /** The devices of each component. */
  readonly components: readonly (readonly number[])[];
}

/**
 * One seed for each connected component. Sketches that are given are flooded as they are, and then no losses are summed
 * either: the seed is the best on the sketches.
 */
export function federatedStart(
  { datasets, points: prepared, graph: network, links }: Devices,
  options: SketchOptions,
  given?: readonly PointSketch[],
): FederatedStart {
  const cols = columnsOf(datasets);
  const drawn = (i: number) => {
    const minimum = leastSupport(network, i, options.minimum);
    return sketchPoints({ points: datasets[i], prepared: prepared[i], cols }, i, { ...options, minimum });
  };
  const own = packSketches(network.size, cols, given === undefined ? drawn : (i) => given[i]);
  const isSmall = datasets.map(({ rows }) => rows < options.k);
  const forest = breadthFirst(network, links);
  const { sketches, traffic: gathered } = gather(own, isSmall, forest, options);
  const most = given === undefined ? JUDGED : 1;
  const components = membersOf(componentIn(forest));
  const seeds = components.map((devices, c) =>
    componentSeed({ points: prepared, sketches }, devices, c, options, most),
  );
  const flooded = addTraffic(gathered, floodTraffic(network, numbersOf(sketches), links, forest));
  // Losses are summed up a tree: a parent learns the sum of a subtree. Several components judge at the same time.
  const judged = seeds.reduce((most, { losses }) => Math.max(most, losses), 0);
  return {
    sets: seedsOfDevices(components, seeds, network.size),
    traffic: judged > 0 ? addTraffic(flooded, sumTraffic(network, judged, forest)) : flooded,
    forest,
    components,
  };
}

/** For every device the seed of its component. */
function seedsOfDevices(
  components: readonly (readonly number[])[],
  seeds: readonly { readonly centroids: Matrix }[],
  size: number,
): CentroidSets {
  const { rows, cols } = seeds[0].centroids;
  const sets = emptySets(new Uint32Array(size).fill(rows), cols);
  components.forEach((devices, c) => {
    for (const i of devices) sets.data.set(seeds[c].centroids.data, i * rows * cols);
  });
  return sets;
}

/**
 * A small device sends its sketch to its parent in a breadth-first tree and to nobody else, together with what its own
 * children sent it, merged; the first device on the way that is not small floods that beside its own sketch, or else the
 * root does. Returns what every device floods.
 */
function gather(
  packed: PackedSketches,
  isSmall: readonly boolean[],
  { order, parents }: Forest,
  { k, seed }: SketchOptions,
) {
  if (!isSmall.includes(true)) return { sketches: packed, traffic: { messages: 0, bytes: 0 } };
  const own = isSmall.map((_, i) => sketchAt(packed, i));
  const sketches = [...own];
  const below = own.map((): PointSketch[] => []);
  let traffic: Traffic = { messages: 0, bytes: 0 };
  for (const device of order.toReversed()) {
    if (below[device].length > 0) {
      const merged = mergeSketches(below[device], k, () => randomStream(seed, "merge", device));
      sketches[device] = joinSketches([own[device], merged]);
    }
    if (device === parents[device] || !isSmall[device] || sketches[device].counts.length === 0) continue;
    below[parents[device]].push(sketches[device]);
    traffic = addTraffic(traffic, {
      messages: 1,
      bytes: 8 * (sketches[device].centroids.data.length + sketches[device].counts.length),
    });
    sketches[device] = joinSketches([]);
  }
  return { sketches: packSketches(own.length, packed.all.centroids.cols, (i) => sketches[i]), traffic };
}

/** The seed of a component, and how many losses its devices summed to choose it. */
function componentSeed(
  { points: prepared, sketches }: Flooded,
  devices: readonly number[],
  component: number,
  options: SketchOptions,
  most: number,
) {
  const { k, minimum, seed } = options;
  const { centroids: points, counts: weights } =
    devices.length === prepared.length ? sketches.all : joinedAt(sketches, devices);
  if (points.rows === 0) {
    throw new RangeError(
      `no device in the component of device ${devices[0]} has minimum = ${minimum} points; lower minimum or give init`,
    );
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
  const run = { points, weights, prepared: fastKernel.prepare(points, weights), k, maxIter: 100, tol: 0 };
  const streams = numberedStreams(seed, "federated", component);
  const optima = distinctOptima(run, startsFor(points.rows), streams, most).map(({ centroids }) => centroids);
  run.prepared.release();
  if (optima.length === 1) return { centroids: optima[0], losses: 0 };
  const statistics = emptyStatistics(k, points.cols);
  const losses = optima.map(({ data }) =>
    devices.reduce((sum, i) => {
      prepared[i].statistics(data, statistics);
      return sum + statistics.loss;
    }, 0),
  );
  return { centroids: optima[losses.indexOf(Math.min(...losses))], losses: optima.length };
}
