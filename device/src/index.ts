// The public API of @fedkm/device, one line per file.

export { createDevice } from "./change/studyLoop.ts";
export type { NetworkListener, PeerNetwork } from "./environment.ts";
export { type Clock, realClock } from "./environment.ts";
export type { Device, DeviceOptions } from "./loop/device.ts";
export { volatileMemory } from "./loop/savedState.ts";
export type { ChosenStatus, DeviceStatus, NeighbourStatus } from "./loop/status.ts";
export { isSettled } from "./loop/status.ts";
export type { PrivateStatus } from "./privacy/ledger.ts";
export { gainFromStudy, noiseOfRelease } from "./privacy/privacyTradeoff.ts";
export { type Simulation, type SimulationOptions, simulate } from "./simulation/simulate.ts";
export { studyPlan, studyRequest } from "./simulation/studyPlan.ts";
export {
  canSimulateShared,
  type StudyNetwork,
  sharedMethod,
  simulateQuestions,
  simulateStudy,
} from "./simulation/studyRun.ts";
export { limitsFault } from "./study/limitedStudy.ts";
export { mayRun, type OwnerLimits, stageWords, studyStages } from "./study/ownerLimits.ts";
export { privacyWords, whatTrustMeans } from "./study/promises.ts";
export type { DeviceRows, RemoteRows } from "./study/remoteRows.ts";
export {
  budgetOf,
  compareStudies,
  contractOf,
  type Feature,
  formatStudy,
  foundedStudy,
  hasOpenColumns,
  isOpenStudy,
  isReleasedInRounds,
  keepsHistory,
  needsFounders,
  parseStudy,
  type Study,
} from "./study/study.ts";
export { pointsAsCsv, studyObjective, studyOfPoints, weightScale } from "./study/studyOfPoints.ts";
export {
  isPlainStudy,
  stackedTables,
  studyColumns,
  studyEncoding,
  type TableRows,
  tableFeatures,
  tableRows,
} from "./study/tableRows.ts";
export { rowsThatCount, scaleRows, unscale } from "./study/units.ts";
export { type Contract, studyId } from "./wire/frames.ts";
export { encodeCentroidsFrame, frameBytes } from "./wire/studyFrames.ts";
