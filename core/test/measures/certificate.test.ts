// certify: zero at a fixed point, the move of one update elsewhere, rises of the objective, points on a border.

import { expect, test } from "vitest";
import {
  certify,
  complete,
  erdosRenyi,
  fit,
  graph,
  type Matrix,
  matrix,
  objective,
  paperData,
  randomStream,
  updateDevice,
} from "../../src/index.ts";

const { datasets } = paperData("var", 8, 60, 4);
const network = erdosRenyi(8, 0.6, randomStream(4, "graph"));
const options = { k: 3, alpha: 1, seed: 4 };
const moved = (centroids: readonly Matrix[], by: number) =>
  centroids.map((own, i) => (i === 2 ? { ...own, data: own.data.map((x, at) => (at === 0 ? x + by : x)) } : own));

test.each(["device", "sample"] as const)("a settled fit is certified as one, with weighting %s", (weighting) => {
  const uneven = datasets.map((own, i) => ({
    ...own,
    rows: 60 - 5 * i,
    data: own.data.slice(0, (60 - 5 * i) * own.cols),
  }));
  const judged = { ...options, weighting };
  const model = fit(uneven, network, judged);
  const { residual, relativeResidual, largestRise, ties, objective: reached } = certify(uneven, network, model, judged);
  expect(model.converged).toBe(true);
  expect(reached).toBe(objective(uneven, model.centroids, network, judged));
  expect(relativeResidual).toBeLessThan(1e-11);
  expect(relativeResidual).toBeLessThan(residual);
  expect({ largestRise, ties }).toEqual({ largestRise: 0, ties: 0 });
});

test("of moved centroids the residual is the largest move of one exact update", () => {
  const model = fit(datasets, network, options);
  const centroids = moved(model.centroids, 0.5);
  const expected = Math.max(
    ...datasets.map((points, i) => {
      const others = Array.from(network.neighbours[i], (j) => centroids[j]);
      const { data } = updateDevice(points, centroids[i], others, { alpha: 1, passes: 1 }).centroids;
      return Math.max(...data.map((x, at) => Math.abs(x - centroids[i].data[at])));
    }),
  );
  expect(expected).toBeGreaterThan(0.4);
  expect(certify(datasets, network, { ...model, centroids }, options).residual).toBe(expected);
});

test("the largest rise is that of the history, and rounding is none", () => {
  const model = fit(datasets, network, options);
  const [summary] = model.history;
  const risesOf = (objectives: number[]) => {
    const history = objectives.map((reached, round) => ({ ...summary, round, objective: reached }));
    return certify(datasets, network, { ...model, history }, options).largestRise;
  };
  expect(risesOf([10, 8, 8.5, 7, 7.25])).toBe(0.5);
  expect(risesOf([10, 8, 8 + 1e-13])).toBe(0);
  expect(risesOf([0, 1e-30, 0])).toBe(0);
  expect(risesOf([0, 1e-20])).toBe(1e-20);
});

test("points halfway between two centroids are ties, also where the last bit differs", () => {
  const points = matrix([[0], [0.1 + 0.2], [0.6], [10]]);
  const centroids = [matrix([[0], [0.6], [10]])];
  const model = { centroids, history: [] };
  expect(certify([points], graph(1, []), model, { alpha: 1 }).ties).toBe(1 / 4);
});

test("devices without points and devices with other numbers of clusters are certified too", () => {
  const some = [...datasets.slice(0, 3), { data: new Float64Array(0), rows: 0, cols: datasets[0].cols }];
  const model = fit(some, complete(4), { k: 3, alpha: 1, weighting: "sample" });
  expect(certify(some, complete(4), model, { alpha: 1, weighting: "sample" }).relativeResidual).toBeLessThan(1e-10);
  const lists = { k: [3, 2, 4], alpha: 1 };
  const different = fit(datasets.slice(0, 3), complete(3), lists);
  expect(certify(datasets.slice(0, 3), complete(3), different, lists).relativeResidual).toBeLessThan(1e-10);
});

test("arguments are checked", () => {
  const model = fit(datasets, network, options);
  expect(() => certify(datasets, network, model, { alpha: -1 })).toThrow("alpha must be a finite number of at least 0");
  expect(() => certify(datasets, complete(8), { ...model, centroids: [] }, { alpha: 1 })).toThrow(
    "centroids[0] must not be empty",
  );
});
