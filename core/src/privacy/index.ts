// @fedkm/core/privacy: what may leave a device and what it tells. Classes of rows that nothing sent tells apart (guarded
// rows), releases with differential privacy, and what a neighbour can compute from messages (inversion).

export { type Classes, mergeSmallParts, oneClass, smallestClass, splitClasses } from "./classes.ts";
export { discreteGaussian, type RandomBytes, type Variance, varianceAtLeast } from "./discreteGaussian.ts";
export { type GuardedPoints, guardPoints, RESOLUTION_SHARE, roundMoves, roundTo } from "./guarded.ts";
export type { Equation, Exchange, RecoveredCluster } from "./inversion.ts";
export { equationsOf, recoverClusters, solvePair, sumAt } from "./inversion.ts";
export type { CellGrid, Expectation, RowSummary } from "./releases.ts";
export {
  cellSummary,
  countCells,
  countVariance,
  devicesToGain,
  epsilonOf,
  errorsUnderMasks,
  gridFor,
  lossAt,
  MOST_GRID_COLUMNS,
  noiseVariance,
  reachIn,
  releaseCells,
  releaseResiduals,
  residualSummary,
  residualVariances,
  rhoOf,
  STEPS,
  summaryKernel,
  summarySize,
  sumResiduals,
} from "./releases.ts";
