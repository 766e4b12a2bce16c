// Rows that a device never has: it asks for their statistics, and computes what it would compute with the rows.

import { kmeans, type Matrix, matrix, paperData, toRows } from "@fedkm/core";
import { memorySource, type Source } from "@fedkm/core/sources";
import { expect, test } from "vitest";
import { createDevice } from "../../src/change/studyLoop.ts";
import { volatileMemory } from "../../src/loop/savedState.ts";
import { UpdateModel } from "../../src/loop/updateModel.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";
import type { RemoteRows } from "../../src/study/remoteRows.ts";
import { contractOf } from "../../src/study/study.ts";
import { dividedByScale } from "../../src/study/units.ts";
import { rowsHash } from "../../src/wire/hashes.ts";
import { encodeCentroidsFrame } from "../../src/wire/studyFrames.ts";
import { emptyNetwork, noTag, said, studyWith } from "../problem.ts";

const [rows, other] = paperData("var", 2, 400, 3).datasets;
const study = studyWith({
  features: studyWith().features.map((feature, f) => ({ ...feature, scale: f === 0 ? 3 : 0.1 })),
});

function elsewhere(points: Matrix, parts?: Source["parts"]): RemoteRows {
  const scaled = dividedByScale(study, points);
  const source = memorySource(scaled);
  const { signal } = new AbortController();
  return { source: { ...source, ...(parts && { parts }) }, leftOut: 0, fingerprint: rowsHash(scaled), signal };
}

test("a model asks for statistics and has the bits of one with the rows, update by update", async () => {
  const start = toRows({ data: dividedByScale(study, rows).data.slice(0, 6), rows: 3, cols: 2 });
  const saved = {
    ...{ study: "", round: 0, opening: { number: 0, start: 0, sketches: [] }, own: null, sketch: null },
    ...{ centroids: start, present: [true, true, true], neighbours: [] },
  };
  const [near, far] = [new UpdateModel(study, rows, 0, saved), new UpdateModel(study, elsewhere(rows), 0, saved)];
  expect([far.localData.rows, far.remoteRows?.source.rows]).toEqual([400, 400]);
  const theirs = kmeans(dividedByScale(study, other), { k: 3, seed: 5 }).centroids;
  for (let round = 0; round < 12; round++) {
    const neighbours = round % 3 === 0 ? [] : [{ ...theirs, data: theirs.data.map((x) => x + 0.01 * round) }];
    expect(near.update(neighbours)).toBe(true);
    expect(await far.update(neighbours)).toBe(true);
    expect(far.centroids).toEqual(near.centroids);
    expect(far.present).toEqual(near.present);
    expect(far.last?.counts).toEqual(near.last?.counts);
    expect(far.last?.objective).toBeCloseTo(near.last?.objective ?? 0, 9);
  }
});

/** One device with the test as its neighbour; time passes, and then answers come. */
async function alone(given: RemoteRows) {
  const contract = await contractOf(study);
  const clock = simulatedClock();
  const around = emptyNetwork();
  const memory = volatileMemory(1);
  const lost: unknown[] = [];
  const onRowsLost = (reason: unknown) => lost.push(reason);
  const options = { study, contract, network: around.network, clock, memory, links: ["a"], rows: given, onRowsLost };
  const device = createDevice(options);
  await device.start();
  const run = async (milliseconds: number) => {
    for (const until = clock.now() + milliseconds; clock.step(until); ) await new Promise(setImmediate);
  };
  return { device, around, run, lost, contract };
}

test("a device whose rows are elsewhere finds its own k-means, sends it, and follows a neighbour", async () => {
  const { device, around, run, contract } = await alone(elsewhere(rows));
  around.listener.onConnect("a");
  expect(device.status().phase).toBe("starting");
  await run(20_000);
  const { centroids, ...status } = device.status();
  expect(status).toMatchObject({ phase: "alone", rows: 400, rowsLeftOut: 0 });
  const expected = kmeans(dividedByScale(study, rows), { k: 3 });
  const found = dividedByScale(study, matrix(centroids ?? []));
  const sorted = (data: Float64Array) => Array.from(data).sort((a, b) => a - b);
  sorted(expected.centroids.data).forEach((x, i) => {
    expect(sorted(found.data)[i]).toBeCloseTo(x, 9);
  });
  const frames = around.sent.length;
  expect(frames).toBeGreaterThan(0);
  const numbers = Array.from(found.data, (x) => x + 0.05);
  const frame = encodeCentroidsFrame(contract, { epoch: 1, sequence: 0 }, said(numbers, [true, true, true], noTag));
  around.listener.onFrame("a", frame);
  await run(20_000);
  expect(around.sent.length).toBeGreaterThan(frames);
  expect(device.status().centroids).not.toEqual(centroids);
});

test("rows that do not answer are said to be lost, and nothing is asked until there are others", async () => {
  let asked = 0;
  const silent = async () => {
    asked++;
    throw new Error("away");
  };
  const { device, run, lost } = await alone(elsewhere(rows, silent));
  await run(60_000);
  expect(lost.map(String)).toEqual(["Error: away"]);
  expect(asked).toBe(1);
  device.setRows(elsewhere(rows));
  await run(20_000);
  expect(device.status().phase).toBe("alone");
  expect(lost).toHaveLength(1);
});

test("an answer of rows that were replaced meanwhile is not used", async () => {
  let answer = () => {};
  const [slow, many] = [elsewhere(rows), elsewhere(other)];
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const parts: Source["parts"] = async (...question) => {
    await held;
    return slow.source.parts(...question);
  };
  const { device, run } = await alone(elsewhere(rows, parts));
  await run(1000);
  device.setRows(many);
  answer();
  await run(20_000);
  const expected = kmeans(dividedByScale(study, other), { k: 3 });
  const found = dividedByScale(study, matrix(device.status().centroids ?? []));
  const sum = (data: Float64Array) => data.reduce((a, b) => a + b, 0);
  expect(sum(found.data)).toBeCloseTo(sum(expected.centroids.data), 9);
});

test("a paused device sends nothing of an answer that comes later", async () => {
  const { device, around, run } = await alone(elsewhere(rows));
  around.listener.onConnect("a");
  device.setPaused(true);
  await run(20_000);
  expect(around.sent).toEqual([]);
  device.setPaused(false);
  await run(20_000);
  expect(around.sent.length).toBeGreaterThan(0);
});

test.each(["guarded", "private"] as const)("rows of a %s study must be in memory", (privacy) => {
  expect(() => new UpdateModel({ ...study, privacy, minimum: 10 }, elsewhere(rows), 0, undefined)).toThrow(
    "rows must be in memory unless the study is open",
  );
});
