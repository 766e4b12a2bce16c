// How stable clusters are: whether they are apart, how near rows are to a second one, and whether other starts and fewer devices find them again.

import {
  type ClusterVerdict,
  clusterVerdict,
  complete,
  connectedComponents,
  type Graph,
  type Matrix,
  predict,
  simplifiedSilhouette,
  stack,
  subgraph,
} from "@fedkm/core";
import { clusterSums, clustersInModelOrder, type FittedRows } from "../model/clusterSums.ts";
import { isModelAlone, type Model, scaledCentroids } from "../model/model.ts";
import { type Sampled, sampleRowsByDevice } from "../model/sampleRows.ts";
import type { Refit } from "./method.ts";

/** How sure a clustering is: its verdict, and how it stood up to other starts and rows. */
export interface Stability {
  /** Of the rows of all devices together; undefined where each device has clusters of its own. */
  readonly verdict: ClusterVerdict | undefined;
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
  /** The same for every fit without some devices, with their names. */
  readonly without: readonly { readonly devices: readonly string[]; readonly jaccards: readonly number[] }[];
  /** The silhouettes of other numbers of clusters, on the same rows. */
  readonly others: readonly { readonly k: number; readonly silhouette: number }[];
  /** Why some of these were not examined: the method refused such a network. */
  readonly refusals: Readonly<Record<"starts" | "without" | "others", string | undefined>>;
}

/** Rows to which the second centroid is nearer than this many times the first are between clusters. */
export const NEAR = 1.25;

const STARTS = 5;
/** More devices than this are joined to groups, so that each has enough rows of the sample. */
const MOST_DEVICES = 12;
const GROUPS = 8;

/** Rows and numbers of a sample: so many fits must be done in a few seconds. */
const MOST_ROWS = 2_000;
const MOST_VALUES = 40_000;
/** But a gap between clusters shows only if these have some rows. */
const ROWS_A_CLUSTER = 50;

/** What is examined: plain data, so that another process can do it. */
export interface StabilityTask {
  readonly model: Pick<Model, "devices" | "links" | "options" | "scaling" | "study">;
  readonly graph: Graph;
  readonly sample: Sampled;
  /** Rows of all devices. */
  readonly of: number;
}

export function stabilityTask(
  fitted: Pick<FittedRows, "graph" | "datasets" | "labels"> & Pick<StabilityTask, "model">,
): StabilityTask {
  const { model, graph, datasets, labels } = fitted;
  const { devices, links, options, scaling, study } = model;
  const most = Math.max(ROWS_A_CLUSTER * options.k, Math.min(MOST_ROWS, Math.ceil(MOST_VALUES / datasets[0].cols)));
  return {
    model: { devices, links, options, scaling, ...(study && { study }) },
    graph,
    sample: sampleRowsByDevice(datasets, labels, most),
    of: datasets.reduce((sum, { rows }) => sum + rows, 0),
  };
}

/** How the clusters change with other starts, other rows and another k. */
export function examineStability(task: StabilityTask, refit: Refit): Stability {
  const { model, sample, of } = task;
  const { k, seed } = model.options;
  const network = joined(task);
  const again = (change: { k?: number; seed?: number }) =>
    refit(network.datasets, network.graph, { k, seed, ...change });
  const starts = examined(
    Array.from({ length: k > 1 ? STARTS : 0 }, (_, s) => s),
    (s) => jaccards(network.labels, labelsOf(again({ seed: seed + s + 1 }), network.datasets), k),
  );
  const without = examined(k > 1 && !isModelAlone(model) ? networksWithout(network, k) : [], (rest) => {
    const labels = labelsOf(refit(rest.datasets, rest.graph, { k, seed }), rest.datasets);
    return { devices: rest.left, jaccards: jaccards(rest.labels, labels, k) };
  });
  const others = examined(
    [k - 1, k + 1, k + 2].filter((other) => other > 1 && other < sample.rows),
    (other) => ({ k: other, silhouette: silhouetteOf(network.datasets, again({ k: other })) }),
  );
  return {
    verdict: fitVerdict(task),
    rows: sample.rows,
    of,
    ...ratiosOf(task, k),
    starts: starts.results,
    without: without.results,
    others: others.results,
    refusals: { starts: starts.refusal, without: without.refusal, others: others.refusal },
  };
}

/** From the worst on: what is said of several groups of devices is what is true of each. */
const WORDS: readonly ClusterVerdict["word"][] = ["none", "too few rows", "weak", "clear"];

/**
 * Of the rows of all devices that are linked together; undefined where each has clusters of its own. fit and choose say the
 * same words of it.
 */
export function fitVerdict({ model, graph, sample: { datasets, labels } }: StabilityTask): ClusterVerdict | undefined {
  const { k, seed } = model.options;
  if (k === 1 || isModelAlone(model)) return undefined;
  const part = connectedComponents(graph);
  const verdicts = [...new Set(part)].flatMap((own) => {
    const devices = Array.from(datasets.keys()).filter((i) => part[i] === own && datasets[i].rows > 0);
    if (devices.length === 0) return [];
    const rows = devices.map((i) => datasets[i]);
    const { common, cols } = clusterSums(
      rows,
      devices.map((i) => labels[i]),
      k,
      model.scaling,
    );
    // Clusters without rows have no mean: any place will do where no row is nearest.
    const [first] = devices.map((i) => scaledCentroids(model.devices[i], model.scaling).data);
    const centroids = { data: common.map((x, at) => (Number.isNaN(x) ? first[at] : x)), rows: k, cols };
    return [clusterVerdict(rows, subgraph(graph, devices), centroids, { seed })];
  });
  return verdicts.reduce<ClusterVerdict | undefined>(
    (worst, own) => (worst === undefined || WORDS.indexOf(own.word) < WORDS.indexOf(worst.word) ? own : worst),
    undefined,
  );
}

/** What another fit gives for each, and why one was refused: a method may need more devices or links than are left. */
function examined<T, R>(all: readonly T[], examine: (one: T) => R): { results: R[]; refusal?: string } {
  const results: R[] = [];
  for (const one of all) {
    try {
      results.push(examine(one));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return { results, refusal: error.message };
    }
  }
  return { results };
}

interface SmallNetwork extends Sampled {
  /** Of the devices that make each of its devices. */
  readonly names: readonly (readonly string[])[];
  readonly graph: Graph;
}

/** The devices themselves, or one in eight of them as one device each. */
function joined({ model, graph, sample }: StabilityTask): SmallNetwork {
  const devices = model.devices.map(({ name }) => name);
  if (devices.length <= MOST_DEVICES) return { ...sample, names: devices.map((name) => [name]), graph };
  const members = Array.from({ length: GROUPS }, (_, group) =>
    Array.from(devices.keys()).filter((i) => i % GROUPS === group),
  );
  return {
    datasets: members.map((own) => stack(own.map((i) => sample.datasets[i]))),
    labels: members.map((own) => Uint32Array.from(own.flatMap((i) => Array.from(sample.labels[i])))),
    rows: sample.rows,
    names: members.map((own) => own.map((i) => devices[i])),
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
function ratiosOf({ model, sample: { datasets, labels } }: StabilityTask, k: number) {
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
  const ordered = clustersInModelOrder(centroids, datasets);
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

interface RestOfNetwork extends Pick<SmallNetwork, "datasets" | "labels" | "graph"> {
  /** Names of the devices that are not in it. */
  readonly left: readonly string[];
}

/** One device or group is left out at a time, unless the network would fall apart. */
function networksWithout({ datasets, labels, names, graph }: SmallNetwork, k: number): RestOfNetwork[] {
  if (datasets.length < 2) return [];
  const parts = new Set(connectedComponents(graph)).size;
  return datasets.flatMap((_, left) => {
    const kept = Array.from(datasets.keys()).filter((i) => i !== left);
    const rest = kept.map((i) => datasets[i]);
    const links = subgraph(graph, kept);
    const rows = rest.reduce((sum, own) => sum + own.rows, 0);
    if (rows <= k || new Set(connectedComponents(links)).size > parts) return [];
    return [{ datasets: rest, labels: kept.map((i) => labels[i]), graph: links, left: names[left] }];
  });
}
