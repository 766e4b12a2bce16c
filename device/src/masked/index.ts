// What measurements use of shared clusters.

export { nodeSecrets } from "../keys/secrets.ts";
export { createIdentity } from "../peer.ts";
export { Board } from "./board.ts";
export { isWellSigned, maskedEntry } from "./entry.ts";
export { decodeShared, encodeBoardMessage } from "./frame.ts";
export { type Content, generation, stages } from "./generation.ts";
export { outcomeOf, ownIntegers } from "./plan.ts";
export { askedSums, census, releasedIntegers } from "./release.ts";
export { type Roster, rosterOf } from "./roster.ts";
export { SharedRows } from "./rows.ts";
export { idOf } from "./secrets.ts";
export { sumsShape } from "./shape.ts";
export { toInt64s } from "./words.ts";
