// What a link costs by the discrepancy d of its ends: d itself, its root, or no more than a limit.

import { checkNumber, checkOneOf } from "../data/check.ts";

/**
 * norm: sqrt(d + scale) - sqrt(scale), the root of the network lasso, rounded off near 0. truncated: min(d, scale), so
 * that a link between strangers pulls no more. The scale is in units of d.
 */
export interface ScaledPenalty {
  readonly name: "norm" | "truncated";
  readonly scale: number;
}

/** What a link costs, with its scale. */
export type Penalty = "squared" | ScaledPenalty;

/** A name alone leaves the scale to `fit`. */
export type PenaltyOption = Penalty | ScaledPenalty["name"];

export const penalties = ["squared", "norm", "truncated"] as const;

export function checkPenalty(penalty: PenaltyOption): void {
  if (typeof penalty !== "object" || penalty === null) {
    checkOneOf("penalty", penalty, penalties);
    return;
  }
  checkOneOf("penalty.name", penalty.name, ["norm", "truncated"]);
  checkNumber("penalty.scale", penalty.scale, (value) => value > 0, "a finite number above 0");
}

/** A penalty that can be computed without data. */
export function checkScaled(penalty: PenaltyOption): Penalty {
  checkPenalty(penalty);
  if (penalty === "squared" || typeof penalty === "object") return penalty;
  throw new RangeError(
    `penalty must have a scale here, { name: "${penalty}", scale } (fit returns it), got "${penalty}"`,
  );
}

export function costOf({ name, scale }: ScaledPenalty, d: number): number {
  // Not the difference of two roots: near 0 its digits would cancel.
  return name === "norm" ? d / (Math.sqrt(d + scale) + Math.sqrt(scale)) : Math.min(d, scale);
}

/**
 * The slope of the cost. Costs are concave in d, so the tangent at a state lies above them everywhere and touches them
 * there: an update that lowers the sum of A(i, j) slope d lowers the sum of A(i, j) cost. Both ends of a link compute the
 * same slope from the same state, so that holds for updates one by one and, under its rules, for all devices at once.
 */
export function slopeOf({ name, scale }: ScaledPenalty, d: number): number {
  if (name === "norm") return 1 / (2 * Math.sqrt(d + scale));
  return d < scale ? 1 : 0;
}

/** As a multiple of the discrepancy that two devices with the same clusters have by chance. */
const SCALES = { norm: 0.01, truncated: 4 };

/** `chance`: the discrepancy that two devices with the same clusters have by chance. */
export function scaled(penalty: PenaltyOption, chance: () => number): Penalty {
  if (penalty === "squared" || typeof penalty === "object") return penalty;
  const scale = SCALES[penalty] * chance();
  if (scale > 0) return { name: penalty, scale };
  const rule = `{ name: "${penalty}", scale } (no device has more points than clusters, or they do not vary)`;
  throw new RangeError(`penalty must be ${rule}, got "${penalty}"`);
}
