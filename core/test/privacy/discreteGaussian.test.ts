// Noise at the borders of its sampler: bytes that would favour small numbers, and variances between two steps.

import { describe, expect, it } from "vitest";
import { randomStream } from "../../src/data/random.ts";
import { discreteGaussian, type RandomBytes, varianceAtLeast } from "../../src/privacy/discreteGaussian.ts";

const bytesOf = (seed: number): RandomBytes => {
  const random = randomStream(seed, "bytes");
  return (count) => Uint8Array.from({ length: count }, () => Math.floor(256 * random()));
};

/** The standard normal distribution function, to 1e-7 (Abramowitz and Stegun 7.1.26 is enough here). */
function normalBelow(z: number): number {
  const t = 1 / (1 + (0.3275911 * Math.abs(z)) / Math.SQRT2);
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const tail = (series * Math.exp((-z * z) / 2)) / 2;
  return z > 0 ? 1 - tail : tail;
}

describe("discreteGaussian(variance, bytes)", () => {
  // The spread of draws is one above the deviation. Of 256 bytes the last 256 % spread would be taken for small numbers:
  // 1 of 255, 56 of 200, 85 of 171, 127 of 129 and none of 128.
  it.each([128, 129, 171, 200, 254, 255])("favours no numbers where its spread is %d, by chi-square", (spread) => {
    const deviation = spread - 0.5;
    const draw = discreteGaussian(varianceAtLeast(deviation * deviation), bytesOf(spread));
    const [draws, bins] = [20_000, 60];
    const width = Math.ceil((4 * spread) / bins);
    const counts = new Float64Array(bins);
    for (let i = 0; i < draws; i++) {
      const at = Math.floor(Number(draw()) / width) + bins / 2;
      if (at >= 0 && at < bins) counts[at]++;
    }
    let [statistic, freedom] = [0, 0];
    counts.forEach((count, at) => {
      const [from, to] = [at - bins / 2, at + 1 - bins / 2].map((border) => (border * width - 0.5) / deviation);
      const expected = draws * (normalBelow(to) - normalBelow(from));
      if (expected < 5) return;
      statistic += (count - expected) ** 2 / expected;
      freedom++;
    });
    // Wilson and Hilferty: beyond 4.3 deviations is p below 0.00001.
    const z = ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / Math.sqrt(2 / (9 * freedom));
    expect(z).toBeLessThan(4.3);
  });

  it("asks for another byte exactly where one is above the largest multiple of its spread", () => {
    // A spread of 200: bytes below 200 are the number itself, those from 200 on are drawn again.
    const usedFor = (first: number) => {
      const begun = [first, 7];
      let used = 0;
      const rest = bytesOf(1);
      const draw = discreteGaussian(varianceAtLeast(199.5 ** 2), (count) => {
        const more = rest(count);
        if (used++ === 0) more.set(begun);
        return more;
      });
      return draw();
    };
    // Drawn again, the second byte counts; all bytes that are drawn again give the same.
    const again = usedFor(200);
    for (const byte of [201, 230, 255]) expect(usedFor(byte)).toBe(again);
    const numbers = new Set([0, 1, 100, 198, 199].map(usedFor));
    expect(numbers.size).toBeGreaterThan(1);
  });
});

describe("varianceAtLeast(variance)", () => {
  const step = 2 ** -20;
  it.each([
    [step, 1n],
    [step / 1000, 1n],
    [1, 2n ** 20n],
    [1 + step / 4, 2n ** 20n + 1n],
    [1 + step, 2n ** 20n + 1n],
    [1 + step * 1.25, 2n ** 20n + 2n],
    [16.3, BigInt(Math.ceil(16.3 * 2 ** 20))],
  ])("of %d is %d steps: never less than what is paid for", (variance, steps) => {
    expect(varianceAtLeast(variance)).toEqual({ numerator: steps, denominator: 2n ** 20n });
  });

  it("is at or above the variance and less than a step beyond it, for any", () => {
    const random = randomStream(1, "variances");
    for (let i = 0; i < 10_000; i++) {
      const variance = 10 ** (10 * random() - 5);
      const { numerator, denominator } = varianceAtLeast(variance);
      // Both are exact: a double times a power of two.
      const steps = variance * Number(denominator);
      expect(Number(numerator)).toBeGreaterThanOrEqual(steps);
      expect(Number(numerator)).toBeLessThan(steps + 1);
    }
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 100 * 1.001])("of %d is refused", (variance) => {
    expect(() => varianceAtLeast(variance)).toThrow(/^variance must be above 0/);
  });
});
