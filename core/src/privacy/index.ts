// @fedkm/core/privacy: what may leave a device and what it tells. Classes of rows that nothing sent tells apart (guarded
// rows), releases with differential privacy, and what a neighbour can compute from messages (inversion).

export { type Classes, mergeSmallParts, oneClass, smallestClass, splitClasses } from "./classes.ts";
export { discreteGaussian, type RandomBytes, type Variance, varianceAtLeast } from "./discreteGaussian.ts";
export { type GuardedPoints, guardPoints, RESOLUTION_SHARE, roundGuarded, roundGuardedMoves } from "./guarded.ts";
export type { Equation, Exchange, RecoveredCluster } from "./inversion.ts";
export { equationShare, equationSum, equationsOf, recoverClusters } from "./inversion.ts";
export { waitingGroups } from "./leaves.ts";
export type { CellGrid, Expectation, RowSummary } from "./releases.ts";
export {
  cellsToRelease,
  countVariance,
  devicesForRelease,
  epsilonOf,
  releaseCells,
  releasedCellSummary,
  releasedLoss,
  releasedResidualSummary,
  releasedRows,
  releaseGrid,
  releaseKernel,
  releaseReach,
  releaseResiduals,
  releaseVariances,
  residualsToRelease,
  rhoOf,
  STEPS,
} from "./releases.ts";
