// @fedkm/core/release: k-means with differential privacy from a few noisy sums, in many columns.

export { symmetricEigen } from "../data/symmetricEigen.ts";
export { epsilonOfMu, muOf, STEPS } from "./gaussianBudget.ts";
export {
  type Knowledge,
  nothingKnown,
  partDeviation,
  type ReleaseRound,
  type ReleaseRules,
  releasedCentroids,
  releaseRounds,
} from "./rounds.ts";
