// The problem behind some cells: its data, their pooled solution, its networks and its common start, each made once.

import {
  type Coupling,
  communities,
  complete,
  connectedComponents,
  discrepancy,
  distortion,
  edges,
  erdosRenyi,
  fastKernel,
  fit,
  type Graph,
  geometric,
  graph,
  type Matrix,
  type PooledReference,
  type PreparedPoints,
  path,
  pooledReference,
  randomStream,
  ring,
  type Statistics,
  stack,
  star,
  unbeatenReference,
} from "@fedkm/core";
import type { StartName, StudyCell } from "../cell.ts";
import { type Plugins, pluggedPartition } from "../plugins/plugin.ts";
import { bestKnownCentroids, bundledClasses, type DealtPoints, type GivenData, trialPartition } from "./datasets.ts";

/** Centroids, and every device's loss per point there. */
interface Made {
  readonly centroids: readonly Matrix[];
  readonly losses: readonly number[];
}

/** Where the devices of a problem begin, made once: the same centroids as `fit` would find for every cell anew, which would take longer than most cells. */
function startsOf(datasets: readonly Matrix[], k: number, seed: number) {
  const kept = new Map<string, Made>();
  const made = (init: "kmeans++" | "local" | "federated", graph: Graph): Made => {
    // Own centroids know of no network, and a common seed of who is connected with whom, not by which links.
    const key = init === "federated" ? connectedComponents(graph).join(" ") : init;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const { centroids } = fit(datasets, graph, { k, alpha: 1, seed, rounds: 0, init });
    const losses = datasets.map((points, i) => (2 * distortion([points], [centroids[i]])) / points.rows);
    const start = { centroids, losses };
    kept.set(key, start);
    return start;
  };
  return {
    /** Every device's own k-means. */
    local: (graph: Graph) => made("local", graph).centroids,
    /** What a method that knows alpha, or none, begins with. */
    of(name: StartName, graph: Graph, alpha: number | null, coupling: Coupling): readonly Matrix[] {
      if (name !== "auto") return made(name, graph).centroids;
      if (alpha === null) return made("federated", graph).centroids;
      if (alpha === 0) return made("local", graph).centroids;
      return lowerOf(made("federated", graph), made("local", graph), graph, alpha, coupling);
    },
  };
}

/** As `init: "auto"`: for each component of the network the start with the lower objective. */
function lowerOf(common: Made, own: Made, graph: Graph, alpha: number, coupling: Coupling): Matrix[] {
  const component = connectedComponents(graph);
  const [together, alone] = [common, own].map(({ centroids, losses }) => {
    const values = new Float64Array(graph.size);
    losses.forEach((loss, i) => {
      values[component[i]] += loss;
    });
    for (const [i, j] of edges(graph))
      values[component[i]] += alpha * discrepancy(centroids[i], centroids[j], coupling);
    return values;
  });
  return Array.from(component, (c, i) => (alone[c] < together[c] ? own : common).centroids[i]);
}

/** Devices that should agree, and what they should agree on: all of them, or one of two communities. */
export interface DeviceGroup {
  readonly devices: readonly number[];
  readonly points: Matrix;
  /** The pooled solution of the group's points. */
  readonly reference: PooledReference & { readonly from?: string };
  /** Mean squared distance from the group's points to their nearest of these centroids. */
  cost(centroids: Matrix): number;
}

export interface CellProblem {
  readonly partition: DealtPoints;
  readonly groups: readonly DeviceGroup[];
  graph(rule: string | null): Graph;
  readonly starts: ReturnType<typeof startsOf>;
  /** Largest difference between two points in any column. */
  readonly range: number;
  /** Gives back what the kernel holds. */
  release(): void;
}

/** The problem that all cells of a batch share: it depends on dataset, split, devices, points, k and seed alone. */
export function cellProblem(cell: StudyCell, given: GivenData, plugins: Plugins): CellProblem {
  const { devices, k, seed, dataset } = cell;
  const partition: DealtPoints = pluggedPartition(cell, plugins) ?? trialPartition(cell, given);
  const everyDevice = Array.from({ length: devices }, (_, i) => i);
  const half = devices / 2;
  const members = dataset === "communities" ? [everyDevice.slice(0, half), everyDevice.slice(half)] : [everyDevice];
  const prepared: PreparedPoints[] = [];
  const groups = members.map((own) => {
    const points = stack(own.map((i) => partition.datasets[i]));
    const ready = fastKernel.prepare(points);
    prepared.push(ready);
    return groupOf(own, points, ready, cell);
  });
  return {
    partition,
    groups,
    starts: startsOf(partition.datasets, k, seed),
    range: rangeOf(stack(partition.datasets)),
    graph: (rule) => graphOf(rule, cell, plugins),
    release: () => {
      for (const points of prepared) points.release();
    },
  };
}

/** The same, where no device of any of these models is cheaper than its reference. */
export function unbeatenProblem(
  problem: CellProblem,
  models: readonly { readonly method: string; readonly centroids: readonly Matrix[] }[],
): CellProblem {
  const groups = problem.groups.map((group) => {
    const rivals = models.flatMap(({ method, centroids }) =>
      group.devices
        .map((i) => centroids[i])
        .filter((own) => group.cost(own) * group.points.rows < (1 - 1e-9) * group.reference.inertia)
        .map((own) => [method, own] as const),
    );
    return { ...group, reference: unbeatenReference(group.points, group.reference, rivals) };
  });
  return { ...problem, groups };
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

function graphOf(rule: string | null, { devices, seed }: StudyCell, { graphs }: Plugins): Graph {
  const [kind, text = ""] = (rule ?? "complete").split(":");
  if (Object.hasOwn(graphs, kind)) return graphs[kind]({ devices, seed, text });
  if (kind === "geometric") return geometricNetwork(devices, seed);
  if (kind === "complete") return complete(devices);
  if (kind === "ring") return ring(devices);
  if (kind === "path") return path(devices);
  if (kind === "star") return star(devices);
  const random = randomStream(seed, "graph");
  if (kind === "er") return erdosRenyi(devices, Number(text), random);
  const rules = "complete, ring, path, star, geometric, er:P or communities:P";
  if (kind !== "communities") throw new RangeError(`graph must be ${rules}, got ${rule}`);
  for (;;) {
    const drawn = communities([devices / 2, devices / 2], INSIDE, Number(text), random);
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

function groupOf(
  devices: readonly number[],
  points: Matrix,
  ready: PreparedPoints,
  { dataset, k, seed }: StudyCell,
): DeviceGroup {
  const searched = pooledReference(points, { k, seed });
  const known = bundledClasses[dataset] === k ? bestKnownCentroids(dataset) : undefined;
  const reference = unbeatenReference(points, searched, known ? [["best known", known]] : []);
  const statistics: Statistics = {
    counts: new Float64Array(k),
    sums: new Float64Array(k * points.cols),
    loss: 0,
  };
  const cost = (centroids: Matrix) => {
    ready.statistics(centroids.data, statistics);
    return statistics.loss / points.rows;
  };
  return { devices, points, reference, cost };
}
