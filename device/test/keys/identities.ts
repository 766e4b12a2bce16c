// Keys for tests: the same ones every time, from a number.

import { createPublicKey } from "node:crypto";
import { secretOf } from "../../src/keys/nodeKeys.ts";
import { type Identity, identityOf } from "../../src/keys/peer.ts";

/** The identity whose secret is this byte, 32 times. */
export function identity(byte: number): Identity {
  const key = new Uint8Array(68).fill(byte);
  key.set([0x08, 0x01, 0x12, 0x40]);
  key.set(createPublicKey(secretOf(key)).export({ format: "der", type: "spki" }).subarray(-32), 36);
  return identityOf(key);
}
