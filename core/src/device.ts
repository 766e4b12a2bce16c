// One device update on points at hand: what a simulated device and a real one both call.

import { checkMatrix, checkNumber, checkPoints, checkSeed, checkShape, checkWeights } from "./check.ts";
import { packSets } from "./coupling.ts";
import { jsKernel } from "./kernel/js.ts";
import type { Kernel, PreparedPoints } from "./kernel/kernel.ts";
import type { Matrix } from "./matrix.ts";
import { type UpdateOptions, updateSettings } from "./options.ts";
import { type Random, randomStream } from "./random.ts";
import { plusPlus } from "./seeding.ts";
import { emptyUpdate, localObjective, runUpdate, type Update } from "./update.ts";

export interface DeviceUpdate {
  readonly centroids: Matrix;
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
}

/** One device update on given points and neighbours' centroids. */
export function updateDevice(
  points: Matrix,
  centroids: Matrix,
  neighbours: readonly Matrix[],
  options: UpdateOptions,
): DeviceUpdate {
  const { weight = 1, seed = 0, edgeWeights = new Float64Array(neighbours.length).fill(1) } = options;
  const degree = Array.from(edgeWeights).reduce((sum, edge) => sum + edge, 0);
  const settings = updateSettings(options, { k: centroids.rows, degree });
  checkNumber("weight", weight, (value) => value > 0, "a finite number above 0");
  checkWeights(edgeWeights, neighbours.length, "edgeWeights", "one for each of neighbours");
  checkPoints("points", points);
  checkMatrix("centroids", centroids);
  const { rows: k, cols } = centroids;
  if (k === 0 || cols === 0) throw new RangeError(`centroids must not be empty, got ${k} x ${cols}`);
  if (points.rows > 0) checkShape("points", points, points.rows, cols, "the columns of centroids");
  neighbours.forEach((other, n) => {
    // Only as many centroids as ours can be a permutation of ours, or a start for us.
    const rows = settings.coupling === "transport" || settings.candidates ? k : Math.max(1, other.rows);
    checkShape(`neighbours[${n}]`, other, rows, cols, "as centroids");
  });
  const largest = neighbours.reduce((most, other) => Math.max(most, other.rows), 0);
  const update = emptyUpdate(k, cols, settings, largest);
  update.centroids.set(centroids.data);
  update.sets = packSets(neighbours, cols);
  const devices = Uint32Array.from(neighbours, (_, n) => n);
  update.links = { starts: Uint32Array.of(0, devices.length), devices, weights: Float64Array.from(edgeWeights) };
  update.endLink = devices.length;
  update.pointScale = points.rows > 0 ? weight / points.rows : 0;
  if (settings.freshStarts > 0) {
    checkSeed(seed);
    update.freshStarts = freshStarts(points, update, randomStream(seed, "fresh"));
  }
  const prepared = remembered(points, settings.kernel);
  prepared.statistics(update.centroids, update.statistics);
  runUpdate(update, prepared);
  const { passes, pointScale } = update;
  const { counts, loss } = update.statistics;
  return {
    centroids: { data: update.centroids, rows: k, cols },
    objective: localObjective(update),
    loss: pointScale * loss,
    counts,
    contraction: contraction(update),
    passes,
  };
}

function contraction({ k, pointScale, pullWeights, settings, statistics }: Update): number {
  let largest = 0;
  for (let c = 0; c < k; c++) {
    const pull = settings.alpha * pullWeights[c];
    const own = pointScale * statistics.counts[c];
    if (own > 0) largest = Math.max(largest, pull / (pull + own));
  }
  return largest;
}

const preparedPoints = new WeakMap<Matrix, { kernel: Kernel; prepared: PreparedPoints }>();

/** A device updates again and again on the same points: they are prepared once and forgotten with their matrix. */
function remembered(points: Matrix, kernel: Kernel): PreparedPoints {
  const known = preparedPoints.get(points);
  if (known?.kernel === kernel) return known.prepared;
  const prepared = kernel.prepare(points);
  preparedPoints.set(points, { kernel, prepared });
  return prepared;
}

/** Draws on the augmented data: points weigh u_i / m_i, a neighbour's centroids alpha A(i, j). None if it is too small. */
export function freshStarts(points: Matrix, update: Update, random: Random): Float64Array[] {
  const { k, cols, links, firstLink, endLink, pointScale, sets, settings } = update;
  const others = Array.from(links.devices.subarray(firstLink, endLink), (j, n) => ({
    from: sets.starts[j],
    to: sets.starts[j + 1],
    weight: links.weights[firstLink + n],
  }));
  const rows = points.rows + others.reduce((sum, { from, to }) => sum + to - from, 0);
  if (rows < k) return [];
  const data = new Float64Array(rows * cols);
  const weights = new Float64Array(rows).fill(pointScale);
  data.set(points.data);
  let at = points.rows;
  for (const { from, to, weight } of others) {
    data.set(sets.data.subarray(from * cols, to * cols), at * cols);
    weights.fill(settings.alpha * weight, at, at + to - from);
    at += to - from;
  }
  if (weights.every((weight) => weight === 0)) return [];
  const augmented = { data, rows, cols };
  const run = { points: augmented, weights, prepared: jsKernel.prepare(augmented, weights), k };
  return Array.from({ length: settings.freshStarts }, () => plusPlus(run, random));
}
