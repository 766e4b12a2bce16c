// Who takes part in a choice, and with which rows: the component with the most points (devices that no path joins cannot
// add anything up), and a sample of its rows.

import { checkInteger } from "../data/check.ts";
import { type Matrix, takeRows } from "../data/matrix.ts";
import { randomRows, randomStream } from "../data/random.ts";
import { connectedComponents, type Graph, subgraph } from "../graph/graph.ts";
import type { Traffic } from "../graph/traffic.ts";

export interface Participants {
  readonly datasets: readonly Matrix[];
  readonly graph: Graph;
  /** Their numbers, and those of the others. */
  readonly members: readonly number[];
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
  if (members.length === graph.size) return { datasets, graph, members, leftOut: [] };
  return {
    datasets: members.map((i) => datasets[i]),
    graph: subgraph(graph, members),
    members,
    leftOut: devices.filter((i) => component[i] !== main),
  };
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
