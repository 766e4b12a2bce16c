// The secrets of a device in a web page: those of Node to the last bit, without node:crypto. An agreement takes some
// milliseconds here, once for each neighbour.

import { ctr } from "@noble/ciphers/aes.js";
import { ed25519, x25519 } from "@noble/curves/ed25519.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { int64sFromBytes } from "../wire/int64.ts";
import { type Identity, publicKeyOf } from "./peer.ts";
import { PAD_SALT, SECRET_AT, SECRET_BYTES, SEED_BYTES, type Secrets } from "./secrets.ts";

/** Secrets of a device in a page, which has no `node:crypto`. */
export function pageSecrets({ peer: self, key: stored }: Identity): Secrets {
  const own = stored.slice(SECRET_AT, SECRET_AT + SECRET_BYTES);
  const agreement = ed25519.utils.toMontgomerySecret(own);
  const shared = new Map<string, Uint8Array>();
  const sharedWith = (peer: string) => {
    const found = shared.get(peer) ?? x25519.getSharedSecret(agreement, ed25519.utils.toMontgomery(publicKeyOf(peer)));
    shared.set(peer, found);
    return found;
  };
  return {
    key: publicKeyOf(self),
    keyOf: publicKeyOf,
    padSeed: (peer, info) => hkdf(sha256, sharedWith(peer), PAD_SALT, info, SEED_BYTES),
    padOf: (seed, integers) =>
      int64sFromBytes(ctr(seed.subarray(0, 32), seed.subarray(32)).encrypt(new Uint8Array(8 * integers))),
    sign: (bytes) => ed25519.sign(bytes, own),
    isSigned(of, bytes, signature) {
      try {
        return ed25519.verify(signature, bytes, of, { zip215: false });
      } catch {
        // Bytes that are no point of the curve.
        return false;
      }
    },
    digest: (bytes) => sha256(bytes),
  };
}
