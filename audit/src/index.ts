// The public API of @fedkm/audit: attacks on devices and recordings, and what they found in words.

export { type AuditAnswer, auditAnswer, auditLines, auditPage } from "./answer.ts";
export { type AuditOptions, auditStudy } from "./audit.ts";
export { coalitionSums, type GenerationEntries, observeBoards, rowsMovedAlone } from "./boards.ts";
export { leakOf, rowsFound, type Tally, titles, verdictOf } from "./outcome.ts";
export { ownPrivateStudy, ownStudy } from "./scenario.ts";
