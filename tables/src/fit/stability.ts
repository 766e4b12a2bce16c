// How sure clusters are: how near rows are to a second one, and whether other starts and fewer places find them again.

import {
  complete,
  connectedComponents,
  edges,
  type Graph,
  graph as graphOf,
  type Matrix,
  predict,
  simplifiedSilhouette,
  stack,
  takeRows,
} from "@fedkm/core";
import { inCommonOrder } from "../model/clusterOrder.ts";
import { isAlone, type Model, scaledCentroids } from "../model/model.ts";
import type { Fitted } from "../model/outcome.ts";

// Some of the rows of all places, where all of them would cost too much and tell no more.

/** Rows of all devices at even distances, at most so many. */
export function* sampleRows(datasets: readonly Matrix[], most: number): Generator<{ device: number; row: number }> {
  const total = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const step = Math.max(1, total / most);
  let begin = 0;
  let next = 0;
  for (const [device, { rows }] of datasets.entries()) {
    for (; next < begin + rows; next += step) yield { device, row: Math.floor(next - begin) };
    begin += rows;
  }
}

export interface Sampled {
  readonly datasets: readonly Matrix[];
  readonly labels: readonly Uint32Array[];
  /** Of all. */
  readonly rows: number;
}

/** The same rows as places of their own, with their labels. */
export function sampledPlaces(datasets: readonly Matrix[], labels: readonly Uint32Array[], most: number): Sampled {
  const chosen: number[][] = datasets.map(() => []);
  for (const { device, row } of sampleRows(datasets, most)) chosen[device].push(row);
  return {
    datasets: datasets.map((points, i) => (chosen[i].length === points.rows ? points : takeRows(points, chosen[i]))),
    labels: labels.map((own, i) => Uint32Array.from(chosen[i], (row) => own[row])),
    rows: chosen.reduce((sum, { length }) => sum + length, 0),
  };
}

export interface Sureness {
  /** Rows that were looked at, of so many. */
  readonly rows: number;
  readonly of: number;
  /** Of all these rows, and by cluster; NaN without rows. */
  readonly silhouette: number;
  readonly silhouettes: readonly number[];
  /** By cluster: the share of rows that are about as near to another centroid. */
  readonly between: readonly number[];
  /** By cluster, for every other start: the Jaccard index with the cluster that is most like it. */
  readonly starts: readonly (readonly number[])[];
  /** The same for every fit without some places, with their names. */
  readonly without: readonly { readonly places: readonly string[]; readonly jaccards: readonly number[] }[];
  /** The silhouettes of other numbers of clusters, on the same rows. */
  readonly others: readonly { readonly k: number; readonly silhouette: number }[];
}

/** Another fit as it was asked for, but for what is changed. */
export type Refit = (
  datasets: readonly Matrix[],
  graph: Graph,
  change: { readonly k: number; readonly seed: number },
) => readonly Matrix[];

/** Rows to which the second centroid is nearer than this many times the first are between clusters. */
export const NEAR = 1.25;

const STARTS = 5;
/** More places than this are joined to groups, so that each has enough rows of the sample. */
const MOST_PLACES = 12;
const GROUPS = 8;

/** Rows and numbers of a sample: so many fits must be done in a few seconds. */
const MOST_ROWS = 2_000;
const MOST_VALUES = 40_000;

type Found = Pick<Fitted, "model" | "graph" | "datasets" | "labels">;

/** What is looked at: plain data, so that another process can do it. */
export interface Looked {
  readonly model: Pick<Model, "devices" | "links" | "options" | "scaling" | "study">;
  readonly graph: Graph;
  readonly sample: Sampled;
  /** Rows of all places. */
  readonly of: number;
}

export function lookedAt({ model, graph, datasets, labels }: Found): Looked {
  const { devices, links, options, scaling, study } = model;
  const most = Math.max(20 * options.k, Math.min(MOST_ROWS, Math.ceil(MOST_VALUES / datasets[0].cols)));
  return {
    model: { devices, links, options, scaling, ...(study && { study }) },
    graph,
    sample: sampledPlaces(datasets, labels, most),
    of: datasets.reduce((sum, { rows }) => sum + rows, 0),
  };
}

export function surenessOf(looked: Looked, refit: Refit): Sureness {
  const { model, sample, of } = looked;
  const { k, seed } = model.options;
  const network = joined(looked);
  const again = (change: { k?: number; seed?: number }) =>
    refit(network.datasets, network.graph, { k, seed, ...change });
  const starts = Array.from({ length: k > 1 ? STARTS : 0 }, (_, s) =>
    jaccards(network.labels, labelsOf(again({ seed: seed + s + 1 }), network.datasets), k),
  );
  const ks = [k - 1, k + 1, k + 2].filter((other) => other > 1 && other < sample.rows);
  return {
    rows: sample.rows,
    of,
    ...ratiosOf(looked, k),
    starts,
    without: k > 1 && !isAlone(model) ? withoutPlaces(network, refit, { k, seed }) : [],
    others: ks.map((other) => ({ k: other, silhouette: silhouetteOf(network.datasets, again({ k: other })) })),
  };
}

interface SmallNetwork extends Sampled {
  /** Of the places that make each of its places. */
  readonly names: readonly (readonly string[])[];
  readonly graph: Graph;
}

/** The places themselves, or one in eight of them as one place each. */
function joined({ model, graph, sample }: Looked): SmallNetwork {
  const places = model.devices.map(({ name }) => name);
  if (places.length <= MOST_PLACES) return { ...sample, names: places.map((name) => [name]), graph };
  const members = Array.from({ length: GROUPS }, (_, group) =>
    Array.from(places.keys()).filter((i) => i % GROUPS === group),
  );
  return {
    datasets: members.map((own) => stack(own.map((i) => sample.datasets[i]))),
    labels: members.map((own) => Uint32Array.from(own.flatMap((i) => Array.from(sample.labels[i])))),
    rows: sample.rows,
    names: members.map((own) => own.map((i) => places[i])),
    graph: complete(GROUPS),
  };
}

function silhouetteOf(datasets: readonly Matrix[], centroids: readonly Matrix[]): number {
  let [sum, rows] = [0, 0];
  datasets.forEach((points, i) => {
    sum += points.rows * simplifiedSilhouette(points, centroids[i]);
    rows += points.rows;
  });
  return sum / rows;
}

/** The silhouette of a row is 1 less the ratio of its two smallest distances. */
function ratiosOf({ model, sample: { datasets, labels } }: Looked, k: number) {
  const [sums, near, counts] = [0, 1, 2].map(() => new Float64Array(k));
  datasets.forEach(({ data, rows, cols }, i) => {
    if (rows === 0) return;
    const centroids = scaledCentroids(model.devices[i], model.scaling);
    for (let r = 0; r < rows; r++) {
      const own = simplifiedSilhouette({ data: data.subarray(r * cols, (r + 1) * cols), rows: 1, cols }, centroids);
      const label = labels[i][r];
      counts[label]++;
      sums[label] += own;
      if (own < 1 - 1 / NEAR) near[label]++;
    }
  });
  const all = (of: Float64Array) => of.reduce((sum, own) => sum + own, 0);
  return {
    silhouette: all(sums) / all(counts),
    silhouettes: Array.from(sums, (sum, c) => sum / counts[c]),
    between: Array.from(near, (own, c) => own / counts[c]),
  };
}

function labelsOf(centroids: readonly Matrix[], datasets: readonly Matrix[]): Uint32Array[] {
  const ordered = inCommonOrder(centroids, datasets);
  return datasets.map((points, i) => (points.rows === 0 ? new Uint32Array() : predict(ordered[i], points)));
}

/** For each cluster of `before` the Jaccard index with the cluster of `after` that is most like it; NaN without rows. */
function jaccards(before: readonly Uint32Array[], after: readonly Uint32Array[], k: number): number[] {
  const both = new Float64Array(k * k);
  const [sizes, others] = [new Float64Array(k), new Float64Array(k)];
  before.forEach((own, i) => {
    own.forEach((label, r) => {
      both[label * k + after[i][r]]++;
      sizes[label]++;
      others[after[i][r]]++;
    });
  });
  return Array.from(sizes, (size, c) => {
    if (size === 0) return Number.NaN;
    return Math.max(...Array.from(others, (other, o) => both[c * k + o] / (size + other - both[c * k + o])));
  });
}

/** One place or group at a time, unless the network would fall apart. */
function withoutPlaces(
  { datasets, labels, names, graph }: SmallNetwork,
  refit: Refit,
  asked: { readonly k: number; readonly seed: number },
): Sureness["without"] {
  if (datasets.length < 2) return [];
  const parts = new Set(connectedComponents(graph)).size;
  return datasets.flatMap((_, left) => {
    const kept = Array.from(datasets.keys()).filter((i) => i !== left);
    const rest = kept.map((i) => datasets[i]);
    const links = withNodes(graph, kept);
    const rows = rest.reduce((sum, own) => sum + own.rows, 0);
    if (rows <= asked.k || new Set(connectedComponents(links)).size > parts) return [];
    const found = labelsOf(refit(rest, links, asked), rest);
    const before = kept.map((i) => labels[i]);
    return [{ places: names[left], jaccards: jaccards(before, found, asked.k) }];
  });
}

/** The network between some of its nodes, which are numbered anew. */
function withNodes(graph: Graph, nodes: readonly number[]): Graph {
  const numbers = new Map(nodes.map((node, i) => [node, i]));
  const kept: [number, number, number][] = [];
  for (const [a, b, weight] of edges(graph)) {
    const [from, to] = [numbers.get(a), numbers.get(b)];
    if (from !== undefined && to !== undefined) kept.push([from, to, weight]);
  }
  return graphOf(nodes.length, kept);
}
