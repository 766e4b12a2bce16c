// What the masks need of a device's key. The daemon has it from node:crypto and the identity, a simulation from names.

import { bytesToHex } from "@noble/hashes/utils.js";
import type { Int64s } from "../wire/int64.ts";

/** In libp2p's form of a key the secret stands after type and length. */
export const SECRET_AT = 4;
export const SECRET_BYTES = 32;

/** What a pad is for is in `info`, the study included. */
export const PAD_SALT = new TextEncoder().encode("fedkm");

/** Of a pad: 32 are a key, and 16 a counter. */
export const SEED_BYTES = 48;
export const KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;
/** So much of a key names a device on the board. */
export const ID_BYTES = 16;

/** What a device signs, masks and checks with its key. */
export interface Secrets {
  /** The own public key, and that of a linked peer. */
  readonly key: Uint8Array;
  keyOf(peer: string): Uint8Array;
  /** 48 bytes that only this device and the peer can compute, other ones for other `info`. */
  padSeed(peer: string, info: Uint8Array): Uint8Array;
  /** As many integers as asked for, which look like chance to whoever does not know the seed. */
  padOf(seed: Uint8Array, integers: number): Int64s;
  sign(bytes: Uint8Array): Uint8Array;
  isSigned(key: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean;
  /** 32 bytes. */
  digest(bytes: Uint8Array): Uint8Array;
}

/** The name of a key on the board. */
export function idOf(key: Uint8Array): string {
  return bytesToHex(key.subarray(0, ID_BYTES));
}
