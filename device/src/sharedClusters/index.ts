// What measurements use of shared clusters.

export { nodeSecrets } from "../keys/nodeSecrets.ts";
export { createIdentity } from "../keys/peer.ts";
export { idOf } from "../keys/secrets.ts";
export { toInt64s } from "../wire/int64.ts";
export { Board } from "./board.ts";
export { decodeShared, encodeBoardMessage } from "./boardFrame.ts";
export { isWellSigned, maskedEntry } from "./entry.ts";
export { type Content, generation, stages } from "./generation.ts";
export { outcomeOf, ownIntegers } from "./plan.ts";
export { askedSums, census, releasedIntegers } from "./release.ts";
export { type Roster, rosterOf } from "./roster.ts";
export { sumsShape } from "./shape.ts";
export { SharedRows } from "./sharedRows.ts";
