// Validation of shared clusters: the figures of each device and of all against those of pooled rows, stability, faults, and
// what the sums of replicates give away.

import {
  complete,
  distortion,
  kmeans,
  type Matrix,
  normalStream,
  predict,
  randomStream,
  simplifiedSilhouette,
  stack,
  takeRows,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { sumsShape } from "../../src/sharedClusters/shape.ts";
import { SharedRows } from "../../src/sharedClusters/sharedRows.ts";
import { replicateWeights } from "../../src/sharedClusters/validation.ts";
import { simulate } from "../../src/simulation/simulate.ts";
import { contractOf, parseStudy } from "../../src/study/study.ts";

const SCALE = 2;
const VALIDATED = "privacy: open\nvalidate: 20";
const study = (k: number, more = VALIDATED) =>
  parseStudy(`
name: wards
k: ${k}
features:
  - { name: x, min: -40, max: 40, scale: ${SCALE} }
  - { name: y, min: -40, max: 40, scale: ${SCALE} }
clusters: shared
minimum: 1
${more}
`);

/** Rows around three places; the last device's are shifted. */
function datasetsOf(rows: number, spread: number): Matrix[] {
  const places = [
    [-20, -20],
    [20, -20],
    [0, 20],
  ];
  return Array.from({ length: 4 }, (_, i) => {
    const random = randomStream(i, "validation");
    const normal = normalStream(random);
    const data = new Float64Array(rows * 2);
    for (let r = 0; r < rows; r++) {
      const [x, y] = places[Math.floor(random() * 3)];
      data[2 * r] = Math.max(-40, Math.min(40, x + spread * normal() + (i === 3 ? 5 : 0)));
      data[2 * r + 1] = Math.max(-40, Math.min(40, y + spread * normal()));
    }
    return { data, rows, cols: 2 };
  });
}

const scaled = ({ data, ...rest }: Matrix): Matrix => ({ ...rest, data: data.map((value) => value / SCALE) });

async function networkOf(k: number, datasets: readonly Matrix[], more?: string) {
  const given = study(k, more);
  const contract = await contractOf(given);
  return simulate({ study: given, contract, datasets, graph: complete(4), seed: 1, staggerMilliseconds: 0 });
}

function meanOf({ data, rows, cols }: Matrix, column: number): number {
  return Array.from({ length: rows }, (_, r) => data[r * cols + column]).reduce((sum, x) => sum + x / rows, 0);
}

function spreadOf(matrix: Matrix, column: number): number {
  const mean = meanOf(matrix, column);
  const squares = { ...matrix, data: matrix.data.map((x) => (x - mean) ** 2) };
  return Math.sqrt(meanOf(squares, column));
}

/** How alike clusters are in fresh fits of rows with Poisson weights, in the mean. */
function bootstrapped(rows: Matrix, centroids: Matrix, replicates: number): number[] {
  const k = centroids.rows;
  const labels = predict(centroids, rows);
  const weights = replicateWeights(Uint8Array.of(9), rows.rows, replicates);
  const sums = new Array<number>(k).fill(0);
  for (let b = 0; b < replicates; b++) {
    const own = Array.from({ length: rows.rows }, (_, r) => weights[r * replicates + b]);
    const used = Array.from(own.keys()).filter((r) => own[r] > 0);
    const given = used.map((r) => own[r]);
    const again = predict(kmeans(takeRows(rows, used), { k, weights: given, restarts: 5, seed: b }).centroids, rows);
    const weigh = (isIn: (r: number) => boolean) => own.reduce((sum, weight, r) => (isIn(r) ? sum + weight : sum), 0);
    for (let c = 0; c < k; c++) {
      const alike = Array.from({ length: k }, (_, other) => {
        const both = weigh((r) => labels[r] === c && again[r] === other);
        return both / weigh((r) => labels[r] === c || again[r] === other);
      });
      sums[c] += Math.max(...alike) / replicates;
    }
  }
  return sums;
}

describe("a study that validates its answer", () => {
  it.each([
    ["privacy: guarded", /validate must be left out unless .*privacy "open"/],
    ["privacy: open\nsums: tree\nneighbours: trusted", /validate must be left out unless/],
  ])("is refused with %s", (more, rule) => {
    expect(() => study(3, `${more}\nvalidate: 20\nminimum: 10`.replace("\nminimum: 10", ""))).toThrow(rule);
  });

  it.each([1, 51, 2.5])("is refused with %s replicates", (replicates) => {
    expect(() => study(3, `privacy: open\nvalidate: ${replicates}`)).toThrow(
      /validate must be 0 or an integer from 2 to 50/,
    );
  });

  it("has the figures of pooled rows, and beside them those of the device's own labelled rows", async () => {
    const datasets = datasetsOf(100, 4);
    const network = await networkOf(3, datasets);
    expect(network.settle(600_000)).toBe(true);
    const centroids = network.centroids()[0];
    const pooled = stack(datasets.map(scaled));
    const figuresOf = (rows: Matrix) => {
      const labels = Array.from(predict(centroids, rows));
      return {
        rows: rows.rows,
        sizes: [0, 1, 2].map((c) => labels.filter((label) => label === c).length),
        cost: (2 * distortion([rows], [centroids])) / rows.rows,
        silhouette: simplifiedSilhouette(rows, centroids),
      };
    };
    const isNear = (found: number | undefined, wanted: number) => expect(found).toBeCloseTo(wanted, 7);
    const first = network.status(0).shared?.validation;
    for (const [i, own] of datasets.entries()) {
      const validation = network.status(i).shared?.validation;
      for (const [found, rows] of [[validation?.all, pooled] as const, [validation?.own, scaled(own)] as const]) {
        const wanted = figuresOf(rows);
        expect(found?.rows).toBe(wanted.rows);
        expect(found?.sizes).toEqual(wanted.sizes);
        isNear(found?.cost, wanted.cost);
        isNear(found?.silhouette, wanted.silhouette);
      }
      for (const f of [0, 1]) {
        const apart = (meanOf(scaled(own), f) - meanOf(pooled, f)) / spreadOf(pooled, f);
        isNear(validation?.differences[f].spreads, apart);
      }
      // All figures of the network have the same bits everywhere.
      expect({ ...validation, own: 0, differences: 0 }).toEqual({ ...first, own: 0, differences: 0 });
    }
    expect(first?.verdict).toBe("clear");
    expect(first?.jaccards?.every((jaccard) => jaccard > 0.95)).toBe(true);
  });

  it("counts far rows by the costs of all", async () => {
    const datasets = datasetsOf(100, 2);
    datasets[1].data.set([35, 35, -35, 35], 0);
    const network = await networkOf(3, datasets, "privacy: open\nvalidate: 0");
    expect(network.settle(600_000)).toBe(true);
    const validation = network.status(1).shared?.validation;
    expect(validation?.own.farShare).toBe(0.02);
    expect(validation?.all.farShare).toBe(2 / 400);
    expect(network.status(0).shared?.validation?.own.farShare).toBe(0);
    expect(validation?.jaccards).toBeNull();
  });

  it("clusters that are slices of others are found again as often as in a bootstrap of the pooled rows", async () => {
    const datasets = datasetsOf(100, 4);
    const network = await networkOf(5, datasets);
    expect(network.settle(600_000)).toBe(true);
    const { jaccards, verdict } = network.status(0).shared?.validation ?? {};
    const wanted = bootstrapped(stack(datasets.map(scaled)), network.centroids()[0], 60);
    expect(Math.min(...wanted)).toBeLessThan(0.75);
    for (const [c, jaccard] of wanted.entries()) expect(Math.abs((jaccards?.[c] ?? 0) - jaccard)).toBeLessThan(0.15);
    expect(verdict).not.toBe("clear");
  });

  it.each(["kill", "leave", "rows"] as const)(
    "somebody is lost or changes while it is made (%s): all end alike",
    async (fault) => {
      const datasets = datasetsOf(60, 3);
      const network = await networkOf(3, datasets);
      network.run(5);
      for (let n = 0; n < 30_000 && network.status(0).shared?.stage !== "validate"; n++) network.run(5);
      expect(network.status(0).shared?.stage).toBe("validate");
      if (fault === "rows") network.setRows(1, datasetsOf(70, 3)[1]);
      else network.crash(3);
      network.run(500);
      if (fault === "kill") network.restart(3);
      if (fault === "leave")
        for (const i of [0, 1, 2])
          network.setLinks(
            i,
            [0, 1, 2].filter((j) => j !== i),
          );
      const there = fault === "leave" ? [0, 1, 2] : [0, 1, 2, 3];
      network.run(180_000);
      const found = there.map((i) => network.status(i).shared?.validation);
      const rows = { kill: 240, leave: 180, rows: 250 }[fault];
      expect(found[0]?.all.rows).toBe(rows);
      for (const one of found) expect(one).toMatchObject({ all: found[0]?.all, jaccards: found[0]?.jaccards });
      expect(new Set(there.map((i) => JSON.stringify(network.status(i).centroids))).size).toBe(1);
    },
  );
});

/** Solves for the rows that have these weighted sums, one equation for each replicate. */
function rowsFrom(weights: Uint8Array, sums: readonly number[], rows: number): number[] | undefined {
  const lines = sums.map((sum, b) => [...Array.from({ length: rows }, (_, r) => weights[r * rows + b]), sum]);
  for (let c = 0; c < rows; c++) {
    const pivot = lines
      .slice(c)
      .reduce((best, line, i) => (Math.abs(line[c]) > Math.abs(lines[best][c]) ? c + i : best), c);
    if (Math.abs(lines[pivot][c]) < 1e-9) return undefined;
    [lines[c], lines[pivot]] = [lines[pivot], lines[c]];
    for (const [i, line] of lines.entries()) {
      const factor = i === c ? 0 : line[c] / lines[c][c];
      if (factor !== 0) for (let j = c; j <= rows; j++) line[j] -= factor * lines[c][j];
    }
  }
  return lines.map((line, c) => line[rows] / line[c]);
}

describe("weights of replicates", () => {
  const rows = 40;
  const normal = normalStream(randomStream(5, "secret"));
  const data = Float64Array.from({ length: 2 * rows }, () => 10 * normal());
  const deviceOf = (key: number) => {
    const given = study(1);
    const sign = (bytes: Uint8Array) => Uint8Array.from(bytes, (byte) => byte ^ key);
    const history = { memory: undefined, onKept: () => {}, wallClock: () => 0 };
    return new SharedRows({
      study: given,
      shape: sumsShape(given),
      rows: { data, rows, cols: 2 },
      seed: 0,
      sign,
      history,
    });
  };

  it("as many replicates as rows give every row to who knows the weights, and none to who does not", () => {
    const own = deviceOf(1).weights(rows);
    const sums = Array.from({ length: rows }, (_, b) =>
      Array.from({ length: rows }, (_, r) => own[r * rows + b] * data[2 * r]).reduce((sum, x) => sum + x, 0),
    );
    const foundBy = (weights: Uint8Array) => {
      const found = rowsFrom(weights, sums, rows) ?? [];
      return found.filter((value) =>
        Array.from({ length: rows }, (_, r) => data[2 * r]).some((x) => Math.abs(x - value) < 1e-6),
      );
    };
    expect(foundBy(own)).toHaveLength(rows);
    // Another device with the same rows, and keys that anybody can guess.
    for (const guess of [deviceOf(2).weights(rows), replicateWeights(new Uint8Array(32), rows, rows)])
      expect(foundBy(guess)).toHaveLength(0);
  });

  it("are Poisson numbers of mean 1, always the same for a device", () => {
    const weights = replicateWeights(Uint8Array.of(1, 2, 3), 2_000, 50);
    expect(replicateWeights(Uint8Array.of(1, 2, 3), 2_000, 50)).toEqual(weights);
    const mean = weights.reduce((sum, weight) => sum + weight / weights.length, 0);
    const variance = weights.reduce((sum, weight) => sum + (weight - mean) ** 2 / weights.length, 0);
    expect(mean).toBeCloseTo(1, 1);
    expect(variance).toBeCloseTo(1, 1);
  });
});
