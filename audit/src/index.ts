// The public API of @fedkm/audit: attacks on devices and recordings, and what they found in words.

export { type AuditAnswer, attackFigures, attackHeading, auditAnswer, auditPage } from "./answer.ts";
export { type AuditOptions, auditStudy } from "./audit.ts";
export { coalitionSums, type GenerationEntries, observeBoards, rowsMovedAlone } from "./boards.ts";
export { type ClaimKind, claimKinds, claimsWithin, movementOfBound, withClaims } from "./claims.ts";
export { type ForgeryKind, forger, forgeryKinds } from "./forgeries.ts";
export { leakOf, rowsFound, type Tally, titles, verdictOf } from "./outcome.ts";
export { ownPrivateStudy, ownStudy } from "./scenario.ts";
