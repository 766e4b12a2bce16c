// Rounds of noisy sums: what one row can change, what is paid, and that the clusters are found.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Matrix, stack, takeRows } from "../../src/data/matrix.ts";
import { normalStream, randomStream } from "../../src/data/random.ts";
import { predict } from "../../src/kernel/model.ts";
import { muOf, STEPS } from "../../src/release/gaussianBudget.ts";
import {
  type Knowledge,
  knowledgeLength,
  nothingKnown,
  packKnowledge,
  partDeviation,
  type ReleaseRules,
  releasedCentroids,
  releaseRounds,
  unpackKnowledge,
  type WeighedRows,
} from "../../src/release/rounds.ts";
import { kmeans } from "../../src/start/kmeans.ts";

function rulesFor(cols: number, k: number, mu: number, seed = 1): ReleaseRules {
  return { k, low: new Float64Array(cols).fill(-1), high: new Float64Array(cols).fill(1), mu, seed };
}

/** k clusters of this deviation within [-1, 1]. */
function blobs(rows: number, cols: number, k: number, deviation: number, seed: number): Matrix {
  const random = randomStream(seed, "blobs");
  const normal = normalStream(random);
  const centres = Float64Array.from({ length: k * cols }, () => 1.4 * random() - 0.7);
  const data = new Float64Array(rows * cols);
  for (let r = 0; r < rows; r++) {
    const c = Math.floor(k * random());
    for (let i = 0; i < cols; i++) {
      data[r * cols + i] = Math.min(1, Math.max(-1, centres[c * cols + i] + deviation * normal()));
    }
  }
  return { data, rows, cols };
}

/** All rounds on these rows. `watch` sees each round before its noise. */
function run(
  rules: ReleaseRules,
  rows: Matrix,
  noiseSeed: number,
  watch: (round: ReturnType<typeof releaseRounds>[number], known: Knowledge) => void = () => undefined,
): Knowledge {
  const normal = normalStream(randomStream(noiseSeed, "noise"));
  let known = nothingKnown;
  for (const round of releaseRounds(rules)) {
    watch(round, known);
    const totals = round.integers(known, rows);
    let at = 0;
    for (const part of round.parts(known)) {
      const deviation = partDeviation(rules, part);
      for (let i = 0; i < part.length; i++) totals[at++] += Math.round(deviation * normal());
    }
    known = round.learn(known, totals, 1);
  }
  return known;
}

function costOf(rows: Matrix, centroids: Matrix): number {
  const labels = predict(centroids, rows);
  let sum = 0;
  for (let i = 0; i < rows.data.length; i++) {
    sum += (rows.data[i] - centroids.data[labels[Math.floor(i / rows.cols)] * rows.cols + (i % rows.cols)]) ** 2;
  }
  return sum;
}

const WIDTHS = [1, 2, 3, 5, 8, 12, 70];

/** Of all parts of all rounds, the longest way that a sum moves when these rows come, in steps. */
function longestMove(rules: ReleaseRules, rows: Matrix, added: WeighedRows, seed: number): number {
  const ones = new Float64Array(rows.rows).fill(1);
  const weights = Float64Array.of(...ones, ...(added.weights ?? new Float64Array(added.rows).fill(1)));
  const more: WeighedRows = { ...stack([rows, added]), weights };
  let longest = 0;
  run(rules, rows, seed, (round, known) => {
    const [without, withRows] = [round.integers(known, rows), round.integers(known, more)];
    let at = 0;
    for (const { length } of round.parts(known)) {
      let square = 0;
      for (let i = at; i < at + length; i++) square += (withRows[i] - without[i]) ** 2;
      longest = Math.max(longest, Math.sqrt(square));
      at += length;
    }
  });
  return longest;
}

describe("what one row can change, and one person with several", () => {
  test.each(WIDTHS)("in %i columns no part moves by more than its steps, wherever the rows lie", (cols) => {
    const rules = rulesFor(cols, 3, 1);
    const rows = blobs(60, cols, 3, 0.1, cols);
    const value = fc.oneof(fc.constantFrom(-1, 1, 0), fc.double({ min: -1, max: 1, noNaN: true }));
    const row = fc.array(value, { minLength: cols, maxLength: cols });
    fc.assert(
      // Rows of a person may also be the same one again and again, which moves a sum the most.
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 4 }),
        fc.nat(3),
        (own, times, seed) => {
          const all = Array.from({ length: times }, () => own).flat();
          const weights = new Float64Array(all.length).fill(1 / all.length);
          const person = { data: Float64Array.from(all.flat()), rows: all.length, cols, weights };
          expect(longestMove(rules, rows, person, seed)).toBeLessThanOrEqual(STEPS);
        },
      ),
      { seed: cols, numRuns: 25 },
    );
  });

  test("a person whose rows are not weighed moves sums by as many times as it has rows", () => {
    const corner = { data: Float64Array.of(1, -1, 1, -1, 1, -1), rows: 3, cols: 2 };
    const move = longestMove(rulesFor(2, 3, 1), blobs(60, 2, 3, 0.1, 2), corner, 1);
    expect(move / STEPS).toBeCloseTo(3, 6);
  });

  test("a row beyond the bounds counts as one at their edge", () => {
    const rules = rulesFor(2, 2, 1);
    const [round] = releaseRounds(rules);
    const far = { data: Float64Array.of(1e9, -1e9), rows: 1, cols: 2 };
    const edge = { data: Float64Array.of(1, -1), rows: 1, cols: 2 };
    expect(round.integers(nothingKnown, far)).toEqual(round.integers(nothingKnown, edge));
  });
});

test.each(WIDTHS)("in %i columns the shares of all parts add up to the budget", (cols) => {
  let shares = 0;
  run(rulesFor(cols, 3, 1), blobs(200, cols, 3, 0.1, cols), 1, (round, known) => {
    for (const { share } of round.parts(known)) shares += share;
  });
  expect(shares).toBeCloseTo(1, 12);
});

test("sums are the same whole numbers however rows lie on devices", () => {
  const rows = blobs(300, 12, 4, 0.2, 3);
  const halves = [0, 1].map((half) =>
    takeRows(
      rows,
      Array.from({ length: 150 }, (_, i) => 2 * i + half),
    ),
  );
  run(rulesFor(12, 4, 1), rows, 5, (round, known) => {
    const [a, b] = halves.map((half) => round.integers(known, half));
    expect(a.map((value, i) => value + b[i])).toEqual(round.integers(known, rows));
  });
});

test("a device without rows adds zeros of the same length", () => {
  const rows = blobs(300, 12, 4, 0.2, 3);
  const none = { data: new Float64Array(0), rows: 0, cols: 12 };
  run(rulesFor(12, 4, 1), rows, 5, (round, known) => {
    expect(round.integers(known, none)).toEqual(new Float64Array(round.integers(known, rows).length));
  });
});

test.each([
  [2, 4, 0.1],
  [6, 5, 0.12],
  [20, 6, 0.2],
  [80, 4, 0.2],
])("in %i columns %i clusters are found at epsilon 1, nearly as well as without noise", (cols, k, deviation) => {
  const rows = blobs(8000, cols, k, deviation, 40 + cols);
  const rules = rulesFor(cols, k, muOf(1, 1e-5));
  const best = kmeans(rows, { k }).inertia;
  for (const seed of [1, 2, 3]) {
    const found = releasedCentroids(rules, run(rules, rows, seed));
    expect(costOf(rows, found) / best).toBeLessThan(1.05);
  }
});

test("fifty clusters of 150 rows each are found in two columns at epsilon 1", () => {
  const normal = normalStream(randomStream(1, "fifty"));
  const data = Float64Array.from({ length: 15_000 }, (_, i) => {
    const cluster = Math.floor(i / 2) % 50;
    const place = i % 2 === 0 ? (cluster % 7) + (cluster % 3) / 5 : Math.floor(cluster / 7) + (cluster % 2) / 4;
    return place / 3.8 - 0.95 + 0.04 * normal();
  });
  const rows = { data: data.map((x) => Math.min(1, Math.max(-1, x))), rows: 7500, cols: 2 };
  const best = kmeans(rows, { k: 50, restarts: 30 }).inertia;
  const ratios = [1, 2, 3, 4, 5].map((seed) => {
    const rules = rulesFor(2, 50, muOf(1, 1e-5), seed);
    return costOf(rows, releasedCentroids(rules, run(rules, rows, seed))) / best;
  });
  expect(ratios.sort((a, b) => a - b)[2]).toBeLessThan(1.06);
});

test("bounds ten times as wide as the rows cost little", () => {
  const rows = blobs(8000, 2, 4, 0.1, 42);
  const wide = { ...rulesFor(2, 4, muOf(1, 1e-5)), low: Float64Array.of(-10, -10), high: Float64Array.of(10, 10) };
  const found = releasedCentroids(wide, run(wide, rows, 1));
  expect(costOf(rows, found) / kmeans(rows, { k: 4 }).inertia).toBeLessThan(1.05);
});

test("with hardly any rows the answer is within the bounds, and nothing fails", () => {
  for (const cols of WIDTHS) {
    for (const rows of [0, 1, 5]) {
      const rules = rulesFor(cols, 3, muOf(0.1, 1e-5));
      const { data } = releasedCentroids(rules, run(rules, blobs(rows, cols, 3, 0.1, 1), rows));
      expect(data.length).toBe(3 * cols);
      expect(data.every((value) => value >= -1 && value <= 1)).toBe(true);
    }
  }
});

test.each(WIDTHS)("in %i columns what is known comes back from numbers of one length", (cols) => {
  const rules = rulesFor(cols, 3, 1);
  const lengths = new Set<number>();
  const last = run(rules, blobs(200, cols, 3, 0.1, cols), 1, (_, known) => {
    const numbers = packKnowledge(rules, known);
    lengths.add(numbers.length);
    expect(unpackKnowledge(rules, numbers)).toEqual(known);
  });
  expect(unpackKnowledge(rules, packKnowledge(rules, last))).toEqual(last);
  expect([...lengths]).toEqual([knowledgeLength(rules)]);
  expect(unpackKnowledge(rules, new Float64Array(3))).toBeUndefined();
  expect(unpackKnowledge(rules, new Float64Array(knowledgeLength(rules)).fill(1e9))).toBeUndefined();
});
