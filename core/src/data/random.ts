// Seeded randomness: one master seed, an independent stream for every device and purpose.

import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";
import { checkRandom } from "./check.ts";
import { exp, ln } from "./elementary.ts";
import type { Matrix } from "./matrix.ts";
import { describeArgument } from "./optionNames.ts";

/** Uniform numbers in [0, 1), 53 bits each. */
export type Random = () => number;

/** Independent streams that are numbered, such as those of the starts of one k-means. */
export interface Streams {
  of(number: number): Random;
  /** Where they are randomStream(...path, number): the hash of the path, for who adds the number himself. */
  readonly hash?: readonly number[];
}

/**
 * The stream of a seed and a path such as ("init", device). Streams of different paths are independent, so adding a
 * device or a purpose changes no other stream.
 * @example
 * const random = randomStream(1, "noise", 0);
 * random() === randomStream(1, "noise", 0)() // true
 */
export function randomStream(seed: number, ...path: readonly (number | string)[]): Random {
  return streamOf(hashOf([seed, ...path]));
}

/** The streams of a seed and a path with one more part, a number. */
export function numberedStreams(seed: number, ...path: readonly (number | string)[]): Streams {
  const hash = hashOf([seed, ...path]);
  return { hash, of: (number) => streamOf(hashOf([number], hash)) };
}

function streamOf(hash: readonly number[]): Random {
  const generator = xoroshiro128plusFromState(hash);
  return () => uniformFloat64(generator);
}

/** The state of a stream is a hash of its whole path: small and neighbouring seeds start far apart. */
function hashOf(
  path: readonly (number | string)[],
  first: readonly number[] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 0x3c6ef372],
): readonly number[] {
  const state = [...first];
  for (const part of path) absorb(state, part);
  return state;
}

function absorb(/* IN OUT */ state: number[], part: number | string): void {
  // The type and the end of a part are absorbed too, so that ("a", "b") is not ("ab") and 1 is not "1".
  if (typeof part === "number") {
    if (!Number.isSafeInteger(part)) throw new RangeError(`a seed and its path must be integers or text, got ${part}`);
    absorbWord(state, 1);
    absorbWord(state, part | 0);
    absorbWord(state, Math.floor(part / 2 ** 32) | 0);
  } else {
    if (typeof part !== "string")
      throw new TypeError(`a seed and its path must be integers or text, got ${describeArgument(part)}`);
    absorbWord(state, 2 + 4 * part.length);
    for (let i = 0; i < part.length; i++) absorbWord(state, part.charCodeAt(i));
  }
}

function absorbWord(/* IN OUT */ state: number[], word: number): void {
  for (let lane = 0; lane < 4; lane++) {
    const mixed = Math.imul(state[lane] ^ word ^ (state[(lane + 1) & 3] >>> 7), 0x85ebca6b + 2 * lane);
    const folded = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    state[lane] = (folded ^ (folded >>> 16)) | 0;
  }
}

/** 32 bits of a row's values and a seed: the same on whichever device the row is. */
export function hashRow({ data, cols }: Matrix, r: number, seed: number): number {
  let hash = seed | 0;
  for (const word of new Uint32Array(data.buffer, data.byteOffset + 8 * r * cols, 2 * cols)) {
    hash = Math.imul(hash ^ word, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}

/**
 * Standard normal numbers from uniform ones (Marsaglia's polar method).
 * @example
 * const normal = normalStream(randomStream(1, "noise"));
 * typeof normal() // "number"
 */
export function normalStream(random: Random): Random {
  checkRandom(random);
  let spare: number | undefined;
  return () => {
    if (spare !== undefined) {
      const value = spare;
      spare = undefined;
      return value;
    }
    for (;;) {
      const x = 2 * random() - 1;
      const y = 2 * random() - 1;
      const square = x * x + y * y;
      if (square > 0 && square < 1) {
        const factor = Math.sqrt((-2 * ln(square)) / square);
        spare = y * factor;
        return x * factor;
      }
    }
  };
}

/** A share for each of `parts`, positive, summing to 1: one draw of the symmetric Dirichlet distribution. */
export function dirichlet(parts: number, concentration: number, random: Random): Float64Array {
  const normal = normalStream(random);
  const logs = Float64Array.from({ length: parts }, () => logGamma(concentration, random, normal));
  // Small concentrations underflow, so shares are formed relative to the largest part.
  const largest = logs.reduce((a, b) => Math.max(a, b));
  const shares = logs.map((log) => exp(log - largest));
  const total = shares.reduce((a, b) => a + b);
  return shares.map((share) => share / total);
}

/** Logarithm of a gamma draw (Marsaglia and Tsang; shapes below 1 by the boost u^(1/shape)). */
function logGamma(shape: number, random: Random, normal: Random): number {
  const boost = shape < 1 ? ln(1 - random()) / shape : 0;
  const d = (shape < 1 ? shape + 1 : shape) - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal();
    const root = 1 + c * x;
    const v = root * root * root;
    if (v > 0 && ln(1 - random()) < x * x * 0.5 + d * (1 - v + ln(v))) return ln(d * v) + boost;
  }
}

/** A row of each of `size` equal parts of all rows. */
export function randomRows(rows: number, size: number, random: Random): Uint32Array {
  return Uint32Array.from({ length: size }, (_, i) => Math.floor(((i + random()) * rows) / size));
}

/** The numbers 0 to size - 1 in random order. */
export function shuffled(size: number, random: Random): Uint32Array {
  const order = Uint32Array.from({ length: size }, (_, i) => i);
  for (let i = size - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  return order;
}
