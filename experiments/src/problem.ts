// The problem behind some cells: its data, their pooled solution, its networks and its common start, each made once.

import {
  communities,
  complete,
  connectedComponents,
  edges,
  erdosRenyi,
  fastKernel,
  type Graph,
  geometric,
  graph,
  kmeans,
  type LabelledPoints,
  type Matrix,
  type PreparedPoints,
  randomStream,
  type Statistics,
  stack,
} from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import type { Cell } from "./cell.ts";
import { type DealtPoints, partitionOf } from "./datasets.ts";
import { pluggedPartition } from "./plugins/plan.ts";
import type { Plugins } from "./plugins/plugin.ts";
import { type Starts, startsOf } from "./starts.ts";

/** Devices that should agree, and what they should agree on: all of them, or one of two communities. */
export interface Group {
  readonly devices: readonly number[];
  /** The pooled solution of the group's points. */
  readonly reference: Matrix;
  /** Mean squared distance from the group's points to their nearest of these centroids. */
  cost(centroids: Matrix): number;
  readonly referenceCost: number;
}

export interface Problem {
  readonly partition: DealtPoints;
  readonly groups: readonly Group[];
  graph(edgeProbability: number | null): Graph;
  readonly starts: Starts;
  /** Largest difference between two points in any column. */
  readonly range: number;
  /** Gives back what the kernel holds. */
  release(): void;
}

/** The problem that all cells of a batch share: it depends on dataset, devices, points, k and seed alone. */
export function problemOf(cell: Cell, features: LabelledPoints | undefined, plugins: Plugins): Problem {
  const { devices, k, seed, dataset } = cell;
  const partition: DealtPoints = pluggedPartition(cell, plugins) ?? partitionOf(cell, features);
  const everyDevice = Array.from({ length: devices }, (_, i) => i);
  const half = devices / 2;
  const members = dataset === "communities" ? [everyDevice.slice(0, half), everyDevice.slice(half)] : [everyDevice];
  const prepared: PreparedPoints[] = [];
  const groups = members.map((own) => {
    const points = stack(own.map((i) => partition.datasets[i]));
    const ready = fastKernel.prepare(points);
    prepared.push(ready);
    return groupOf(own, points, ready, k, seed);
  });
  return {
    partition,
    groups,
    starts: startsOf(partition.datasets, k, seed),
    range: rangeOf(stack(partition.datasets)),
    graph: (edgeProbability) => graphOf(cell, edgeProbability),
    release: () => {
      for (const points of prepared) points.release();
    },
  };
}

function rangeOf({ data, cols }: Matrix): number {
  const least = new Float64Array(cols).fill(Number.POSITIVE_INFINITY);
  const most = new Float64Array(cols).fill(Number.NEGATIVE_INFINITY);
  for (let at = 0; at < data.length; at++) {
    const column = at % cols;
    least[column] = Math.min(least[column], data[at]);
    most[column] = Math.max(most[column], data[at]);
  }
  return most.reduce((range, high, column) => Math.max(range, high - least[column]), 0);
}

function graphOf({ dataset, devices, network, seed }: Cell, edgeProbability: number | null): Graph {
  if (network === "geometric") return geometricNetwork(devices, seed);
  // Nobody speaks, so that any network will do.
  if (edgeProbability === null) return complete(devices);
  const random = randomStream(seed, "graph");
  if (dataset !== "communities") return erdosRenyi(devices, edgeProbability, random);
  for (;;) {
    const drawn = communities([devices / 2, devices / 2], INSIDE, edgeProbability, random);
    // As in the follow-up: a community in parts could not agree.
    if (hasWholeHalves(drawn)) return drawn;
  }
}

function hasWholeHalves(drawn: Graph): boolean {
  const half = drawn.size / 2;
  const inside = Array.from(edges(drawn)).filter(([i, j]) => i < half === j < half);
  const alone = graph(
    drawn.size,
    inside.map(([i, j]) => [i, j] as const),
  );
  return new Set(connectedComponents(alone)).size === 2;
}

/** Forero's benchmark network has 30 nodes of this mean degree; it is not published, so that one like it is drawn. */
const MEAN_DEGREE = 4.867;

/** The same places with a growing radius, until all are connected and have as many links as theirs. */
function geometricNetwork(devices: number, seed: number): Graph {
  for (let radius = 0.15; ; radius += 0.0025) {
    const drawn = geometric(devices, radius, randomStream(seed, "graph"));
    const links = Array.from(edges(drawn)).length;
    if ((2 * links) / devices >= MEAN_DEGREE && new Set(connectedComponents(drawn)).size === 1) return drawn;
  }
}

/** Probability of a link inside a community. */
const INSIDE = 0.8;

/** As `methods.pooled`: the best of many starts, to the exact fixed point. */
function groupOf(devices: readonly number[], points: Matrix, ready: PreparedPoints, k: number, seed: number): Group {
  const { centroids: reference } = kmeans(points, {
    k,
    restarts: defaults.pooledRestarts,
    seed,
    maxIter: 10_000,
    tol: 0,
  });
  const statistics: Statistics = {
    counts: new Float64Array(k),
    sums: new Float64Array(k * points.cols),
    loss: 0,
  };
  const cost = (centroids: Matrix) => {
    ready.statistics(centroids.data, statistics);
    return statistics.loss / points.rows;
  };
  return { devices, reference, cost, referenceCost: cost(reference) };
}
