// @fedkm/core/release: k-means with differential privacy from a few noisy sums, in many columns.

export { symmetricEigen } from "../data/symmetricEigen.ts";
export { type NoiseVerdict, noiseVerdict, smallestSeenCluster } from "./expectation.ts";
export { epsilonOfMu, muOf, STEPS } from "./gaussianBudget.ts";
export {
  type Knowledge,
  knowledgeLength,
  noisyIntegers,
  nothingKnown,
  packKnowledge,
  partDeviation,
  type ReleaseRound,
  type ReleaseRules,
  releasedCentroids,
  releasedSummary,
  releaseRounds,
  unpackKnowledge,
  type WeighedRows,
} from "./rounds.ts";
