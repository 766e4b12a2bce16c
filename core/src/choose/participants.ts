// Who is asked: devices that no path joins cannot add anything up, so the part of the network with the most points is.

import type { Matrix } from "../data/matrix.ts";
import { connectedComponents, edges, type Graph, graphOf } from "../graph/graph.ts";

export interface Asked {
  readonly datasets: readonly Matrix[];
  readonly graph: Graph;
  /** Devices of other components. */
  readonly leftOut: readonly number[];
  /** The most points that one of the devices asked has. */
  readonly mostPoints: number;
}

/** `least`: somebody must have so many points; `where` says what for. */
export function askedOf(datasets: readonly Matrix[], graph: Graph, least: number, where: string): Asked {
  const component = connectedComponents(graph);
  const points = new Float64Array(graph.size);
  component.forEach((c, i) => {
    points[c] += datasets[i].rows;
  });
  const main = points.indexOf(points.reduce((a, b) => Math.max(a, b)));
  const devices = Array.from(component.keys());
  const asked = devices.filter((i) => component[i] === main);
  const mostPoints = asked.reduce((most, i) => Math.max(most, datasets[i].rows), 0);
  if (mostPoints < least) {
    throw new RangeError(
      `datasets must have a device with at least ${least} points (${where}), got at most ${mostPoints}`,
    );
  }
  if (asked.length === graph.size) return { datasets, graph, leftOut: [], mostPoints };
  const place = new Map(asked.map((i, at) => [i, at]));
  const links = Array.from(edges(graph)).flatMap(([i, j, weight]) => {
    const [from, to] = [place.get(i), place.get(j)];
    return from === undefined || to === undefined ? [] : [[from, to, weight] as const];
  });
  return {
    datasets: asked.map((i) => datasets[i]),
    graph: graphOf(asked.length, links),
    leftOut: devices.filter((i) => component[i] !== main),
    mostPoints,
  };
}
