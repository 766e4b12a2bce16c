// The secrets of a device that runs in Node: X25519 from its Ed25519 key, HKDF, AES as a stream, and signatures.

import { createCipheriv, createHash, diffieHellman, hkdfSync, type KeyObject, sign, verify } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { int64sFromBytes } from "../wire/int64.ts";
import { privateKeyOf, publicKeyFrom, secretOf, signingKeyOf } from "./nodeKeys.ts";
import { type Identity, publicKeyOf } from "./peer.ts";
import { idOf, PAD_SALT, SECRET_AT, SECRET_BYTES, SEED_BYTES, type Secrets } from "./secrets.ts";

/** What stands before keys in PKCS #8 and SPKI (RFC 8410). */
const AGREEMENT_SECRET_HEAD = Buffer.from("302e020100300506032b656e04220420", "hex");
const AGREEMENT_PUBLIC_HEAD = Buffer.from("302a300506032b656e032100", "hex");

/** So many keys of others are kept ready; a board has fewer. */
const MOST_KEYS = 1024;

/** Secrets of a device in Node. */
export function nodeSecrets({ peer: self, key: stored }: Identity): Secrets {
  const own = secretOf(stored);
  const key = publicKeyOf(self);
  const scalar = ed25519.utils.toMontgomerySecret(stored.slice(SECRET_AT, SECRET_AT + SECRET_BYTES));
  const agreement = privateKeyOf(AGREEMENT_SECRET_HEAD, scalar);
  const shared = new Map<string, Buffer>();
  const known = new Map<string, KeyObject>();
  const sharedWith = (peer: string) => {
    const before = shared.get(peer);
    if (before !== undefined) return before;
    const theirs = publicKeyFrom(AGREEMENT_PUBLIC_HEAD, ed25519.utils.toMontgomery(publicKeyOf(peer)));
    const found = diffieHellman({ privateKey: agreement, publicKey: theirs });
    shared.set(peer, found);
    return found;
  };
  const signer = (of: Uint8Array) => {
    const id = idOf(of);
    const before = known.get(id);
    if (before !== undefined) return before;
    const found = signingKeyOf(of);
    if (known.size >= MOST_KEYS) known.clear();
    known.set(id, found);
    return found;
  };
  return {
    key,
    keyOf: publicKeyOf,
    padSeed: (peer, info) => new Uint8Array(hkdfSync("sha256", sharedWith(peer), PAD_SALT, info, SEED_BYTES)),
    padOf(seed, integers) {
      const cipher = createCipheriv("aes-256-ctr", seed.subarray(0, 32), seed.subarray(32));
      return int64sFromBytes(cipher.update(new Uint8Array(8 * integers)));
    },
    sign: (bytes) => sign(null, bytes, own),
    isSigned(of, bytes, signature) {
      try {
        return verify(null, bytes, signer(of), signature);
      } catch {
        // Bytes that are no point of the curve.
        return false;
      }
    },
    digest: (bytes) => createHash("sha256").update(bytes).digest(),
  };
}
