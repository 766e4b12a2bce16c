// Answers of an independent implementation: every case is compared number by number at 1e-9 relative.
// Case files hold our option names; see core/test/fixtures/README.md.

import { readdirSync, readFileSync } from "node:fs";
import {
  adjustedRandIndex,
  consensusRounds,
  consensusVariation,
  discrepancy,
  distortion,
  type Edge,
  fitRounds,
  type Graph,
  globalCentroidDeviation,
  graph,
  kmeans,
  type Matrix,
  type MethodOptions,
  matrix,
  methods,
  normalizedMutualInformation,
  predict,
  simplifiedSilhouette,
  toRows,
  totalVariation,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";

type Rows = number[][];

interface Case {
  about: string;
  edges: Edge[];
  points: Rows[];
  start: Rows[];
  pooled: Rows;
  cols: number;
}

interface BaseCase extends Case {
  options: MethodOptions;
  expected: Record<"objective" | "summedObjective", number[]> &
    Record<"startDeviation" | "startVariation" | "deviation" | "variation", number> & {
      centroids: Rows[];
      firstEdge: number | null;
    };
  distributed: { eta: number; rounds: number; start: Rows[]; centroids: Rows[]; deviation: number; variation: number };
}

interface OptionCase extends Case {
  method: "fedkm" | "consensus" | "distributed" | "measures";
  options: MethodOptions;
  groups?: { devices: number[]; pooled: Rows }[];
  truth?: number[][];
  expected: Record<"deviation" | "variation" | "alignedDeviation" | "alignedVariation" | "distortion", number> & {
    centroids: Rows[];
    silhouette: number[];
    objective?: number[];
    eta?: number;
    beta?: number;
    multipliers?: Rows[];
    variations?: number[];
    groupDeviation?: number[];
    labels?: number[][];
    adjustedRand?: (number | null)[];
    mutualInformation?: (number | null)[];
    nearest?: number[];
    transport?: number[];
  };
}

const folder = new URL("./fixtures/oracle/", import.meta.url);

function cases<T extends Case>(prefix: string): T[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith(prefix))
    .map((file) => JSON.parse(readFileSync(new URL(file, folder), "utf8")));
}

/** A device without points has no rows to tell its columns from. */
function matrices(sets: Rows[], cols: number): Matrix[] {
  return sets.map((rows) => (rows.length === 0 ? { data: new Float64Array(0), rows: 0, cols } : matrix(rows)));
}

/** The largest difference, relative to max(1, |expected|), of two equally nested lists of numbers. */
function difference(got: unknown, expected: unknown): number {
  if (typeof expected === "number") {
    if (typeof got !== "number") return Number.POSITIVE_INFINITY;
    const distance = Math.abs(got - expected) / Math.max(1, Math.abs(expected));
    return Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance;
  }
  const [a, b] = [Array.from(got as ArrayLike<unknown>), expected as unknown[]];
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  return Math.max(0, ...b.map((part, i) => difference(a[i], part)));
}

function expectClose(got: unknown, expected: unknown, what: string): void {
  expect(difference(got, expected), what).toBeLessThanOrEqual(1e-9);
}

interface Run {
  centroids: readonly Matrix[];
  objective: number[];
  summedObjective: number[];
}

/** Runs fit step by step, and evaluates the objective as the paper prints it (losses summed) beside ours. */
function run(datasets: Matrix[], network: Graph, options: MethodOptions): Run {
  const objective: number[] = [];
  const summedObjective: number[] = [];
  const loop = fitRounds(datasets, network, options);
  for (;;) {
    const step = loop.next();
    if (step.done) return { centroids: step.value.centroids, objective, summedObjective };
    const { centroids } = step.value;
    objective.push(step.value.objective);
    summedObjective.push(2 * distortion(datasets, centroids) + options.alpha * totalVariation(centroids, network));
  }
}

describe("the paper's algorithm and distributed k-means", () => {
  for (const { about, edges, points, start, pooled, cols, options, expected, distributed } of cases<BaseCase>(
    "base-",
  )) {
    const datasets = matrices(points, cols);
    const network = graph(points.length, edges);
    const reference = matrix(pooled);

    it(`fit: ${about}`, () => {
      const init = matrices(start, cols);
      expectClose(globalCentroidDeviation(init, reference), expected.startDeviation, "GCD at the start");
      expectClose(consensusVariation(init, network), expected.startVariation, "CV at the start");
      const { centroids, objective, summedObjective } = run(datasets, network, { ...options, init });
      expectClose(centroids.map(toRows), expected.centroids, "centroids");
      expectClose(objective, expected.objective, "objective after every step");
      expectClose(summedObjective, expected.summedObjective, "objective as printed, after every step");
      expectClose(globalCentroidDeviation(centroids, reference), expected.deviation, "GCD");
      expectClose(consensusVariation(centroids, network), expected.variation, "CV");
      if (expected.firstEdge !== null) {
        const [i, j] = edges[0];
        expectClose(discrepancy(centroids[i], centroids[j]), expected.firstEdge, "discrepancy of the first edge");
      }
    });

    it(`distributed: ${about}`, () => {
      const { eta, rounds } = distributed;
      const init = matrices(distributed.start, cols);
      const { centroids } = methods.distributed(datasets, network, { ...options, init, eta, rounds });
      expectClose(centroids.map(toRows), distributed.centroids, "centroids");
      expectClose(globalCentroidDeviation(centroids, reference), distributed.deviation, "GCD");
      expectClose(consensusVariation(centroids, network), distributed.variation, "CV");
    });
  }
});

describe("options and measures", () => {
  for (const given of cases<OptionCase>("option-")) {
    const { about, edges, points, start, pooled, cols, method, options, groups = [], expected } = given;
    const datasets = matrices(points, cols);
    const network = graph(points.length, edges);
    const reference = matrix(pooled);
    const init = matrices(start, cols);

    it(`${method}: ${about}`, () => {
      let centroids: readonly Matrix[] = init;
      if (method === "fedkm") {
        const result = run(datasets, network, { ...options, init });
        ({ centroids } = result);
        expectClose(result.objective, expected.objective, "objective after every step");
      }
      if (method === "consensus") {
        const variations: number[] = [];
        const loop = consensusRounds(datasets, network, { ...options, init });
        let step = loop.next();
        for (; !step.done; step = loop.next()) variations.push(consensusVariation(step.value.centroids, network));
        ({ centroids } = step.value);
        expectClose(step.value.beta, expected.beta, "beta");
        expectClose(step.value.multipliers.map(toRows), expected.multipliers, "multipliers");
        // A run that stands still stops before the given number of sweeps.
        expectClose(variations, expected.variations?.slice(0, variations.length), "CV after every sweep");
      }
      if (method === "distributed") {
        const model = methods.distributed(datasets, network, { ...options, init });
        ({ centroids } = model);
        expectClose(model.eta, expected.eta, "eta");
        expectClose(model.multipliers.map(toRows), expected.multipliers, "multipliers");
      }
      expectClose(centroids.map(toRows), expected.centroids, "centroids");
      expectClose(globalCentroidDeviation(centroids, reference), expected.deviation, "GCD");
      expectClose(consensusVariation(centroids, network), expected.variation, "CV");
      expectClose(globalCentroidDeviation(centroids, reference, "transport"), expected.alignedDeviation, "aligned GCD");
      expectClose(consensusVariation(centroids, network, "transport"), expected.alignedVariation, "aligned CV");
      expectClose(distortion(datasets, centroids), expected.distortion, "distortion");
      const silhouettes = datasets.map((own, i) => simplifiedSilhouette(own, centroids[i]));
      expectClose(silhouettes, expected.silhouette, "silhouette");
      const deviations = groups.map(({ devices, pooled: own }) =>
        globalCentroidDeviation(
          devices.map((i) => centroids[i]),
          matrix(own),
        ),
      );
      expectClose(deviations, expected.groupDeviation ?? [], "deviation of each group");
    });

    const { truth } = given;
    if (method !== "measures" || truth === undefined) continue;
    it(`labels and scores: ${about}`, () => {
      const labels = datasets.map((own, i) => predict(init[i], own));
      expect(labels.map((own) => Array.from(own))).toEqual(expected.labels);
      // Without points there is nothing to score.
      const scored = labels.flatMap((own, i) => (own.length === 0 ? [] : [i]));
      const among = (values: (number | null)[] | undefined) => scored.map((i) => values?.[i]);
      expectClose(
        scored.map((i) => adjustedRandIndex(truth[i], labels[i])),
        among(expected.adjustedRand),
        "ARI",
      );
      expectClose(
        scored.map((i) => normalizedMutualInformation(truth[i], labels[i])),
        among(expected.mutualInformation),
        "NMI",
      );
      const perEdge = (coupling: "nearest" | "transport") =>
        edges.map(([i, j]) => discrepancy(init[i], init[j], coupling));
      expectClose(perEdge("nearest"), expected.nearest, "discrepancy, nearest");
      expectClose(perEdge("transport"), expected.transport, "discrepancy, transport");
    });
  }
});

interface SeedCase extends Case {
  options: { k: number };
  picks: number[][];
  expected: { counts: number[][]; seed: Rows; cost: number };
}

describe("the federated seed", () => {
  for (const { about, points, start, cols, options, picks, expected } of cases<SeedCase>("seed-")) {
    it(about, () => {
      const told = matrices(start, cols);
      const counts = matrices(points, cols).map((own, i) => {
        const labels = predict(told[i], own);
        return Array.from({ length: options.k }, (_, c) => labels.filter((label) => label === c).length);
      });
      expect(counts).toEqual(expected.counts);
      const rows = start.flat();
      const found = picks.map((pick) =>
        kmeans(matrix(rows), {
          k: options.k,
          init: matrix(pick.map((row) => rows[row])),
          weights: counts.flat(),
          maxIter: 100,
        }),
      );
      const best = found.reduce((a, b) => (b.inertia < a.inertia * (1 - 1e-9) ? b : a));
      expectClose(toRows(best.centroids), expected.seed, "seed");
      expectClose(best.inertia, expected.cost, "cost");
    });
  }
});
