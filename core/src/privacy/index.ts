// @fedkm/core/privacy: what may leave a device and what it tells. Classes of rows that nothing sent tells apart (guarded
// rows), releases with differential privacy, and what a neighbour can compute from messages (inversion).

export { devicesToGain, type Expectation, epsilonOf, errorsUnderMasks, noiseVariance, rhoOf } from "./budget.ts";
export { type Classes, mergeSmallParts, oneClass, smallestClass, splitClasses } from "./classes.ts";
export { discreteGaussian, type RandomBytes, type Variance, varianceAtLeast } from "./discreteGaussian.ts";
export { type GuardedPoints, guardPoints, RESOLUTION_SHARE, roundMoves, roundTo } from "./guarded.ts";
export {
  type Equation,
  type Exchange,
  equationsOf,
  type RecoveredCluster,
  recoverClusters,
  solvePair,
  sumAt,
} from "./inversion.ts";
export {
  type CellGrid,
  cellSummary,
  countCells,
  countVariance,
  gridFor,
  lossAt,
  MOST_GRID_COLUMNS,
  type RowSummary,
  reachIn,
  releaseCells,
  releaseResiduals,
  residualSummary,
  residualVariances,
  STEPS,
  summaryKernel,
  summarySize,
  sumResiduals,
} from "./releases.ts";
