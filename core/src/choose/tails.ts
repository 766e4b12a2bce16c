// How unlikely a statistic is by chance: the upper tails of the F distribution and of Fisher's sum, as logarithms.

import { exp, ln } from "../data/elementary.ts";

/** ln P(F > value) for a ratio of two mean squares with so many degrees of freedom, which need not be whole. */
export function lnTailOfF(value: number, above: number, below: number): number {
  if (!(value > 0)) return 0;
  if (value === Number.POSITIVE_INFINITY) return Number.NEGATIVE_INFINITY;
  return lnBeta(below / (below + above * value), below / 2, above / 2);
}

/**
 * Fisher's combination of independent tests, from the logarithms of their p-values: -2 times their sum is chi-square with
 * two degrees of freedom for each. Returns the logarithm of the p-value of all of them together.
 */
export function lnFisher(lnTails: readonly number[]): number {
  const half = -lnTails.reduce((sum, tail) => sum + tail, 0);
  if (half === Number.POSITIVE_INFINITY) return Number.NEGATIVE_INFINITY;
  // e^-half * sum_{m < tests} half^m / m!, with its largest term taken out: the terms can overflow.
  let [lnTerm, largest] = [0, 0];
  const terms = lnTails.map((_, m) => {
    if (m > 0) lnTerm += ln(half / m);
    largest = Math.max(largest, lnTerm);
    return lnTerm;
  });
  return Math.min(0, largest - half + ln(terms.reduce((sum, term) => sum + exp(term - largest), 0)));
}

/** ln of the regularised incomplete beta function I_x(a, b). */
function lnBeta(x: number, a: number, b: number): number {
  if (x >= 1) return 0;
  if (x <= 0) return Number.NEGATIVE_INFINITY;
  const lnFront = lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * ln(x) + b * ln(1 - x);
  // The fraction converges fast on this side of the mean only; on the other one, I_x(a, b) = 1 - I_1-x(b, a).
  if (x < (a + 1) / (a + b + 2)) return lnFront + ln(fraction(x, a, b) / a);
  return ln(Math.max(0, 1 - exp(lnFront) * (fraction(1 - x, b, a) / b)));
}

/** Lentz's evaluation of the continued fraction of the incomplete beta function. */
function fraction(x: number, a: number, b: number): number {
  const awayFromZero = (value: number) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1;
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= 1000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / awayFromZero(1 + even * d);
    c = awayFromZero(1 + even / c);
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / awayFromZero(1 + odd * d);
    c = awayFromZero(1 + odd / c);
    value *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return value;
}

/** Stirling's series, from 10 upwards exact to about 1e-14. */
function lnGamma(x: number): number {
  if (x < 10) return lnGamma(x + 1) - ln(x);
  const square = 1 / (x * x);
  const series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / x;
  return (x - 0.5) * ln(x) - x + 0.5 * ln(2 * Math.PI) + series;
}
