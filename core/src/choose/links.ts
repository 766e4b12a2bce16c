// With whom to cooperate, without pooling: a link stays where each end's clusters say something about the other's points.

import { checkInteger, checkNetwork } from "../check.ts";
import { defaults } from "../defaults.ts";
import { type FitOptions, fitOptionNames } from "../fit.ts";
import { checkOptions } from "../given.ts";
import { edges, type Graph, graphOf } from "../graph.ts";
import { kmeansOn } from "../kmeans.ts";
import { type Matrix, takeRows } from "../matrix.ts";
import { lossOf } from "../objective.ts";
import { addTraffic, sendTraffic } from "../traffic.ts";

/** Whoever has the options of a `fit` can give them as they are. */
export interface ChooseLinksOptions extends Pick<FitOptions, "restarts" | "minimum" | "seed" | "kernel"> {
  /** At least 2: no single centroid serves points better than their mean. */
  k: number;
}

export interface LinkChoice {
  /** The same devices with the links that stay. */
  readonly graph: Graph;
  /** The others. */
  readonly dropped: readonly (readonly [number, number])[];
  readonly messages: number;
  readonly bytes: number;
  /** What a device has to send for this. */
  readonly reveals: string;
}

/**
 * Strangers pull each other's centroids to where nobody has points, the more the larger alpha is. A neighbour is one if
 * its k centroids serve the own points worse than a single one, their mean. Either end can end a link. Devices that
 * hold different clusters of the same kind look like strangers too: where data are skewed, keep the links.
 */
export function chooseLinks(datasets: readonly Matrix[], graph: Graph, options: ChooseLinksOptions): LinkChoice {
  const cols = checkNetwork(datasets, graph);
  checkOptions(options, fitOptionNames, "k");
  const { minimum = defaults.minimum } = options;
  checkInteger("k", options.k, 2);
  checkInteger("minimum", minimum, 1);
  const sent = datasets.map((points) => ownCentroids(points, cols, minimum, options));
  const single = datasets.map((points) => lossOf(points, meanOf(points)));
  // Few points judge nothing and send nothing: their centroids would be the points.
  const isStranger = (i: number, j: number) =>
    sent[i].rows > 0 && sent[j].rows > 0 && lossOf(datasets[i], sent[j]) > single[i];
  const [kept, dropped]: [[number, number, number][], [number, number][]] = [[], []];
  for (const [i, j, weight] of edges(graph)) {
    if (isStranger(i, j) || isStranger(j, i)) dropped.push([i, j]);
    else kept.push([i, j, weight]);
  }
  const centroids = sendTraffic(
    graph,
    sent.map(({ data }) => data.length),
  );
  const answers = sendTraffic(
    graph,
    sent.map(({ rows }) => Math.min(1, rows)),
  );
  return { graph: graphOf(graph.size, kept), dropped, ...addTraffic(centroids, answers), reveals: revealed(minimum) };
}

/** Of enough points each; none of a device that has no more points than clusters. */
function ownCentroids(points: Matrix, cols: number, minimum: number, options: ChooseLinksOptions): Matrix {
  if (points.rows <= options.k) return { data: new Float64Array(0), rows: 0, cols };
  const { centroids, labels } = kmeansOn(points, options);
  const counts = new Uint32Array(centroids.rows);
  for (const label of labels) counts[label]++;
  return takeRows(
    centroids,
    Array.from(counts.keys()).filter((c) => counts[c] >= minimum),
  );
}

function meanOf({ data, rows, cols }: Matrix): Matrix {
  const mean = new Float64Array(cols);
  data.forEach((x, at) => {
    mean[at % cols] += x / rows;
  });
  return { data: mean, rows: 1, cols };
}

function revealed(minimum: number): string {
  const points = minimum === 1 ? "1 point" : `${minimum} points`;
  return (
    `a device sends its neighbours the centroids of its own k-means, none of fewer than ${points}, and each of them ` +
    "whether these serve its points better than their mean does"
  );
}
