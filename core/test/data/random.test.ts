import { normalStream, randomStream } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { exp, ln } from "../../src/data/elementary.ts";
import { dirichlet, shuffled } from "../../src/data/random.ts";

const draw = (count: number, next: () => number) => Array.from({ length: count }, next);
const mean = (values: number[]) => values.reduce((a, b) => a + b) / values.length;

describe("randomStream(seed, ...path)", () => {
  it("gives these numbers on every platform", () => {
    expect(draw(3, randomStream(1))).toEqual([0.6709211804828921, 0.5581482379597925, 0.6645676833105438]);
    expect(draw(2, normalStream(randomStream(1)))).toEqual([1.910998909641826, 0.6501313589387439]);
  });

  it("is another stream for another seed, device or purpose", () => {
    const paths: [number, ...(string | number)[]][] = [
      [0],
      [1],
      [-1],
      [2 ** 32],
      [2 ** 40],
      [1, "a"],
      [1, "b"],
      [1, "a", 0],
      [1, "a", 1],
      [1, 0, "a"],
      [1, "a0"],
      [1, "ab"],
      [1, "a", "b"],
      [1, 1],
      [1, "1"],
    ];
    const firsts = paths.map(([seed, ...path]) => randomStream(seed, ...path)());
    expect(new Set(firsts).size).toBe(paths.length);
  });

  it("is uniform: neighbouring devices share no pattern", () => {
    const firsts = Array.from({ length: 20_000 }, (_, device) => randomStream(7, "init", device)());
    expect(Math.abs(mean(firsts) - 0.5)).toBeLessThan(0.01);
    const lagged = firsts.slice(1).map((x, i) => (x - 0.5) * (firsts[i] - 0.5));
    expect(Math.abs(mean(lagged)) * 12).toBeLessThan(0.03);
    const bins = new Array<number>(20).fill(0);
    for (const x of firsts) bins[Math.floor(20 * x)]++;
    for (const count of bins) expect(Math.abs(count - 1000)).toBeLessThan(160);
  });
});

describe("distributions", () => {
  it("normalStream has mean 0, variance 1, and the tails of a normal", () => {
    const values = draw(100_000, normalStream(randomStream(3)));
    expect(Math.abs(mean(values))).toBeLessThan(0.015);
    expect(mean(values.map((x) => x * x))).toBeCloseTo(1, 1);
    expect(mean(values.map((x) => x ** 4))).toBeCloseTo(3, 0);
    expect(values.filter((x) => Math.abs(x) > 1.96).length / 100_000).toBeCloseTo(0.05, 2);
  });

  it("dirichlet has equal means, sums to 1, and the variance of its concentration", () => {
    const random = randomStream(4);
    for (const concentration of [0.05, 0.2, 1, 10]) {
      const draws = Array.from({ length: 4000 }, () => dirichlet(5, concentration, random));
      for (const shares of draws.slice(0, 50)) expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
      const first = draws.map((shares) => shares[0]);
      const variance = mean(first.map((x) => x * x)) - mean(first) ** 2;
      expect(mean(first)).toBeCloseTo(0.2, 1);
      expect(variance / ((0.2 * 0.8) / (5 * concentration + 1))).toBeCloseTo(1, 0);
    }
  });

  it("shuffled is a permutation, every position equally likely", () => {
    const random = randomStream(5);
    const counts = new Array<number>(16).fill(0);
    for (let t = 0; t < 4000; t++) {
      const order = shuffled(4, random);
      expect(Array.from(order).sort()).toEqual([0, 1, 2, 3]);
      for (const [at, value] of order.entries()) counts[4 * at + value]++;
    }
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});

describe("ln and exp", () => {
  it("agree with the platform's to rounding", () => {
    const random = randomStream(6);
    for (let t = 0; t < 20_000; t++) {
      const x = Math.exp(1400 * random() - 700);
      expect(Math.abs(ln(x) - Math.log(x))).toBeLessThanOrEqual(4e-16 * Math.max(1, Math.abs(Math.log(x))));
      const y = 1400 * random() - 700;
      expect(Math.abs(exp(y) / Math.exp(y) - 1)).toBeLessThanOrEqual(1e-15);
    }
    expect([ln(1), ln(0), exp(0), exp(-800)]).toEqual([0, Number.NEGATIVE_INFINITY, 1, 0]);
  });
});
