// The discrete Gaussian, exactly: integers drawn by whole numbers alone, so that no rounding of a float shows the noise.
// Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020), algorithms 1 to 3.

/** So many bytes that nobody can guess. */
export type RandomBytes = (count: number) => Uint8Array;

/** A variance as a fraction of whole numbers. */
export interface Variance {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Steps in which a variance is written. */
const VARIANCE_STEPS = 2 ** 20;

/**
 * The fraction at or above a variance: noise is never smaller than what is paid for.
 * @example varianceAtLeast(0.5).denominator // 1048576n
 */
export function varianceAtLeast(variance: number): Variance {
  if (!(variance > 0) || variance > 2 ** 100) throw new RangeError(`variance must be above 0, got ${variance}`);
  return { numerator: BigInt(Math.ceil(variance * VARIANCE_STEPS)), denominator: BigInt(VARIANCE_STEPS) };
}

/**
 * Draws from P(x) proportional to exp(-x^2 / (2 variance)) over the integers.
 * @example
 * const draw = discreteGaussian(varianceAtLeast(2), (count) => crypto.getRandomValues(new Uint8Array(count)));
 * draw();
 */
export function discreteGaussian({ numerator, denominator }: Variance, bytes: RandomBytes): () => bigint {
  const below = uniformBelow(bytes);
  const spread = squareRoot(numerator / denominator) + 1n;
  const divisor = 2n * numerator * denominator * spread * spread;
  return () => {
    while (true) {
      const drawn = discreteLaplace(spread, below);
      const excess = (drawn < 0n ? -drawn : drawn) * spread * denominator - numerator;
      if (isByExponential(excess * excess, divisor, below)) return drawn;
    }
  };
}

/** P(x) proportional to exp(-|x| / scale). */
function discreteLaplace(scale: bigint, below: Below): bigint {
  while (true) {
    const part = below(scale);
    if (!isByExponential(part, scale, below)) continue;
    let whole = 0n;
    while (isByExponential(1n, 1n, below)) whole++;
    const size = part + scale * whole;
    const isNegative = below(2n) === 1n;
    if (!(isNegative && size === 0n)) return isNegative ? -size : size;
  }
}

/** True with probability exp(-numerator / denominator). */
function isByExponential(numerator: bigint, denominator: bigint, below: Below): boolean {
  let left = numerator;
  for (; left > denominator; left -= denominator) if (!isByShortExponential(1n, 1n, below)) return false;
  return isByShortExponential(left, denominator, below);
}

/** The same for a fraction of at most 1: the series of the exponential, a coin for each of its terms. */
function isByShortExponential(numerator: bigint, denominator: bigint, below: Below): boolean {
  let terms = 1n;
  while (below(denominator * terms) < numerator) terms++;
  return terms % 2n === 1n;
}

/** Draws uniformly from 0 to bound - 1. */
type Below = (bound: bigint) => bigint;

const CHUNK = 4096;

function uniformBelow(bytes: RandomBytes): Below {
  let pool = new Uint8Array(0);
  let at = 0;
  const next = () => {
    if (at === pool.length) {
      pool = Uint8Array.from(bytes(CHUNK));
      at = 0;
    }
    return pool[at++];
  };
  return (bound) => {
    if (bound <= 0xffn) return BigInt(smallBelow(Number(bound), next));
    const wanted = Math.ceil((bound - 1n).toString(16).length / 2);
    // What is too large is drawn again; without its upper bits that is less than half of the draws.
    const mask = (1n << BigInt((bound - 1n).toString(2).length)) - 1n;
    while (true) {
      let drawn = 0n;
      for (let i = 0; i < wanted; i++) drawn = (drawn << 8n) | BigInt(next());
      drawn &= mask;
      if (drawn < bound) return drawn;
    }
  };
}

function smallBelow(bound: number, next: () => number): number {
  const most = 256 - (256 % bound);
  let drawn = next();
  while (drawn >= most) drawn = next();
  return drawn % bound;
}

/** The largest integer whose square is at most this. */
function squareRoot(value: bigint): bigint {
  let low = 0n;
  let high = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  while (low < high) {
    const middle = (low + high + 1n) >> 1n;
    if (middle * middle <= value) low = middle;
    else high = middle - 1n;
  }
  return low;
}

export function withNoise(numbers: readonly bigint[], variance: Variance, bytes: RandomBytes): bigint[] {
  const draw = discreteGaussian(variance, bytes);
  return numbers.map((number) => number + draw());
}
