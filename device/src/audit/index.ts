// What commands use of the audit.

export { idOf } from "../masked/secrets.ts";
export { parseRecording, type Recording } from "../recording.ts";
export { simulatedSecrets } from "../simulation/secrets.ts";
export { type AuditOptions, auditStudy } from "./audit.ts";
export { type Posted, seeBoards } from "./boards.ts";
export { coalitionLearns, sumOfEntries } from "./coalition.ts";
export { movingRows } from "./moving.ts";
export type { Tally } from "./outcome.ts";
export { auditRecording, type RecordedAudit } from "./recorded.ts";
export { ownPrivateStudy, ownStudy } from "./scene.ts";
export { explanations, leakOf, remainingOf, rowsFound, titles, verdictOf } from "./words.ts";
