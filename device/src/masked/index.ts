// What measurements use of shared clusters.

export { nodeSecrets } from "../keys/secrets.ts";
export { createIdentity } from "../peer.ts";
export { Board } from "./board.ts";
export { isWellSigned, maskedEntry } from "./entry.ts";
export { decodeShared, encodeMessage } from "./frame.ts";
export { type Content, generation, stages } from "./generation.ts";
export { outcomeOf, ownIntegers } from "./plan.ts";
export { askedSums, census, releasedIntegers } from "./release.ts";
export { type Roster, rosterOf } from "./roster.ts";
export { OwnRows } from "./rows.ts";
export { idOf } from "./secrets.ts";
export { shapeOf } from "./shape.ts";
export { wordsOf } from "./words.ts";
