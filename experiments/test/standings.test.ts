// Methods at their best beside the common start, and the sentence that names the winners.

import {
  complete,
  distortion,
  erdosRenyi,
  type LabelledPoints,
  type Matrix,
  type Method,
  methods,
  normalStream,
  paperData,
  pooledReference,
  randomStream,
  ring,
  stack,
} from "@fedkm/core";
import { expect, test } from "vitest";
import { dealBy, parseDeal, type Split } from "../src/cell.ts";
import { contest, type MethodStandings, winnersOf } from "../src/compare/standings.ts";

type Draw = (seed: number) => LabelledPoints;

/** Rows of a function of their number, with the class that it gives them. */
function drawn(rows: number, row: (random: () => number, r: number) => { at: number[]; label: number }): Draw {
  return (seed) => {
    const random = randomStream(seed, "set");
    const all = Array.from({ length: rows }, (_, r) => row(random, r));
    const points = { data: Float64Array.from(all.flatMap(({ at }) => at)), rows, cols: all[0].at.length };
    return { points, labels: Uint32Array.from(all, ({ label }) => label) };
  };
}

const normal = (random: () => number) => normalStream(random)();

const grid = (side: number, rows: number): Draw =>
  drawn(rows, (random, r) => {
    const label = r % (side * side);
    const at = [label % side, Math.floor(label / side)].map((x) => 10 * x + normal(random));
    return { at, label };
  });

const exponential = (cols: number, rows: number): Draw =>
  drawn(rows, (random, r) => ({
    at: Array.from({ length: cols }, () => -3 * Math.log(1 - random())),
    label: r % 3,
  }));

const lattice = (side: number, rows: number): Draw =>
  drawn(rows, (random) => {
    const at = [Math.floor(side * random()), Math.floor(side * random())];
    return { at, label: at[0] };
  });

const outliers: Draw = drawn(200, (random, r) => ({
  at: [r < 3 ? 1e4 * (r + 1) : normal(random), normal(random) + 6 * (r % 3)],
  label: r % 3,
}));

const wide: Draw = drawn(150, (random, r) => ({
  at: Array.from({ length: 20 }, (_, c) => normal(random) + (c === r % 4 ? 6 : 0)),
  label: r % 4,
}));

const paper =
  (kind: "iso" | "var" | "aniso"): Draw =>
  (seed) => {
    const { datasets, labels } = paperData(kind, 1, 240, seed);
    return { points: datasets[0], labels: labels[0] };
  };

/** Name, draw, k, split and whether the network is a ring. */
const sets: readonly (readonly [string, Draw, number, string, boolean])[] = [
  ["grid of 25", grid(5, 300), 25, "dirichlet:0.1", true],
  ["grid of 9", grid(3, 270), 9, "classes:2", false],
  ["grid of 16 on few rows", grid(4, 160), 16, "even", true],
  ["exponential", exponential(2, 240), 5, "even", false],
  ["exponential, skewed", exponential(3, 240), 4, "sizes:20", true],
  ["exponential line", exponential(1, 200), 6, "even", false],
  ["lattice", lattice(6, 240), 8, "even", false],
  ["lattice by class", lattice(4, 200), 5, "classes:1", true],
  ["outliers", outliers, 4, "even", false],
  ["outliers, skewed", outliers, 5, "dirichlet:0.3", false],
  ["twenty columns", wide, 4, "even", true],
  ["twenty columns by class", wide, 4, "classes:2", false],
  ["iso", paper("iso"), 3, "even", false],
  ["iso by class", paper("iso"), 3, "classes:1", true],
  ["var", paper("var"), 3, "even", true],
  ["var, skewed", paper("var"), 3, "dirichlet:0.1", false],
  ["aniso", paper("aniso"), 3, "even", false],
  ["aniso in five", paper("aniso"), 5, "sizes:10", true],
  ["var in one", paper("var"), 1, "even", false],
  ["line", drawn(150, (random, r) => ({ at: [random() + (r % 4)], label: r % 4 })), 4, "even", true],
];

const DEVICES = 6;
const RUNS = 2;

function problemOf([, draw, k, split, isRing]: (typeof sets)[number]) {
  return (run: number) => {
    const { datasets, labels } = dealBy(parseDeal(split) as Split, draw(run), DEVICES, run);
    const graph = isRing ? ring(DEVICES) : erdosRenyi(DEVICES, 0.7, randomStream(run + 5, "graph"));
    return { datasets, labels, graph, k, alpha: 1, seed: run, messages: 300 };
  };
}

/** What a device's centroids cost on all rows, in the mean, by the definition. */
function meanCost(datasets: readonly Matrix[], centroids: readonly Matrix[]): number {
  const all = stack(datasets);
  return centroids.reduce((sum, own) => sum + distortion([all], [own]), 0) / centroids.length;
}

test.each(sets)(
  "the sentence on %s is right",
  async (...set) => {
    const problem = problemOf(set);
    const found = await contest(async (run) => problem(run), RUNS, methods);
    const { quality, bytes, both } = winnersOf(found.standings) as NonNullable<ReturnType<typeof winnersOf>>;
    // Every method again at the setting it is said to be best at, against the better of the reference and the cheapest.
    const rivals = found.standings.filter(({ method }) => method !== "pooled");
    const ran = rivals.map(({ method, best }) => {
      const own = [1, 2].map((run) => {
        const { datasets, graph, k, alpha, seed } = problem(run);
        const call = methods[method as keyof typeof methods] as Method;
        const model = call(datasets, graph, { k, alpha, seed, rounds: 100, ...best.setting });
        const reference = pooledReference(stack(datasets), { k, seed: 77 + run });
        return { ratio: meanCost(datasets, model.centroids) / (reference.inertia / 2), bytes: model.bytes };
      });
      const mean = (value: (one: (typeof own)[number]) => number) =>
        own.reduce((sum, one) => sum + value(one), 0) / RUNS;
      return { method, cost: mean(({ ratio }) => ratio), bytes: mean((one) => one.bytes), best };
    });
    // With 100 rounds instead of what 300 messages pay for, nobody is much worse than it is said to be.
    for (const { method, cost, best } of ran) expect(cost, method).toBeLessThan(1.02 * Number(best.costRatio) + 0.02);
    const least = Math.min(...rivals.map(({ best }) => Number(best.costRatio)));
    const of = (name: string) => (rivals.find(({ method }) => method === name) as MethodStandings).best;
    expect(least).toBeGreaterThanOrEqual(1 - 1e-9);
    for (const name of quality) expect(of(name).costRatio).toBeLessThanOrEqual(1.001 * least);
    for (const { method, best } of rivals) {
      if (!quality.includes(method)) expect(best.costRatio, method).toBeGreaterThan(1.001 * least);
      if (best.bytes > 0) expect(best.bytes, method).toBeGreaterThanOrEqual(of(bytes as string).bytes);
      if (Number(best.costRatio) <= 1.01 * least) expect(best.bytes, method).toBeGreaterThanOrEqual(of(both).bytes);
    }
    expect(of(both).costRatio).toBeLessThanOrEqual(1.01 * least);
    expect(found.sentence).toContain(`By quality ${quality[0]}`);
    expect(found.sentence).toContain(`By both it is ${both}:`);
  },
  60_000,
);

test("on the grid of 25 and on exponential data the best setting shows what a method can do, where the start hides it", async () => {
  const { standings } = await contest(async (run) => problemOf(sets[0])(run), RUNS, methods);
  const of = (name: string) => standings.find(({ method }) => method === name) as MethodStandings;
  for (const name of ["consensus", "distributed", "fedkm"]) {
    expect(of(name).common?.costRatio, name).toBeGreaterThan(1.1);
    expect(of(name).best.costRatio, name).toBeLessThan(1.1);
  }
  expect(of("kfed").common).toBeNull();
}, 60_000);

test("what is set by hand is the one setting of a method, and methods that cannot start are named", async () => {
  const small = problemOf(sets[12]);
  const settings = { kfed: { join: "mean" } };
  const found = await contest(async (run) => ({ ...small(run), settings, messages: 30 }), 1, {
    kfed: methods.kfed,
    coreset: methods.coreset,
  });
  expect(found.standings.map(({ method, best }) => [method, best.setting])).toEqual([["kfed", { join: "mean" }]]);
  expect(found.overBudget.map(({ method }) => method)).toEqual(["coreset"]);
});

test("a method of a plug-in is tried from both common starts, and intervals are over the runs", async () => {
  const halfway: Method = (points, network, options) => methods.fedkm(points, network, { ...options, rounds: 1 });
  const small = problemOf(sets[14]);
  const asked = async (run: number) => ({ ...small(run), graph: complete(DEVICES) });
  const { standings } = await contest(asked, 3, { halfway });
  expect(standings[0].best).toMatchObject({ runs: 3 });
  expect(standings[0].best.costInterval).toBeGreaterThan(0);
  expect(standings[0].common?.setting).toMatchObject({ seeds: "aligned" });
});
