// How many problems a random test draws and from which seed: few from a fixed one in npm test, many from a fresh one in
// npm run test:long.

import { expect } from "vitest";

/** The seed of every property in npm test, so that it passes or fails the same way every time. */
const FIXED_SEED = 27;

/** A file x.long.test.ts does nothing but import x.test.ts, and its tests then draw `long` problems instead of `short`. */
export function runs({ short, long }: { readonly short: number; readonly long: number }): number {
  return isLong() ? long : short;
}

/** The parameters of fc.assert, which prints the seed when a property fails. */
export function draws(problems: { readonly short: number; readonly long: number }) {
  return { numRuns: runs(problems), seed: isLong() ? Date.now() | 0 : FIXED_SEED };
}

function isLong(): boolean {
  return expect.getState().testPath?.endsWith(".long.test.ts") === true;
}
