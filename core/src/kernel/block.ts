// (E1) for rows that pass by once, a block at a time: parts of sums on given grids, which add up exactly over the blocks.

import type { Matrix } from "../data/matrix.ts";
import { assign } from "./assign.ts";
import { createClusters } from "./clusters.ts";
import { addParts } from "./js.ts";
import { theMachine } from "./module.ts";
import { type Engine, hasNoLanes, pick, wantsCodes } from "./pick.ts";
import { LARGEST_K } from "./placedPoints.ts";
import { placePoints } from "./prepare.ts";

/**
 * Adds the rows of a block to `parts`, k rows of 2 (cols + 1) numbers (see grid.ts), and returns their loss. The parts of
 * all blocks are those of all rows at once if the grids are, whatever the blocks.
 */
export function addBlock(
  points: Matrix,
  grids: Float64Array,
  centroids: Float64Array,
  /* IN OUT */ parts: Float64Array,
): number {
  return addFast(points, grids, centroids, parts) ?? addParts({ points, weights: undefined, grids }, centroids, parts);
}

/** Undefined where the reference has to answer, and then nothing was added. */
function addFast(
  points: Matrix,
  grids: Float64Array,
  centroids: Float64Array,
  /* IN OUT */ parts: Float64Array,
): number | undefined {
  const { rows, cols } = points;
  const k = centroids.length / cols;
  const machine = theMachine();
  if (machine === undefined || hasNoLanes(rows) || k > LARGEST_K) return undefined;
  const engine = engineFor(rows, cols, k);
  const placed = placePoints(machine, points, undefined, engine === "screen", grids);
  if (placed === undefined) return undefined;
  const clusters = createClusters(placed, k);
  if (clusters !== undefined) assign(placed, clusters, centroids, engine);
  const loss = clusters && (clusters.loss ?? machine.lossOfRows(placed.state, rows, clusters.at.scores));
  if (clusters !== undefined) {
    const f64 = machine.f64();
    for (let i = 0, at = clusters.at.sums / 8; i < parts.length; i++, at++) parts[i] += f64[at];
    machine.free(clusters.block);
  }
  machine.free(placed.block);
  return loss;
}

/** Bounds and most codes pay only for those who are asked again. */
function engineFor(rows: number, cols: number, k: number): Engine {
  const engine = pick(rows, cols, k);
  if (engine !== "screen" && engine !== "bounded") return engine;
  return wantsCodes(rows) && k >= CODES_PAY ? "screen" : "plain";
}

/** From so many clusters on the codes of a row cost less than its distances. */
const CODES_PAY = 24;
