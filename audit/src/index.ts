// What commands use of the audit.

export { idOf } from "../../device/src/keys/nodeSecrets.ts";
export { simulatedSecrets } from "../../device/src/simulation/simulatedSecrets.ts";
export { parseRecording, type Recording } from "../../device/src/wire/recording.ts";
export { type AuditOptions, auditStudy } from "./audit.ts";
export { type GenerationEntries, observeBoards } from "./boards.ts";
export { coalitionSums, sumOfEntries } from "./coalition.ts";
export { rowsMovedAlone } from "./moving.ts";
export type { Tally } from "./outcome.ts";
export { auditRecording, type RecordedAudit } from "./recorded.ts";
export { ownPrivateStudy, ownStudy } from "./scenario.ts";
export { explanations, leakOf, remainingOf, rowsFound, titles, verdictOf } from "./words.ts";
