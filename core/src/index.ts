// The public API of @fedkm/core, one line per file.

export { type Certificate, certify, stationarityResidual } from "./certificate.ts";
export { type AlphaChoice, type AlphaScore, type ChooseAlphaOptions, chooseAlpha, type Judge } from "./choose/alpha.ts";
export { type Choice, type ChooseOptions, choose } from "./choose/index.ts";
export { type ChooseKOptions, chooseK, type KChoice, type KScore } from "./choose/k.ts";
export { type ChooseLinksOptions, chooseLinks, type LinkChoice } from "./choose/links.ts";
export type { Coupling } from "./coupling.ts";
export {
  type LabelledPoints,
  type PaperKind,
  type Partition,
  paperData,
  splitByClasses,
  splitByLabel,
  splitBySizes,
  splitEvenly,
  twoCommunities,
} from "./datasets.ts";
export type { EmptyClusters } from "./emptyClusters.ts";
export {
  type FitModel,
  fit,
  fitRounds,
  type GuardedSummary,
  type Round,
  type RoundResult,
  type RoundSummary,
} from "./fit.ts";
export type { FitOptions, Privacy } from "./fitOptions.ts";
export { connectedComponents, type Edge, edges, type Graph, graph } from "./graph.ts";
export {
  communities,
  complete,
  erdosRenyi,
  geometric,
  grid,
  path,
  ring,
  smallWorld,
  star,
} from "./graphFamilies.ts";
export { jsKernel } from "./kernel/js.ts";
export type { Kernel, PreparedPoints, Statistics } from "./kernel/kernel.ts";
export { fastKernel } from "./kernel/wasm.ts";
export { type KMeansModel, type KMeansOptions, kmeans } from "./kmeans.ts";
export { type FlatRows, type Matrix, matrix, stack, takeRows, toRows } from "./matrix.ts";
export {
  adjustedRandIndex,
  consensusVariation,
  discrepancy,
  distortion,
  globalCentroidDeviation,
  matchCentroids,
  normalizedMutualInformation,
  type ObjectiveOptions,
  objective,
  simplifiedSilhouette,
  totalVariation,
} from "./measures.ts";
export type { BackboneOptions } from "./methods/backbone.ts";
export { type ConsensusModel, type ConsensusOptions, consensusRounds } from "./methods/consensus.ts";
export type { CoresetModel, CoresetOptions, CoresetPart } from "./methods/coreset.ts";
export { type DistributedModel, type DistributedOptions, distributedRounds } from "./methods/distributed.ts";
export type { FkmOptions } from "./methods/fkm.ts";
export {
  collect,
  type Flooded,
  type FloodOptions,
  type FloodSettings,
  floodSettings,
  ownCentres,
  sharedCentres,
  solveComponents,
} from "./methods/flooding.ts";
export type { GradientModel, GradientOptions } from "./methods/gradient.ts";
export { methods } from "./methods/index.ts";
export { type KfedModel, type KfedOptions, labelLateDevice } from "./methods/kfed.ts";
export type { LocalOptions } from "./methods/local.ts";
export { methodOfAnswer, methodOfRounds } from "./methods/make.ts";
export {
  type CommonOptions,
  judgingOptions,
  type Method,
  type MethodModel,
  type MethodOptions,
  type OptionForms,
  type RoundsMethodOptions,
  roundsOptions,
} from "./methods/method.ts";
export { orderSeeds } from "./methods/order.ts";
export { type PredictOptions, type Predictor, predict } from "./model.ts";
export { commit, type Network, refreshStatistics, type Weighting } from "./network.ts";
export type { Preset, UpdateOptions } from "./options.ts";
export type { Penalty, PenaltyOption, ScaledPenalty } from "./penalty.ts";
export { normalStream, type Random, randomStream } from "./random.ts";
export { largestCoordinate } from "./rest.ts";
export type { Schedule } from "./schedule.ts";
export { laplacianExtremes } from "./spectrum.ts";
export type { Init } from "./start.ts";
export { addTraffic, floodTraffic, sendTraffic, sumTraffic, type Traffic } from "./traffic.ts";
export { type DeviceUpdate, type StatisticsSource, updateDevice, updateDeviceAsync } from "./updateDevice.ts";
