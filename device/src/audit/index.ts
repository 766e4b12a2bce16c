// What commands use of the audit.

export { idOf } from "../masked/secrets.ts";
export { parseRecording, type Recording } from "../recording.ts";
export { simulatedSecrets } from "../simulation/secrets.ts";
export { type AuditOptions, auditStudy } from "./audit.ts";
export { type GenerationEntries, observeBoards } from "./boards.ts";
export { coalitionSums, sumOfEntries } from "./coalition.ts";
export { rowsMovedAlone } from "./moving.ts";
export type { Tally } from "./outcome.ts";
export { auditRecording, type RecordedAudit } from "./recorded.ts";
export { ownPrivateStudy, ownStudy } from "./scene.ts";
export { explanations, leakOf, remainingOf, rowsFound, titles, verdictOf } from "./words.ts";
