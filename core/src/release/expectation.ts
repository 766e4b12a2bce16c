// What noise will cost, from public figures alone, before anything is released: so that a study can be refused, or an owner
// told, while nothing is spent. The bounds are those of 84 runs on 21 sets: see docs/privacy.md.

import type { ReleaseRules } from "./rounds.ts";

/**
 * fine: next to nothing. costly: some percent. risky: clusters may be missed. useless: as good as one mean for all.
 */
export type NoiseVerdict = "fine" | "costly" | "risky" | "useless";

const BOUNDS: readonly (readonly [number, NoiseVerdict])[] = [
  [0.03, "fine"],
  [0.1, "costly"],
  [0.3, "risky"],
];
/** Of the budget, what the votes for candidates cost. */
const SEED_SHARE = 0.225;
/** A cluster is seen that stands out by so many deviations of the noise on a count. */
const SEEN = 6;

/** For about so many rows in all; `mu` is that of the rules, less what colluders take off. */
export function noiseVerdict({ k, low, mu }: Pick<ReleaseRules, "k" | "low" | "mu">, rows: number): NoiseVerdict {
  const index = (k * Math.sqrt(low.length)) / (mu * rows);
  return BOUNDS.find(([most]) => index <= most)?.[1] ?? "useless";
}

/** Clusters of fewer rows are likely to be missed. */
export function smallestSeenCluster({ mu }: Pick<ReleaseRules, "mu">): number {
  return Math.ceil(SEEN / (mu * Math.sqrt(SEED_SHARE)));
}
