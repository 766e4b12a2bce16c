// Ed25519 signatures under statements about keys. What is signed begins with the kind of the statement, so that no
// signature under one kind, or under anything else that a key signs, passes for one under another.

import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { type Identity, publicKeyOf } from "./peer.ts";
import { SECRET_AT, SECRET_BYTES } from "./storedKey.ts";

export const PUBLIC_BYTES = 32;
export const SIGNATURE_BYTES = 64;

/** What stands before a secret in PKCS #8, and before a public key in SPKI (RFC 8410). */
const SECRET_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_HEAD = Buffer.from("302a300506032b6570032100", "hex");

/** The secret of a key that is stored in libp2p's form. */
export function secretOf(key: Uint8Array): KeyObject {
  const secret = key.subarray(SECRET_AT, SECRET_AT + SECRET_BYTES);
  return createPrivateKey({ key: Buffer.concat([SECRET_HEAD, secret]), format: "der", type: "pkcs8" });
}

export function signStatement({ key }: Identity, kind: string, bytes: Uint8Array): Uint8Array {
  return sign(null, underKind(kind, bytes), secretOf(key));
}

/** Whether the holder of the peer's key signed exactly this. */
export function isSignedBy(peer: string, kind: string, bytes: Uint8Array, signature: Uint8Array): boolean {
  const spki = Buffer.concat([PUBLIC_HEAD, publicKeyOf(peer)]);
  try {
    return verify(null, underKind(kind, bytes), createPublicKey({ key: spki, format: "der", type: "spki" }), signature);
  } catch {
    // Bytes that are no point of the curve.
    return false;
  }
}

function underKind(kind: string, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([new TextEncoder().encode(`fedkm ${kind}\n`), bytes]);
}
