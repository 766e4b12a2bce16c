// What audits and measurements use of shared clusters.

export { nodeSecrets } from "../keys/nodeSecrets.ts";
export { createIdentity } from "../keys/peer.ts";
export { idOf, type Secrets } from "../keys/secrets.ts";
export { addInt64s, fromInt64s, type Int64s, toInt64s } from "../wire/int64.ts";
export { Board } from "./board.ts";
export { type BoardMessage, decodeShared, encodeBoardMessage } from "./boardFrame.ts";
export { afterDescription, readDescription } from "./description.ts";
export { type Entry, isEntrySigned, maskedEntry, ownEntry, padSeeds, withoutPads } from "./entry.ts";
export { type Base, type Content, type Generation, hashedBase, orderOf, stages } from "./generation.ts";
export { fractionBits } from "./lloyd.ts";
export { encodeMembers } from "./memberExchange.ts";
export { memberStatement, membershipOf } from "./membership.ts";
export { type Openings, signedOpening } from "./openings.ts";
export { proofMessage } from "./outbox.ts";
export { isSealed, outcomeOf, ownIntegers } from "./plan.ts";
export { baseAfterBoard, baseAfterKeys, firstBase, generationOf } from "./proof.ts";
export { afterRound, askedSums, census, offsetsOf, sharedReleaseIntegers } from "./release.ts";
export { type Roster, rosterOf } from "./roster.ts";
export { type SumsShape, sumsShape } from "./shape.ts";
export { SharedRows } from "./sharedRows.ts";
export { heldShares, isKey, recoveredSecret, secretsOfAll, unsealedTotals } from "./unsealing.ts";
