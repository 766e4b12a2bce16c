// @fedkm/core/choose: how many clusters there are, where rows are known by sums over devices alone. Cells of all rows say
// where clusters of every k are; rows are then counted in the tubes between them, for all k at once, and judged as files are.

import type { Matrix } from "../data/matrix.ts";
import { lossOf, nearestCentroids } from "../kernel/model.ts";
import { matchCentroids, silhouetteOf } from "../measures/measures.ts";
import { kmeans } from "../start/kmeans.ts";
import { spreadOverGrids } from "./grids.ts";
import { choiceOf, elbowOf, type KScore, triedK } from "./k.ts";
import {
  type ClusterShapes,
  isOneSided,
  MOST_SHAPE_COLUMNS,
  shortFrames,
  TUBE_BINS,
  type Tube,
  type TubeFrame,
  tubeCounts,
  tubeFrames,
} from "./tubes.ts";
import { areRowsEnough, type ClusterVerdict, halfOfRows, judgeTubes, renumbered, verdictWord } from "./verdict.ts";

export { areRowsEnough, halfOfRows, type KScore, spreadOverGrids };

/** Cells of rows: how many each has, and their mean. */
export interface CellPart {
  readonly counts: Float64Array;
  readonly means: Matrix;
}

/** What is known of all rows by cells, from which k is planned. */
export interface ChoiceCells {
  /** Of all rows or, where these are few, of each half of them by `halfOfRows`. */
  readonly parts: readonly CellPart[];
  /** Products of how far rows are from the mean of their cell, for two columns each, in the mean over all rows; see `shapeLength`. */
  readonly within: Float64Array;
}

/**
 * With many columns only squares are looked at.
 * @example shapeLength(3) // 9
 */
export const shapeLength = (cols: number) => (cols <= MOST_SHAPE_COLUMNS ? cols * cols : cols);

/** Clusters of some rows, and the tubes between them in which others, or the same, are counted. */
export interface Look {
  readonly centroids: Matrix;
  readonly frames: readonly TubeFrame[];
  /** Which half is counted; undefined: all rows. */
  readonly half: number | undefined;
  /** Of these clusters among those of all rows. */
  readonly numbers: ArrayLike<number>;
}

/** One number of clusters that is tried, where its centroids are, and where to look for valleys. */
export interface PlannedK {
  readonly k: number;
  readonly centroids: Matrix;
  readonly looks: readonly Look[];
}

/** Free: no sums are asked for them. */
const RESTARTS = 60;
/** Of the hash that halves rows: the same for everybody. */
export const HALVES_SEED = 0;

/**
 * What is asked of every device about each of these k, with the same bits everywhere. A k with fewer cells than clusters
 * is not.
 * @example
 * const parts = [{ counts: Float64Array.of(60, 40), means: matrix([[0], [9]]) }];
 * choicePlan({ parts, within: Float64Array.of(1) }, [1, 2])[1].centroids.data // [0, 9]
 */
export function choicePlan({ parts, within }: ChoiceCells, ks: readonly number[]): PlannedK[] {
  const used = parts.map(usedCells);
  const whole = joinedCells(used);
  return ks.flatMap((k): PlannedK[] => {
    if (used.some(({ counts }) => counts.length < k)) return [];
    const centroids = clustersOf(whole, k);
    if (k === 1) return [{ k, centroids, looks: [] }];
    const looks = used.map((part, side): Look => {
      const own = parts.length === 1 ? centroids : clustersOf(part, k);
      const frames = tubeFrames(own, shapesOfCells(part, own, within));
      const half = parts.length === 1 ? undefined : 1 - side;
      return { centroids: own, frames, half, numbers: matchCentroids(own, centroids) };
    });
    return [{ k, centroids, looks }];
  });
}

function usedCells({ counts, means }: CellPart): CellPart {
  const used = Array.from(counts.keys()).filter((c) => counts[c] > 0);
  const { cols } = means;
  const data = Float64Array.from(used.flatMap((c) => Array.from(means.data.subarray(c * cols, (c + 1) * cols))));
  return { counts: Float64Array.from(used, (c) => counts[c]), means: { data, rows: used.length, cols } };
}

function joinedCells(parts: readonly CellPart[]): CellPart {
  const join = (of: (part: CellPart) => Float64Array) =>
    Float64Array.from(parts.flatMap((part) => Array.from(of(part))));
  const counts = join((part) => part.counts);
  return { counts, means: { data: join(({ means }) => means.data), rows: counts.length, cols: parts[0].means.cols } };
}

const clustersOf = ({ counts, means }: CellPart, k: number): Matrix =>
  kmeans(means, { k, weights: Array.from(counts), restarts: RESTARTS, seed: 0 }).centroids;

/** How cells lie in each cluster, and rows in a usual cell. */
function shapesOfCells({ counts, means }: CellPart, centroids: Matrix, within: Float64Array): ClusterShapes {
  const { rows: k, cols } = centroids;
  const isFull = within.length > cols || cols === 1;
  const sizes = new Float64Array(k);
  const shapes = Array.from({ length: k }, () => new Float64Array(within.length));
  nearestCentroids(centroids, means).forEach((label, cell) => {
    sizes[label] += counts[cell];
    const away = Float64Array.from(
      { length: cols },
      (_, j) => means.data[cell * cols + j] - centroids.data[label * cols + j],
    );
    for (let i = 0; i < within.length; i++) {
      const product = isFull ? away[Math.floor(i / cols)] * away[i % cols] : away[i] * away[i];
      shapes[label][i] += counts[cell] * product;
    }
  });
  return {
    shapes: shapes.map((shape, c) => shape.map((sum, i) => sum / Math.max(1, sizes[c]) + within[i])),
    counts: sizes,
  };
}

/** What losses and silhouettes are multiplied by to be whole numbers. */
export interface ChoiceUnits {
  readonly loss: number;
  readonly silhouette: number;
}

/**
 * All rows look at the clusters that they have; `shapes`: products of their columns, see `shapeLength`.
 * @example
 * const shapes = { shapes: [Float64Array.of(1), Float64Array.of(1)], counts: Float64Array.of(60, 40) };
 * lookOfAll(matrix([[0], [9]]), shapes).numbers // [0, 1]
 */
export function lookOfAll(centroids: Matrix, shapes: ClusterShapes): Look {
  const numbers = Array.from({ length: centroids.rows }, (_, c) => c);
  return { centroids, frames: tubeFrames(centroids, shapes), half: undefined, numbers };
}

/**
 * The bins of all tubes, long and short.
 * @example
 * const shapes = { shapes: [Float64Array.of(1), Float64Array.of(1)], counts: Float64Array.of(60, 40) };
 * lookIntegerCount(lookOfAll(matrix([[0], [9]]), shapes)) // 24
 */
export const lookIntegerCount = ({ frames }: Look) => 2 * TUBE_BINS * frames.length;

/**
 * What one device counts for a look: its own rows in the bins of the tubes, whole and short.
 * @example
 * const shapes = { shapes: [Float64Array.of(1), Float64Array.of(1)], counts: Float64Array.of(60, 40) };
 * lookIntegers(lookOfAll(matrix([[0], [9]]), shapes), matrix([[0], [9]])).length // 24
 */
export const lookIntegers = ({ centroids, frames }: Look, own: Matrix) =>
  Array.from(tubeCounts(own, centroids, [...frames, ...shortFrames(frames)], 1));

function tubesOfLook({ frames, numbers }: Look, totals: Float64Array): Tube[] {
  const tubes = [...frames, ...frames].map(({ a, b }, i) => {
    return { a, b, bins: Uint32Array.from(totals.subarray(i * TUBE_BINS, (i + 1) * TUBE_BINS)) };
  });
  const chosen = frames.map((_, i) => (isOneSided(tubes[i]) ? tubes[frames.length + i] : tubes[i]));
  return chosen.map((tube) => renumbered(tube, numbers));
}

/**
 * Whether clusters of these sizes are apart, by the totals of a look of all. Finer cells are not looked at, so rings and
 * arcs may be called apart.
 * @example
 * const shapes = { shapes: [Float64Array.of(1), Float64Array.of(1)], counts: Float64Array.of(60, 40) };
 * verdictOfSums(lookOfAll(matrix([[0], [9]]), shapes), shapes.counts, new Float64Array(24)) // "too few rows"
 */
export function verdictOfSums(look: Look, sizes: Float64Array, totals: Float64Array): ClusterVerdict["word"] {
  const { cols } = look.centroids;
  const rows = sizes.reduce((sum, size) => sum + size, 0);
  // The rows that placed the centroids may judge them only if they are many.
  if (!areRowsEnough(rows, cols)) return "too few rows";
  return verdictWord(judgeTubes([tubesOfLook(look, totals)], sizes, cols, true), () => undefined);
}

/** What a device adds for all k, or what all have added. */
export interface ChoiceSums {
  /** Loss and silhouette for each k, as whole numbers of their units. */
  readonly figures: Float64Array;
  /** For each k the rows of its clusters, then the bins of its looks. */
  readonly counts: Float64Array;
}

/**
 * How many numbers a plan asks of each device: figures, and counts.
 * @example
 * const parts = [{ counts: Float64Array.of(60, 40), means: matrix([[0], [9]]) }];
 * const plan = choicePlan({ parts, within: Float64Array.of(1) }, [1, 2]);
 * choiceLengths(plan) // { figures: 4, counts: 27 }
 */
export function choiceLengths(plan: readonly PlannedK[]): { figures: number; counts: number } {
  const countsOf = ({ k, looks }: PlannedK) => looks.reduce((sum, look) => sum + lookIntegerCount(look), k);
  return { figures: 2 * plan.length, counts: plan.reduce((sum, planned) => sum + countsOf(planned), 0) };
}

/**
 * What a device with these rows adds for all k.
 * @example
 * const parts = [{ counts: Float64Array.of(60, 40), means: matrix([[0], [9]]) }];
 * const plan = choicePlan({ parts, within: Float64Array.of(1) }, [1, 2]);
 * choiceSums(plan, matrix([[1], [8]]), { loss: 1, silhouette: 1 }).figures[0] // 26
 */
export function choiceSums(plan: readonly PlannedK[], own: Matrix, units: ChoiceUnits): ChoiceSums {
  const halves = [0, 1].map((side) => halfOfRows(own, side, HALVES_SEED));
  const figures = plan.flatMap(({ centroids }) => {
    const loss = own.rows === 0 ? 0 : lossOf(own, centroids);
    const silhouette = own.rows * silhouetteOf(own, centroids);
    return [Math.round(loss * units.loss), Math.round(silhouette * units.silhouette)];
  });
  const counts = plan.flatMap(({ k, centroids, looks }) => {
    const sizes = new Array<number>(k).fill(0);
    for (const label of nearestCentroids(centroids, own)) sizes[label]++;
    return [
      ...sizes,
      ...looks.flatMap((look) => lookIntegers(look, look.half === undefined ? own : halves[look.half])),
    ];
  });
  return { figures: Float64Array.from(figures), counts: Float64Array.from(counts) };
}

/**
 * What follows from the sums of all devices, by the criterion of `chooseK`.
 * @example
 * const parts = [{ counts: Float64Array.of(60, 40), means: matrix([[0], [9]]) }];
 * const plan = choicePlan({ parts, within: Float64Array.of(1) }, [1, 2]);
 * const units = { loss: 1, silhouette: 1 };
 * choiceOfSums(plan, choiceSums(plan, matrix([[1], [8]]), units), units).k // 1
 */
export function choiceOfSums(plan: readonly PlannedK[], { figures, counts }: ChoiceSums, units: ChoiceUnits) {
  let at = 0;
  const next = (many: number) => {
    at += many;
    return counts.subarray(at - many, at);
  };
  const tried = plan.map(({ k, centroids: { cols }, looks }, i) => {
    const sizes = next(k).slice();
    const rows = Math.max(
      1,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    const tubes = looks.map((look) => tubesOfLook(look, next(lookIntegerCount(look))));
    const [inertia, silhouettes] = [figures[2 * i] / units.loss, figures[2 * i + 1] / units.silhouette];
    const common = { inertia, silhouette: silhouettes / rows };
    const judged = k === 1 ? undefined : judgeTubes(tubes, sizes, cols, looks[0].half === undefined);
    // Clusters of cells leave more to chance than a cut through a cluster of rows does: they cannot tell one.
    return { ...triedK(k, common, judged), chances: [] };
  });
  return choiceOf(tried);
}

/**
 * The curve where rows are known by cells alone, which are too coarse to show a gap: nothing is judged.
 * @example
 * const parts = [{ counts: Float64Array.of(60, 40), means: matrix([[0], [9]]) }];
 * const cells = { parts, within: Float64Array.of(1) };
 * curveOfCells(choicePlan(cells, [1, 2]), cells).curve[0].inertia // 1944
 */
export function curveOfCells(plan: readonly PlannedK[], { parts }: ChoiceCells) {
  const { counts, means } = joinedCells(parts.map(usedCells));
  const { cols } = means;
  const rows = counts.reduce((sum, count) => sum + count, 0);
  const curve = plan.map(({ k, centroids }): KScore => {
    let [inertia, silhouettes] = [0, 0];
    for (const [c, count] of counts.entries()) {
      const cell = { data: means.data.subarray(c * cols, (c + 1) * cols), rows: 1, cols };
      inertia += count * lossOf(cell, centroids);
      silhouettes += count * silhouetteOf(cell, centroids);
    }
    return { k, inertia, silhouette: silhouettes / rows, clusters: 0, apart: 0 };
  });
  return { curve, elbow: elbowOf(curve) };
}
