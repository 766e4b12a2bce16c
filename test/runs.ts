// How many problems a random test draws: few in npm test, many in npm run test:long.

import { expect } from "vitest";

/** A file x.long.test.ts does nothing but import x.test.ts, and its tests then draw `long` problems instead of `short`. */
export function runs({ short, long }: { readonly short: number; readonly long: number }): number {
  return expect.getState().testPath?.endsWith(".long.test.ts") ? long : short;
}
