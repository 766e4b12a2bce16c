// What a link costs: the objective by its definition, descent under every schedule, and answers known in closed form.

import {
  certify,
  communities,
  communityData,
  type FitOptions,
  fit,
  globalCentroidDeviation,
  graph,
  kmeans,
  type Matrix,
  matrix,
  objective,
  type Penalty,
  path,
  randomStream,
  ring,
  stack,
  toRows,
  totalVariation,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { forAllProblems, type Problem, pickFrom } from "../problems.ts";

const RUNS = runs({ short: 60, long: 600 });

const anyPenalty = ({ random }: Problem): Exclude<Penalty, "squared"> => ({
  name: pickFrom(random, ["norm", "truncated"] as const),
  scale: 10 ** (6 * random() - 3),
});

const anyJudgement = ({ random }: Problem) => ({
  coupling: pickFrom(random, ["nearest", "transport"] as const),
  weighting: pickFrom(random, ["device", "sample"] as const),
});

const square = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, c) => sum + (x - b[c]) ** 2, 0);

/** All orders of 0 to size - 1. */
function orders(size: number): number[][] {
  if (size === 0) return [[]];
  return orders(size - 1).flatMap((rest) =>
    Array.from({ length: size }, (_, at) => [...rest.slice(0, at), size - 1, ...rest.slice(at)]),
  );
}

/** d by its definition: over all pairs, or over all permutations. */
function discrepancyByHand(a: Matrix, b: Matrix, coupling: "nearest" | "transport"): number {
  const [v, w] = [toRows(a), toRows(b)];
  if (coupling === "transport") {
    return Math.min(...orders(v.length).map((order) => v.reduce((sum, row, c) => sum + square(row, w[order[c]]), 0)));
  }
  const oneWay = (from: number[][], to: number[][]) =>
    from.reduce((sum, row) => sum + Math.min(...to.map((other) => square(row, other))), 0);
  return oneWay(v, w) + oneWay(w, v);
}

function costByHand({ name, scale }: Exclude<Penalty, "squared">, d: number): number {
  return name === "norm" ? Math.sqrt(d + scale) - Math.sqrt(scale) : Math.min(d, scale);
}

describe("the objective with a penalty", () => {
  it("is what its definition says, and so is its total variation", () => {
    forAllProblems("objective", RUNS, (problem) => {
      const { datasets, network, init, alpha } = problem;
      const penalty = anyPenalty(problem);
      const { coupling, weighting } = anyJudgement(problem);
      let [links, loss] = [0, 0];
      const meanRows = datasets.reduce((sum, { rows }) => sum + rows, 0) / datasets.length;
      init.forEach((own, i) => {
        network.neighbours[i].forEach((j, n) => {
          if (i < j) links += network.weights[i][n] * costByHand(penalty, discrepancyByHand(own, init[j], coupling));
        });
        const each = toRows(datasets[i]).map((point) => Math.min(...toRows(own).map((row) => square(point, row))));
        const unit = weighting === "sample" ? meanRows : each.length;
        loss += each.reduce((sum, x) => sum + x / unit, 0);
      });
      const got = objective(datasets, init, network, { alpha, coupling, weighting, penalty });
      expect(got / (loss + alpha * links)).toBeCloseTo(1, 9);
      expect(Math.abs(totalVariation(init, network, coupling, penalty) - links)).toBeLessThanOrEqual(
        1e-9 * (1 + links),
      );
    });
  });
});

/** Fails if a round raises the objective, or if it is not the objective of the centroids that came out. */
function expectDescent(problem: Problem, options: Partial<FitOptions>): void {
  const { datasets, network, init, k, alpha } = problem;
  const penalty = anyPenalty(problem);
  const judgement = anyJudgement(problem);
  const model = fit(datasets, network, { k, alpha, init, rounds: 6, penalty, ...judgement, ...options });
  model.history.forEach(({ objective: now }, round) => {
    if (round === 0) return;
    const before = model.history[round - 1].objective;
    const about = `round ${round}: ${JSON.stringify({ ...options, penalty, ...judgement })}`;
    expect((now - before) / Math.max(1, Math.abs(before)), about).toBeLessThanOrEqual(1e-12);
  });
  expect(model.penalty).toEqual(penalty);
  const again = objective(datasets, model.centroids, network, { alpha, ...judgement, penalty });
  expect(Math.abs(again - model.objective)).toBeLessThanOrEqual(1e-9 * Math.max(1, again));
}

describe("the objective never rises with a penalty", () => {
  it("one device at a time or an independent set, with any passes, relaxation and further starts", () => {
    forAllProblems("penalty, one at a time", RUNS, (problem) => {
      const { random } = problem;
      expectDescent(problem, {
        schedule: pickFrom(random, ["cyclic", "random", "coloured"] as const),
        passes: pickFrom(random, [1, 2, 100]),
        relaxation: pickFrom(random, [1, 0.3, 1.9]),
        candidates: random() < 0.5,
        freshStarts: pickFrom(random, [0, 1]),
      });
    });
  });

  it("with the defaults", () => {
    forAllProblems("penalty, defaults", RUNS, (problem) => expectDescent(problem, {}));
  });

  it("all at once, by one pass or by many with safeguard and damping", () => {
    forAllProblems("penalty, simultaneous", 2 * RUNS, (problem) => {
      const { random } = problem;
      const many = { passes: 100, safeguard: true, damping: 0.5 * random() + 0.001, candidates: random() < 0.5 };
      expectDescent(problem, { schedule: "simultaneous", ...(random() < 0.5 ? many : {}) });
    });
  });
});

describe("fit(datasets, graph, { penalty })", () => {
  const { datasets } = communityData(3, 40, 1, 6);
  const network = communities([3, 3], 1, 0.4, randomStream(1, "graph"));

  it('is the same to the bit with "squared" as without a word, and says nothing of it', () => {
    const options = { k: 3, alpha: 1, rounds: 5 };
    const model = fit(datasets, network, options);
    expect(fit(datasets, network, { ...options, penalty: "squared" })).toEqual(model);
    expect("penalty" in model).toBe(false);
  });

  it('is "squared" with a limit that no link reaches, and the network without a link that is beyond it', () => {
    const options = { k: 3, alpha: 1, preset: "paper", rounds: 20 } as const;
    const high = fit(datasets, network, { ...options, penalty: { name: "truncated", scale: 1e9 } });
    expect(high.centroids).toEqual(fit(datasets, network, options).centroids);
    const inside = communities([3, 3], 1, 0, randomStream(1, "graph"));
    const low = fit(datasets, network, { ...options, penalty: { name: "truncated", scale: 20 } });
    expect(low.centroids).toEqual(fit(datasets, inside, options).centroids);
  });

  it("pulls two means together by a constant, and fuses them from alpha = their distance on (norm, one cluster)", () => {
    const pair = [
      [0, -1],
      [3, 5],
    ].map(([x, y]) =>
      matrix([
        [x, y],
        [x, y + 2],
      ]),
    );
    const distance = Math.hypot(3, 6);
    const scale = 1e-4;
    // Nearest counts the pair from both sides, so its root is sqrt(2) times the distance.
    for (const [coupling, sides] of Object.entries({ transport: 1, nearest: 2 }) as ["nearest", number][]) {
      for (const share of [0.2, 0.7, 0.95, 1.05, 1.5]) {
        const alpha = (share * distance) / Math.sqrt(sides);
        const options = { k: 1, alpha, coupling, preset: "paper", rounds: 5000, tol: 1e-15 } as const;
        const [a, b] = fit(pair, path(2), { ...options, penalty: { name: "norm", scale } }).centroids;
        const gap = Math.sqrt(square(toRows(a)[0], toRows(b)[0]));
        // Each end moves by alpha sqrt(sides) / 2 while they are apart, and as far as they can where they meet.
        expect(gap).toBeCloseTo(Math.max(0, distance * (1 - share)), 1);
        // With its rounding near 0 the force is alpha sides gap / sqrt(sides gap^2 + scale), against distance - gap.
        const force = (alpha * sides * gap) / Math.sqrt(sides * gap * gap + scale);
        expect(force / (distance - gap)).toBeCloseTo(1, 6);
        expect(toRows(a)[0][0] + toRows(b)[0][0]).toBeCloseTo(3, 6);
      }
    }
  });

  it("finds its scale from what clusters differ by chance: it follows the unit of the data, and costs a sum", () => {
    for (const penalty of ["norm", "truncated"] as const) {
      const options = { k: 3, alpha: 0.3, penalty, rounds: 3 };
      const model = fit(datasets, network, options);
      const larger = datasets.map(({ data, ...shape }) => ({ data: data.map((x) => 8 * x), ...shape }));
      expect(fit(larger, network, options).penalty?.scale).toBeCloseTo(64 * (model.penalty?.scale as number), 9);
      const given = fit(datasets, network, { ...options, penalty: model.penalty as Penalty });
      expect(given.centroids).toEqual(model.centroids);
      expect(model.messages).toBeGreaterThan(given.messages);
    }
  });

  it("keeps two communities apart and each together, where squared mixes them", () => {
    const references = [0, 3].map((h) => kmeans(stack(datasets.slice(h, h + 3)), { k: 3 }).centroids);
    const deviation = (options: Partial<FitOptions>) => {
      const { centroids } = fit(datasets, network, { k: 3, alpha: 1, ...options });
      return references.reduce(
        (sum, own, h) => sum + globalCentroidDeviation(centroids.slice(3 * h, 3 * h + 3), own),
        0,
      );
    };
    const alone = deviation({ alpha: 0 });
    expect(deviation({})).toBeGreaterThan(20 * alone);
    expect(deviation({ penalty: "truncated" })).toBeLessThan(alone / 100);
    expect(deviation({ penalty: "norm", alpha: 0.1 })).toBeLessThan(alone / 2);
  });

  it("comes to rest at a point that its certificate confirms", () => {
    for (const penalty of ["norm", "truncated"] as const) {
      const options = { k: 3, alpha: 0.1, tol: 1e-13, rounds: 3000 };
      const model = fit(datasets, network, { ...options, penalty });
      expect(model.converged).toBe(true);
      const judged = { alpha: 0.1, penalty: model.penalty as Penalty };
      expect(certify(datasets, network, model, judged)).toMatchObject({ largestRise: 0, objective: model.objective });
      expect(certify(datasets, network, model, judged).residual).toBeLessThan(1e-10);
      expect(certify(datasets, network, model, { alpha: 0.1 }).residual).toBeGreaterThan(1e-3);
    }
  });

  it("refuses what it cannot use, in one line", () => {
    const run = (more: object) => () => fit(datasets, ring(6), { k: 3, alpha: 1, ...more });
    expect(run({ penalty: "lasso" })).toThrow('penalty must be one of squared, norm, truncated, got "lasso"');
    expect(run({ penalty: { name: "squared", scale: 1 } })).toThrow(
      'penalty.name must be one of norm, truncated, got "squared"',
    );
    expect(run({ penalty: { name: "norm", scale: 0 } })).toThrow(
      "penalty.scale must be a finite number above 0, got 0",
    );
    expect(run({ penalty: "norm", init: "auto" })).toThrow(
      'init must be "local", "kmeans++", "classic kmeans++" or a matrix for each device (with penalty "norm" devices never leave a common start), got "auto"',
    );
    const same = [matrix([[1], [2]]), matrix([[1], [2]])];
    expect(() => fit(same, path(2), { k: 2, alpha: 1, penalty: "truncated" })).toThrow(
      'penalty must be { name: "truncated", scale } (no device has more points than clusters, or they do not vary), got "truncated"',
    );
    const centroids = datasets.map(() => matrix([[0, 0]]));
    expect(() => totalVariation(centroids, graph(6, []), "nearest", "norm" as unknown as Penalty)).toThrow(
      'penalty must have a scale here, { name: "norm", scale } (fit returns it), got "norm"',
    );
  });
});
