import {
  complete,
  distortion,
  erdosRenyi,
  type FitOptions,
  fit,
  fitRounds,
  graph,
  jsKernel,
  kmeans,
  type Matrix,
  type MethodOptions,
  matrix,
  methods,
  objective,
  paperData,
  path,
  randomStream,
  ring,
  star,
  toRows,
  totalVariation,
  updateDevice,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { roundOrders } from "../../src/fit/schedule.ts";
import { forAllProblems } from "../problems.ts";

const { datasets } = paperData("iso", 10, 60, 4);
const network = erdosRenyi(10, 0.7, randomStream(4, "graph"));

describe("fit(datasets, graph, options)", () => {
  it("reports the objective and total variation of the centroids it returns", () => {
    forAllProblems("reported objective", 300, ({ datasets: own, network: links, init, k, alpha }) => {
      const weighting = "sample";
      const model = fit(own, links, { k, alpha, init, weighting, rounds: 2 });
      const last = model.history[model.history.length - 1];
      const expected = objective(own, model.centroids, links, { alpha, weighting });
      expect(Math.abs(model.objective - expected)).toBeLessThanOrEqual(1e-12 * Math.max(1, expected));
      expect(last.totalVariation).toBe(totalVariation(model.centroids, links));
      expect(last.objective).toBe(model.objective);
    });
  });

  it("counts a message per told device and 8 bytes per number and link, the start included", () => {
    const { messages, bytes, rounds, history } = fit(datasets, star(10), { k: 3, alpha: 1, rounds: 4, init: "local" });
    expect(rounds).toBe(4);
    expect(history.map((round) => round.messages)).toEqual([10, 20, 30, 40, 50]);
    expect(messages).toBe(50);
    // A star has 9 links, each used in both directions by every round.
    expect(bytes).toBe(5 * 2 * 9 * 3 * 2 * 8);
  });

  it("counts nothing for a device without neighbours", () => {
    const { messages, bytes } = fit(datasets.slice(0, 3), graph(3, [[0, 1]]), {
      k: 3,
      alpha: 1,
      rounds: 1,
      init: "local",
    });
    expect({ messages, bytes }).toEqual({ messages: 4, bytes: 4 * 3 * 2 * 8 });
  });

  it("stops when nothing moves any more, and says so", () => {
    const model = fit(datasets, network, { k: 3, alpha: 1, rounds: 5000 });
    expect(model.converged).toBe(true);
    expect(model.rounds).toBeLessThan(2000);
    expect(model.history[model.rounds].largestMove).toBeLessThanOrEqual(1e-10);
    const again = fit(datasets, network, { k: 3, alpha: 1, init: model.centroids, rounds: 50 });
    expect(again.objective).toBeCloseTo(model.objective, 10);
    expect(fit(datasets, network, { k: 3, alpha: 1, rounds: 3 }).converged).toBe(false);
  });

  it("reaches the same fixed point on every schedule", () => {
    const init = datasets.map((points) => kmeans(points, { k: 3, seed: 1 }).centroids);
    const options = { k: 3, alpha: 1, init, rounds: 4000 };
    const cyclic = fit(datasets, network, options);
    for (const schedule of ["random", "coloured", "simultaneous"] as const) {
      const model = fit(datasets, network, { ...options, schedule });
      expect(model.converged).toBe(true);
      expect(model.objective).toBeCloseTo(cyclic.objective, 9);
    }
  });

  it("reaches it in a third of the rounds with relaxation 1.8", () => {
    const options = { k: 3, alpha: 1, rounds: 4000, passes: 1, preset: "paper" } as const;
    const plain = fit(datasets, network, options);
    const relaxed = fit(datasets, network, { ...options, relaxation: 1.8 });
    expect(relaxed.objective).toBeCloseTo(plain.objective, 9);
    expect(relaxed.rounds).toBeLessThan(plain.rounds / 3);
  });

  it("starts a device that has fewer points than k from its nearest neighbour that has enough", () => {
    const few = matrix([[0, 0]]);
    const own = [datasets[0], few, matrix([])];
    const model = fit(own, path(3), { k: 3, alpha: 1, rounds: 0 });
    expect(model.centroids[1]).toEqual(model.centroids[0]);
    expect(model.centroids[2]).toEqual(model.centroids[0]);
    expect(model.rounds).toBe(0);
  });

  it("begins with each device's own best k-means, so that no record is sent", () => {
    const { centroids } = fit(datasets, network, { k: 3, alpha: 1, rounds: 0, init: "local" });
    const records = new Set(datasets.flatMap(toRows).map(String));
    for (const centroid of centroids.flatMap(toRows)) expect(records.has(String(centroid))).toBe(false);
    centroids.forEach((own, i) => {
      const again = kmeans(datasets[i], { k: 3, init: own });
      expect(again.centroids.data).toEqual(own.data);
    });
  });

  it("begins with raw seeds when told so", () => {
    const { centroids } = fit(datasets, network, { k: 3, alpha: 1, rounds: 0, init: "kmeans++" });
    const records = new Set(datasets.flatMap(toRows).map(String));
    for (const centroid of centroids.flatMap(toRows)) expect(records.has(String(centroid))).toBe(true);
  });

  it("pulls heavier points harder with weighting sample", () => {
    const own = [matrix([[0], [0], [0]]), matrix([[1]])];
    const mean = (weighting: "device" | "sample") =>
      fit(own, path(2), {
        k: 1,
        alpha: 100,
        weighting,
        rounds: 5000,
        relaxation: 1.9,
        passes: 1,
        init: [matrix([[0]]), matrix([[0]])],
        tol: 0,
      });
    expect(mean("device").centroids[0].data[0]).toBeCloseTo(0.5, 1);
    expect(mean("sample").centroids[0].data[0]).toBeCloseTo(0.25, 1);
  });

  it("takes another kernel", () => {
    let calls = 0;
    const kernel = {
      name: "counting",
      prepare(points: Matrix) {
        const prepared = jsKernel.prepare(points);
        return {
          ...prepared,
          statistics(...given: Parameters<typeof prepared.statistics>) {
            calls++;
            prepared.statistics(...given);
          },
        };
      },
    };
    const options = { k: 3, alpha: 1, rounds: 2, passes: 1, preset: "paper" } as const;
    const init = datasets.map((points) => kmeans(points, { k: 3 }).centroids);
    expect(fit(datasets, network, { ...options, init, kernel })).toEqual(fit(datasets, network, { ...options, init }));
    // (E1) once per device at the start, then once per device update.
    expect(calls).toBe(10 + 2 * 10);
  });
});

describe("fitRounds(datasets, graph, options)", () => {
  it("sums up every round to the bits of fit, which nobody watches", () => {
    const ways = [
      {},
      { preset: "paper" },
      { coupling: "transport" },
      { penalty: "norm" },
      { penalty: "truncated" },
      { alpha: 300 },
      { robust: true },
      { schedule: "random" },
      { schedule: "coloured" },
      { privacy: "guarded", minimum: 3 },
    ] as const;
    const drained = (own: readonly Matrix[], links: typeof network, options: FitOptions) => {
      const rounds = [...fitRounds(own, links, options)];
      return rounds.map(({ round, objective, totalVariation }) => ({ round, objective, totalVariation }));
    };
    const summed = (own: readonly Matrix[], links: typeof network, options: FitOptions) =>
      fit(own, links, options).history.map(({ round, objective, totalVariation }) => {
        return { round, objective, totalVariation };
      });
    for (const way of ways) {
      const options = { k: 3, alpha: 1, rounds: 40, ...way };
      expect(summed(datasets, network, options), JSON.stringify(way)).toEqual(drained(datasets, network, options));
    }
    // Devices of several k, some of them without links.
    const sparse = erdosRenyi(10, 0.2, randomStream(7, "graph"));
    const options = { k: [1, 2, 3, 4, 3, 2, 1, 5, 3, 3], alpha: 0.3, init: "local", rounds: 12 } as const;
    expect(summed(datasets, sparse, options)).toEqual(drained(datasets, sparse, options));
    // Neighbours in any order, as in a graph made by hand.
    const few = { k: 3, alpha: 1, rounds: 5 };
    const backwards = { ...network, neighbours: network.neighbours.map((row) => Uint32Array.from(row).reverse()) };
    expect(summed(datasets, backwards, few)).toEqual(drained(datasets, backwards, few));
  });

  it("yields the start and every round, and its results never change afterwards", () => {
    const rounds = [...fitRounds(datasets, network, { k: 3, alpha: 1, rounds: 3 })];
    expect(rounds.map(({ round }) => round)).toEqual([0, 1, 2, 3]);
    const moved = rounds.slice(1).every(({ centroids }, t) => centroids[0].data[0] !== rounds[t].centroids[0].data[0]);
    expect(moved).toBe(true);
    rounds.forEach(({ centroids, objective: told }) => {
      expect(objective(datasets, centroids, network, { alpha: 1 })).toBeCloseTo(told, 10);
    });
  });

  it("refuses bad input at the call, before the first round is asked for", () => {
    expect(() => fitRounds(datasets, network, { k: 0, alpha: 1 })).toThrow("k must be");
  });

  it("stops between rounds when the signal is aborted", () => {
    const controller = new AbortController();
    const loop = fitRounds(datasets, network, { k: 3, alpha: 1, signal: controller.signal });
    loop.next();
    loop.next();
    controller.abort();
    expect(() => loop.next()).toThrow(/aborted/);
    expect(() => fit(datasets, network, { k: 3, alpha: 1, signal: AbortSignal.abort() })).toThrow(/aborted/);
  });

  it("runs an explicit schedule step by step, to its end", () => {
    const schedule = [[0], [1, 2], [], [0]];
    const model = fit(datasets, network, { k: 3, alpha: 1, schedule, init: "local" });
    expect(model.rounds).toBe(4);
    expect(model.history.map(({ messages }) => messages)).toEqual([10, 11, 13, 13, 14]);
    const sweep = datasets.map((_, i) => [i]);
    const listed = fit(datasets, network, { k: 3, alpha: 1, schedule: [...sweep, ...sweep], preset: "paper" });
    expect(listed.centroids).toEqual(fit(datasets, network, { k: 3, alpha: 1, rounds: 2, preset: "paper" }).centroids);
  });
});

describe("schedules", () => {
  const first = (schedule: Parameters<typeof roundOrders>[0], links = ring(5)) => {
    const { value } = roundOrders(schedule, links, randomStream(1)).next();
    return { order: Array.from(value.order), ends: Array.from(value.ends) };
  };

  it("cyclic visits in order, simultaneous all at once", () => {
    expect(first("cyclic")).toEqual({ order: [0, 1, 2, 3, 4], ends: [1, 2, 3, 4, 5] });
    expect(first("simultaneous")).toEqual({ order: [0, 1, 2, 3, 4], ends: [5] });
  });

  it("coloured takes independent sets that cover all devices", () => {
    expect(first("coloured")).toEqual({ order: [0, 2, 1, 3, 4], ends: [2, 4, 5] });
    expect(first("coloured", complete(3)).ends).toEqual([1, 2, 3]);
  });

  it("random draws n devices a round, each equally often", () => {
    const orders = roundOrders("random", ring(5), randomStream(1));
    const visits = new Array<number>(5).fill(0);
    for (let t = 0; t < 2000; t++) for (const device of orders.next().value.order) visits[device]++;
    for (const count of visits) expect(Math.abs(count - 2000)).toBeLessThan(250);
  });
});

describe("relaxation", () => {
  it("auto ends in the same fixed point, in a third of the rounds or fewer, and never rises", () => {
    // Without unrelaxed rounds at the start these four end elsewhere.
    const runs = [
      ["var", 0],
      ["var", 6],
      ["aniso", 1],
      ["aniso", 4],
    ] as const;
    for (const [kind, seed] of runs) {
      const { datasets } = paperData(kind, 10, 100, seed);
      const network = erdosRenyi(10, 0.7, randomStream(seed, "graph"));
      const run = (relaxation: number | "auto") =>
        fit(datasets, network, {
          ...{ k: 3, alpha: 1, seed, init: "local", preset: "paper", passes: 1, tol: 1e-13, rounds: 20_000 },
          relaxation,
        });
      const [plain, relaxed] = [run(1), run("auto")];
      relaxed.centroids.forEach(({ data }, i) => {
        data.forEach((x, at) => {
          expect(Math.abs(x - plain.centroids[i].data[at]), `${kind} ${seed}`).toBeLessThanOrEqual(1e-9);
        });
      });
      const reach = ({ history }: typeof plain) =>
        history.findIndex(({ objective }) => objective <= plain.objective * (1 + 1e-6));
      expect(reach(plain) / reach(relaxed), `${kind} ${seed}`).toBeGreaterThanOrEqual(3);
      relaxed.history.forEach(({ objective }, round) => {
        if (round > 0) expect(objective).toBeLessThanOrEqual(relaxed.history[round - 1].objective * (1 + 1e-12));
      });
    }
  });
});

describe("k of each device", () => {
  const points = [0, 1, 2].map((i) => paperData("iso", 1, 60, i).datasets[0]);
  const differing = { k: [3, 2, 4], alpha: 0.5, seed: 1 };

  it("gives every device its own number of clusters, and the objective never rises", () => {
    for (const init of ["local", "kmeans++"] as const) {
      const model = fit(points, ring(3), { ...differing, init, freshStarts: 1 });
      expect(model.centroids.map(({ rows }) => rows)).toEqual([3, 2, 4]);
      expect(model.objective).toBeCloseTo(objective(points, model.centroids, ring(3), differing), 10);
      model.history.forEach(({ objective: reached }, round) => {
        if (round > 0) expect(reached).toBeLessThanOrEqual(model.history[round - 1].objective * (1 + 1e-12));
      });
      // 3 + 2 + 4 centroids of 2 numbers cross two links each, at the start and in every round.
      expect(model.bytes).toBe((1 + model.rounds) * 9 * 2 * 8 * 2);
    }
  });

  it("ends where every device's own update leaves it", () => {
    const { centroids } = fit(points, ring(3), { ...differing, rounds: 2000 });
    points.forEach((own, i) => {
      const others = centroids.filter((_, j) => j !== i);
      const updated = updateDevice(own, centroids[i], others, { alpha: 0.5, passes: 1 }).centroids;
      updated.data.forEach((x, at) => {
        expect(x).toBeCloseTo(centroids[i].data[at], 8);
      });
    });
  });

  it("is, with alpha 0, everybody's own k-means; with equal numbers, one k", () => {
    const { centroids } = fit(points, ring(3), { ...differing, alpha: 0 });
    points.forEach((own, i) => {
      const { inertia } = kmeans(own, { k: differing.k[i], init: centroids[i] });
      expect(2 * distortion([own], [centroids[i]])).toBeCloseTo(inertia, 9);
    });
    const one = { alpha: 1, seed: 3 };
    expect(fit(points, ring(3), { ...one, k: [3, 3, 3] })).toEqual(fit(points, ring(3), { ...one, k: 3 }));
  });

  it("takes given starts, and refuses what needs one k for all", () => {
    const init = [3, 2, 4].map((rows, i) => ({ ...points[i], data: points[i].data.slice(0, 2 * rows), rows }));
    expect(fit(points, ring(3), { ...differing, init }).centroids.map(({ rows }) => rows)).toEqual([3, 2, 4]);
    const run = (more: object) => () => fit(points, ring(3), { ...differing, ...more });
    expect(run({ k: [3, 2] })).toThrow("k must have 3 numbers (one for each device), got 2");
    expect(run({ k: [3, 0, 2] })).toThrow("k[1] must be an integer of at least 1, got 0");
    expect(run({ coupling: "transport" })).toThrow(
      'k must be one number with coupling "transport" or candidates, got 3, 2, 4',
    );
    expect(run({ candidates: true })).toThrow("k must be one number with");
    expect(run({ init: "federated" })).toThrow(
      'init must be "local", "kmeans++", "classic kmeans++" or a matrix for each device (k differs), got "federated"',
    );
    expect(run({ init: [init[0], init[0], init[0]] })).toThrow("init[1] must be 2 x 2");
    expect(run({ k: [61, 2, 61] })).toThrow("device 0 must have at least k = 61 points");
    for (const [name, method] of Object.entries(methods)) {
      if (name === "fedkm") continue;
      const listed = { ...differing } as unknown as MethodOptions;
      expect(() => method(points, ring(3), listed), name).toThrow(/^k must be an integer/);
    }
  });
});
