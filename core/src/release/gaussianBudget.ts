// What Gaussian noise costs, exactly: mu of Gaussian differential privacy, whose squares add up over adaptive rounds (Dong,
// Roth and Su 2019), and (epsilon, delta), which people read (Balle and Wang 2018). Only + - * / and square roots, so that
// every device finds the same bits. docs/privacy.md has the argument for whole numbers.

import { exp, ln } from "../data/elementary.ts";

/** Sums are sent in this many steps of what one row can change in them. */
export const STEPS = 2 ** 24;
/** No round asks for more numbers of a device. */
const MOST_NUMBERS = 2 ** 17;
/**
 * Discrete noise of deviation s differs from rounded continuous noise by less than this over s^2, in total variation: the
 * mass at x is the integral over its cell up to (x^2 / s^2 - 1) / (24 s^2).
 */
const DISCRETE = 0.04;
const HALVES = 100;

/** The most mu that (epsilon, delta) pays for. */
export function muOf(epsilon: number, delta: number): number {
  const continuous = largestMu(epsilon, delta);
  // Every number of a round differs a little from a rounded continuous one; the shares of rounds add up to 1.
  const slack = ((1 + exp(epsilon)) * DISCRETE * continuous ** 2 * MOST_NUMBERS) / STEPS ** 2;
  if (slack > delta / 2) throw new RangeError(`epsilon must be smaller for a delta of ${delta}, got ${epsilon}`);
  return largestMu(epsilon, delta - slack);
}

function largestMu(epsilon: number, delta: number): number {
  let [low, high] = [0, 4 + 2 * epsilon];
  for (let i = 0; i < HALVES; i++) {
    const middle = (low + high) / 2;
    if (deltaOf(epsilon, middle) <= delta) low = middle;
    else high = middle;
  }
  return low;
}

/** The least epsilon that mu promises at this delta. */
export function epsilonOfMu(mu: number, delta: number): number {
  let [low, high] = [0, mu * mu + 2 * mu * Math.sqrt(-2 * ln(delta))];
  for (let i = 0; i < HALVES; i++) {
    const middle = (low + high) / 2;
    if (deltaOf(middle, mu) <= delta) high = middle;
    else low = middle;
  }
  return high;
}

/** Phi(a) - e^epsilon Phi(b) with a = mu/2 - epsilon/mu and b = -mu/2 - epsilon/mu, of which the densities cancel e^epsilon. */
function deltaOf(epsilon: number, mu: number): number {
  const a = mu / 2 - epsilon / mu;
  const b = -mu / 2 - epsilon / mu;
  return density(a) * (millsRatio(-a) - millsRatio(-b));
}

const density = (x: number) => exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** (1 - Phi(x)) / density(x). */
function millsRatio(x: number): number {
  if (x < 0) return 1 / density(x) - millsRatio(-x);
  if (x < 3) {
    let term = x;
    let series = x;
    for (let n = 3; n < 120; n += 2) {
      term *= (x * x) / n;
      series += term;
    }
    return 0.5 / density(x) - series;
  }
  let fraction = x;
  for (let n = 200; n >= 1; n--) fraction = x + n / fraction;
  return 1 / fraction;
}
