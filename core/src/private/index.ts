// @fedkm/core/private: releases of private rows with exact noise, what they cost, and what is computed from them.

export { epsilonOf, rhoOf } from "./budget.ts";
export type { RandomBytes } from "./discreteGaussian.ts";
export { cellSummary, type Grid, gridFor, MOST_GRID_COLUMNS, releaseCells } from "./grid.ts";
export { reachIn, releaseResiduals, residualSummary } from "./residuals.ts";
export { lossAt, type Summary, summaryKernel, summarySize } from "./summary.ts";
