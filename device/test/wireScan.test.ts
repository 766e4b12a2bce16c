// The scan of what devices send catches what it is for, and nothing else.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Matrix, matrix, path, toRows } from "@fedkm/core";
import { expect, test } from "vitest";
import { connectNeighbour, Neighbour } from "../src/loop/neighbours.ts";
import { OpeningSync } from "../src/loop/openingSync.ts";
import { Sender } from "../src/loop/sender.ts";
import { UpdateModel } from "../src/loop/updateModel.ts";
import { localTable } from "../src/sharedClusters/description.ts";
import { firstContent } from "../src/sharedClusters/plan.ts";
import { sumsShape } from "../src/sharedClusters/shape.ts";
import { SharedRows } from "../src/sharedClusters/sharedRows.ts";
import { simulatedClock } from "../src/simulation/clock.ts";
import { contractOf } from "../src/study/study.ts";
import { tableRows } from "../src/study/tableRows.ts";
import { emptyNetwork, problem, studyWith } from "./problem.ts";
import { takeFaults } from "./wireScan.ts";

/** A device's parts with rows of the paper's data, and a way to send what they have. */
async function parts(minimum: number) {
  const study = studyWith({ minimum });
  const { datasets } = await problem("iso", path(2), 1);
  const [rows] = datasets;
  const model = new UpdateModel(study, rows, 0, undefined);
  const { ranges } = model;
  const openingSync = new OpeningSync({
    self: "own",
    epoch: 1,
    k: study.k,
    ranges,
    alpha: study.alpha,
    saved: undefined,
  });
  const clock = simulatedClock();
  const { network, sent } = emptyNetwork();
  const sender = new Sender({ contract: await contractOf(study), network, clock, epoch: 1, model, openingSync });
  const neighbour = new Neighbour("other", 0);
  connectNeighbour(neighbour);
  return { rows, model, sent, send: () => sender.sendAll([neighbour]) };
}

function solve(model: UpdateModel, neighbours: readonly Matrix[] = []): void {
  while (model.isRestarting) model.restart();
  model.update(neighbours);
}

test("a clustering that has ended is sent without a fault", async () => {
  const { model, send, sent } = await parts(10);
  solve(model);
  send();
  expect(sent).toHaveLength(1);
  expect(takeFaults()).toEqual([]);
});

test("a row that is sent on purpose is caught", async () => {
  const { rows, model, send } = await parts(10);
  solve(model);
  const [first, second] = toRows(rows);
  model.centroids = matrix([first, second, [0, 0]]);
  send();
  expect(takeFaults()).toEqual(
    [first, second].map((row) => `a centroid was sent that equals a row: ${row.join(", ")}`),
  );
});

test("a frame before the own k-means has ended is caught", async () => {
  const { model, send } = await parts(10);
  model.restart();
  model.centroids = matrix([
    [0, 1],
    [1, 0],
    [1, 1],
  ]);
  model.present = [true, true, true];
  send();
  expect(takeFaults()).toEqual(["a frame was sent after 1 of 10 starts of the own k-means"]);
});

test("a centroid on too few rows is caught, unless neighbours moved it", async () => {
  const { model, send } = await parts(30);
  solve(model);
  const own = model.centroids as Matrix;
  const counts = Float64Array.of(3, 40, 57);
  model.last = { ...(model.last as NonNullable<typeof model.last>), counts };
  model.present = [true, true, true];
  send();
  expect(takeFaults()).toEqual(["a centroid was sent that stands on 3 rows, the minimum is 30"]);
  model.update([own]);
  model.last = { ...(model.last as NonNullable<typeof model.last>), counts };
  send();
  expect(takeFaults()).toEqual([]);
});

test("a row that a process sends on purpose is caught", () => {
  const script = fileURLToPath(new URL("./sendsRow.mjs", import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  const found = takeFaults();
  expect(found).toHaveLength(2);
  for (const fault of found) expect(fault).toMatch(/^a centroid was sent that equals a row: /);
});

test("counts of fewer rows than the minimum are caught while columns are described", () => {
  const features = studyWith().features.map((feature) => ({ ...feature, open: "number" as const }));
  const study = studyWith({ clusters: "shared", colluders: 1, alpha: 0, privacy: "guarded", minimum: 4, features });
  const rows = { data: Float64Array.from({ length: 40 }, (_, i) => 2 ** (i % 9)), rows: 20, cols: 2 };
  const first = { ...firstContent(sumsShape(study)), number: 0 };
  const addedBy = (minimum: number) => {
    // A device whose table was made for a smaller minimum.
    const table = localTable(
      { columns: features.map(({ name }) => ({ name, kind: "number" })), minimum },
      tableRows({ points: rows }),
    );
    const history = { memory: undefined, onKept: () => {}, wallClock: () => 0 };
    const sign = () => new Uint8Array(64);
    return new SharedRows({ study, shape: sumsShape(study), rows, table, seed: 0, sign, history }).integersFor(first);
  };
  addedBy(4);
  expect(takeFaults()).toEqual([]);
  addedBy(1);
  expect(takeFaults()).toEqual(["3 rows were told apart while columns were described, the minimum is 4"]);
});
