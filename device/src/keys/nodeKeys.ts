// Ed25519 and X25519 keys as node:crypto takes them.

import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { SECRET_AT, SECRET_BYTES } from "./secrets.ts";

/** What stands before keys in PKCS #8 and SPKI (RFC 8410). */
const SECRET_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
const SIGNING_PUBLIC_HEAD = Buffer.from("302a300506032b6570032100", "hex");

/** The public key as node:crypto has it. */
export function signingKeyOf(key: Uint8Array): KeyObject {
  return publicKeyFrom(SIGNING_PUBLIC_HEAD, key);
}

/** The secret of a key that is stored in libp2p's form. */
export function secretOf(key: Uint8Array): KeyObject {
  return privateKeyOf(SECRET_HEAD, key.subarray(SECRET_AT, SECRET_AT + SECRET_BYTES));
}

/** Of the form whose first bytes are the head. */
export function privateKeyOf(head: Uint8Array, key: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([head, key]), format: "der", type: "pkcs8" });
}

export function publicKeyFrom(head: Uint8Array, key: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([head, key]), format: "der", type: "spki" });
}
