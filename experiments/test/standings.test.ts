// Methods at their best beside one untuned setting, and the sentence that names the winners.

import {
  complete,
  distortion,
  erdosRenyi,
  type Matrix,
  type Method,
  matrix,
  methods,
  pooledReference,
  randomStream,
  ring,
  stack,
} from "@fedkm/core";
import { expect, test } from "vitest";
import { dealBy, parseDeal, type Split } from "../src/cell.ts";
import { contest, type MethodStandings, winnersOf } from "../src/compare/standings.ts";
import { comparedSets as sets, setsOfRun } from "./comparedSets.ts";

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

test.each(setsOfRun())(
  "the sentence on %s is right",
  async (...set) => {
    const problem = problemOf(set);
    const found = await contest(async (run) => problem(run), RUNS, methods);
    const { quality, bytes, both } = winnersOf(found.standings) as NonNullable<ReturnType<typeof winnersOf>>;
    // Every method again at the settings it is said to be best at, against the better of the reference and the cheapest.
    const rivals = found.standings.filter(({ method }) => method !== "pooled");
    const ran = rivals.map(({ method, best }) => {
      const own = [1, 2].map((run) => {
        const { datasets, graph, k, alpha, seed } = problem(run);
        const call = methods[method as keyof typeof methods] as Method;
        const made = (rounds: number) => call(datasets, graph, { k, alpha, seed, rounds, ...best.settings[run - 1] });
        const whole = made(100);
        const paid = whole.history.findLastIndex(({ messages }) => messages <= 300);
        const model = whole.messages <= 300 ? whole : made(paid);
        const reference = pooledReference(stack(datasets), { k, seed: 77 + run });
        return { ratio: meanCost(datasets, model.centroids) / (reference.inertia / 2), bytes: model.bytes };
      });
      const mean = (value: (one: (typeof own)[number]) => number) =>
        own.reduce((sum, one) => sum + value(one), 0) / RUNS;
      return { method, cost: mean(({ ratio }) => ratio), bytes: mean((one) => one.bytes), best };
    });
    // Another search for the reference may end a little lower, no more.
    for (const { method, cost, best } of ran) expect(cost, method).toBeLessThan(1.02 * Number(best.costRatio) + 0.02);
    const least = Math.min(...rivals.map(({ best }) => Number(best.costRatio)));
    const of = (name: string) => (rivals.find(({ method }) => method === name) as MethodStandings).best;
    expect(least).toBeGreaterThanOrEqual(1 - 1e-9);
    for (const name of quality) expect(of(name).costRatio).toBeLessThanOrEqual(1.001 * least);
    for (const { method, best } of rivals) {
      if (!quality.includes(method)) expect(best.costRatio, method).toBeGreaterThan(1.001 * least);
      if (best.bytes > 0) expect(best.bytes, method).toBeGreaterThanOrEqual(of(bytes as string).bytes);
    }
    // What is untuned may send far less, and be nearly as good.
    const bytesNear = ({ best, untuned }: MethodStandings) =>
      Math.min(...[best, untuned].flatMap((own) => (Number(own?.costRatio) <= 1.01 * least ? (own?.bytes ?? []) : [])));
    const winner = bytesNear(rivals.find(({ method }) => method === both) as MethodStandings);
    expect(winner).toBeLessThan(Number.POSITIVE_INFINITY);
    for (const own of rivals) expect(bytesNear(own), own.method).toBeGreaterThanOrEqual(winner);
    expect(found.sentence).toContain(`By quality ${quality[0]}`);
    expect(found.sentence).toContain(`By both it is ${both}:`);
  },
  60_000,
);

test("on the grid of 25 and on exponential data the best settings show what a method can do, where the start hides it", async () => {
  const { standings } = await contest(async (run) => problemOf(sets[0])(run), RUNS, methods);
  const of = (name: string) => standings.find(({ method }) => method === name) as MethodStandings;
  for (const name of ["consensus", "distributed", "fedkm"]) {
    expect(of(name).untuned?.costRatio, name).toBeGreaterThan(1.1);
    expect(of(name).best.costRatio, name).toBeLessThan(1.1);
  }
  expect(of("kfed")).toMatchObject({
    takesStart: false,
    untuned: { settings: [{ join: "lloyd" }, { join: "lloyd" }] },
  });
}, 60_000);

test("what is set by hand is the one setting of a method, and methods that cannot start are named", async () => {
  const small = problemOf(sets[12]);
  const settings = { kfed: { join: "mean" } };
  const found = await contest(async (run) => ({ ...small(run), settings, messages: 30 }), 1, {
    kfed: methods.kfed,
    coreset: methods.coreset,
  });
  expect(found.standings.map(({ method, best }) => [method, best.settings])).toEqual([["kfed", [{ join: "mean" }]]]);
  expect(found.overBudget.map(({ method }) => method)).toEqual(["coreset"]);
});

test("a method of a plug-in is tried from both common starts, and intervals are over the runs", async () => {
  const halfway: Method = (points, network, options) => methods.fedkm(points, network, { ...options, rounds: 1 });
  const small = problemOf(sets[14]);
  const asked = async (run: number) => ({ ...small(run), graph: complete(DEVICES) });
  const { standings } = await contest(asked, 3, { halfway });
  expect(standings[0].best).toMatchObject({ runs: 3 });
  expect(standings[0].best.costInterval).toBeGreaterThan(0);
  expect(standings[0].untuned?.settings[0]).toMatchObject({ seeds: "aligned" });
});

test("a setting that the data refuse is passed over, and a method of which all are refused says why", async () => {
  // One row on every device: no cluster has two.
  const datasets = Array.from({ length: 6 }, (_, i) => matrix([[i % 3, i]]));
  const asked = async (seed: number) => ({ datasets, graph: ring(6), k: 2, alpha: 1, seed, messages: 300 });
  const { standings } = await contest(asked, 1, { fkm: methods.fkm, kfed: methods.kfed });
  expect(standings.map(({ method, best }) => [method, best.settings[0].minimum ?? 1])).toEqual([
    ["fkm", 1],
    ["kfed", 1],
  ]);
  const settings = { fkm: { minimum: 2 } };
  const refused = contest(async (run) => ({ ...(await asked(run)), settings }), 1, { fkm: methods.fkm });
  await expect(refused).rejects.toThrow("must have a cluster of at least minimum = 2 points, got none");
});
