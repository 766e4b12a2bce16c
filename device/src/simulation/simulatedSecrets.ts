// Secrets of simulated devices, made of their names: the same pads and signatures in every run, and nothing is secret.

import { KEY_BYTES, SEED_BYTES, type Secrets, SIGNATURE_BYTES } from "../keys/secrets.ts";
import { hashBytes } from "../wire/hashes.ts";

export interface SimulatedSecrets extends Secrets {
  /** Without masks: everything else is the same. */
  isBare: boolean;
}

/** Secrets for simulations: fast, and no secret at all. */
export function simulatedSecrets(self: string, isBare = false): SimulatedSecrets {
  const keys = new Map<string, Uint8Array>();
  const keyOf = (peer: string) => {
    const key = keys.get(peer) ?? spread(new TextEncoder().encode(peer), KEY_BYTES);
    keys.set(peer, key);
    return key;
  };
  const secrets: SimulatedSecrets = {
    isBare,
    key: keyOf(self),
    keyOf,
    padSeed(peer, info) {
      const both = new TextEncoder().encode([self, peer].sort().join(" "));
      const seed = new DataView(new ArrayBuffer(8));
      seed.setUint32(0, hashBytes(info, hashBytes(both)), true);
      return spread(new Uint8Array(seed.buffer), SEED_BYTES);
    },
    padOf(seed, integers) {
      const words = new Uint32Array(2 * integers);
      if (secrets.isBare) return words;
      let state = hashBytes(seed);
      for (let i = 0; i < words.length; i++) {
        state = (state + 0x9e3779b9) >>> 0;
        words[i] = mixedBits(state);
      }
      return words;
    },
    sign: (bytes) => simulatedSignature(secrets.key, bytes),
    isSigned: (key, bytes, given) => simulatedSignature(key, bytes).every((byte, i) => byte === given[i]),
    digest: (bytes) => spread(bytes, 32),
  };
  return secrets;
}

function simulatedSignature(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const hash = new Uint8Array(8);
  const view = new DataView(hash.buffer);
  view.setUint32(0, hashBytes(bytes, hashBytes(key)), true);
  view.setUint32(4, hashBytes(bytes, hashBytes(key, 1)), true);
  return spread(hash, SIGNATURE_BYTES);
}

/** As many bytes as wanted, in which all given ones have a part. */
function spread(bytes: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length);
  const view = new DataView(out.buffer);
  const [first, second] = [hashBytes(bytes), hashBytes(bytes, 0x5bd1e995)];
  for (let at = 0; at < length; at += 4) view.setUint32(at, mixedBits(first + Math.imul(second | 1, at + 1)), true);
  return out;
}

function mixedBits(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}
