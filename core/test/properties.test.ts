// What must hold on every problem: descent, equivalences, invariances.

import {
  discrepancy,
  type FitOptions,
  fit,
  fitRounds,
  kmeans,
  type Matrix,
  methods,
  type Round,
  randomStream,
  toRows,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import { forAllProblems, integerFrom, type Problem, pickFrom, randomMatrix } from "./problems.ts";

const RUNS = runs({ short: 100, long: 1000 });

/** Fails if any step of the run raises the objective by more than rounding. */
function expectDescent({ datasets, network, init, k, alpha }: Problem, options: Partial<FitOptions>): void {
  const { history } = fit(datasets, network, { k, alpha, init, rounds: 6, ...options });
  for (let round = 1; round < history.length; round++) {
    const before = history[round - 1].objective;
    const rise = (history[round].objective - before) / Math.max(1, Math.abs(before));
    expect(rise, `round ${round}: ${JSON.stringify(options)}`).toBeLessThanOrEqual(1e-12);
  }
}

const anyCoupling = (problem: Problem) => ({
  coupling: pickFrom(problem.random, ["nearest", "transport"] as const),
  weighting: pickFrom(problem.random, ["device", "sample"] as const),
});

const oneAtATime = (problem: Problem) => pickFrom(problem.random, ["cyclic", "random", "coloured"] as const);

describe("the objective never rises", () => {
  it("one device at a time or an independent set, any number of passes", () => {
    forAllProblems("one at a time", RUNS, (problem) => {
      const passes = pickFrom(problem.random, [1, 2, 5, 100]);
      expectDescent(problem, { schedule: oneAtATime(problem), passes, ...anyCoupling(problem) });
    });
  });

  it("after every single device update", () => {
    forAllProblems("every update", RUNS, (problem) => {
      const { random, network } = problem;
      const schedule = Array.from({ length: 20 }, () => [integerFrom(random, 0, network.size - 1)]);
      expectDescent(problem, { schedule, rounds: 20, ...anyCoupling(problem) });
    });
  });

  it("all at once with one pass", () => {
    forAllProblems("simultaneous", RUNS, (problem) => {
      expectDescent(problem, { schedule: "simultaneous", ...anyCoupling(problem) });
    });
  });

  it("one device at a time with relaxation in (0, 2)", () => {
    forAllProblems("relaxation", RUNS, (problem) => {
      const relaxation = 0.01 + 1.98 * problem.random();
      const passes = pickFrom(problem.random, [1, 1, 3, 100]);
      expectDescent(problem, { schedule: oneAtATime(problem), relaxation, passes, ...anyCoupling(problem) });
    });
  });

  it("all at once with relaxation * damping of at most 1", () => {
    forAllProblems("relaxation * damping", RUNS, (problem) => {
      const relaxation = 0.01 + 1.98 * problem.random();
      const damping = Math.min(1, 1 / relaxation) * (problem.random() < 0.5 ? 1 : 0.05 + 0.95 * problem.random());
      expectDescent(problem, { schedule: "simultaneous", relaxation, damping, ...anyCoupling(problem) });
    });
  });

  it("all at once with many passes, safeguard and damping of at most 1/2", () => {
    forAllProblems("safeguard", RUNS, (problem) => {
      const damping = problem.random() < 0.5 ? 0.5 : 0.01 + 0.49 * problem.random();
      const options = { schedule: "simultaneous", passes: 100, safeguard: true, damping } as const;
      expectDescent(problem, { ...options, ...anyCoupling(problem) });
    });
  });
});

describe("the objective never rises with further starts", () => {
  it("one device at a time with candidates and fresh starts", () => {
    forAllProblems("further starts", RUNS, (problem) => {
      const freshStarts = pickFrom(problem.random, [0, 1, 3]);
      expectDescent(problem, { schedule: oneAtATime(problem), candidates: true, freshStarts, ...anyCoupling(problem) });
    });
  });

  it("all at once with candidates and fresh starts, safeguard and damping of at most 1/2", () => {
    forAllProblems("further starts at once", RUNS, (problem) => {
      const options = { schedule: "simultaneous", safeguard: true, damping: 0.5, candidates: true } as const;
      expectDescent(problem, { ...options, freshStarts: 1, ...anyCoupling(problem) });
    });
  });

  it("with the defaults", () => {
    forAllProblems("defaults", RUNS, (problem) => expectDescent(problem, {}));
  });
});

describe("without these rules it would rise, so they are enforced", () => {
  const problem = { ...anyPair(), k: 2, alpha: 1 };

  it("refuses all at once, one pass, relaxation 1.8 undamped", () => {
    expect(() => expectDescent(problem, { schedule: "simultaneous", relaxation: 1.8 })).toThrow(
      'relaxation * damping must be at most 1 with schedule "simultaneous" (else the objective can rise), got 1.8 * 1 = 1.8',
    );
  });

  it("refuses all at once, many passes, without safeguard or with damping above 1/2", () => {
    for (const options of [{ damping: 0.5 }, { safeguard: true }, { safeguard: true, damping: 0.6 }]) {
      expect(() => expectDescent(problem, { schedule: "simultaneous", passes: 2, ...options })).toThrow(
        /^passes above 1, candidates and freshStarts need safeguard: true and damping of at most 0.5 with schedule "simultaneous"/,
      );
    }
  });

  it("the rule is needed: relaxation 1.8 undamped does rise when given as explicit steps", () => {
    let rises = 0;
    forAllProblems("a rule broken on purpose", 300, ({ datasets, network, init, k, alpha }) => {
      const all = datasets.map((_, i) => i);
      const schedule = Array.from({ length: 10 }, () => all);
      const { history } = fit(datasets, network, { k, alpha, init, schedule, passes: 1, relaxation: 1.8 });
      if (history.some(({ objective }, t) => t > 0 && objective > history[t - 1].objective * (1 + 1e-9))) rises++;
    });
    expect(rises).toBeGreaterThan(30);
  });
});

function anyPair(): Problem {
  const random = randomStream(1, "pair");
  const datasets = [randomMatrix(random, 9, 2), randomMatrix(random, 7, 2)];
  const network = { size: 2, neighbours: [Uint32Array.of(1), Uint32Array.of(0)], weights: [1, 1].map(weightOne) };
  return { random, datasets, network, init: datasets.map(() => randomMatrix(random, 2, 2)), k: 2, cols: 2, alpha: 1 };
}

function weightOne(weight: number): Float64Array {
  return Float64Array.of(weight);
}

describe("equivalences", () => {
  it("alpha = 0 is k-means on every device, to the last bit", () => {
    forAllProblems("alpha = 0", RUNS, ({ datasets, network, init, k }) => {
      const { centroids } = fit(datasets, network, { k, alpha: 0, init, rounds: 1, passes: 300, tol: 0 });
      datasets.forEach((points, i) => {
        const alone = points.rows === 0 ? init[i] : kmeans(points, { k, init: init[i], maxIter: 300 }).centroids;
        expect(centroids[i].data).toEqual(alone.data);
      });
    });
  });

  it("alpha = 0 from local starts is the local method, to the last bit", () => {
    forAllProblems("local", RUNS, ({ datasets, network, k, random }) => {
      const seed = integerFrom(random, 0, 1e6);
      const enough = datasets.map((points) => (points.rows >= k ? points : randomMatrix(random, k, points.cols)));
      const options = { k, alpha: 0, seed, restarts: 2 };
      const fitted = fit(enough, network, { ...options, tol: 0 });
      expect(methods.local(enough, network, options).centroids).toEqual(fitted.centroids);
    });
  });

  // One pass: where two centroids of a device come to coincide, the index decides between them, by definition.
  it("a permuted start permutes that device's result and nothing else", () => {
    forAllProblems("permutation", RUNS, (problem) => {
      const { random, datasets, network, init, k, cols, alpha } = problem;
      const order = Array.from({ length: k }, (_, c) => c).sort(() => random() - 0.5);
      const options = { k, alpha, rounds: 1, passes: 1, preset: "paper", ...anyCoupling(problem) } as const;
      const permute = (rows: number[][]) => order.map((c) => rows[c]);
      const turned = { data: Float64Array.from(permute(toRows(init[0])).flat()), rows: k, cols };
      const [own, ...others] = fit(datasets, network, { ...options, init }).centroids.map(toRows);
      const got = fit(datasets, network, { ...options, init: [turned, ...init.slice(1)] });
      expectNear(got.centroids.map(toRows), [permute(own), ...others]);
    });
  });

  it("translated data give translated centroids", () => {
    let compared = 0;
    forAllProblems("translation", RUNS, (problem) => {
      const { random, datasets, network, init, k, cols, alpha } = problem;
      const shift = randomMatrix(random, 1, cols, 10).data;
      const moved = (points: Matrix) => ({ ...points, data: points.data.map((x, i) => x + shift[i % cols]) });
      const schedule = Array.from({ length: 20 }, (_, t) => [t % network.size]);
      const options = { k, alpha, schedule, passes: 1, weighting: pickFrom(random, ["device", "sample"] as const) };
      const there = fitRounds(datasets.map(moved), network, { ...options, init: init.map(moved) });
      for (const { round, centroids } of fitRounds(datasets, network, { ...options, init })) {
        expectNear((there.next().value as Round).centroids.map(toRows), centroids.map(moved).map(toRows));
        compared++;
        // A choice between equals is left to rounding, which a translation changes.
        if (smallestGap(problem, centroids, round % network.size) < 1e-6) break;
      }
    });
    expect(compared).toBeGreaterThan(10 * RUNS);
  });

  it("the same seed gives the same bytes", () => {
    forAllProblems("same seed", RUNS, ({ random, datasets, network, k, alpha }) => {
      const full = datasets.map((points) => (points.rows >= k ? points : randomMatrix(random, k, points.cols)));
      const options = { k, alpha, seed: integerFrom(random, 0, 1e9), schedule: "random", rounds: 3 } as const;
      expect(fit(full, network, options)).toEqual(fit(full, network, options));
    });
  });
});

describe("measures and multipliers", () => {
  it("the discrepancy is symmetric, and 0 exactly for equal sets in any order", () => {
    forAllProblems("discrepancy", RUNS, ({ random, k, cols }) => {
      const a = randomMatrix(random, k, cols);
      const b = randomMatrix(random, k, cols);
      const turned = { ...a, data: Float64Array.from(toRows(a).reverse().flat()) };
      for (const coupling of ["nearest", "transport"] as const) {
        const forth = discrepancy(a, b, coupling);
        expect(Math.abs(forth - discrepancy(b, a, coupling))).toBeLessThanOrEqual(1e-12 * Math.max(1, forth));
        expect(forth).toBeGreaterThan(0);
        expect(discrepancy(a, turned, coupling)).toBe(0);
      }
      expect(discrepancy(a, b)).toBeLessThanOrEqual(2 * discrepancy(a, b, "transport") * (1 + 1e-12));
    });
  });

  it("the multipliers of distributed k-means sum to 0", () => {
    forAllProblems("multipliers", RUNS, ({ random, datasets, network, init, k, cols, alpha }) => {
      const eta = pickFrom(random, [0.1, 2, "tuned"] as const);
      const seeds = pickFrom(random, ["local", "shared", "aligned"] as const);
      const options = { k, alpha, init, eta, seeds, rounds: 15 };
      const { multipliers } = methods.distributed(datasets, network, options);
      for (let x = 0; x < k * cols; x++) {
        const sum = multipliers.reduce((total, { data }) => total + data[x], 0);
        const size = multipliers.reduce((total, { data }) => total + Math.abs(data[x]), 1);
        expect(Math.abs(sum) / size).toBeLessThanOrEqual(1e-12);
      }
    });
  });
});

/** The smallest gap between best and second best in (E1), (E2) and (E3) of device i. */
function smallestGap({ datasets, network }: Problem, centroids: readonly Matrix[], i: number): number {
  const own = toRows(centroids[i]);
  const others = Array.from(network.neighbours[i], (j) => toRows(centroids[j]));
  const choices = [
    ...toRows(datasets[i]).map((point) => [point, own] as const),
    ...others.flat().map((centroid) => [centroid, own] as const),
    ...others.flatMap((rows) => own.map((centroid) => [centroid, rows] as const)),
  ];
  const gaps = choices.map(([from, to]) => {
    const [best, second = Number.POSITIVE_INFINITY] = to
      .map((row) => row.reduce((sum, x, c) => sum + (x - from[c]) ** 2, 0))
      .sort((a, b) => a - b);
    return second - best;
  });
  return Math.min(...gaps);
}

function expectNear(got: unknown, expected: unknown): void {
  if (typeof expected === "number") {
    expect(Math.abs((got as number) - expected)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)));
    return;
  }
  (expected as unknown[]).forEach((part, i) => {
    expectNear((got as unknown[])[i], part);
  });
}
