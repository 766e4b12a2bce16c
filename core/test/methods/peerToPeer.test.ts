// The plug-ins lsp2p and epidemic, peer-to-peer ancestors: where everybody hears everybody, both are Lloyd's iteration on all points.

import {
  complete,
  consensusVariation,
  erdosRenyi,
  globalCentroidDeviation,
  graph,
  kmeans,
  type Matrix,
  matrix,
  methods,
  paperData,
  path,
  randomStream,
  stack,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { type EpidemicOptions, methods as epidemicPlugin } from "../../../examples/methods/epidemic.ts";
import { type Lsp2pOptions, methods as lsp2pPlugin } from "../../../examples/methods/lsp2p.ts";
import { pushSum } from "../../../examples/methods/pushSum.ts";
import { forAllProblems } from "../problems.ts";
import { tell, tellOne } from "./wire.ts";

const { epidemic } = epidemicPlugin;
const { lsp2p } = lsp2pPlugin;
const { datasets } = paperData("var", 8, 60, 3);
const everybody = complete(8);
const options = { k: 3, alpha: 1, seed: 3 };
/** The first three points of one device: far from any answer, so that there is a way to go. */
const start: Matrix = { data: datasets[5].data.slice(0, 6), rows: 3, cols: 2 };
const init = datasets.map(() => start);

/** Lloyd's iteration on all points, as plainly as it can be written. */
function lloyd(points: Matrix, from: Matrix, steps: number): Matrix {
  return steps === 0
    ? from
    : lloyd(points, kmeans(points, { k: from.rows, init: from, maxIter: 1 }).centroids, steps - 1);
}

function largestDifference(a: Matrix, b: Matrix): number {
  return a.data.reduce((most, x, at) => Math.max(most, Math.abs(x - b.data[at])), 0);
}

describe("lsp2p", () => {
  it("is Lloyd's iteration on all points where everybody is everybody's neighbour, step by step and at its end", () => {
    for (const rounds of [1, 2, 5]) {
      const { centroids } = lsp2p(datasets, everybody, { ...options, init, rounds });
      for (const own of centroids)
        expect(largestDifference(own, lloyd(stack(datasets), start, rounds))).toBeLessThan(1e-12);
    }
    const model = lsp2p(datasets, everybody, { ...options, init });
    expect(model.converged).toBe(true);
    const pooled = kmeans(stack(datasets), { k: 3, init: start, maxIter: 1000, tol: 0 }).centroids;
    for (const own of model.centroids) expect(largestDifference(own, pooled)).toBeLessThan(1e-12);
  });

  it("takes the mean over a device and its neighbours only", () => {
    const points = [0, 4, 8].map((x) => matrix([[x], [x + 2]]));
    const { centroids } = lsp2p(points, path(3), { k: 1, alpha: 1, rounds: 1 });
    expect(centroids.map(({ data }) => data[0])).toEqual([3, 5, 7]);
  });

  it("leaves devices of a sparse network near the pooled solution, and apart", () => {
    const network = path(8);
    const [reference] = methods.pooled(datasets, network, options).centroids;
    const gcd = (centroids: readonly Matrix[]) => globalCentroidDeviation(centroids, reference);
    const { centroids } = lsp2p(datasets, network, options);
    expect(gcd(centroids)).toBeLessThan(gcd(methods.local(datasets, network, options).centroids));
    expect(consensusVariation(centroids, network)).toBeGreaterThan(1e-6);
  });

  it("stops a device for good once it moves by no more than gamma, and it sends nothing from then on", () => {
    const run = (gamma: number) => lsp2p(datasets, path(8), { ...options, init, gamma } as Lsp2pOptions);
    const [exact, early] = [run(0), run(0.5)];
    expect(early.converged).toBe(true);
    expect(early.rounds).toBeLessThan(exact.rounds);
    expect(early.messages).toBeLessThan(8 + 8 * early.rounds);
    const atOnce = run(1e6);
    expect([atOnce.rounds, atOnce.messages]).toEqual([1, 16]);
  });

  it("keeps a centroid that nobody around has a point of", () => {
    const points = [matrix([[0], [1]]), matrix([[0.5], [1.5]])];
    const far = matrix([[0.75], [100]]);
    const { centroids } = lsp2p(points, path(2), { k: 2, alpha: 1, init: [far, far] });
    for (const { data } of centroids) expect(Array.from(data)).toEqual([0.75, 100]);
  });
});

describe("epidemic", () => {
  const random = erdosRenyi(8, 0.6, randomStream(2, "epidemic"));

  it.each([
    ["a complete network", everybody, 120],
    ["a sparse one", random, 300],
    ["a path", path(8), 1500],
  ] as const)("is Lloyd's iteration on all points after enough gossip, on %s", (_, network, gossip) => {
    for (const rounds of [1, 2, 4]) {
      const asked: EpidemicOptions = { ...options, init, rounds, gossip, tol: 0 };
      for (const own of epidemic(datasets, network, asked).centroids) {
        expect(largestDifference(own, lloyd(stack(datasets), start, rounds))).toBeLessThan(1e-8);
      }
    }
  });

  it("is nearer to it the longer devices gossip", () => {
    const target = lloyd(stack(datasets), start, 1);
    const errors = [5, 20, 80].map((gossip) => {
      const { centroids } = epidemic(datasets, everybody, { ...options, init, rounds: 1, gossip });
      return Math.max(...centroids.map((own) => largestDifference(own, target)));
    });
    expect(errors[1]).toBeLessThan(errors[0] / 10);
    expect(errors[2]).toBeLessThan(errors[1] / 1000);
  });

  it("ends where its means move no more than gossip leaves, unless it is asked for more", () => {
    const usual = epidemic(datasets, everybody, { ...options, init });
    expect(usual.converged).toBe(true);
    expect(usual.rounds).toBeLessThan(30);
    const exact = epidemic(datasets, everybody, { ...options, init, tol: 1e-12, rounds: 40 });
    expect([exact.rounds, exact.converged]).toEqual([40, false]);
  });

  it("draws its partners from the seed alone", () => {
    const run = (seed: number) => epidemic(datasets, random, { ...options, init, seed, rounds: 2, gossip: 4 });
    expect(run(1)).toEqual(run(1));
    expect(run(1).centroids).not.toEqual(run(2).centroids);
  });
});

describe("messages and bytes", () => {
  // A part that one edge holds together, and a device apart.
  const links = graph(4, [
    [0, 1],
    [1, 2],
  ]);
  const points = datasets.slice(0, 4);

  it("of lsp2p are means and counts from everybody who has not stopped", () => {
    const { messages, bytes, rounds } = lsp2p(points, links, { ...options, rounds: 2 });
    const wire = { messages: 0, bytes: 0 };
    tell(wire, links, 3 * 2);
    for (let round = 0; round < rounds; round++) tell(wire, links, 3 * 3);
    expect({ rounds, messages, bytes }).toEqual({ rounds: 2, ...wire });
  });

  it("of epidemic are sums and counts to one neighbour, thirty times for each new mean", () => {
    const { messages, bytes, rounds } = epidemic(points, links, { ...options, rounds: 2 });
    const wire = { messages: 0, bytes: 0 };
    tell(wire, links, 3 * 2);
    for (let step = 0; step < 30 * rounds; step++) tellOne(wire, links, 3 * 3);
    expect({ rounds, messages, bytes }).toEqual({ rounds: 2, ...wire });
  });

  it("and options that make no sense are refused", () => {
    expect(() => lsp2p(points, links, { ...options, gamma: -1 })).toThrow(
      "gamma must be a number of at least 0, got -1",
    );
    expect(() => epidemic(points, links, { ...options, gossip: 0 })).toThrow(
      "gossip must be an integer of at least 1, got 0",
    );
  });
});

describe("pushSum", () => {
  it("neither makes nor loses anything, on any network", () => {
    forAllProblems("push-sum keeps all", 100, ({ datasets: points, network }) => {
      const draw = randomStream(points.length, "push");
      const shares = points.map(({ rows }, i) => Float64Array.from([rows, i - 1.5, 0]));
      const total = () => [0, 1, 2].map((at) => shares.reduce((sum, own) => sum + own[at], 0));
      const before = total();
      for (let step = 0; step < 20; step++) {
        pushSum(network, shares, draw);
        total().forEach((sum, at) => {
          expect(Math.abs(sum - before[at])).toBeLessThanOrEqual(1e-12 * (1 + Math.abs(before[at])));
        });
      }
    });
  });

  it("leaves a device without neighbours what it has, and says how many sent", () => {
    const shares = [1, 2, 4].map((value) => Float64Array.of(value));
    const links = graph(3, [[0, 1]]);
    expect(pushSum(links, shares, randomStream(1, "push"))).toBe(2);
    expect(shares.map(([value]) => value)).toEqual([1.5, 1.5, 4]);
  });
});
