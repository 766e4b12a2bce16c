// @fedkm/core/private: releases of private rows with exact noise, what they cost, and what is computed from them.

export { epsilonOf, rhoOf } from "./budget.ts";
export { discreteGaussian, type RandomBytes, type Variance, varianceAtLeast } from "./discreteGaussian.ts";
export { devicesToGain, type Expectation, errorsUnderMasks, noiseVariance } from "./expected.ts";
export {
  cellSummary,
  countCells,
  countVariance,
  type Grid,
  gridFor,
  MOST_GRID_COLUMNS,
  releaseCells,
} from "./releases.ts";
export { reachIn, releaseResiduals, residualSummary, residualVariances, STEPS, sumResiduals } from "./residuals.ts";
export { lossAt, type Summary, summaryKernel, summarySize } from "./summary.ts";
