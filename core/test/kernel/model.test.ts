// What can be asked of an answer: labels, inertia, JSON and back, and predictions by it.

import { describe, expect, it } from "vitest";
import { squaredDistance } from "../../src/data/matrix.ts";
import {
  complete,
  fit,
  fitRounds,
  kmeans,
  matrix,
  methodOfAnswer,
  methodOfRounds,
  methods,
  paperData,
  predict,
  ring,
  stack,
} from "../../src/index.ts";

const { datasets } = paperData("var", 4, 30, 2);
const network = ring(4);
const options = { k: 3, alpha: 1, seed: 2, rounds: 6 };

/** Of every point to the nearest of the centroids, one after the other. */
function costs({ data, rows, cols }: typeof own, centroids: typeof own): number[] {
  return Array.from({ length: rows }, (_, r) =>
    Math.min(
      ...Array.from({ length: centroids.rows }, (_, c) =>
        squaredDistance(data, r * cols, centroids.data, c * cols, cols),
      ),
    ),
  );
}

const [own] = datasets;
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

describe("the model of a network", () => {
  const still = methodOfRounds(() => () => ({ largestMove: 0, converged: true }));
  const answered = methodOfAnswer((all) => ({
    centroids: all.map((points) => kmeans(points, { k: 3 }).centroids),
    traffic: { messages: 0, bytes: 0 },
  }));

  it("has the labels and the inertia of its centroids, whatever method it comes from", () => {
    for (const [name, method] of Object.entries({ ...methods, still, answered })) {
      const model = method(datasets, network, options);
      const expected = sum(datasets.map((points, i) => sum(costs(points, model.centroids[i]))));
      expect(Math.abs(model.inertia / expected - 1), name).toBeLessThan(1e-12);
      const labels = model.labels();
      expect(
        labels.map((device) => device.length),
        name,
      ).toEqual([30, 30, 30, 30]);
      if (name !== "kfed") expect(labels, name).toEqual(model.centroids.map((set, i) => predict(set, datasets[i])));
    }
  });

  it("gives labels that belong to the caller, also where the function was taken off it", () => {
    const { labels } = methods.kfed(datasets, network, options);
    const first = labels();
    first[0].fill(7);
    expect(labels()[0]).not.toContain(7);
    expect(Object.keys(fit(datasets, network, options))).not.toContain("labels");
  });

  it("labels devices without points", () => {
    const { labels, inertia } = fit([own, matrix([])], complete(2), options);
    expect(labels().map((device) => device.length)).toEqual([30, 0]);
    expect(inertia).toBeGreaterThan(0);
  });

  it("can be cloned, and two of the same numbers are equal", () => {
    const model = fit(datasets, network, options);
    expect(structuredClone(model).centroids).toEqual(model.centroids);
    expect(fit(datasets, network, options)).toEqual(model);
    const loop = fitRounds(datasets, network, options);
    let step = loop.next();
    while (!step.done) step = loop.next();
    expect(step.value.labels()).toEqual(model.labels());
  });
});

describe("JSON", () => {
  const model = fit(datasets, network, options);
  const back = JSON.parse(JSON.stringify(model));

  it("holds the centroids as rows, and every number to the last bit", () => {
    expect(back.centroids.map(matrix)).toEqual(model.centroids);
    expect({ ...back, centroids: model.centroids }).toEqual({ ...model });
    const consensus = methods.consensus(datasets, network, options);
    expect(JSON.parse(JSON.stringify(consensus)).multipliers.map(matrix)).toEqual(consensus.multipliers);
    const clustered = kmeans(own, { k: 3 });
    const read = JSON.parse(JSON.stringify(clustered));
    expect(read.labels).toEqual(Array.from(clustered.labels));
    expect(matrix(read.centroids)).toEqual(clustered.centroids);
  });

  it("of a matrix comes back by matrix, although it has a name for each number", () => {
    expect(matrix(JSON.parse(JSON.stringify(own)))).toEqual(own);
    expect(() => matrix({ data: { a: 1 } as unknown as number[], cols: 1 })).toThrow(
      "data must be a list of numbers, got an object",
    );
  });

  it("is labelled by as the model is", () => {
    model.labels().forEach((labels, device) => {
      for (const known of [model, back, { centroids: JSON.parse(JSON.stringify(model.centroids)) }]) {
        expect(predict(known, datasets[device], { device })).toEqual(labels);
      }
    });
    const clustered = kmeans(own, { k: 3 });
    const read = JSON.parse(JSON.stringify(clustered));
    for (const known of [clustered, clustered.centroids, read, read.centroids]) {
      expect(predict(known, own)).toEqual(clustered.labels);
    }
  });
});

describe("predict(model, points, options)", () => {
  const model = fit(datasets, network, options);

  it.each([
    [
      "a network's model without a device",
      () => predict(model, own),
      "device must be an integer from 0 to 3 (the devices of model), got undefined",
    ],
    [
      "a device that is not there",
      () => predict(model, own, { device: 4 }),
      "device must be an integer from 0 to 3 (the devices of model), got 4",
    ],
    [
      "a device for one set of centroids",
      () => predict(kmeans(own, { k: 2 }), own, { device: 0 }),
      "device is for models of a network, and this is the model of one device, got device 0",
    ],
    [
      "other columns",
      () => predict(model, matrix([[1]]), { device: 0 }),
      "points must be 1 x 2 (the columns of centroids), got 1 x 1",
    ],
    [
      "a model without centroids",
      () => predict({ centroids: null } as never, own),
      "model must be centroids, or have them as centroids, got null",
    ],
    [
      "centroids that are no numbers",
      () => predict({ centroids: [["a", "b"]] } as never, own),
      "device must be an integer from 0 to 0 (the devices of model), got undefined",
    ],
    [
      "no points at all in a list",
      () => predict({ centroids: [] } as never, own),
      "centroids must have at least 1 row, got 0",
    ],
  ])("refuses %s", (_, call, line) => {
    expect(call).toThrow(new RegExp(`^${line.replace(/[()]/g, "\\$&")}$`));
  });
});

describe('kmeans(points, { init, empty: "farthest" })', () => {
  /** Lloyd as it is written in books, with empty clusters moved to the costliest points before each run. */
  function bruteForce(points: typeof own, start: typeof own, weights: readonly number[]): number {
    const { cols } = points;
    const centroids = { ...start, data: start.data.slice() };
    const assign = () => predict(centroids, points);
    for (;;) {
      const used = new Set(assign().filter((_, r) => weights[r] > 0));
      const empty = Array.from({ length: start.rows }, (_, c) => c).filter((c) => !used.has(c));
      // Only those that have points, and those that were moved, count as near.
      const near = Array.from(used);
      for (const c of empty) {
        const held = stack(near.map((n) => ({ data: centroids.data.slice(n * cols, (n + 1) * cols), rows: 1, cols })));
        const cost = costs(points, held).map((square, r) => weights[r] * square);
        const most = Math.max(...cost);
        if (most === 0) break;
        const row = cost.indexOf(most);
        centroids.data.set(points.data.subarray(row * cols, (row + 1) * cols), c * cols);
        near.push(c);
      }
      const before = centroids.data.slice();
      for (let moved = true; moved; ) {
        const labels = assign();
        const old = centroids.data.slice();
        for (let c = 0; c < start.rows; c++) {
          const rows = Array.from(labels.keys()).filter((r) => labels[r] === c);
          const weight = sum(rows.map((r) => weights[r]));
          if (weight === 0) continue;
          for (let x = 0; x < cols; x++) {
            centroids.data[c * cols + x] = sum(rows.map((r) => weights[r] * points.data[r * cols + x])) / weight;
          }
        }
        moved = centroids.data.some((x, at) => Math.abs(x - old[at]) > 1e-13);
      }
      const labels = assign();
      const all = new Set(labels.filter((_, r) => weights[r] > 0));
      const cost = costs(points, centroids).map((square, r) => weights[r] * square);
      if (all.size === start.rows || before.every((x, at) => x === centroids.data[at]) || Math.max(...cost) === 0) {
        return sum(cost);
      }
    }
  }

  it("ends where the brute force does, on 60 starts with empty clusters, weighted and not", () => {
    for (let seed = 0; seed < 60; seed++) {
      const {
        datasets: [points],
      } = paperData("iso", 1, 40, seed);
      const k = 3 + (seed % 4);
      const far = (c: number) => [1000 + 50 * c, seed];
      const init = matrix(
        Array.from({ length: k }, (_, c) =>
          c % 2 === 0 ? Array.from(points.data.subarray(2 * c, 2 * c + 2)) : far(c),
        ),
      );
      const weights = Array.from({ length: 40 }, (_, r) => (seed % 2 === 0 ? 1 : (r * 7 + seed) % 4));
      const found = kmeans(points, { k, init, weights, empty: "farthest" });
      const expected = bruteForce(points, init, weights);
      expect(Math.abs(found.inertia / expected - 1), `seed ${seed}`).toBeLessThan(1e-9);
      expect(new Set(found.labels).size, `seed ${seed}`).toBe(k);
      expect(found.inertia).toBeLessThanOrEqual(kmeans(points, { k, init, weights }).inertia);
    }
  });

  it("keeps an empty cluster where every point sits on a centroid, and changes nothing where none is empty", () => {
    const points = matrix([[0], [0], [5]]);
    const init = matrix([[0], [5], [9]]);
    expect(kmeans(points, { k: 3, init, empty: "farthest" })).toEqual(kmeans(points, { k: 3, init }));
    expect(kmeans(own, { k: 3, empty: "farthest" })).toEqual(kmeans(own, { k: 3 }));
  });

  it("halves the inertia of 784 columns from a start that serves nobody with 18 of 20 centroids", () => {
    const cols = 784;
    const {
      datasets: [drawn],
    } = paperData("iso", 1, 400, 1);
    // Twenty pictures of which every row is one with noise; the start has a negative of all but two.
    const data = Float64Array.from({ length: 400 * cols }, (_, at) => {
      const picture = Math.floor(at / cols) % 20;
      const noise = drawn.data[(at * 31) % drawn.data.length];
      return (((at % cols) * (picture + 3)) % 17 < 6 ? 200 : 0) + noise;
    });
    const points = { data, rows: 400, cols };
    const init = { data: data.slice(0, 20 * cols).map((x, at) => (at < 2 * cols ? x : -1000 - x)), rows: 20, cols };
    const kept = kmeans(points, { k: 20, init });
    const moved = kmeans(points, { k: 20, init, empty: "farthest" });
    expect(new Set(kept.labels).size).toBe(2);
    expect(new Set(moved.labels).size).toBe(20);
    expect(moved.inertia).toBeLessThan(kept.inertia / 2);
  });
});

describe('fit(datasets, graph, { init, empty: "farthest" })', () => {
  it("begins with clusters that have points, and ends lower than from centroids that nobody needs", () => {
    const init = datasets.map(() =>
      matrix([
        [0, 0],
        [500, 500],
        [900, -900],
      ]),
    );
    const begun = { ...options, init, rounds: 0 } as const;
    const used = (model: { labels(): readonly Uint32Array[] }) => model.labels().map((labels) => new Set(labels).size);
    expect(used(fit(datasets, network, begun))).toEqual([1, 1, 1, 1]);
    expect(used(fit(datasets, network, { ...begun, empty: "farthest" }))).toEqual([3, 3, 3, 3]);
    const from = (empty: "keep" | "farthest") => fit(datasets, network, { ...options, rounds: 200, init, empty });
    expect(from("farthest").objective).toBeLessThan(from("keep").objective / 2);
  });

  it("leaves devices without points as they were given", () => {
    const init = [matrix([[0], [50]]), matrix([[0], [50]])];
    const { centroids } = fit([matrix([[0], [1]]), matrix([])], complete(2), {
      k: 2,
      alpha: 1,
      init,
      empty: "farthest",
      rounds: 0,
    });
    expect(centroids.map(({ data }) => Array.from(data))).toEqual([
      [0, 1],
      [0, 50],
    ]);
  });
});
