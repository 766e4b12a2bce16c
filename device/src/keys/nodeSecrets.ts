// The secrets of a device that runs in Node: X25519 from its Ed25519 key, HKDF, AES as a stream, and signatures.

import {
  createCipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { int64sFromBytes } from "../wire/int64.ts";
import { type Identity, publicKeyOf } from "./peer.ts";
import { idOf, PAD_SALT, SECRET_AT, SECRET_BYTES, type Secrets } from "./secrets.ts";

/** What stands before keys in PKCS #8 and SPKI (RFC 8410). */
const AGREEMENT_SECRET_HEAD = Buffer.from("302e020100300506032b656e04220420", "hex");
const AGREEMENT_PUBLIC_HEAD = Buffer.from("302a300506032b656e032100", "hex");
const SECRET_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
const SIGNING_PUBLIC_HEAD = Buffer.from("302a300506032b6570032100", "hex");

const FIELD = 2n ** 255n - 19n;
/** So many keys of others are kept ready; a board has fewer. */
const MOST_KEYS = 1024;

export function nodeSecrets({ peer: self, key: stored }: Identity): Secrets {
  const own = secretOf(stored);
  const key = publicKeyOf(self);
  const agreement = agreementSecret(own);
  const shared = new Map<string, Buffer>();
  const known = new Map<string, KeyObject>();
  const sharedWith = (peer: string) => {
    const before = shared.get(peer);
    if (before !== undefined) return before;
    const found = diffieHellman({ privateKey: agreement, publicKey: agreementPublic(publicKeyOf(peer)) });
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
    pad(peer, info, integers) {
      const stream = Buffer.from(hkdfSync("sha256", sharedWith(peer), PAD_SALT, info, 48));
      const cipher = createCipheriv("aes-256-ctr", stream.subarray(0, 32), stream.subarray(32));
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

/** The public key as node:crypto has it. */
export function signingKeyOf(key: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SIGNING_PUBLIC_HEAD, key]), format: "der", type: "spki" });
}

/** The same secret on the curve's other form: the lower half of the SHA-512 of an Ed25519 secret (RFC 8032). */
function agreementSecret(own: KeyObject): KeyObject {
  const seed = own.export({ format: "der", type: "pkcs8" }).subarray(-32);
  const scalar = createHash("sha512").update(seed).digest().subarray(0, 32);
  return createPrivateKey({ key: Buffer.concat([AGREEMENT_SECRET_HEAD, scalar]), format: "der", type: "pkcs8" });
}

/** u = (1 + y) / (1 - y), RFC 7748. */
function agreementPublic(key: Uint8Array): KeyObject {
  const y = BigInt(`0x${Buffer.from(key).reverse().toString("hex")}`) % 2n ** 255n;
  const u = ((1n + y) * power(1n - y + FIELD, FIELD - 2n)) % FIELD;
  const bytes = Buffer.from(u.toString(16).padStart(64, "0"), "hex").reverse();
  return createPublicKey({ key: Buffer.concat([AGREEMENT_PUBLIC_HEAD, bytes]), format: "der", type: "spki" });
}

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base % FIELD];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % FIELD;
    square = (square * square) % FIELD;
  }
  return result;
}

/** The secret of a key that is stored in libp2p's form. */
export function secretOf(key: Uint8Array): KeyObject {
  const secret = key.subarray(SECRET_AT, SECRET_AT + SECRET_BYTES);
  return createPrivateKey({ key: Buffer.concat([SECRET_HEAD, secret]), format: "der", type: "pkcs8" });
}
