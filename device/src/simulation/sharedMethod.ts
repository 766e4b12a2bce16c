// Shared clusters as a method among others: the devices of a study made for the points, simulated to their end.

import { edges, type Graph, type Matrix, type Method, type MethodOptions, methodOfAnswer } from "@fedkm/core";
import { contractWith, type Study } from "../study.ts";
import { studyOfPoints } from "../studyOfPoints.ts";
import { simulate } from "./simulate.ts";

const LONGEST_MILLISECONDS = 3_600_000;
const COLLUDERS = 1;

/** Bounds are those of the points, guarded rows those of `privacy` and `minimum`. Needs two links for each device. */
export const sharedMethod: Method = Object.assign(methodOfAnswer(answer), {
  travels: "masked sums",
  settable: { privacy: ["open", "guarded"], minimum: ["number"] },
});

function answer(datasets: readonly Matrix[], graph: Graph, options: MethodOptions) {
  checkLinks(graph);
  const study = studyFor(datasets, options);
  const { seed = 0 } = options;
  const contract = contractWith(study, new Uint8Array(16));
  const network = simulate({ study, contract, datasets, graph, seed, staggerMilliseconds: 0 });
  if (!network.settle(LONGEST_MILLISECONDS))
    throw new Error("devices must settle, and did not within a simulated hour");
  return { centroids: network.centroids(), traffic: { messages: network.frames, bytes: network.bytes } };
}

function studyFor(datasets: readonly Matrix[], { k, privacy = "open", minimum = 10 }: MethodOptions): Study {
  const names = Array.from({ length: datasets[0].cols }, (_, column) => `x${column + 1}`);
  const choices = { k, alpha: 0, privacy, minimum: privacy === "open" ? 1 : minimum };
  return {
    ...studyOfPoints(datasets, names, { name: "shared", ...choices }),
    clusters: "shared",
    colluders: COLLUDERS,
  };
}

/** Whether every device has more links than colluders. */
export function canShare(graph: Graph): boolean {
  return graph.neighbours.every(({ length }) => length > COLLUDERS);
}

function checkLinks(graph: Graph): void {
  if (canShare(graph)) return;
  const weak = graph.neighbours.findIndex(({ length }) => length <= COLLUDERS);
  const links = Array.from(edges(graph)).filter(([i, j]) => i === weak || j === weak).length;
  throw new RangeError(
    `graph must give every device ${COLLUDERS + 1} links for shared clusters, got ${links} for device ${weak}`,
  );
}
