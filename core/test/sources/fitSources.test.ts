// Runs over rows that stay in their sources end where runs over rows in memory could end: at a fixed point of all rows.

import {
  complete,
  fit,
  graph,
  kmeans,
  type Matrix,
  normalStream,
  objective,
  randomStream,
  ring,
  stack,
} from "@fedkm/core";
import { fitPasses, fitSources, joinSources, memorySource, type Source, sourceStatistics } from "@fedkm/core/sources";
import { describe, expect, it } from "vitest";

/** Clusters around random centres; a wide spread makes them overlap. */
function blobs(seed: number, { rows, cols, k, spread }: { rows: number; cols: number; k: number; spread: number }) {
  const random = randomStream(seed, "blobs");
  const normal = normalStream(random);
  const centres = Array.from({ length: k * cols }, () => 10 * random());
  const data = new Float64Array(rows * cols);
  for (let r = 0; r < rows; r++) {
    const c = Math.floor(k * random());
    for (let j = 0; j < cols; j++) data[r * cols + j] = centres[c * cols + j] + spread * normal();
  }
  return { data, rows, cols };
}

function parts(points: Matrix, devices: number): Matrix[] {
  const rows = points.rows / devices;
  const size = rows * points.cols;
  return Array.from({ length: devices }, (_, i) => ({
    data: points.data.slice(i * size, (i + 1) * size),
    rows,
    cols: points.cols,
  }));
}

function largestDifference(a: readonly Matrix[], b: readonly Matrix[]): number {
  return Math.max(...a.flatMap(({ data }, i) => Array.from(data, (x, at) => Math.abs(x - b[i].data[at]))));
}

const shapes = [
  { rows: 20_000, cols: 2, k: 8, spread: 1.5 },
  { rows: 20_000, cols: 2, k: 5, spread: 0.3 },
  { rows: 12_000, cols: 16, k: 10, spread: 3 },
];

describe("fitSources", () => {
  for (const shape of shapes) {
    it(`ends at a fixed point of all rows after at most 5 passes, alone, ${JSON.stringify(shape)}`, async () => {
      const points = blobs(1, shape);
      const found = await fitSources([memorySource(points)], graph(1, []), { k: shape.k, alpha: 0, sample: 2000 });
      expect(found.converged).toBe(true);
      expect(found.passes).toBeLessThanOrEqual(5);
      const again = kmeans(points, { k: shape.k, init: found.centroids[0] });
      expect(largestDifference([again.centroids], found.centroids)).toBeLessThan(1e-10);
      expect(found.inertia).toBeCloseTo(again.inertia, 6);
    });

    it(`ends at a fixed point of Algorithm 1 on all rows, ${JSON.stringify(shape)}`, async () => {
      const datasets = parts(blobs(2, shape), 4);
      const options = { k: shape.k, alpha: 0.3, weighting: "sample" } as const;
      const found = await fitSources(datasets.map(memorySource), ring(4), { ...options, sample: 1500 });
      expect(found.converged).toBe(true);
      expect(found.passes).toBeLessThanOrEqual(5);
      const again = fit(datasets, ring(4), { ...options, init: found.centroids, candidates: false });
      expect(largestDifference(again.centroids, found.centroids)).toBeLessThan(1e-9);
      expect(found.objective).toBeCloseTo(again.objective, 9);
    });
  }

  it("gives the rounds of fit where the sample is all rows", async () => {
    const datasets = parts(blobs(3, { rows: 3000, cols: 3, k: 4, spread: 1 }), 3);
    const options = { k: 4, alpha: 0.5 };
    const found = await fitSources(datasets.map(memorySource), complete(3), options);
    expect(found.passes).toBe(1);
    expect(largestDifference(found.centroids, fit(datasets, complete(3), options).centroids)).toBeLessThan(1e-11);
  });

  it.each(["norm", "truncated"] as const)(
    "has one scale for the penalty %s in all passes, and says it",
    async (penalty) => {
      const datasets = parts(blobs(3, { rows: 3000, cols: 3, k: 4, spread: 1 }), 3);
      const options = { k: 4, alpha: 0.5, penalty, rounds: 2000 };
      const sources = datasets.map(memorySource);
      const [whole, inMemory] = [await fitSources(sources, complete(3), options), fit(datasets, complete(3), options)];
      expect(whole.penalty).toEqual(inMemory.penalty);
      expect(whole.objective / inMemory.objective).toBeCloseTo(1, 9);
      const sampled = await fitSources(sources, complete(3), { ...options, sample: 300 });
      const own = { ...options, penalty: sampled.penalty ?? ("squared" as const) };
      expect(sampled.penalty?.name).toBe(penalty);
      expect(sampled.objective / objective(datasets, sampled.centroids, complete(3), own)).toBeCloseTo(1, 9);
    },
  );

  it("stops between passes when it is aborted, and says how far it came", async () => {
    const points = blobs(4, { rows: 20_000, cols: 2, k: 6, spread: 2 });
    const stop = new AbortController();
    const passes = fitPasses([memorySource(points)], graph(1, []), {
      k: 6,
      alpha: 0,
      sample: 500,
      signal: stop.signal,
    });
    expect((await passes.next()).value).toMatchObject({ pass: 1 });
    stop.abort();
    await expect(passes.next()).rejects.toThrow("abort");
  });

  it("refuses a source that counts other rows than it has", async () => {
    const whole = memorySource(blobs(5, { rows: 100, cols: 2, k: 2, spread: 1 }));
    const lying: Source = { ...whole, rows: 101 };
    await expect(fitSources([lying], graph(1, []), { k: 2, alpha: 0 })).rejects.toThrow("counts must add up to 101");
  });
});

it("joinSources adds parts up exactly: the statistics of several sources are those of all rows at once", async () => {
  const points = blobs(6, { rows: 999, cols: 5, k: 3, spread: 1 });
  const thirds = parts(points, 3);
  const centroids = { data: points.data.slice(0, 15), rows: 3, cols: 5 };
  const joined = joinSources(thirds.map(memorySource));
  const found = await sourceStatistics(joined, centroids);
  const expected = await sourceStatistics(memorySource(stack(thirds)), centroids);
  expect(found.counts).toEqual(expected.counts);
  expect(found.sums).toEqual(expected.sums);
});
