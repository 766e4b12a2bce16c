// Integers modulo 2^64 as pairs of 32 bits, low half first: what devices mask and add up. Sums of them are exact in any
// order, and no bigint is made for each.

const HALF = 2 ** 32;

/** Two numbers for each integer: its low and its high 32 bits. */
export type Int64s = Uint32Array;

/** Integers of any sign below 2^63, as whole numbers. */
export function toInt64s(integers: ArrayLike<number>): Int64s {
  const words = new Uint32Array(2 * integers.length);
  for (let i = 0; i < integers.length; i++) {
    const high = Math.floor(integers[i] / HALF);
    words[2 * i] = integers[i] - high * HALF;
    words[2 * i + 1] = high;
  }
  return words;
}

/** Adds 64-bit integers to a total, modulo 2^64. */
export function addInt64s(/* IN OUT */ total: Int64s, other: Int64s): void {
  for (let i = 0; i < total.length; i += 2) {
    const low = total[i] + other[i];
    total[i] = low;
    total[i + 1] += other[i + 1] + (low >= HALF ? 1 : 0);
  }
}

export function subtractInt64s(/* IN OUT */ total: Int64s, other: Int64s): void {
  for (let i = 0; i < total.length; i += 2) {
    const low = total[i] - other[i];
    total[i] = low;
    total[i + 1] -= other[i + 1] + (low < 0 ? 1 : 0);
  }
}

/** The integers again, from -2^63 to 2^63 - 1. Those beyond 2^53 are the nearest doubles, the same ones everywhere. */
export function fromInt64s(words: Int64s): Float64Array {
  const integers = new Float64Array(words.length / 2);
  for (let i = 0; i < integers.length; i++) integers[i] = (words[2 * i + 1] | 0) * HALF + words[2 * i];
  return integers;
}

export function int64sToBytes(words: Int64s): Uint8Array {
  const bytes = new Uint8Array(4 * words.length);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < words.length; i++) view.setUint32(4 * i, words[i], true);
  return bytes;
}

export function int64sFromBytes(bytes: Uint8Array): Int64s {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const words = new Uint32Array(bytes.length / 4);
  for (let i = 0; i < words.length; i++) words[i] = view.getUint32(4 * i, true);
  return words;
}
