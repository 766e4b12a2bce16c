// A request for clusters of tables at hand, in the words of a library: what comes back, and what is refused.

import {
  chooseClusters,
  communityData,
  complete,
  kmeans,
  type Matrix,
  paperData,
  randomStream,
  stack,
} from "@fedkm/core";
import { expect, test } from "vitest";
import { fitTables, predictTables, verifyTables } from "../src/index.ts";

const { datasets } = paperData("var", 3, 60, 4);
const tables = datasets.map((points, i) => ({ name: `d${i}`, columns: ["x", "y"], points }));

test("fitTables clusters tables at hand and leaves them as they were", async () => {
  const before = datasets.map(({ data }) => data.slice());
  const { model, labels } = await fitTables({ tables, k: 3, scale: "standard", seed: 2 });
  expect(datasets.map(({ data }) => data)).toEqual(before);
  expect(model.devices.map(({ name, rows }) => [name, rows])).toEqual(tables.map(({ name }) => [name, 60]));
  expect(labels.map(({ length }) => length)).toEqual([60, 60, 60]);
  expect(model.options).toEqual({
    k: 3,
    alpha: 1,
    method: "fedkm",
    graph: "complete",
    seed: 2,
    weighting: "sample",
  });
});

test("rows count equally, and with the preset paper devices do", async () => {
  const weightings = [{}, { preset: "paper" as const }, { preset: "paper" as const, weighting: "sample" as const }].map(
    async (asked) => (await fitTables({ tables, k: 2, ...asked, examine: false })).model.options.weighting,
  );
  expect(await Promise.all(weightings)).toEqual(["sample", "device", "sample"]);
});

test("a fit is verified by its tables, and its own rows get their labels back", async () => {
  const { model, labels } = await fitTables({ tables, k: 3, method: "consensus" });
  expect((await verifyTables({ tables, model })).fault).toBeUndefined();
  const predicted = await predictTables({ tables, model });
  expect(predicted.map((own) => Uint32Array.from(own.labels))).toEqual(labels);
  const moved: Matrix = { ...datasets[0], data: datasets[0].data.map((x) => x + 1) };
  const { fault } = await verifyTables({ tables: [{ ...tables[0], points: moved }, ...tables.slice(1)], model });
  expect(fault).toMatch(/^objective must be /);
});

test("one table is k-means on it", async () => {
  const points = stack(datasets);
  const { model } = await fitTables({ tables: [{ name: "all", points }], k: 3 });
  expect(model.objective * points.rows).toBeLessThan(1.02 * kmeans(points, { k: 3, restarts: 10, seed: 1 }).inertia);
});

test("without k a fit has as many clusters as are counted, over the links between devices that share them", async () => {
  const counted = await fitTables({ tables, scale: "standard", seed: 2 });
  const asked = await fitTables({ tables, k: 3, scale: "standard", seed: 2 });
  expect([counted.chosen?.k, asked.chosen]).toEqual([3, undefined]);
  expect(counted.model).toEqual(asked.model);
  const grouped = communityData(3, 60, 5, 8).datasets;
  const devices = grouped.map((points, i) => ({ name: String(i), points }));
  const found = await fitTables({ tables: devices });
  expect(found.chosen?.groups).toEqual(chooseClusters(grouped, complete(6)).groups);
  expect(found.model).toEqual((await fitTables({ tables: devices, k: 3, graph: "alike" })).model);
});

test("rows without a gap are one cluster, names say k, and what cannot be counted is refused", async () => {
  const random = randomStream(1, "even");
  const even = { data: Float64Array.from({ length: 600 }, random), rows: 300, cols: 2 };
  const { model, chosen } = await fitTables({ tables: [{ name: "even", points: even }] });
  expect([model.options.k, chosen?.clusters.candidates]).toEqual([1, [{ k: 1, fitted: 1, reason: "none" }]]);
  const named = await fitTables({ tables, names: ["few", "many"], examine: false });
  expect([named.model.options.k, named.chosen]).toEqual([2, undefined]);
  await expect(fitTables({ tables, graph: "alike" })).rejects.toThrow("--graph alike must be used with --k");
  const method = { name: "shared", method: Object.assign(() => {}, { takes: { privacy: ["private"] } }) } as never;
  await expect(fitTables({ tables, method, privacy: "private" })).rejects.toThrow("must be used with --k");
});

test("missing cells of tables are refused, dropped or filled like those of files", async () => {
  const points = { data: Float64Array.of(1, 2, Number.NaN, 9), rows: 4, cols: 1 };
  const request = { tables: [{ name: "t", columns: ["a"], points }], k: 2 };
  await expect(fitTables(request)).rejects.toThrow(/t, line 3, column "a" must have a value, got 1 missing cell/);
  const dropped = await fitTables({ ...request, missing: "drop" });
  expect(dropped.labels[0]).toHaveLength(3);
  const filled = await fitTables({ ...request, missing: "mean" });
  expect([filled.labels[0].length, filled.model.missing]).toEqual([4, { policy: "mean", fill: [4] }]);
});

test.each([
  [{ k: 3, method: "magic" }, "--method must be one of fedkm, consensus, local, pooled"],
  [
    { k: 3, method: "local", rounds: 3 },
    "--method local must be used with some of --init, --coupling, --weighting, got --rounds",
  ],
  [{ k: 300 }, "--k must be at most 180 (the rows of all devices), got 300"],
  [{ k: 2, names: ["a"] }, "--names must have one name for each of the 2 clusters, got 1"],
  [
    { k: 2, graph: "cube" },
    '--graph must be complete, ring, path, star, er:P, knn:K, alike:RULE or a list of links, got "cube"',
  ],
  [
    { k: 2, scale: "big" },
    '--scale must be none, standard, robust, minmax, rank, log:COLUMNS or bounds:FILE, got "big"',
  ],
  [{ k: 2, epsilon: 1 }, "--epsilon must be used with --privacy private, got --privacy open"],
])("%j is refused", async (request, refusal) => {
  await expect(fitTables({ tables, ...request })).rejects.toThrow(refusal);
});
