// Settling: strongly coupled runs come to rest, at the fixed point of plain rounds, whatever the unit is.

import {
  certify,
  complete,
  erdosRenyi,
  type FitModel,
  type FitOptions,
  fit,
  graph,
  type Matrix,
  paperData,
  path,
  randomStream,
  ring,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { forAllProblems, pickFrom } from "../problems.ts";

const kinds = ["iso", "var", "aniso"] as const;
const problem = (seed: number, points = 60) => ({
  datasets: paperData(kinds[seed % 3], 10, points, seed).datasets,
  network: seed % 2 === 0 ? erdosRenyi(10, 0.4, randomStream(seed, "graph")) : ring(10),
});
const moved = (datasets: readonly Matrix[], by: (x: number) => number) =>
  datasets.map((own) => ({ ...own, data: own.data.map(by) }));

/** Largest difference of a coordinate. */
const apart = (a: FitModel, b: FitModel, unmove = (x: number) => x) =>
  Math.max(
    ...a.centroids.flatMap(({ data }, i) => Array.from(data, (x, at) => Math.abs(unmove(x) - b.centroids[i].data[at]))),
  );

function expectDescent({ history }: FitModel, about: string): void {
  history.slice(1).forEach(({ objective, round }, before) => {
    const rise = (objective - history[before].objective) / Math.max(1, history[before].objective);
    expect(rise, `round ${round}: ${about}`).toBeLessThanOrEqual(1e-12);
  });
}

/** The rounds in which more was sent than one message of every device. */
const jointRounds = ({ history }: FitModel) =>
  history.flatMap(({ round, messages }) => (round > 0 && messages - history[round - 1].messages > 10 ? [round] : []));

describe("a strongly coupled run", () => {
  it("settles within 60 rounds at alpha 10, 100, 1000 and 10,000, and never rises", () => {
    for (let seed = 0; seed < 6; seed++) {
      const { datasets, network } = problem(seed);
      for (const alpha of [10, 100, 1000, 1e4]) {
        const model = fit(datasets, network, { k: 3, alpha, seed });
        expect(model.converged, `alpha ${alpha}, seed ${seed}`).toBe(true);
        expect(model.rounds).toBeLessThanOrEqual(60);
        expect(certify(datasets, network, model, { alpha }).relativeResidual).toBeLessThan(1e-12);
        expectDescent(model, `alpha ${alpha}, seed ${seed}`);
      }
    }
  });

  it("ends in the fixed point of rounds without joint steps", () => {
    for (const [seed, options] of [
      [0, {}],
      [1, { coupling: "transport" }],
      [2, { weighting: "sample" }],
    ] as const) {
      const { datasets, network } = problem(seed, 30 + seed);
      const asked = { k: 3, alpha: 100, seed, ...options };
      const plain = fit(datasets, network, { ...asked, jointSteps: false, rounds: 3000, tol: 1e-15 });
      expect(apart(fit(datasets, network, asked), plain)).toBeLessThan(1e-9);
    }
  });

  it("settles on long rings, on several components, and with numbers of clusters of their own", () => {
    const { datasets } = paperData("iso", 100, 20, 3);
    expect(fit(datasets, ring(100), { k: 3, alpha: 100, seed: 3 }).rounds).toBeLessThanOrEqual(60);
    const few = datasets.slice(0, 7);
    const parts = graph(7, [
      [0, 1],
      [1, 2],
      [3, 4],
      [4, 5, 0.1],
    ]);
    for (const k of [3, [3, 2, 4, 3, 3, 2, 5]]) {
      const model = fit(few, parts, { k, alpha: 1000, seed: 1 });
      expect(model.converged).toBe(true);
      expect(certify(few, parts, model, { alpha: 1000 }).relativeResidual).toBeLessThan(1e-12);
      expectDescent(model, "parts");
    }
  });

  it("does not take small moves for rest: beyond all bounds of alpha devices agree on a mean of all", () => {
    // One cluster, so that the end is known: every device counts the same.
    const { datasets, network } = problem(1);
    const means = datasets.map(({ data, rows }) => data.reduce((sum, x, at) => sum + (at % 2 === 0 ? x : 0), 0) / rows);
    const mean = means.reduce((a, b) => a + b) / 10;
    const init = datasets.map(({ data, cols }) => ({ data: data.slice(0, cols), rows: 1, cols }));
    for (const alpha of [1e8, 1e12]) {
      const { converged, centroids } = fit(datasets, network, { k: 1, alpha, init });
      expect(converged).toBe(true);
      for (const { data } of centroids) expect(Math.abs(data[0] - mean)).toBeLessThan(1e-6);
    }
  });
});

describe("jointSteps", () => {
  const { datasets, network } = problem(2);

  it("are taken after 30 rounds of a strongly coupled run, and after 100 of any other", () => {
    expect(jointRounds(fit(datasets, network, { k: 3, alpha: 100 }))[0]).toBe(31);
    const slow = fit(datasets, network, { k: 3, alpha: 1, schedule: "simultaneous" });
    expect(jointRounds(slow)[0]).toBe(101);
    expect(slow.converged).toBe(true);
  });

  it("change nothing where a run settles before, and are none with the paper's preset, listed schedules and alpha 0", () => {
    const quick = { k: 3, alpha: 0.1, seed: 1 };
    expect(fit(datasets, network, quick)).toEqual(fit(datasets, network, { ...quick, jointSteps: false }));
    const schedule = Array.from({ length: 1100 }, (_, t) => [t % 10]);
    const without: Partial<FitOptions>[] = [{ preset: "paper", passes: 1 }, { schedule }, { alpha: 0 }];
    for (const options of without) {
      expect(jointRounds(fit(datasets, network, { k: 3, alpha: 100, ...options }))).toEqual([]);
    }
    const asked = fit(datasets, network, { k: 3, alpha: 100, preset: "paper", passes: 1, jointSteps: true });
    expect(jointRounds(asked)[0]).toBe(31);
    expect(asked.converged).toBe(true);
  });

  it("count what they send: in every iteration a direction and a sum of two numbers, then centroids and four numbers", () => {
    const { history } = fit(datasets.slice(0, 3), path(3), { k: 3, alpha: 1000, seed: 1 });
    const [before, after] = [history[30], history[31]];
    // A round, then the iterations: 3 devices send to 4 ends of links, and a sum goes up and down 2 links.
    const iterations = (after.messages - before.messages - 3 - 3 - 4) / (3 + 4);
    expect(Number.isInteger(iterations) && iterations > 1).toBe(true);
    const [centroids, sum] = [4 * 3 * 2 * 8, 4 * 8];
    expect(after.bytes - before.bytes).toBe((2 + iterations) * centroids + (2 * iterations + 4) * sum);
  });

  it("never raise the objective, on any problem", () => {
    forAllProblems("joint steps", runs({ short: 40, long: 400 }), ({ random, datasets, network, init, k }) => {
      const options = {
        ...{ k, init, alpha: 10 ** (5 * random() - 1), jointSteps: true, rounds: 45 },
        coupling: pickFrom(random, ["nearest", "transport"] as const),
        weighting: pickFrom(random, ["device", "sample"] as const),
        schedule: pickFrom(random, ["cyclic", "random", "coloured", "simultaneous"] as const),
        preset: pickFrom(random, ["dependable", "paper"] as const),
      };
      expectDescent(fit(datasets, network, options), JSON.stringify({ ...options, init: undefined }));
    });
  });
});

describe("converged", () => {
  it("comes after the same rounds in another unit, with the same bits where it is a power of 2", () => {
    for (const [seed, alpha] of [
      [1, 0.1],
      [2, 100],
    ]) {
      const { datasets, network } = problem(seed);
      const run = (unit: number) =>
        fit(
          moved(datasets, (x) => unit * x),
          network,
          { k: 3, alpha, seed },
        );
      const plain = run(1);
      expect(plain.converged).toBe(true);
      for (const unit of [2 ** -3, 2 ** 20, 2 ** 100]) {
        expect(run(unit).rounds).toBe(plain.rounds);
        expect(apart(run(unit), plain, (x) => x / unit)).toBe(0);
      }
      for (const unit of [1e-6, 1e6]) {
        expect(Math.abs(run(unit).rounds - plain.rounds)).toBeLessThanOrEqual(2);
        expect(apart(run(unit), plain, (x) => x / unit)).toBeLessThan(1e-10);
      }
    }
  });

  it("is no less strict where data lie far from 0", () => {
    const { datasets } = problem(1);
    for (const alpha of [1, 100]) {
      const run = (by: number) =>
        fit(
          moved(datasets, (x) => x + by),
          complete(10),
          { k: 3, alpha, seed: 1 },
        );
      const plain = run(0);
      for (const by of [1e3, 1e6]) {
        expect(run(by).converged).toBe(true);
        // A coordinate of 1e6 has bits down to 1e-10; moves of a hundred of these are rounding.
        expect(apart(run(by), plain, (x) => x - by)).toBeLessThan(by * 1e-13);
      }
    }
  });
});
