// What releases cost: rho of zero-concentrated differential privacy, which adds up, and (epsilon, delta), which people read.
// The bound between the two is corollary 13 of Canonne, Kamath and Steinke (2020).

import { exp, ln } from "../data/elementary.ts";
import { type CellGrid, countVariance, residualVariances, STEPS } from "./releases.ts";

/** The smallest epsilon that rho promises at this delta. */
export function epsilonOf(rho: number, delta: number): number {
  return bisect((epsilon) => logDelta(rho, epsilon) <= ln(delta), rho + 2 * Math.sqrt(rho * ln(1 / delta)), "least");
}

/** The most rho that (epsilon, delta) pays for. */
export function rhoOf(epsilon: number, delta: number): number {
  return bisect((rho) => logDelta(rho, epsilon) > ln(delta), epsilon, "most");
}

/** Rounds after which halves of an interval are below its last bit. */
const HALVES = 60;

/** The smallest number that `isAbove` holds for, up to `high`, from the side that keeps the promise. */
function bisect(isAbove: (value: number) => boolean, high: number, side: "least" | "most"): number {
  let [low, top] = [0, high];
  for (let i = 0; i < HALVES; i++) {
    const middle = (low + top) / 2;
    if (isAbove(middle)) top = middle;
    else low = middle;
  }
  return side === "least" ? top : low;
}

/** ln delta, at the order of Rényi divergence that gives the least. */
function logDelta(rho: number, epsilon: number): number {
  const at = (logExcess: number) => {
    const excess = exp(logExcess);
    const order = 1 + excess;
    return excess * (order * rho - epsilon) + order * (logExcess - ln(order)) - logExcess;
  };
  let [low, high] = [-30, 30];
  for (let i = 0; i < HALVES; i++) {
    const third = (high - low) / 3;
    if (at(low + third) < at(high - third)) high -= third;
    else low += third;
  }
  return Math.min(0, at((low + high) / 2));
}

// What noise costs before it is drawn: how far private means err, and how many devices it takes to err less than alone.

/** A device that releases its rows: the rows of a typical cluster, and how far they are from their mean, as a variance
 *  of one column. */
export interface Expectation {
  readonly rowsOfCluster: number;
  readonly variance: number;
  readonly reach: number;
  /** Of both releases together. */
  readonly rho: number;
  readonly grid: CellGrid;
}

/** Of the rows of a small cluster along one column, in the fuller of two cells, on average. */
const FULLEST = 0.7;

/** The variance that noise gives a column of the mean of a device's cluster. */
export function noiseVariance(
  { rowsOfCluster, reach, rho }: Pick<Expectation, "rowsOfCluster" | "reach" | "rho">,
  cols: number,
): number {
  return (residualVariances(rho / 2, cols).sums * (reach / STEPS) ** 2) / rowsOfCluster ** 2;
}

/**
 * From so many devices on, all with the same clusters, the common means err less than those of one device alone without
 * noise; Infinity where the clusters do not stand out of the noise of the first release.
 */
export function devicesToGain(expected: Expectation): number {
  const { rowsOfCluster, variance, grid } = expected;
  if (!isSeen(expected)) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.ceil(noiseVariance(expected, grid.low.length) / (variance / rowsOfCluster)));
}

/** Whether a cluster stands out of the noise of the first release. */
function isSeen({ rowsOfCluster, variance, rho, grid }: Expectation): boolean {
  const sides = grid.low.map((low, c) => (grid.high[c] - low) / grid.perSide);
  // Rows in the fullest cell of a cluster that is spread like a Gaussian. One that is smaller than a cell may lie across
  // a border of cells, along each column.
  const share = sides.reduce((part, side) => part * Math.min(FULLEST, side / Math.sqrt(2 * Math.PI * variance)), 1);
  return rowsOfCluster * share >= 3 * Math.sqrt(countVariance(rho / 2));
}

/**
 * How far a column of a cluster's mean errs, as a deviation: that of so many devices like this one, whose sums are masked
 * and have noise once for all, and that of this device alone without noise. Infinity where clusters drown.
 */
export function errorsUnderMasks(
  expected: Expectation,
  devices: number,
  colluders: number,
): { readonly together: number; readonly alone: number } {
  const alone = Math.sqrt(expected.variance / expected.rowsOfCluster);
  // Shares of those who may collude come on top of the noise that is paid for.
  const rho = (expected.rho * (devices - colluders)) / devices;
  const all = { ...expected, rho, rowsOfCluster: devices * expected.rowsOfCluster };
  if (!isSeen(all)) return { together: Number.POSITIVE_INFINITY, alone };
  const together = Math.sqrt(noiseVariance(all, all.grid.low.length) + all.variance / all.rowsOfCluster);
  return { together, alone };
}
