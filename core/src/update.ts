// One device update, line 5 of Algorithm 1: (E1) (E2) (E3) (M) with the neighbours frozen. Nothing here touches points:
// (E1) enters through its statistics, so that whoever holds the points may be anywhere.

import {
  checkAtLeastZero,
  checkInteger,
  checkMatrix,
  checkNumber,
  checkOneOf,
  checkShape,
  checkWeights,
} from "./check.ts";
import {
  type CentroidSets,
  type Coupling,
  couplings,
  emptyMatches,
  type Matches,
  match,
  packSets,
} from "./coupling.ts";
import { jsKernel } from "./kernel/js.ts";
import { emptyStatistics, type Kernel, type PreparedPoints, type Statistics } from "./kernel/kernel.ts";
import type { Matrix } from "./matrix.ts";

export interface UpdateOptions {
  /** How strongly neighbours pull: 0 is alone. */
  alpha: number;
  /** Default "nearest". */
  coupling?: Coupling;
  /** At most this many times (E1) (E2) (E3) (M). Default 100, or 1 when all devices update at once. */
  passes?: number;
  /** A pass that lowers the local objective J by no more than tol * max(1, |J|) is the last. Default 1e-12. */
  tol?: number;
  /** Each pass moves by this multiple of the step of (M), in (0, 2). Default 1. */
  relaxation?: number;
  /** The update keeps this share of its whole move, in (0, 1]. Default 1. */
  damping?: number;
  /** Falls back to the first pass where later ones raise J with the input's labels and matches held fixed. */
  safeguard?: boolean;
  /** u of the device: how much its points count against the coupling. Default 1. */
  weight?: number;
  /** A(i, j) for each neighbour. Default 1. */
  edgeWeights?: ArrayLike<number>;
  kernel?: Kernel;
  /** @internal Test only: 1 gives the printed max(den, 1) of (M), see docs/paper.md#the-denominator. */
  denominatorFloor?: number;
}

export interface DeviceUpdate {
  readonly centroids: Matrix;
  /** The local objective J at `centroids`: own loss and the discrepancy to the neighbours. */
  readonly objective: number;
  readonly passes: number;
}

/** Options with their defaults, checked. */
export type UpdateSettings = Required<Omit<UpdateOptions, "weight" | "edgeWeights">>;

export function updateSettings(options: UpdateOptions, defaultPasses = 100): UpdateSettings {
  const {
    alpha,
    coupling = "nearest",
    passes = defaultPasses,
    tol = 1e-12,
    relaxation = 1,
    damping = 1,
    safeguard = false,
    kernel = jsKernel,
    denominatorFloor = 0,
  } = options;
  checkAtLeastZero("alpha", alpha);
  checkOneOf("coupling", coupling, couplings);
  checkInteger("passes", passes, 1);
  checkAtLeastZero("tol", tol);
  checkNumber("relaxation", relaxation, (value) => value > 0 && value < 2, "a number above 0 and below 2");
  checkNumber("damping", damping, (value) => value > 0 && value <= 1, "a number above 0 and at most 1");
  return { alpha, coupling, passes, tol, relaxation, damping, safeguard, kernel, denominatorFloor };
}

/** A device's neighbours: which of the sets are theirs, and A(i, j) for each. */
export interface Neighbourhood {
  readonly sets: CentroidSets;
  readonly devices: Uint32Array;
  readonly weights: Float64Array;
}

/** Room for updates of devices with k centroids of `cols` numbers; reused, so that an update leaves no garbage. */
export interface Workspace {
  readonly k: number;
  readonly cols: number;
  /** In: the device's centroids. Out: the updated ones. */
  readonly centroids: Float64Array;
  /** (E1) at `centroids`, before and after. */
  readonly statistics: Statistics;
  readonly matches: Matches;
  /** Per own centroid: the weighted sum and the weight of the neighbours' centroids matched with it. */
  readonly pullSums: Float64Array;
  readonly pullWeights: Float64Array;
  readonly input: Float64Array;
  readonly firstPass: Float64Array;
  readonly firstTarget: Float64Array;
  readonly firstWeights: Float64Array;
}

export function workspace(k: number, cols: number, largestNeighbour = k): Workspace {
  return {
    k,
    cols,
    centroids: new Float64Array(k * cols),
    statistics: emptyStatistics(k, cols),
    matches: emptyMatches(Math.max(k, largestNeighbour)),
    pullSums: new Float64Array(k * cols),
    pullWeights: new Float64Array(k),
    input: new Float64Array(k * cols),
    firstPass: new Float64Array(k * cols),
    firstTarget: new Float64Array(k * cols),
    firstWeights: new Float64Array(k),
  };
}

/**
 * The update itself: yields centroids, wants their statistics, returns the passes it took. `pointScale` is u_i / m_i.
 * Starts from `work.centroids` with `statistics` at them, ends the same way.
 */
export function* updateSteps(
  work: Workspace,
  hood: Neighbourhood,
  pointScale: number,
  settings: UpdateSettings,
  statistics: Statistics,
): Generator<Float64Array, number, Statistics> {
  const { centroids } = work;
  const { alpha, tol, safeguard } = settings;
  work.input.set(centroids);
  let objective = pointScale * statistics.loss + alpha * matchNeighbours(work, hood, settings.coupling);
  let known = true;
  let passes = 0;
  while (moveToMeans(work, statistics, pointScale, settings, safeguard && passes === 0)) {
    passes++;
    known = false;
    if (passes === settings.passes) break;
    statistics = yield centroids;
    known = true;
    const before = objective;
    objective = pointScale * statistics.loss + alpha * matchNeighbours(work, hood, settings.coupling);
    if (before - objective <= tol * Math.max(1, Math.abs(before))) break;
  }
  if (safeguard && passes > 1 && raisesSurrogate(work)) {
    centroids.set(work.firstPass);
    known = false;
  }
  if (settings.damping < 1 && passes > 0) {
    for (let i = 0; i < centroids.length; i++) {
      centroids[i] = (1 - settings.damping) * work.input[i] + settings.damping * centroids[i];
    }
    known = false;
  }
  if (!known) yield centroids;
  return passes;
}

/** (E2) and (E3) for all neighbours: fills the pulls and returns the sum of A(i, j) d(W_i, W_j). */
export function matchNeighbours(work: Workspace, hood: Neighbourhood, coupling: Coupling): number {
  const { k, cols, centroids, matches, pullSums, pullWeights } = work;
  const { data, starts } = hood.sets;
  pullSums.fill(0);
  pullWeights.fill(0);
  let total = 0;
  for (let n = 0; n < hood.devices.length; n++) {
    const start = starts[hood.devices[n]];
    const rows = starts[hood.devices[n] + 1] - start;
    const weight = hood.weights[n];
    total += weight * match(coupling, centroids, 0, k, data, start, rows, cols, matches);
    for (let c = 0; c < k; c++) pull(work, c, data, start + matches.toOther[c], weight);
    if (coupling === "nearest") for (let c = 0; c < rows; c++) pull(work, matches.toOwn[c], data, start + c, weight);
  }
  return total;
}

function pull(work: Workspace, own: number, data: Float64Array, row: number, weight: number): void {
  const { cols, pullSums, pullWeights } = work;
  pullWeights[own] += weight;
  for (let i = 0; i < cols; i++) pullSums[own * cols + i] += weight * data[row * cols + i];
}

/** (M), relaxed. Returns whether any centroid moved. */
function moveToMeans(
  work: Workspace,
  { counts, sums }: Statistics,
  pointScale: number,
  { alpha, relaxation, denominatorFloor }: UpdateSettings,
  remember: boolean,
): boolean {
  const { k, cols, centroids, pullSums, pullWeights } = work;
  // (M) divided through by u_i / m_i: with alpha = 0 it is then the plain mean, to the last bit.
  const unit = pointScale > 0 ? pointScale : alpha;
  const pullScale = unit > 0 ? alpha / unit : 0;
  const floor = unit > 0 ? denominatorFloor / unit : 0;
  let moved = false;
  for (let c = 0; c < k; c++) {
    // Differs from the paper: no max(den, 1), and den = 0 keeps the centroid, see docs/paper.md#the-denominator.
    const weight = Math.max(counts[c] + pullScale * pullWeights[c], floor);
    for (let i = c * cols; i < (c + 1) * cols; i++) {
      const old = centroids[i];
      const target = weight > 0 ? (sums[i] + pullScale * pullSums[i]) / weight : old;
      centroids[i] = relaxation === 1 ? target : old + relaxation * (target - old);
      if (centroids[i] !== old) moved = true;
      if (remember) work.firstTarget[i] = target;
    }
    if (remember) work.firstWeights[c] = weight;
  }
  if (remember) work.firstPass.set(centroids);
  return moved;
}

/**
 * Whether the result raises J with the labels and matches of the input held fixed. That J is a quadratic with its
 * minimum at the first target t: from the input w it changes by sum_c weight_c (|v - w|^2 - 2 <v - w, t - w>).
 */
function raisesSurrogate({ k, cols, centroids, input, firstTarget, firstWeights }: Workspace): boolean {
  let change = 0;
  for (let c = 0; c < k; c++) {
    for (let i = c * cols; i < (c + 1) * cols; i++) {
      const move = centroids[i] - input[i];
      change += firstWeights[c] * move * (move - 2 * (firstTarget[i] - input[i]));
    }
  }
  return change > 0;
}

/** Runs an update on points at hand; `statistics` must describe them at the update's start, and does at its end. */
export function runUpdate(
  steps: Generator<Float64Array, number, Statistics>,
  points: PreparedPoints,
  statistics: Statistics,
): number {
  for (let step = steps.next(); ; step = steps.next(statistics)) {
    if (step.done) return step.value;
    points.statistics(step.value, statistics);
  }
}

/** One device update on given points and neighbours' centroids. */
export function updateDevice(
  points: Matrix,
  centroids: Matrix,
  neighbours: readonly Matrix[],
  options: UpdateOptions,
): DeviceUpdate {
  const settings = updateSettings(options);
  const { weight = 1, edgeWeights = new Float64Array(neighbours.length).fill(1) } = options;
  checkNumber("weight", weight, (value) => value > 0, "a finite number above 0");
  checkWeights(edgeWeights, neighbours.length, "edgeWeights", "one for each of neighbours");
  checkMatrix("points", points);
  checkMatrix("centroids", centroids);
  const { rows: k, cols } = centroids;
  if (k === 0 || cols === 0) throw new RangeError(`centroids must not be empty, got ${k} x ${cols}`);
  if (points.rows > 0) checkShape("points", points, points.rows, cols, "the columns of centroids");
  neighbours.forEach((other, n) => {
    const rows = settings.coupling === "transport" ? k : Math.max(1, other.rows);
    checkShape(`neighbours[${n}]`, other, rows, cols, "as centroids");
  });
  const largest = neighbours.reduce((most, other) => Math.max(most, other.rows), 0);
  const work = workspace(k, cols, largest);
  const hood = {
    sets: packSets(neighbours, cols),
    devices: Uint32Array.from(neighbours, (_, n) => n),
    weights: Float64Array.from(edgeWeights),
  };
  const prepared = settings.kernel.prepare(points);
  const pointScale = points.rows > 0 ? weight / points.rows : 0;
  work.centroids.set(centroids.data);
  prepared.statistics(work.centroids, work.statistics);
  const passes = runUpdate(updateSteps(work, hood, pointScale, settings, work.statistics), prepared, work.statistics);
  const objective = pointScale * work.statistics.loss + settings.alpha * matchNeighbours(work, hood, settings.coupling);
  return { centroids: { data: work.centroids, rows: k, cols }, objective, passes };
}
