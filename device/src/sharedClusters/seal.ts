// A seal hides the integers of a private device, noise and all, until enough devices have said that they hold everybody's.
// Its secret is shared among the device's partners (Feldman 1987): more than `colluders` of them can put it together, fewer
// learn nothing, and each can check its share. So who leaves after its integers were counted on keeps nobody waiting.

import { ristretto255 } from "@noble/curves/ed25519.js";
import { bytesToNumberLE } from "@noble/curves/utils.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { SEED_BYTES, type Secrets } from "../keys/secrets.ts";
import { setInteger } from "../wire/frames.ts";
import type { Int64s } from "../wire/int64.ts";

const { Point } = ristretto255;
const { Fn } = Point;

/** Of a secret, of a share of one, and of a point that commits to a coefficient. */
export const SCALAR_BYTES = 32;

/** What an entry carries besides its integers: `colluders` + 1 commitments or a secret, and a share for each link. */
export const sealBytes = (colluders: number, links: number) => SCALAR_BYTES * (colluders + 1 + links);

export interface Seal {
  readonly secret: Uint8Array;
  /** Points for the coefficients of a polynomial whose value at 0 is the secret. */
  readonly commitments: Uint8Array;
  /** The polynomial at a device's place, which is never 0. */
  shareAt(place: number): Uint8Array;
}

/** The same for the same seed. */
export function sealFrom(seed: Uint8Array, colluders: number): Seal {
  const coefficients = Array.from({ length: colluders + 1 }, (_, j) =>
    Fn.create(bytesToNumberLE(hmac(sha512, seed, Uint8Array.of(j & 255, j >> 8)))),
  );
  const shareAt = (place: number) =>
    Fn.toBytes(coefficients.reduceRight((sum, next) => Fn.add(Fn.mul(sum, BigInt(place)), next), 0n));
  const points = coefficients.map((value) => Point.BASE.multiply(value).toBytes());
  return { secret: Fn.toBytes(coefficients[0]), commitments: concatBytes(...points), shareAt };
}

function pointOf(bytes: Uint8Array): InstanceType<typeof Point> | undefined {
  try {
    return Point.fromBytes(bytes);
  } catch {
    return undefined;
  }
}

/** Whether a share is that of a place on the polynomial to which somebody has committed; at place 0 it is the secret. */
export function isShareAt(commitments: Uint8Array, place: number, share: Uint8Array): boolean {
  const value = bytesToNumberLE(share);
  if (value === 0n || value >= Fn.ORDER) return false;
  const many = place === 0 ? 1 : commitments.length / SCALAR_BYTES;
  let sum = Point.ZERO;
  for (let j = many - 1; j >= 0; j--) {
    const point = pointOf(commitments.subarray(SCALAR_BYTES * j, SCALAR_BYTES * (j + 1)));
    if (point === undefined) return false;
    sum = sum.multiplyUnsafe(BigInt(place)).add(point);
  }
  return Point.BASE.multiply(value).equals(sum);
}

/** The secret, from as many shares as there are coefficients, by their places (Lagrange). */
export function secretFrom(shares: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const places = [...shares.keys()].map(BigInt);
  const parts = Array.from(shares, ([at, share]) => {
    const place = BigInt(at);
    const others = places.filter((other) => other !== place);
    const weight = others.reduce((product, other) => Fn.mul(product, Fn.mul(other, Fn.inv(Fn.sub(other, place)))), 1n);
    return Fn.mul(weight, Fn.create(bytesToNumberLE(share)));
  });
  return Fn.toBytes(parts.reduce((sum, part) => Fn.add(sum, part), 0n));
}

/** What a seal adds to the integers of an entry in a generation. */
export function sealPad(
  { padOf }: Pick<Secrets, "padOf">,
  hash: Uint8Array,
  secret: Uint8Array,
  integers: number,
): Int64s {
  const seed = sha512(concatBytes(utf8ToBytes("fedkm seal\n"), hash, secret)).subarray(0, SEED_BYTES);
  return padOf(seed, integers);
}

/** A share under a key that only the two ends of a link know, or what is under it: it is its own inverse. */
export function wrappedShare(
  secrets: Secrets,
  peer: string,
  hash: Uint8Array,
  dealer: { readonly id: string; readonly epoch: number },
  epochThere: number,
  share: Uint8Array,
): Uint8Array {
  const epochs = new Uint8Array(16);
  setInteger(new DataView(epochs.buffer), 0, dealer.epoch);
  setInteger(new DataView(epochs.buffer), 8, epochThere);
  const info = concatBytes(utf8ToBytes("fedkm share\n"), hash, hexToBytes(dealer.id), epochs);
  const key = secrets.padSeed(peer, info);
  return share.map((byte, i) => byte ^ key[i]);
}
