// Methods are compared on equal terms, and a further one is a function in the table.

import {
  complete,
  erdosRenyi,
  globalCentroidDeviation,
  kmeans,
  type Matrix,
  type Method,
  matchCentroids,
  matrix,
  methods,
  paperData,
  randomStream,
} from "@fedkm/core";
import { describe, expect, test } from "vitest";
import { xmlFault } from "../../cli/test/wellFormed.ts";
import { compareMethods, type MethodOutcome, type OptionsByMethod } from "../src/compare/compare.ts";
import { drawComparison } from "../src/compare/picture.ts";

const { datasets, labels } = paperData("iso", 8, 40, 2);
const graph = erdosRenyi(8, 0.7, randomStream(2, "graph"));
const problem = { datasets, labels, graph, k: 3, alpha: 1, seed: 2, messages: 300 };
const { outcomes, overBudget } = compareMethods(problem);
const core = { k: 3, alpha: 1, seed: 2 };
const [pooled] = methods.pooled(datasets, graph, core).centroids;
const deviation = (centroids: readonly Matrix[]) => globalCentroidDeviation(centroids, pooled);
const of = (name: string) => outcomes.find(({ method }) => method === name) as MethodOutcome;

describe("compareMethods", () => {
  test("runs every method of the core within the budget", () => {
    expect(outcomes.map(({ method }) => method)).toEqual(Object.keys(methods));
    expect(overBudget).toEqual([]);
    for (const { method, messages } of outcomes) expect(messages, method).toBeLessThanOrEqual(300);
  });

  test("uses the budget up to less than a round, unless a method ends before", () => {
    for (const name of ["distributed", "gradient"]) {
      const { messages, curve, converged } = of(name);
      const each = curve[1].messages - curve[0].messages;
      expect(converged || messages + each > 300, name).toBe(true);
    }
  });

  test("holds all against one pooled solution", () => {
    expect(of("pooled")).toMatchObject({ gcd: 0, cv: 0, costRatio: 1 });
    expect(of("local").bytes).toBe(0);
    expect(of("fedkm").gcd).toBeLessThan(of("local").gcd);
    expect(of("consensus").costRatio).toBeCloseTo(1, 9);
    for (const { method, nmi, ari } of outcomes) {
      expect(nmi, method).toBeLessThanOrEqual(1 + 1e-12);
      expect(ari, method).toBeLessThanOrEqual(1);
    }
    expect(of("pooled").nmi).toBeGreaterThan(0.8);
  });

  test("gives curves that begin at the start and end at the result", () => {
    for (const { method, curve, gcd, bytes, rounds } of outcomes) {
      expect(curve[0].rounds, method).toBe(0);
      expect(curve.at(-1), method).toMatchObject({ gcd, bytes, rounds });
      for (let i = 1; i < curve.length; i++) expect(curve[i].bytes, method).toBeGreaterThan(curve[i - 1].bytes);
    }
  });

  test("says what a method would need that cannot start within the budget", () => {
    const table = { local: methods.local, kfed: methods.kfed };
    const poor = compareMethods({ ...problem, messages: 5 }, table);
    expect(poor.outcomes.length).toBe(1);
    expect(poor.overBudget).toEqual([
      { method: "kfed", needed: methods.kfed(datasets, graph, { k: 3, alpha: 1 }).messages },
    ]);
  });

  test.each(["distributed", "gradient"] as const)(
    "gives %s an aligned start, with which it is near to pooled",
    (name) => {
      const [aligned] = compareMethods(problem, { [name]: methods[name] }).outcomes;
      const given = methods[name](datasets, graph, { ...core, seeds: "aligned", rounds: aligned.rounds });
      expect(aligned.gcd).toBe(deviation(given.centroids));
      expect(aligned.gcd).toBeLessThan(1e-3);
      const [own] = compareMethods({ ...problem, init: "local" }, { [name]: methods[name] }).outcomes;
      expect(own.gcd).toBe(deviation(methods[name](datasets, graph, { ...core, rounds: own.rounds }).centroids));
      expect(own.gcd).toBeGreaterThan(1000 * aligned.gcd);
    },
  );

  test.each(["distributed", "gradient"] as const)(
    "reaches with %s from aligned starts, to the bit, what core reaches where that start is given as matrices",
    (name) => {
      const [found] = compareMethods(problem, { [name]: methods[name] }).outcomes;
      const init = methods[name](datasets, graph, { ...core, seeds: "aligned", rounds: 0 }).centroids;
      const given = methods[name](datasets, graph, { ...core, init, seeds: "local", rounds: found.rounds });
      expect(found.gcd).toBe(deviation(given.centroids));
    },
  );

  test("gives gradient from aligned starts a GCD below 1e-5 instead of above 1 on the paper's iso data", () => {
    const paper = paperData("iso", 10, 200, 1);
    const network = erdosRenyi(10, 0.7, randomStream(1, "graph"));
    const gcd = (init: "local" | "aligned") => {
      const asked = { ...paper, graph: network, k: 3, alpha: 1, seed: 1, messages: 2000, init };
      return compareMethods(asked, { gradient: methods.gradient }).outcomes[0].gcd;
    };
    expect(gcd("local")).toBeGreaterThan(1);
    expect(gcd("aligned")).toBeLessThan(1e-5);
  });

  test("gives every method that takes a start the same one", () => {
    const starting = { fedkm: methods.fedkm, distributed: methods.distributed, gradient: methods.gradient };
    for (const init of ["local", "aligned", "federated"] as const) {
      const started = compareMethods({ ...problem, init }, starting).outcomes;
      // Sums of the same squares in another order.
      const first = started.map(({ curve }) => curve[0].gcd.toPrecision(12));
      expect(new Set(first).size, init).toBe(1);
    }
  });

  test("hands a method its own settings, over the common start", () => {
    const run = (settings: OptionsByMethod) =>
      compareMethods({ ...problem, settings }, { distributed: methods.distributed }).outcomes[0];
    const tuned = methods.distributed(datasets, graph, { ...core, seeds: "aligned", eta: "tuned", rounds: 36 });
    expect(run({ distributed: { eta: "tuned" } })).toMatchObject({ rounds: 36, gcd: deviation(tuned.centroids) });
    expect(run({ gradient: { rho: 2 } }).gcd).toBe(run({}).gcd);
    expect(run({ distributed: { seeds: "local" } }).gcd).not.toBe(run({}).gcd);
  });

  test("gives no scores without classes, and ends where nobody has a neighbour", () => {
    const alone = {
      size: 8,
      neighbours: datasets.map(() => new Uint32Array(0)),
      weights: datasets.map(() => new Float64Array(0)),
    };
    const [outcome] = compareMethods(
      { ...problem, labels: undefined, graph: alone },
      { fedkm: methods.fedkm },
    ).outcomes;
    expect(outcome).toMatchObject({ nmi: null, ari: null, messages: 0, bytes: 0 });
  });
});

test("where pooled costs nothing, equal costs are 1 and others have no ratio, in numbers and in the picture", () => {
  // Three places in all, but only one of them on each device.
  const places = [0, 1, 2].map((x) => matrix([[x], [x], [x], [x]]));
  const table = { local: methods.local, pooled: methods.pooled };
  const exact = { datasets: places, graph: complete(3), k: 3, alpha: 1, seed: 1, messages: 300 };
  const judged = compareMethods(exact, table).outcomes;
  expect(judged.map(({ method, costRatio }) => [method, costRatio])).toEqual([
    ["local", null],
    ["pooled", 1],
  ]);
  for (const { curve, costRatio } of judged) expect(curve.at(-1)?.costRatio).toBe(costRatio);
  const svg = drawComparison(judged, "no ratio");
  expect(xmlFault(svg)).toBeUndefined();
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
});

describe("the pooled solution that all are held against", () => {
  /** Evenly spread points have many fixed points of almost equal cost. */
  const random = randomStream(1, "spread");
  const spread = [0, 1, 2].map(() => matrix(Array.from({ length: 40 }, () => [random(), random()])));
  const hard = { datasets: spread, graph: complete(3), k: 20, alpha: 1, seed: 1, messages: 600 };
  /** A method that has looked longer than the reference. */
  const patient =
    (restarts: number): Method =>
    (points, network, options) =>
      methods.pooled(points, network, { ...options, seed: 7, restarts });
  test("is replaced by what k-means makes of a rival that beats it, and says whose that was", () => {
    const table = { patient: patient(900), pooled: methods.pooled };
    const { outcomes: rows, reference } = compareMethods({ ...hard, settings: { pooled: { restarts: 1 } } }, table);
    expect(reference).toMatchObject({ restarts: 1, from: "patient", isOptimal: false });
    expect(rows[0].costRatio).toBeGreaterThanOrEqual(1);
    expect(rows[1]).toMatchObject({ gcd: 0, costRatio: 1 });
  });

  test("stands where nobody beats it", () => {
    const { outcomes: rows, reference } = compareMethods(hard, { patient: patient(20), pooled: methods.pooled });
    expect(reference.from).toBeUndefined();
    expect(reference.restarts).toBeGreaterThan(20);
    for (const { costRatio } of rows) expect(costRatio).toBeGreaterThanOrEqual(1 - 1e-9);
  });
});

/** A method nobody has written yet: each device meets the mean of its neighbours' matched local centroids half-way, once. */
const halfway: Method = (points, network, options) => {
  const own = points.map((some) => kmeans(some, { k: options.k, seed: options.seed ?? 0 }).centroids);
  const init = own.map((centroids, i) => {
    const neighbours = Array.from(network.neighbours[i], (j) => own[j]);
    return neighbours.length === 0 ? centroids : { ...centroids, data: met(centroids, neighbours) };
  });
  return methods.fedkm(points, network, { ...options, init, rounds: 0 });
};

function met(own: Matrix, neighbours: readonly Matrix[]): Float64Array {
  return own.data.map((x, at) => {
    const [c, column] = [Math.floor(at / own.cols), at % own.cols];
    const others = neighbours.map((other) => other.data[matchCentroids(own, other)[c] * own.cols + column]);
    return x / 2 + others.reduce((sum, y) => sum + y, 0) / others.length / 2;
  });
}

test("a further method is one function and one entry of the table", () => {
  const [outcome] = compareMethods(problem, { halfway }).outcomes;
  expect(outcome).toMatchObject({ method: "halfway", rounds: 0, messages: 8 });
  expect(outcome.gcd).toBeLessThan(of("local").gcd);
  expect(outcome.gcd).toBeGreaterThan(of("pooled").gcd);
  expect(drawComparison([...outcomes, outcome], "with one more")).toContain("halfway");
});

test("drawComparison draws a whole SVG file that names every method, whatever they reached", () => {
  const svg = drawComparison(outcomes, "quality against bytes");
  expect(xmlFault(svg)).toBeUndefined();
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  for (const name of Object.keys(methods)) expect(svg).toContain(`>${name}<`);
  expect(drawComparison([of("local")], "nothing sent")).not.toMatch(/NaN|undefined|Infinity/);
  expect(drawComparison([of("pooled")], "the reference alone")).not.toMatch(/NaN|undefined|Infinity/);
});
