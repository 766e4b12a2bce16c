// Private releases: the sampler against its definition, the accountant against published values, sensitivity by trial.

import { describe, expect, it } from "vitest";
import { runs, testSeed } from "../../../test/runs.ts";
import { randomStream } from "../../src/data/random.ts";
import { type Matrix, matrix, paperData } from "../../src/index.ts";
import { discreteGaussian, type RandomBytes, varianceAtLeast } from "../../src/privacy/discreteGaussian.ts";
import {
  cellsToRelease,
  devicesForRelease,
  epsilonOf,
  releaseCells,
  releasedCellSummary,
  releasedLoss,
  releasedResidualSummary,
  releasedRows,
  releaseGrid,
  releaseKernel,
  releaseReach,
  releaseResiduals,
  releaseVariances,
  residualsToRelease,
  rhoOf,
  STEPS,
} from "../../src/privacy/releases.ts";

const bytesOf = (seed: number): RandomBytes => {
  const random = randomStream(seed, "bytes");
  return (count) => Uint8Array.from({ length: count }, () => Math.floor(256 * random()));
};

describe("discreteGaussian(variance, bytes)", () => {
  it.each([0.3, 2, 37.5])("has the probabilities of its definition at variance %d, by chi-square", (variance) => {
    const draws = runs({ short: 20_000, long: 200_000 });
    const draw = discreteGaussian(varianceAtLeast(variance), bytesOf(Math.ceil(variance)));
    const most = Math.ceil(5 * Math.sqrt(variance));
    const counts = new Map<number, number>();
    for (let i = 0; i < draws; i++) {
      const x = Number(draw());
      const bin = Math.max(-most, Math.min(most, x));
      counts.set(bin, (counts.get(bin) ?? 0) + 1);
    }
    const weightAt = (x: number) => Math.exp((-x * x) / (2 * variance));
    let [total, tail] = [0, 0];
    for (let x = -200; x <= 200; x++) {
      total += weightAt(x);
      if (x > most) tail += weightAt(x);
    }
    let [statistic, freedom] = [0, -1];
    for (let x = -most; x <= most; x++) {
      const expected = (draws * (weightAt(x) + (Math.abs(x) === most ? tail : 0))) / total;
      if (expected < 5) continue;
      statistic += ((counts.get(x) ?? 0) - expected) ** 2 / expected;
      freedom++;
    }
    // Wilson and Hilferty: beyond 3.1 deviations is p below 0.001.
    const z = ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / Math.sqrt(2 / (9 * freedom));
    expect(z).toBeLessThan(3.1);
  });

  it("has the variance that is paid for also where it is large", () => {
    const variance = 1e13;
    const draw = discreteGaussian(varianceAtLeast(variance), bytesOf(1));
    const draws = runs({ short: 4_000, long: 200_000 });
    let squares = 0;
    for (let i = 0; i < draws; i++) squares += Number(draw()) ** 2;
    expect(Math.abs(squares / draws / variance - 1)).toBeLessThan(4 * Math.sqrt(2 / draws));
  });
});

describe("rhoOf(epsilon, delta) and epsilonOf(rho, delta)", () => {
  it.each([
    [0.5, 0.0085],
    [1, 0.0306],
    [5, 0.551],
    [8, 1.23],
  ])("epsilon %d at delta 1e-5 pays for rho %d, by the bound of Canonne, Kamath and Steinke", (epsilon, rho) => {
    expect(rhoOf(epsilon, 1e-5) / rho).toBeCloseTo(1, 2);
    expect(epsilonOf(rhoOf(epsilon, 1e-5), 1e-5)).toBeCloseTo(epsilon, 9);
  });

  it("never promises less than the simple bound of Bun and Steinke allows", () => {
    for (const rho of [0.001, 0.01, 0.1, 1, 3]) {
      expect(epsilonOf(rho, 1e-6)).toBeLessThanOrEqual(rho + 2 * Math.sqrt(rho * Math.log(1e6)));
    }
  });
});

describe("what one row changes", () => {
  const low = Float64Array.of(-3, -5, 0);
  const high = Float64Array.of(4, 9, 2);
  const box = (cols: number) => ({ low: low.slice(0, cols), high: high.slice(0, cols) });
  const drawn = (rows: number, cols: number, random: () => number): Matrix => ({
    data: Float64Array.from({ length: rows * cols }, () => 40 * (random() - 0.5) ** 3 + 2),
    rows,
    cols,
  });

  it("is one count by 1, and one cluster by 1 and by the reach, in random pairs of neighbouring data", () => {
    for (let seed = 0; seed < runs({ short: 500, long: 10_000 }); seed++) {
      const random = randomStream(testSeed, "pairs", seed);
      const cols = 1 + (seed % 3);
      const all = drawn(2 + Math.floor(8 * random()), cols, random);
      const fewer = { ...all, rows: all.rows - 1, data: all.data.slice(cols) };
      const grid = releaseGrid(box(cols), 100, 1);
      const cells = cellsToRelease(fewer, grid);
      const changed = cellsToRelease(all, grid).map((count, i) => Number(count - cells[i]));
      expect(changed.filter((change) => change !== 0)).toEqual([1]);

      const centroids = drawn(3, cols, random);
      const reach = releaseReach(grid.low, grid.high);
      const [one, other] = [all, fewer].map((points) => residualsToRelease(points, centroids, reach));
      const counts = one.counts.map((count, i) => Number(count - other.counts[i]));
      const sums = one.sums.map((sum, i) => Number(sum - other.sums[i]));
      expect(counts.filter((change) => change !== 0)).toEqual([1]);
      const cluster = counts.indexOf(1);
      expect(sums.every((change, i) => change === 0 || Math.floor(i / cols) === cluster)).toBe(true);
      // Noise of this variance pays for this length; see residualVariances.
      const paid = Math.sqrt(releaseVariances(1, cols).sums * 2 * 0.75);
      expect(Math.hypot(...sums)).toBeLessThanOrEqual(paid);
      expect(paid).toBeLessThan(STEPS * (1 + 1e-6));
    }
  });
});

describe("a summary", () => {
  const { datasets } = paperData("iso", 1, 3000, 5);
  const box = { low: Float64Array.of(-13, -13), high: Float64Array.of(13, 13) };
  const grid = releaseGrid(box, 3000, 1);
  const cells = releasedCellSummary(releaseCells(datasets[0], grid, 0.5, bytesOf(3)), grid, 0.5, 3);

  it("of cells stands for about as many rows, and answers (E1) about as they would", () => {
    expect(grid.perSide).toBe(24);
    expect(releasedRows(cells) / 3000).toBeCloseTo(1, 1);
    const centroids = matrix([[0, 0]]);
    const exact = datasets[0].data.reduce((sum, x) => sum + x * x, 0);
    expect(releasedLoss(cells, centroids) / exact).toBeCloseTo(1, 1);
  });

  it("of means is at the means of the rows, but for noise", () => {
    const centroids = matrix([[0, 0]]);
    const reach = 30;
    const released = releaseResiduals(datasets[0], centroids, reach, 50, bytesOf(4));
    const { points, weights } = releasedResidualSummary(released, centroids, reach, 7);
    const mean = [0, 1].map((c) => datasets[0].data.reduce((sum, x, i) => sum + (i % 2 === c ? x : 0), 0) / 3000);
    expect(Math.abs(weights[0] - 3000)).toBeLessThan(3);
    for (const c of [0, 1]) expect(Math.abs(points.data[c] - mean[c])).toBeLessThan(0.01);
  });

  it("of means that noise has thrown far stays within the reach", () => {
    const released = { counts: [-5n], sums: [BigInt(STEPS) * 1000n, 0n] };
    const { points, weights } = releasedResidualSummary(released, matrix([[1, 2]]), 3, 0);
    expect(Array.from(points.data)).toEqual([4, 2]);
    expect(Array.from(weights)).toEqual([1]);
  });

  it("weighs what it adds to the loss only there", () => {
    const prepared = releaseKernel({ ...cells, within: 100 }).prepare(cells.points);
    const plain = releaseKernel({ ...cells, within: 0 }).prepare(cells.points);
    const [a, b] = [prepared, plain].map((points) => {
      const into = { counts: new Float64Array(1), sums: new Float64Array(2), loss: 0 };
      points.statistics(Float64Array.of(1, 1), into);
      return into;
    });
    expect(a.loss - b.loss).toBeCloseTo(100, 6);
    expect(a.sums).toEqual(b.sums);
  });
});

describe("devicesForRelease(expected)", () => {
  const box = { low: Float64Array.of(-13, -13), high: Float64Array.of(13, 13) };
  const at = (rows: number, epsilon: number) =>
    devicesForRelease({
      rowsOfCluster: rows / 3,
      variance: 1,
      reach: releaseReach(box.low, box.high),
      rho: rhoOf(epsilon, 1e-5),
      grid: releaseGrid(box, rows, epsilon),
    });

  it("is as measured on the paper's data: two or three devices of 800 rows gain, clusters of 100 rows drown at 0.5", () => {
    expect(at(800, 1)).toBe(3);
    expect(at(800, 5)).toBe(1);
    expect(at(200, 1)).toBe(10);
    expect(at(100, 0.5)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("releasedCellSummary(counts, grid, rho, fewest)", () => {
  const grid = { low: Float64Array.of(0), high: Float64Array.of(6), perSide: 6 };
  const at = (counts: number[], fewest: number) => {
    const { points, weights } = releasedCellSummary(counts, grid, 0.5, fewest);
    return { points: Array.from(points.data), weights: Array.from(weights) };
  };

  it("keeps what stands out of the noise, and at least the fullest where that is too little, in the order of the grid", () => {
    expect(at([1, 9, -4, 2, 0, 7], 1)).toEqual({ points: [1.5, 5.5], weights: [9, 7] });
    expect(at([1, 9, -4, 2, 0, 7], 3)).toEqual({ points: [1.5, 3.5, 5.5], weights: [9, 2, 7] });
    // Nothing is made of cells without rows.
    expect(at([1, 9, -4, 2, 0, 7], 6).weights).toEqual([1, 9, 2, 7]);
  });
});
