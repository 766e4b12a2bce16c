// What Gaussian noise costs, exactly: mu of Gaussian differential privacy, whose squares add up over adaptive rounds (Dong,
// Roth and Su 2019), and (epsilon, delta), which people read (Balle and Wang 2018). Only + - * / and square roots, so that
// every device finds the same bits. docs/privacy.md has the argument for whole numbers.

import { exp } from "../data/elementary.ts";
import { epsilonOf, rhoOf } from "../privacy/releases.ts";

/** Sums are sent in this many steps of what one row can change in them. */
export const STEPS = 2 ** 24;
/** No round asks for more numbers of a device: four for each column, of which a frame has room for 2^17. */
const MOST_NUMBERS = 2 ** 19;
/**
 * Discrete noise of deviation s differs from rounded continuous noise by less than this over s^2, in total variation: the
 * mass at x is the integral over its cell up to (x^2 / s^2 - 1) / (24 s^2).
 */
const DISCRETE = 0.04;
const HALVES = 100;
const LOOKS = 256;

/** What whole numbers add to delta: every number differs a little from a rounded continuous one. The shares of rounds add
 *  up to 1, so that of all rounds together the largest counts. */
const discreteSlack = (epsilon: number, mu: number) =>
  ((1 + exp(epsilon)) * DISCRETE * mu ** 2 * MOST_NUMBERS) / STEPS ** 2;

/** Of delta, so much is not spent: rounding errors are far below it, and what was bought never costs more than was asked. */
const KEPT = 2 ** -30;

/** The most mu that (epsilon, delta) pays for; at least as much as concentrated differential privacy allows. */
export function muOf(epsilon: number, delta: number): number {
  const spent = delta * (1 - KEPT);
  const concentrated = Math.sqrt(2 * rhoOf(epsilon, spent));
  return halve(concentrated, 4 + 2 * epsilon, (mu) => isWithin(epsilon, mu, spent)) ?? concentrated;
}

/** The least epsilon that mu promises at this delta. */
export function epsilonOfMu(mu: number, delta: number): number {
  const concentrated = epsilonOf((mu * mu) / 2, delta);
  // A large epsilon may be out of reach where a smaller one is not, since whole numbers add more to delta there.
  const starts = Array.from({ length: LOOKS }, (_, n) => (concentrated * (LOOKS - n)) / LOOKS);
  const start = starts.find((epsilon) => isWithin(epsilon, mu, delta));
  return (start && halve(start, 0, (epsilon) => isWithin(epsilon, mu, delta))) ?? concentrated;
}

function isWithin(epsilon: number, mu: number, delta: number): boolean {
  return deltaOf(epsilon, mu) + discreteSlack(epsilon, mu) <= delta;
}

/** The last value on the way to `end` that is good; undefined: the first one is not. */
function halve(good: number, end: number, isGood: (value: number) => boolean): number | undefined {
  if (!isGood(good)) return undefined;
  let [from, to] = [good, end];
  for (let i = 0; i < HALVES; i++) {
    const middle = (from + to) / 2;
    if (isGood(middle)) from = middle;
    else to = middle;
  }
  return from;
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
