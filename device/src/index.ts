// The public API of @fedkm/device, one line per file.

export { type Clock, realClock } from "./environment.ts";
export type { Device, DeviceOptions } from "./loop/device.ts";
export { createDevice } from "./loop/personalLoop.ts";
export { volatileMemory } from "./loop/savedState.ts";
export type { DeviceStatus, NeighbourStatus } from "./loop/status.ts";
export type { NetworkListener, PeerNetwork } from "./network.ts";
export { studyObjective, weightScale } from "./objective.ts";
export { devicesToGainBy, errorsBy, noiseOfCentroids } from "./privacy/privacyTradeoff.ts";
export { whatAllLearn, whatNeighboursLearn, whatTrustMeans } from "./privacy.ts";
export type { PrivateStatus } from "./private/account.ts";
export { isSettled } from "./settled.ts";
export { canShare, sharedMethod } from "./simulation/sharedMethod.ts";
export { type Simulation, type SimulationOptions, simulate } from "./simulation/simulate.ts";
export type { DeviceRows, RemoteRows } from "./study/remoteRows.ts";
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
} from "./study/study.ts";
export { pointsAsCsv, studyOfPoints } from "./study/studyOfPoints.ts";
export { rowsThatCount, scaleRows, unscale } from "./study/units.ts";
export { type Contract, encodeCentroidsFrame, frameBytes } from "./wire/studyFrames.ts";
