// What audits and measurements use of a device beyond its public API: frames, recordings, histories, simulated clocks.

export type { SavedState } from "../loop/savedState.ts";
export { openingSketchCentroids } from "../loop/sketch.ts";
export { GuardedRows } from "../privacy/guardedRows.ts";
export { decodeHistory, encodeHistory } from "../privacy/history.ts";
export { dividedByScale } from "../study/units.ts";
export { isOfKind, type Stamp } from "../wire/frames.ts";
export { originHash } from "../wire/hashes.ts";
export { parseRecording, type RecordedEvent, type Recording, recordedNetwork } from "../wire/recording.ts";
export { type CentroidsFrame, type DeviceSketch, decodeFrame } from "../wire/studyFrames.ts";
export { simulatedClock } from "./clock.ts";
export { simulatedPeer } from "./links.ts";
export { simulatedSecrets } from "./simulatedSecrets.ts";
