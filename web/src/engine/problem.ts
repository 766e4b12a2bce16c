// The problem of a setup: every device's points, who is linked with whom, and the pooled solution to compare with.

import {
  communities,
  complete,
  type Edge,
  edges,
  erdosRenyi,
  type Graph,
  grid,
  kmeans,
  type Matrix,
  paperData,
  path,
  randomStream,
  ring,
  splitByLabel,
  splitBySizes,
  stack,
  star,
  twoCommunities,
} from "@fedkm/core";
import type { Setup } from "./setup.ts";

export interface PlaygroundData {
  readonly datasets: readonly Matrix[];
  readonly links: readonly Edge[];
  /** k-means of all points together, which no device could compute. */
  readonly pooled: Matrix;
}

/** `own`: the reader's points, one matrix for each device. */
export function playgroundData(setup: Setup, own: readonly Matrix[] = []): PlaygroundData {
  const datasets = datasetsOf(setup, own);
  const { k, seed } = setup;
  const pooled = kmeans(stack(datasets), { k, seed }).centroids;
  return { datasets, links: Array.from(edges(graphOf(setup, datasets.length))), pooled };
}

function datasetsOf({ data, devices, points, seed }: Setup, own: readonly Matrix[]): readonly Matrix[] {
  if (data === "own") return own;
  if (data === "communities") return twoCommunities(Math.ceil(devices / 2), points, seed).datasets.slice(0, devices);
  if (data === "skew") return splitByLabel(drawnTogether(devices * points, seed), devices, 0.3, seed).datasets;
  if (data === "tiny") {
    // One device has many points, the others fewer than they would need alone.
    const sizes = Array.from({ length: devices }, (_, i) => (i === 0 ? points : 4 + (i % 4)));
    const all = sizes.reduce((sum, size) => sum + size, 0);
    return splitBySizes(drawnTogether(all, seed), sizes, seed).datasets;
  }
  return paperData(data, devices, points, seed).datasets;
}

function drawnTogether(points: number, seed: number) {
  const { datasets, labels } = paperData("iso", 1, points, seed);
  return { points: datasets[0], labels: labels[0] };
}

function graphOf({ graph, density, seed }: Setup, devices: number): Graph {
  if (graph === "complete") return complete(devices);
  if (graph === "ring") return ring(devices);
  if (graph === "path") return path(devices);
  if (graph === "star") return star(devices);
  if (graph === "grid") {
    const rows = Math.floor(Math.sqrt(devices));
    // The largest divisor that is no more than the root: every device has a place.
    const fitting = Array.from({ length: rows }, (_, i) => rows - i).find((count) => devices % count === 0) ?? 1;
    return grid(fitting, devices / fitting);
  }
  const random = randomStream(seed, "graph");
  if (graph === "communities") {
    const half = Math.ceil(devices / 2);
    return communities([half, devices - half], 0.7, 1 / devices, random);
  }
  return erdosRenyi(devices, density, random);
}
