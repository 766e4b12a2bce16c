// Shared clusters as a method among others: the devices of a study made for the points, simulated to their end.

import {
  edges,
  type Graph,
  judgingOptions,
  type Matrix,
  type Method,
  type MethodOptions,
  methodOfAnswer,
} from "@fedkm/core";
import { contractWith, parseStudy, type Study } from "../study/study.ts";
import { studyOfPoints } from "../study/studyOfPoints.ts";
import { simulate } from "./simulate.ts";

const LONGEST_MILLISECONDS = 3_600_000;
const COLLUDERS = 1;

/**
 * Bounds are those of the points, guarded rows those of `privacy` and `minimum`, private ones those of `epsilon`. Needs
 * two links for each device.
 */
export const sharedMethod: Method = methodOfAnswer(answer, {
  travels: "masked sums",
  takes: { ...judgingOptions, privacy: ["open", "guarded", "private"], minimum: ["number"], epsilon: ["number"] },
});

function answer(datasets: readonly Matrix[], graph: Graph, options: MethodOptions) {
  checkLinks(graph);
  const study = studyFor(datasets, options as SharedOptions);
  const { seed = 0 } = options;
  const contract = contractWith(study, new Uint8Array(16));
  const network = simulate({ study, contract, datasets, graph, seed, staggerMilliseconds: 0 });
  if (!network.settle(LONGEST_MILLISECONDS)) {
    const why = network.status(0).shared?.waiting;
    throw new Error(`devices must settle, and did not within a simulated hour${why == null ? "" : `: one ${why}`}`);
  }
  return { centroids: network.centroids(), traffic: { messages: network.frames, bytes: network.bytes } };
}

type SharedOptions = Omit<MethodOptions, "privacy"> & Partial<Pick<Study, "privacy" | "epsilon">>;

/** Checked like any study, so that what no study may say is refused here as well. */
function studyFor(datasets: readonly Matrix[], options: SharedOptions): Study {
  const { k, privacy = "open", minimum = 10, epsilon } = options;
  const names = Array.from({ length: datasets[0].cols }, (_, column) => `x${column + 1}`);
  const choices = { k, alpha: 0, privacy, minimum: privacy === "guarded" ? minimum : 1 };
  const study = studyOfPoints(datasets, names, { name: "shared", ...choices });
  const common = { ...study, clusters: "shared", colluders: COLLUDERS } as const;
  if (privacy !== "private") return common;
  const rows = datasets.reduce((sum, own) => sum + own.rows, 0) / datasets.length;
  const sizes = { devices: datasets.length, typicalRows: Math.max(1, Math.round(rows)) };
  return parseStudy(JSON.stringify({ ...common, ...sizes, ...(epsilon !== undefined && { epsilon }) }));
}

/** Whether every device has more links than colluders. */
export function canSimulateShared(graph: Graph): boolean {
  return graph.neighbours.every(({ length }) => length > COLLUDERS);
}

function checkLinks(graph: Graph): void {
  if (canSimulateShared(graph)) return;
  const weak = graph.neighbours.findIndex(({ length }) => length <= COLLUDERS);
  const links = Array.from(edges(graph)).filter(([i, j]) => i === weak || j === weak).length;
  throw new RangeError(
    `graph must give every device ${COLLUDERS + 1} links for shared clusters, got ${links} for device ${weak}`,
  );
}
