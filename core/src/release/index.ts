// @fedkm/core/release: k-means with differential privacy from a few noisy sums, in many columns.

export { symmetricEigen } from "../data/symmetricEigen.ts";
export { epsilonOfMu, muOf, type NoiseVerdict, noiseVerdict, STEPS, smallestSeenCluster } from "./gaussianBudget.ts";
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
