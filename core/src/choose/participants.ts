// Who takes part in a choice, and with which rows: the component with the most points (devices that no path joins cannot
// add anything up), a sample of its rows, and few directions where there are many columns.

import { checkInteger } from "../data/check.ts";
import { datasetColumns, dot, type Matrix, removeProjection, takeRows } from "../data/matrix.ts";
import { randomRows, randomStream, shuffled } from "../data/random.ts";
import { fitOn } from "../fit/fit.ts";
import type { FitOptions } from "../fit/fitOptions.ts";
import { connectedComponents, edges, type Graph, graphOfEdges } from "../graph/graph.ts";
import type { Traffic } from "../graph/traffic.ts";

export interface Participants {
  readonly datasets: readonly Matrix[];
  readonly graph: Graph;
  readonly leftOut: readonly number[];
}

/** What a choice says of how it was made. */
export interface ChoiceCosts extends Traffic {
  /** Devices without a path to those that were asked. */
  readonly leftOut: readonly number[];
  /** Absent where all rows were looked at: then standard errors are those of the sample, and clusters of few of its rows are not seen. */
  readonly sampled?: SampledRows;
  /** What a device has to send for this. */
  readonly reveals: string;
}

/** `least`: somebody must have so many points; `where` says what for. */
export function participantsOf(datasets: readonly Matrix[], graph: Graph, least: number, where: string): Participants {
  const component = connectedComponents(graph);
  const points = new Float64Array(graph.size);
  component.forEach((c, i) => {
    points[c] += datasets[i].rows;
  });
  const main = points.indexOf(points.reduce((a, b) => Math.max(a, b)));
  const devices = Array.from(component.keys());
  const members = devices.filter((i) => component[i] === main);
  const mostPoints = members.reduce((most, i) => Math.max(most, datasets[i].rows), 0);
  if (mostPoints < least) {
    throw new RangeError(
      `datasets must have a device with at least ${least} points (${where}), got at most ${mostPoints}`,
    );
  }
  if (members.length === graph.size) return { datasets, graph, leftOut: [] };
  const position = new Map(members.map((i, at) => [i, at]));
  const links = Array.from(edges(graph)).flatMap(([i, j, weight]) => {
    const [from, to] = [position.get(i), position.get(j)];
    return from === undefined || to === undefined ? [] : [[from, to, weight] as const];
  });
  return {
    datasets: members.map((i) => datasets[i]),
    graph: graphOfEdges(members.length, links),
    leftOut: devices.filter((i) => component[i] !== main),
  };
}

// Many columns and few rows: half of the rows choose a few directions, and the other half is judged along them.

/** At most so many directions, and at least so many rows for each. */
const MOST_COLUMNS = 16;
const ROWS_PER_COLUMN = 8;
/** So few columns are always looked at. */
const LEAST_COLUMNS = 4;

/**
 * In many columns any few rows are far apart, and the centroids of rows lie where these rows are: judged by the same
 * rows, noise has clusters. Rows that had no part in the directions between the centroids fall on one heap there.
 * `traffic` is what it took to agree on the directions. Without as many rows as two clusters of `minimum` need on one device, nothing can be said: undefined.
 */
export function choiceColumns(
  datasets: readonly Matrix[],
  graph: Graph,
  options: Omit<FitOptions, "k" | "alpha"> & { readonly minimum: number; readonly seed: number },
): { readonly datasets: readonly Matrix[]; readonly traffic: Traffic } | undefined {
  const rows = datasets.reduce((sum, own) => sum + own.rows, 0);
  const most = Math.max(LEAST_COLUMNS, Math.min(MOST_COLUMNS, Math.floor(rows / ROWS_PER_COLUMN)));
  const cols = datasetColumns(datasets);
  if (cols <= most) return { datasets, traffic: { messages: 0, bytes: 0 } };
  const halves = datasets.map((own, i) => {
    const order = shuffled(own.rows, randomStream(options.seed, "halves", i));
    const half = Math.floor(own.rows / 2);
    return { guides: takeRows(own, order.subarray(0, half)), judges: takeRows(own, order.subarray(half)) };
  });
  const guides = halves.map((half) => half.guides);
  const largest = guides.reduce((most, own) => Math.max(most, own.rows), 0);
  const k = Math.min(most + 1, Math.floor(largest / options.minimum));
  if (k < 2) return undefined;
  const seed = fitOn(guides, graph, { ...options, k, alpha: 1, init: "federated", rounds: 0 });
  const directions = directionsBetween(seed.centroids[0]);
  return {
    datasets: halves.map(({ judges }) => along(judges, seed.centroids[0], directions)),
    traffic: seed,
  };
}

/** Orthonormal rows. */
function directionsBetween({ data, rows, cols }: Matrix): Float64Array[] {
  const frame: Float64Array[] = [];
  for (let n = 1; n < rows; n++) {
    const direction = Float64Array.from({ length: cols }, (_, x) => data[n * cols + x] - data[x]);
    const before = dot(direction, direction);
    // Twice, so that what rounding leaves of the earlier directions goes too.
    for (const other of [...frame, ...frame]) removeProjection(other, direction);
    const after = dot(direction, direction);
    if (after > 1e-18 * before) frame.push(direction.map((value) => value / Math.sqrt(after)));
  }
  // Where all centroids are one, any direction will do.
  return frame.length > 0 ? frame : [Float64Array.from({ length: cols }, (_, x) => (x === 0 ? 1 : 0))];
}

/** Coordinates along the directions, from the first centroid. */
function along({ data, rows }: Matrix, centroids: Matrix, directions: readonly Float64Array[]): Matrix {
  const { cols } = centroids;
  const q = directions.length;
  const coordinates = new Float64Array(rows * q);
  const difference = new Float64Array(cols);
  for (let r = 0; r < rows; r++) {
    for (let x = 0; x < cols; x++) difference[x] = data[r * cols + x] - centroids.data[x];
    for (let n = 0; n < q; n++) coordinates[r * q + n] = dot(difference, directions[n]);
  }
  return { data: coordinates, rows, cols: q };
}

/** Rows of all devices together that are looked at unless `sample` says otherwise. */
const ENOUGH_ROWS = 20_000;

/** Nobody with fewer rows than this gives only a part of them. */
const LEAST_ROWS = 1_000;

export interface SampledRows {
  readonly rows: number;
  /** Of so many. */
  readonly of: number;
}

/** About `most` rows, the same share of every large device, spread over its rows. `sampled` is absent where they are all. */
export function choiceSample(
  datasets: readonly Matrix[],
  seed: number,
  most = ENOUGH_ROWS,
): { readonly datasets: readonly Matrix[]; readonly sampled?: SampledRows } {
  checkInteger("sample", most, 1);
  const all = datasets.reduce((sum, { rows }) => sum + rows, 0);
  if (all <= most) return { datasets };
  const taken = datasets.map((points, i) => {
    const size = Math.min(points.rows, Math.max(LEAST_ROWS, Math.ceil((most / all) * points.rows)));
    if (size === points.rows) return points;
    return takeRows(points, randomRows(points.rows, size, randomStream(seed, "sample", i)));
  });
  return { datasets: taken, sampled: { rows: taken.reduce((sum, { rows }) => sum + rows, 0), of: all } };
}
