// The public device update: on points at hand, or on rows that live elsewhere and answer (E1) when they can.

import {
  checkArray,
  checkFunction,
  checkInteger,
  checkMatrix,
  checkNumber,
  checkPoints,
  checkSeed,
  checkShape,
  checkWeights,
} from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { type Matrix, type Points, stack } from "../data/matrix.ts";
import { checkOptions, type OptionNames } from "../data/optionNames.ts";
import { type Random, randomStream } from "../data/random.ts";
import { jsKernel } from "../kernel/js.ts";
import { checkKernelStatistics, type Kernel, type PreparedPoints, type Statistics } from "../kernel/kernel.ts";
import { plusPlus } from "../kernel/seeding.ts";
import { packSets, setAt } from "./coupling.ts";
import { robustDrift } from "./robustPull.ts";
import { copyStatistics, runUpdate, runUpdateAsync, updateObjective } from "./update.ts";
import { sharedOptionNames, type UpdateOptions, type UpdateSettings, updateSettings } from "./updateOptions.ts";
import { emptyUpdate, type UpdateState } from "./updateState.ts";

/** What one update of a device gave. */
export interface DeviceUpdate {
  readonly centroids: Matrix;
  /** The centroids whose labels, and nothing else of the points, `centroids` are made of (with relaxation 1, or one pass). */
  readonly basis: Matrix;
  /** The local objective J at `centroids`: own loss and the discrepancy to the neighbours. */
  readonly objective: number;
  /** The own part of `objective`, without the neighbours: u_i times the mean squared distance. */
  readonly loss: number;
  /** Own points per cluster. */
  readonly counts: Float64Array;
  /**
   * The neighbours' largest share in the mean of a centroid that has own points, in [0, 1). While labels and matches
   * stay, what neighbours move by comes back smaller by this factor at least.
   */
  readonly contraction: number;
  readonly passes: number;
  /** With `robust`: for each neighbour, the share of its centroids' pulls that were left out. */
  readonly rejected?: Float64Array;
  /** With `robust`: how far each centroid is from the mean of its own points, in standard errors. */
  readonly drift?: Float64Array;
}

const updateOptionNames: OptionNames<UpdateOptions> = { ...sharedOptionNames, weight: true, edgeWeights: true };

/**
 * One device update on given points and neighbours' centroids.
 * @example updateDevice(matrix([[0], [2]]), matrix([[0]]), [matrix([[3]])], { alpha: 0.5 }).centroids.data // [2]
 */
export function updateDevice(
  points: Points,
  centroids: Matrix,
  neighbours: readonly Matrix[],
  options: UpdateOptions,
): DeviceUpdate {
  checkPoints("points", points);
  const update = preparedUpdate(points.rows, centroids, neighbours, options);
  const { settings } = update;
  if (points.rows > 0) checkShape("points", points, points.rows, centroids.cols, "the columns of centroids");
  if (settings.freshStarts > 0) {
    const { seed = defaults.seed } = options;
    checkSeed(seed);
    update.freshStarts = drawUpdateSeeds(points, update, randomStream(seed, "fresh"));
  }
  runUpdate(update, remembered(points, settings.kernel));
  return resultOf(update);
}

/**
 * Rows that are not at hand, for instance those of a table, which answer (E1) by its statistics alone. The rows must
 * stay the same during an update.
 */
export interface StatisticsSource {
  readonly rows: number;
  readonly cols: number;
  /**
   * (E1): of the rows nearest to each centroid, the lowest on ties, their number and their sum, and of all rows the sum
   * of the squared distances. One aggregate query can answer it. It is asked again only after it has answered.
   */
  statistics(centroids: Matrix): Promise<Statistics>;
}

/**
 * The same bits as `updateDevice`, if the source gives the statistics that the kernel would.
 * @example
 * const statistics = async () => ({ counts: Float64Array.of(2), sums: Float64Array.of(2), loss: 2 });
 * (await updateDeviceAsync({ rows: 2, cols: 1, statistics }, matrix([[0]]), [], { alpha: 1 })).centroids.data // [1]
 */
export async function updateDeviceAsync(
  source: StatisticsSource,
  centroids: Matrix,
  neighbours: readonly Matrix[],
  options: Omit<UpdateOptions, "kernel" | "seed">,
): Promise<DeviceUpdate> {
  const { rows, cols } = source ?? {};
  checkFunction("source.statistics", source?.statistics, "a function (of a StatisticsSource)");
  checkInteger("source.rows", rows, 0);
  const update = preparedUpdate(rows, centroids, neighbours, options);
  const { freshStarts } = update.settings;
  if (rows > 0 && cols !== centroids.cols) {
    throw new RangeError(`source must have ${centroids.cols} columns (as centroids), got ${cols}`);
  }
  if (freshStarts > 0) {
    throw new RangeError(`freshStarts must be 0 (they are drawn from points, a source has none), got ${freshStarts}`);
  }
  await runUpdateAsync(update, async () => {
    // A copy: the source may keep what it was asked.
    const answer = await source.statistics({ data: update.centroids.slice(), rows: update.k, cols: update.cols });
    checkKernelStatistics(answer, rows, update.k, update.cols);
    copyStatistics(answer, update.statistics);
  });
  return resultOf(update);
}

/** An update of a device with so many rows, before its first (E1). Everything but the rows is checked here. */
function preparedUpdate(
  rows: number,
  centroids: Matrix,
  neighbours: readonly Matrix[],
  options: UpdateOptions,
): UpdateState {
  checkArray("neighbours", neighbours, "matrices, one for each neighbour");
  checkOptions(options, updateOptionNames, "alpha");
  checkMatrix("centroids", centroids);
  const { weight = 1, edgeWeights = new Float64Array(neighbours.length).fill(1) } = options;
  checkWeights(edgeWeights, neighbours.length, "edgeWeights", "one for each of neighbours");
  const degree = Array.from(edgeWeights).reduce((sum, edge) => sum + edge, 0);
  const settings = updateSettings(options, { k: centroids.rows, degree });
  checkNumber("weight", weight, (value) => value > 0, "a finite number above 0");
  checkSets(centroids, neighbours, settings);
  const { rows: k, cols } = centroids;
  const largest = neighbours.reduce((most, other) => Math.max(most, other.rows), 0);
  const update = emptyUpdate(k, cols, settings, largest);
  update.centroids.set(centroids.data);
  update.sets = packSets(neighbours, cols);
  const devices = Uint32Array.from(neighbours, (_, n) => n);
  update.links = { starts: Uint32Array.of(0, devices.length), devices, weights: Float64Array.from(edgeWeights) };
  update.endLink = devices.length;
  update.pointScale = rows > 0 ? weight / rows : 0;
  return update;
}

function checkSets(centroids: Matrix, neighbours: readonly Matrix[], settings: UpdateSettings): void {
  const { rows: k, cols } = centroids;
  if (k === 0 || cols === 0) throw new RangeError(`centroids must not be empty, got ${k} x ${cols}`);
  neighbours.forEach((other, n) => {
    checkMatrix(`neighbours[${n}]`, other);
    // Only as many centroids as ours can be a permutation of ours, or a start for us.
    const rows = settings.coupling === "transport" || settings.candidates ? k : Math.max(1, other.rows);
    checkShape(`neighbours[${n}]`, other, rows, cols, "as centroids");
  });
}

function resultOf(update: UpdateState): DeviceUpdate {
  const { centroids, k, cols, passes, pointScale, robust } = update;
  const { counts, loss } = update.statistics;
  const objective = updateObjective(update);
  return {
    centroids: { data: centroids, rows: k, cols },
    basis: { data: update.basis, rows: k, cols },
    objective,
    loss: pointScale * loss,
    counts,
    contraction: contraction(update),
    passes,
    ...(robust === undefined ? {} : { rejected: Float64Array.from(robust.rejected), drift: robustDrift(update) }),
  };
}

function contraction({ k, pointScale, pullWeights, settings, statistics }: UpdateState): number {
  let largest = 0;
  for (let c = 0; c < k; c++) {
    const pull = settings.alpha * pullWeights[c];
    const own = pointScale * statistics.counts[c];
    if (own > 0) largest = Math.max(largest, pull / (pull + own));
  }
  return largest;
}

const preparedPoints = new WeakMap<Points, { kernel: Kernel; prepared: PreparedPoints }>();

/** A device updates again and again on the same points: they are prepared once and forgotten with their matrix. */
function remembered(points: Points, kernel: Kernel): PreparedPoints {
  const known = preparedPoints.get(points);
  if (known?.kernel === kernel) return known.prepared;
  const prepared = kernel.prepare(points);
  preparedPoints.set(points, { kernel, prepared });
  return prepared;
}

// Fresh starts of an update: k-means++ draws on the points and the neighbours' centroids together.

/** Draws on the augmented data: points weigh u_i / m_i, a neighbour's centroids alpha A(i, j). None if it is too small. */
export function drawUpdateSeeds(points: Points, update: UpdateState, random: Random): Float64Array[] {
  const { k, links, firstLink, endLink, pointScale, sets, settings } = update;
  const others = Array.from(links.devices.subarray(firstLink, endLink), (j) => setAt(sets, j));
  const augmented = stack([points, ...others]);
  if (augmented.rows < k) return [];
  const weights = new Float64Array(augmented.rows).fill(pointScale);
  let at = points.rows;
  others.forEach(({ rows }, n) => {
    weights.fill(settings.alpha * links.weights[firstLink + n], at, at + rows);
    at += rows;
  });
  if (weights.every((weight) => weight === 0)) return [];
  const run = { points: augmented, weights, prepared: jsKernel.prepare(augmented, weights), k };
  return Array.from({ length: settings.freshStarts }, () => plusPlus(run, random));
}
