// The budget of Gaussian noise against whole numbers of 400 bits: what is bought never costs more than was promised.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { propertyParameters } from "../../../test/runs.ts";
import { epsilonOf, rhoOf } from "../../src/privacy/releases.ts";
import { epsilonOfMu, muOf } from "../../src/release/gaussianBudget.ts";

// Numbers in steps of 2^-400, as big integers: those of the code, which are doubles, are exact in them.

const BITS = 400n;
const ONE = 1n << BITS;
const times = (a: bigint, b: bigint) => (a * b) >> BITS;
const over = (a: bigint, b: bigint) => (a << BITS) / b;

function exactly(x: number): bigint {
  let [whole, shift] = [x, 0n];
  for (; !Number.isInteger(whole); shift++) whole *= 2;
  return (BigInt(whole) << BITS) >> shift;
}

/** The sum of terms of which each follows from the one before, until none is left. */
function sumOf(first: bigint, next: (term: bigint, n: bigint) => bigint): bigint {
  let [sum, term] = [0n, first];
  for (let n = 1n; term !== 0n && term !== -1n; n++) {
    sum += term;
    term = next(term, n);
  }
  return sum;
}

/** e to the x, halved until it is small and then squared again. */
function exp(x: bigint): bigint {
  const halvings = 12n;
  const small = x >> halvings;
  let power = sumOf(ONE, (term, n) => times(term, small) / n);
  for (let i = 0n; i < halvings; i++) power = times(power, power);
  return power;
}

/** Machin's formula. */
const arctanOfInverse = (n: bigint) => {
  let [sum, power] = [0n, ONE / n];
  for (let i = 1n; power > 0n; i += 2n, power /= n * n) sum += (i % 4n === 1n ? power : -power) / i;
  return sum;
};
const TWO_PI = 8n * (4n * arctanOfInverse(5n) - arctanOfInverse(239n));
const ROOT_OF_TWO_PI = rootOf(TWO_PI);

function rootOf(x: bigint): bigint {
  let root = ONE << 8n;
  for (let i = 0; i < 30; i++) root = (root + over(x, root)) / 2n;
  return root;
}

/** The normal distribution function: 1/2 + density(x) (x + x^3/3 + x^5/15 + ..). */
function normalBelow(x: bigint): bigint {
  const square = times(x, x);
  const density = over(exp(-square / 2n), ROOT_OF_TWO_PI);
  return (
    ONE / 2n +
    times(
      density,
      sumOf(x, (term, n) => times(term, square) / (2n * n + 1n)),
    )
  );
}

const isAtMost = (spent: bigint, delta: number) => spent <= exactly(delta);

/** What noise of this mu spends of delta at this epsilon, and what whole numbers add to it (docs/privacy.md). */
function spentOf(epsilon: number, mu: number): bigint {
  const [e, m] = [exactly(epsilon), exactly(mu)];
  const growth = exp(e);
  const spent = normalBelow(m / 2n - over(e, m)) - times(growth, normalBelow(-m / 2n - over(e, m)));
  const whole = ((ONE + growth) * 4n * 2n ** 19n) / (100n * 2n ** 48n);
  return spent + times(whole, times(m, m));
}

/** The same of concentrated differential privacy: its bound at the order that gives about the least. */
function concentratedSpentOf(epsilon: number, rho: number): bigint {
  const logAt = (x: number) =>
    Math.exp(x) * ((1 + Math.exp(x)) * rho - epsilon) - Math.log1p(Math.exp(-x)) * (1 + Math.exp(x)) - x;
  let [low, high] = [-30, 30];
  for (let i = 0; i < 100; i++) {
    const third = (high - low) / 3;
    if (logAt(low + third) < logAt(high - third)) high -= third;
    else low += third;
  }
  const excess = exactly(Math.exp(low));
  const order = ONE + excess;
  const ratio = over(ONE, order + excess);
  // The logarithm of excess / order.
  const log = -2n * sumOf(ratio, (term, n) => (times(term, times(ratio, ratio)) * (2n * n - 1n)) / (2n * n + 1n));
  const power = times(excess, times(order, exactly(rho)) - exactly(epsilon)) + times(order, log);
  return over(exp(power), excess);
}

const between = (least: number, most: number) =>
  fc.double({ min: Math.log(least), max: Math.log(most), noNaN: true }).map(Math.exp);
/** Far beyond what studies may say. */
const terms = fc.record({ epsilon: between(1e-6, 100), delta: between(1e-15, 0.5) });
const draws = () => propertyParameters({ short: 300, long: 5_000 });

describe("the answer in whole numbers", () => {
  test("knows the normal distribution function", () => {
    // By scipy.stats.norm.cdf.
    const known = [
      [0, 0.5],
      [1, 0.8413447460685429],
      [-1.5, 0.06680720126885807],
      [-8, 6.220960574271785e-16],
    ] as const;
    for (const [x, below] of known) expect(Number(normalBelow(exactly(x))) / Number(ONE) / below).toBeCloseTo(1, 12);
  });

  test("is the code's to 1 % of delta, so that nothing is given away", () => {
    for (const [epsilon, delta] of [
      [0.01, 1e-5],
      [0.5, 1e-9],
      [1, 1e-5],
      [5, 1e-3],
    ] as const) {
      expect(isAtMost(spentOf(epsilon, muOf(epsilon, delta)), 0.99 * delta)).toBe(false);
      expect(isAtMost(concentratedSpentOf(epsilon, rhoOf(epsilon, delta)), 0.99 * delta)).toBe(false);
    }
  });
});

describe("the budget of Gaussian noise", () => {
  // By scipy: brentq of norm.cdf(m/2 - e/m) - exp(e) norm.cdf(-m/2 - e/m) - delta.
  test.each([
    [0.1, 1e-5, 0.0325207841],
    [0.5, 1e-5, 0.1422105587],
    [1, 1e-5, 0.2680511232],
    [5, 1e-5, 1.1212418238],
    [1, 1e-9, 0.1819748073],
  ])("epsilon %d and delta %d", (epsilon, delta, mu) => {
    expect(muOf(epsilon, delta) / mu).toBeLessThanOrEqual(1);
    expect(muOf(epsilon, delta) / mu).toBeGreaterThan(0.999);
  });

  test("an epsilon at which whole numbers show is paid for as in concentrated differential privacy", () => {
    for (const epsilon of [12, 20, 100]) {
      expect(muOf(epsilon, 1e-9)).toBeCloseTo(Math.sqrt(2 * rhoOf(epsilon, 1e-9)), 8);
    }
  });
});

describe("what is bought", () => {
  test("never spends more of delta than was promised, at any delta", () => {
    fc.assert(
      fc.property(terms, ({ epsilon, delta }) => {
        const rho = rhoOf(epsilon, delta);
        expect(isAtMost(concentratedSpentOf(epsilon, rho), delta)).toBe(true);
        const mu = muOf(epsilon, delta);
        if (mu ** 2 / 2 > rho * (1 + 1e-15)) expect(isAtMost(spentOf(epsilon, mu), delta)).toBe(true);
      }),
      draws(),
    );
  });

  test("never reads as more epsilon than was asked, not by the last bit", () => {
    fc.assert(
      fc.property(terms, ({ epsilon, delta }) => {
        expect(epsilonOf(rhoOf(epsilon, delta), delta)).toBeLessThanOrEqual(epsilon);
        expect(epsilonOfMu(muOf(epsilon, delta), delta)).toBeLessThanOrEqual(epsilon);
      }),
      draws(),
    );
  });

  test("reads as an epsilon that it keeps", () => {
    fc.assert(
      fc.property(between(1e-6, 10), between(1e-15, 0.5), (mu, delta) => {
        const epsilon = epsilonOfMu(mu, delta);
        const concentrated = epsilonOf(mu ** 2 / 2, delta);
        if (epsilon < concentrated) expect(isAtMost(spentOf(epsilon, mu), delta)).toBe(true);
        else expect(isAtMost(concentratedSpentOf(concentrated, mu ** 2 / 2), delta)).toBe(true);
      }),
      draws(),
    );
  });
});
