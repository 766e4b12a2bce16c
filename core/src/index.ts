// The public API of @fedkm/core, file by file.

export { type AlphaChoice, type AlphaScore, type ChooseAlphaOptions, chooseAlpha, type Judge } from "./choose/alpha.ts";
export { type Choice, type ChooseOptions, type ClusterChoice, choose, chooseClusters } from "./choose/choose.ts";
export type { DeviceGroup } from "./choose/groups.ts";
export { type ChooseKOptions, chooseK, type KCandidate, type KChoice, type KScore } from "./choose/k.ts";
export { type ChooseLinksOptions, chooseLinks, type LinkChoice } from "./choose/links.ts";
export { type ClusterVerdict, type ClusterVerdictOptions, clusterVerdict, type PairVerdict } from "./choose/verdict.ts";
export type { LabelledPoints, PaperKind, PaperReading, Partition } from "./data/datasets.ts";
export { communityData, paperData, splitByClasses, splitByLabel, splitBySizes, splitEvenly } from "./data/datasets.ts";
export {
  type FlatRows,
  type Matrix,
  matrix,
  type Numbers,
  type Points,
  stack,
  takeRows,
  toRows,
} from "./data/matrix.ts";
export { normalStream, type Random, randomStream } from "./data/random.ts";
export type { FitModel, GuardedSummary, Round, RoundSummary } from "./fit/fit.ts";
export { fit, fitRounds } from "./fit/fit.ts";
export type { FitOptions, Preset, Privacy, Weighting } from "./fit/fitOptions.ts";
export type { NetworkState, RoundResult } from "./fit/network.ts";
export { commitNetworkUpdate, largestNetworkCoordinate, refreshNetworkStatistics } from "./fit/network.ts";
export { type PartialFitModel, type PartialFitOptions, partialFit, type RowSummary } from "./fit/partialFit.ts";
export type { Schedule } from "./fit/schedule.ts";
export { communities, complete, erdosRenyi, geometric, grid, path, ring, smallWorld, star } from "./graph/families.ts";
export { connectedComponents, type Edge, edges, type Graph, graph, subgraph } from "./graph/graph.ts";
export { laplacianExtremes } from "./graph/spectrum.ts";
export { addTraffic, floodTraffic, sendTraffic, sumTraffic, type Traffic } from "./graph/traffic.ts";
export { jsKernel } from "./kernel/js.ts";
export type { Kernel, PreparedPoints, Statistics } from "./kernel/kernel.ts";
export { type PredictOptions, type Predictor, predict } from "./kernel/model.ts";
export { fastKernel } from "./kernel/wasm.ts";
export { type Certificate, certify, stationarityResidual } from "./measures/certificate.ts";
export type { ObjectiveOptions } from "./measures/measures.ts";
export {
  adjustedRandIndex,
  consensusVariation,
  discrepancy,
  distortion,
  globalCentroidDeviation,
  matchCentroids,
  normalizedMutualInformation,
  objective,
  simplifiedSilhouette,
  totalVariation,
} from "./measures/measures.ts";
export type { BackboneOptions } from "./methods/backbone.ts";
export type { LocalOptions } from "./methods/baselines.ts";
export { type ConsensusModel, type ConsensusOptions, consensusRounds } from "./methods/consensus.ts";
export type { CoresetModel, CoresetOptions, CoresetPart } from "./methods/coreset.ts";
export { type DistributedModel, type DistributedOptions, distributedRounds } from "./methods/distributed.ts";
export type { FkmOptions } from "./methods/fkm.ts";
export type { FloodOptions, FloodSettings } from "./methods/flooding.ts";
export {
  centroidsOfFlood,
  centroidsToFlood,
  collectFlood,
  floodSettings,
  solveFlood,
} from "./methods/flooding.ts";
export type { GradientModel, GradientOptions } from "./methods/gradient.ts";
export { methods } from "./methods/index.ts";
export { type KfedModel, type KfedOptions, lateKfedLabels } from "./methods/kfed.ts";
export type {
  CommonOptions,
  Method,
  MethodModel,
  MethodOptions,
  OptionForms,
  RoundsMethodOptions,
} from "./methods/method.ts";
export { judgingOptions, methodOfAnswer, methodOfRounds, orderMethodSeeds, roundsOptions } from "./methods/method.ts";
export { type PooledReference, pooledReference, unbeatenReference } from "./methods/reference.ts";
export type { PointSketch } from "./start/federated.ts";
export type { EmptyClusters } from "./start/kmeans.ts";
export { type KMeansModel, type KMeansOptions, kmeans } from "./start/kmeans.ts";
export type { Init } from "./start/start.ts";
export type { Coupling, Penalty, PenaltyOption, ScaledPenalty } from "./update/coupling.ts";
export { largestRobustDrift } from "./update/robustPull.ts";
export { type DeviceUpdate, type StatisticsSource, updateDevice, updateDeviceAsync } from "./update/updateDevice.ts";
export type { UpdateOptions } from "./update/updateOptions.ts";
