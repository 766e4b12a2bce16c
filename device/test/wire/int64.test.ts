// Integers modulo 2^64 against the language's own.

import fc from "fast-check";
import { expect, it } from "vitest";
import { testSeed } from "../../../test/runs.ts";
import {
  addInt64s,
  fromInt64s,
  int64sFromBytes,
  int64sToBytes,
  subtractInt64s,
  toInt64s,
} from "../../src/wire/int64.ts";

const integer = fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }).map((value) => Number(value));
const words = (value: bigint) => int64sFromBytes(new Uint8Array(BigUint64Array.of(BigInt.asUintN(64, value)).buffer));

it("sums and differences are those of bigints modulo 2^64", () => {
  const any = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  fc.assert(
    fc.property(any, any, (a, b) => {
      const [sum, difference] = [words(a), words(a)];
      addInt64s(sum, words(b));
      subtractInt64s(difference, words(b));
      expect(sum).toEqual(words(a + b));
      expect(difference).toEqual(words(a - b));
    }),
    { seed: testSeed },
  );
});

it("whole numbers of any sign come back, and so do bytes", () => {
  fc.assert(
    fc.property(fc.array(integer), (numbers) => {
      const there = toInt64s(numbers);
      expect(Array.from(fromInt64s(there))).toEqual(numbers.map((number) => number + 0));
      expect(int64sFromBytes(int64sToBytes(there))).toEqual(there);
    }),
    { seed: testSeed },
  );
});
