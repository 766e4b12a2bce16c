// What releases cost: rho of zero-concentrated differential privacy, which adds up, and (epsilon, delta), which people read.
// The bound between the two is corollary 13 of Canonne, Kamath and Steinke (2020).

import { exp, ln } from "../data/elementary.ts";

/** The smallest epsilon that rho promises at this delta. */
export function epsilonOf(rho: number, delta: number): number {
  return bisect((epsilon) => logDelta(rho, epsilon) <= ln(delta), rho + 2 * Math.sqrt(rho * ln(1 / delta)), "least");
}

/** The most rho that (epsilon, delta) pays for. */
export function rhoOf(epsilon: number, delta: number): number {
  return bisect((rho) => logDelta(rho, epsilon) > ln(delta), epsilon, "most");
}

/** Rounds after which halves of an interval are below its last bit. */
const HALVES = 60;

/** The smallest number that `isAbove` holds for, up to `high`, from the side that keeps the promise. */
function bisect(isAbove: (value: number) => boolean, high: number, side: "least" | "most"): number {
  let [low, top] = [0, high];
  for (let i = 0; i < HALVES; i++) {
    const middle = (low + top) / 2;
    if (isAbove(middle)) top = middle;
    else low = middle;
  }
  return side === "least" ? top : low;
}

/** ln delta, at the order of Rényi divergence that gives the least. */
function logDelta(rho: number, epsilon: number): number {
  const at = (logExcess: number) => {
    const excess = exp(logExcess);
    const order = 1 + excess;
    return excess * (order * rho - epsilon) + order * (logExcess - ln(order)) - logExcess;
  };
  let [low, high] = [-30, 30];
  for (let i = 0; i < HALVES; i++) {
    const third = (high - low) / 3;
    if (at(low + third) < at(high - third)) high -= third;
    else low += third;
  }
  return Math.min(0, at((low + high) / 2));
}
