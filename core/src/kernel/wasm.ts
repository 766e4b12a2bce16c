// The fast kernel of (E1): WebAssembly SIMD. It falls back to the reference where SIMD or memory is missing.

import type { Numbers, Points } from "../data/matrix.ts";
import { assign, freeKernelClusters, type PlacedClusters, placeKernelClusters } from "./assign.ts";
import { addStatisticsParts, jsKernel } from "./js.ts";
import { gatherStatistics, type Kernel, type PreparedPoints } from "./kernel.ts";
import { theWasmMachine, type WasmMachine } from "./module.ts";
import { isTiny, type KernelEngine, pickEngine, SCREEN_ROWS, WASM_ROWS } from "./pick.ts";
import {
  LARGEST_K,
  overRows,
  type PlacedPoints,
  placedLabels,
  placePoints,
  reserveArrays,
  UNASSIGNED,
} from "./placedPoints.ts";
import { TinyPoints, theTinyMachine } from "./tiny.ts";

/**
 * The fast kernel. `engine` is for tests and measurements; without it, and for what the tiny engine cannot take, `pick`
 * decides call by call.
 */
export function wasmKernel(engine?: KernelEngine, machineOf: () => WasmMachine | undefined = theWasmMachine): Kernel {
  return {
    name: engine ?? "wasm",
    prepare(points, weights) {
      const { rows, cols } = points;
      const machine = machineOf();
      if (machine === undefined || engine === "js") return jsKernel.prepare(points, weights);
      const isFree = engine === undefined || engine === "tiny";
      const tiny = isFree && weights === undefined && isTiny(rows, cols) ? theTinyMachine() : undefined;
      if (tiny !== undefined) return new TinyPoints(tiny, points);
      if (isFree && rows < WASM_ROWS) return jsKernel.prepare(points, weights);
      const placed = placePoints(machine, points, weights, isFree ? rows >= SCREEN_ROWS : engine !== "plain");
      if (placed === undefined) return jsKernel.prepare(points, weights);
      return preparedOn(placed, weights, isFree ? undefined : engine);
    },
  };
}

/** The kernel that everything uses unless it is given another. */
export const fastKernel: Kernel = wasmKernel();

/** Gives the memory of placed points back when its prepared points are garbage and nobody released them. */
const registry = new FinalizationRegistry<Holding>(release);

/** All that placed points own; `clusters` is replaced when the number of centroids changes. */
interface Holding {
  readonly placed: PlacedPoints;
  clusters: PlacedClusters | undefined;
}

function release(holding: Holding): void {
  const { placed, clusters } = holding;
  placed.machine.free(placed.block);
  if (clusters !== undefined) freeKernelClusters(placed, clusters);
  holding.clusters = undefined;
}

function preparedOn(
  placed: PlacedPoints,
  weights: Float64Array | undefined,
  engine: KernelEngine | undefined,
): PreparedPoints {
  const holding: Holding = { placed, clusters: undefined };
  const reference = () => jsKernel.prepare(placed.points, weights);
  const prepared: PreparedPoints = {
    largest: placed.largest,
    statistics(centroids, into, withLoss = true) {
      const clusters = update(holding, centroids, engine);
      if (clusters === undefined) return reference().statistics(centroids, into, withLoss);
      gatherStatistics(placed.machine.f64(), clusters.at.sums / 8, into);
      into.loss = withLoss ? loss(placed, clusters) : Number.NaN;
    },
    labels(centroids, into) {
      if (update(holding, centroids, engine) === undefined) return reference().labels(centroids, into);
      const { rows } = placed.points;
      const labels = placedLabels(placed);
      // Only where there are codes do labels carry flags.
      if (placed.screen === undefined) into.set(labels.subarray(0, rows));
      else for (let r = 0; r < rows; r++) into[r] = labels[r] & UNASSIGNED;
    },
    squaredDistances(centroid, into) {
      if (!distances(placed, centroid, into)) reference().squaredDistances(centroid, into);
    },
    release() {
      registry.unregister(prepared);
      release(holding);
    },
  };
  registry.register(prepared, holding, prepared);
  return prepared;
}

/** Labels and sums for these centroids; undefined where the reference has to answer. */
function update(
  holding: Holding,
  centroids: Float64Array,
  engine: KernelEngine | undefined,
): PlacedClusters | undefined {
  const { placed } = holding;
  const { rows, cols } = placed.points;
  const k = centroids.length / cols;
  if (k > LARGEST_K) return undefined;
  if (holding.clusters?.k !== k) {
    if (holding.clusters !== undefined) {
      freeKernelClusters(placed, holding.clusters);
      const labels = placedLabels(placed);
      for (let r = 0; r < labels.length; r++) labels[r] |= UNASSIGNED;
    }
    holding.clusters = placeKernelClusters(placed, k);
  }
  const { clusters } = holding;
  if (clusters !== undefined && !isCurrent(placed, clusters, centroids)) {
    assign(placed, clusters, centroids, engine ?? pickEngine(rows, cols, k));
  }
  return clusters;
}

function isCurrent({ machine }: PlacedPoints, { at, isAssigned }: PlacedClusters, centroids: Float64Array): boolean {
  if (!isAssigned) return false;
  const f64 = machine.f64();
  for (let i = 0, known = at.centroids / 8; i < centroids.length; i++)
    if (f64[known + i] !== centroids[i]) return false;
  return true;
}

function loss(placed: PlacedPoints, clusters: PlacedClusters): number {
  if (clusters.loss !== undefined) return clusters.loss;
  let found = 0;
  overRows(placed, "points", (rows) => {
    found = placed.machine.lossOfRows(placed.state, rows, clusters.at.scores, found);
  });
  clusters.loss = found;
  return found;
}

/** Distances that are brought out of the kernel's memory at a time: enough to be shared by threads. */
const DISTANCES = 2 ** 16;

/** False where the reference has to answer. */
function distances(placed: PlacedPoints, centroid: Numbers, /* OUT */ into: Float64Array): boolean {
  const { machine, points, layout, state } = placed;
  if (layout === "tiles") return false;
  const reserved = reserveArrays(machine, [8 * points.cols, 8 * Math.min(DISTANCES, points.rows + 3)]);
  if (reserved === undefined) return false;
  const [from64, to64] = reserved.addresses;
  const f64 = machine.f64();
  f64.set(centroid, from64 / 8);
  overRows(placed, "points", (rows, first) => {
    for (let from = 0; from < rows; from += DISTANCES) {
      const to = Math.min(rows, from + DISTANCES);
      machine.distancesOfRows(state, from, to, from64, to64);
      into.set(f64.subarray(to64 / 8, to64 / 8 + to - from), first + from);
    }
  });
  machine.free(reserved.block);
  return true;
}

// Rows that are read once, a block at a time: their parts of sums are on given grids and add up exactly over the blocks.

/**
 * Adds the rows of a block to `parts`, k rows of 2 (cols + 1) numbers (see data/exactSums.ts), and returns their loss. The parts of
 * all blocks are those of all rows at once if the grids are, whatever the blocks.
 * @example
 * const rows = matrix([[0], [2]]);
 * addKernelBlock(rows, sourceGrids(memorySource(rows)), Float64Array.of(1), new Float64Array(4)) // 2
 */
export function addKernelBlock(
  points: Points,
  grids: Float64Array,
  centroids: Float64Array,
  /* IN OUT */ parts: Float64Array,
): number {
  return (
    addFast(points, grids, centroids, parts) ??
    addStatisticsParts({ points, weights: undefined, grids }, centroids, parts)
  );
}

/** Undefined where the reference has to answer, and then nothing was added. */
function addFast(
  points: Points,
  grids: Float64Array,
  centroids: Float64Array,
  /* IN OUT */ parts: Float64Array,
): number | undefined {
  const { rows, cols } = points;
  const k = centroids.length / cols;
  const machine = theWasmMachine();
  if (machine === undefined || rows < WASM_ROWS || k > LARGEST_K) return undefined;
  const engine = engineFor(rows, cols, k);
  const placed = placePoints(machine, points, undefined, engine === "screen", grids);
  if (placed === undefined) return undefined;
  const clusters = placeKernelClusters(placed, k);
  let added: number | undefined;
  if (clusters !== undefined) {
    assign(placed, clusters, centroids, engine);
    added = loss(placed, clusters);
    const f64 = machine.f64();
    for (let i = 0, at = clusters.at.sums / 8; i < parts.length; i++, at++) parts[i] += f64[at];
    freeKernelClusters(placed, clusters);
  }
  machine.free(placed.block);
  return added;
}

/** Bounds and most codes pay only for those who are asked again. */
function engineFor(rows: number, cols: number, k: number): KernelEngine {
  const engine = pickEngine(rows, cols, k);
  if (engine === "plain" || engine === "small") return engine;
  return rows >= SCREEN_ROWS && k >= CODES_PAY ? "screen" : "plain";
}

/** From so many clusters on the codes of a row cost less than its distances. */
const CODES_PAY = 24;
