// The public API of @fedkm/device, one line per file.

export { type Clock, realClock } from "./clock.ts";
export { createDevice } from "./device.ts";
export type { Device, DeviceOptions } from "./deviceOptions.ts";
export type { DeviceRows, RemoteRows } from "./elsewhere.ts";
export { volatileMemory } from "./memory.ts";
export type { NetworkListener, PeerNetwork } from "./network.ts";
export { studyObjective, weightScale } from "./objective.ts";
export { whatAllLearn, whatNeighboursLearn, whatTrustMeans } from "./privacy.ts";
export type { PrivateStatus } from "./private/account.ts";
export { devicesToGainBy, errorsBy, noiseOfCentroids } from "./private/gain.ts";
export { type Contract, encodeCentroidsFrame, frameBytes } from "./protocol.ts";
export { isSettled } from "./settled.ts";
export { canShare, sharedMethod } from "./simulation/sharedMethod.ts";
export { type Simulation, type SimulationOptions, simulate } from "./simulation/simulate.ts";
export type { DeviceStatus, NeighbourStatus } from "./status.ts";
export {
  budgetOf,
  compareStudies,
  contractOf,
  type Feature,
  formatStudy,
  keepsHistory,
  parseStudy,
  type Study,
  studyId,
} from "./study.ts";
export { pointsAsCsv, studyOfPoints } from "./studyOfPoints.ts";
export { rowsThatCount, scaleRows, unscale } from "./units.ts";
