// Which problems a random test draws, and how many: few and always the same in npm test, many fresh ones in npm run test:long.

import { expect } from "vitest";

/** npm run test:long draws a fresh one and prints it (vitest.config.ts); FEDKM_TEST_SEED=7 asks for these problems again. */
export const testSeed = Number(process.env.FEDKM_TEST_SEED ?? 20261115);

/** A file x.long.test.ts does nothing but import x.test.ts, and its tests then draw `long` problems instead of `short`. */
export function runs({ short, long }: { readonly short: number; readonly long: number }): number {
  return expect.getState().testPath?.endsWith(".long.test.ts") ? long : short;
}

/** For fc.assert, which prints the seed of a property that fails. */
export function propertyParameters(counts: { readonly short: number; readonly long: number }) {
  return { numRuns: runs(counts), seed: testSeed };
}
