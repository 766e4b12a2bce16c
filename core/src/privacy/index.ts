// @fedkm/core/privacy: what may leave a device and what it tells. Classes of rows that nothing sent tells apart (guarded
// rows), releases with differential privacy, and what a neighbour can compute from messages (inversion).

export { devicesToGain, type Expectation, epsilonOf, errorsUnderMasks, noiseVariance, rhoOf } from "./budget.ts";
export { type Classes, holdBack, oneClass, smallestClass, splitClasses } from "./classes.ts";
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
  cellSummary,
  countCells,
  countVariance,
  type Grid,
  gridFor,
  lossAt,
  MOST_GRID_COLUMNS,
  reachIn,
  releaseCells,
  releaseResiduals,
  residualSummary,
  residualVariances,
  STEPS,
  type Summary,
  summaryKernel,
  summarySize,
  sumResiduals,
} from "./releases.ts";
