// What Gaussian noise costs, exactly: mu of Gaussian differential privacy, whose squares add up over adaptive rounds (Dong,
// Roth and Su 2019), and (epsilon, delta), which people read (Balle and Wang 2018). Only + - * / and square roots, so that
// every device finds the same bits. docs/privacy.md has the argument for whole numbers.

import { exp } from "../data/elementary.ts";
import { epsilonOf, ROUNDING, rhoOf } from "../privacy/releases.ts";

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

/**
 * The most mu that (epsilon, delta) pays for; at least as much as concentrated differential privacy allows.
 * @example muOf(1, 1e-6).toFixed(3) // "0.237"
 */
export function muOf(epsilon: number, delta: number): number {
  const concentrated = Math.sqrt(2 * rhoOf(epsilon, delta));
  return halve(concentrated, 4 + 2 * epsilon, (mu) => isWithin(epsilon, mu, delta, 2 * ROUNDING)) ?? concentrated;
}

/**
 * The least epsilon that mu promises at this delta.
 * @example epsilonOfMu(muOf(1, 1e-6), 1e-6).toFixed(3) // "1.000"
 */
export function epsilonOfMu(mu: number, delta: number): number {
  const concentrated = epsilonOf((mu * mu) / 2, delta);
  // A large epsilon may be out of reach where a smaller one is not, since whole numbers add more to delta there.
  const starts = Array.from({ length: LOOKS }, (_, n) => (concentrated * (LOOKS - n)) / LOOKS);
  const start = starts.find((epsilon) => isWithin(epsilon, mu, delta, ROUNDING));
  return (start && halve(start, 0, (epsilon) => isWithin(epsilon, mu, delta, ROUNDING))) ?? concentrated;
}

function isWithin(epsilon: number, mu: number, delta: number, rounding: number): boolean {
  return deltaOf(epsilon, mu, rounding) + discreteSlack(epsilon, mu) <= delta;
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
function deltaOf(epsilon: number, mu: number, rounding: number): number {
  const a = mu / 2 - epsilon / mu;
  const b = -mu / 2 - epsilon / mu;
  return density(a) * (millsRatio(-a) * (1 + rounding) - millsRatio(-b) * (1 - rounding));
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

// What noise will cost, from public figures alone, before anything is released: so that a study can be refused, or an owner
// told, while nothing is spent. The bounds are those of 84 runs on 21 sets: see docs/privacy.md.

/**
 * fine: next to nothing. costly: some percent. risky: clusters may be missed. useless: as good as one mean for all.
 */
export type NoiseVerdict = "fine" | "costly" | "risky" | "useless";

/** Of the rules of a release: its clusters, the lower bounds of its columns, and its budget. */
interface NoiseTerms {
  readonly k: number;
  readonly low: Float64Array;
  readonly mu: number;
}

const BOUNDS: readonly (readonly [number, NoiseVerdict])[] = [
  [0.03, "fine"],
  [0.1, "costly"],
  [0.3, "risky"],
];
/** Of the budget, what the votes for candidates cost. */
const SEED_SHARE = 0.225;
/** A cluster is seen that stands out by so many deviations of the noise on a count. */
const SEEN = 6;

/**
 * For about so many rows in all; `mu` is that of the rules, less what colluders take off.
 * @example noiseVerdict({ k: 3, low: Float64Array.of(0, 0), mu: 0.5 }, 1000) // "fine"
 */
export function noiseVerdict({ k, low, mu }: NoiseTerms, rows: number): NoiseVerdict {
  const index = (k * Math.sqrt(low.length)) / (mu * rows);
  return BOUNDS.find(([most]) => index <= most)?.[1] ?? "useless";
}

/**
 * Clusters of fewer rows are likely to be missed.
 * @example smallestSeenCluster({ mu: 0.5 }) // 26
 */
export function smallestSeenCluster({ mu }: Pick<NoiseTerms, "mu">): number {
  return Math.ceil(SEEN / (mu * Math.sqrt(SEED_SHARE)));
}
