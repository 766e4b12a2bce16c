// Guarded rows of a device: what is sent and when, and a history that is lost.

import { paperData, ring } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { createDevice } from "../../src/change/studyLoop.ts";
import { type DeviceMemory, volatileMemory } from "../../src/loop/savedState.ts";
import type { HistoryMemory } from "../../src/privacy/history.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";
import { simulate } from "../../src/simulation/simulate.ts";
import { contractOf } from "../../src/study/study.ts";
import { decodeFrame } from "../../src/wire/studyFrames.ts";
import { emptyNetwork, problem, studyWith } from "../problem.ts";

const HOUR = 3_600_000;

/** One guarded device, alone with a test as its neighbour. */
async function alone(memory: DeviceMemory, rows = paperData("iso", 1, 100, 1).datasets[0]) {
  const study = studyWith({ privacy: "guarded", minimum: 10 });
  const contract = await contractOf(study);
  const clock = simulatedClock();
  const around = emptyNetwork();
  const device = createDevice({ study, contract, network: around.network, clock, memory, links: ["a"], rows });
  await device.start();
  around.listener.onConnect("a");
  const run = (milliseconds: number) => {
    const until = clock.now() + milliseconds;
    while (clock.step(until));
  };
  const heard = () =>
    around.sent.flatMap(({ frame }) => {
      const said = decodeFrame(contract, frame);
      return said.kind === "centroids" ? [said] : [];
    });
  return { device, run, heard, rows };
}

describe("a guarded device", () => {
  it("sends nothing before what it publishes is written down, and says why it cannot be", async () => {
    const waiting: ((failure: string | undefined) => void)[] = [];
    const history: HistoryMemory = { saved: undefined, isLost: false, keep: (_, done) => waiting.push(done) };
    const { device, run, heard } = await alone({ ...volatileMemory(1), history });
    run(10 * 60_000);
    expect(heard()).toEqual([]);
    waiting.splice(0).forEach((done) => {
      done("no space left");
    });
    expect(device.status().guarded?.failure).toBe("no space left");
    for (let turn = 0; turn < 10; turn++) {
      run(60_000);
      waiting.splice(0).forEach((done) => {
        done(undefined);
      });
    }
    run(60_000);
    expect(heard().length).toBeGreaterThan(0);
    expect(device.status().guarded).toMatchObject({ failure: null, isHistoryLost: false });
  });

  it("sends coordinates on the grid only, none of them a row, and sketches of enough rows", async () => {
    const { run, heard, rows, device } = await alone(volatileMemory(1));
    run(60_000);
    const step = 60 * 2 ** -20;
    const sent = heard().flatMap(({ centroids, sketches }) => [
      ...centroids.data,
      ...sketches.flatMap((sketch) => Array.from(sketch.centroids)),
    ]);
    expect(sent.length).toBeGreaterThan(6);
    for (const x of sent) {
      expect(Math.abs(x / step - Math.round(x / step))).toBeLessThan(1e-6);
      expect(rows.data).not.toContain(x);
    }
    expect(device.status().guarded?.smallestClass).toBeGreaterThanOrEqual(10);
  });

  it("sends nothing of its rows where it does not know what it has published, until a person consents", async () => {
    const lost = { saved: undefined, isLost: true, keep: (_: Uint8Array, done: (failure?: string) => void) => done() };
    const { device, run, heard, rows } = await alone({ ...volatileMemory(2), history: lost });
    run(10 * 60_000);
    expect(heard()).toEqual([]);
    expect(device.status()).toMatchObject({ rows: 0, rowsLeftOut: 100, guarded: { isHistoryLost: true } });
    device.reset(rows);
    run(60_000);
    expect(heard().length).toBeGreaterThan(0);
    expect(device.status()).toMatchObject({ rows: 100, guarded: { isHistoryLost: false } });
  });

  it("goes on from its history after a restart, and lets one new row wait", async () => {
    const memory = volatileMemory(1);
    const { run, rows, device } = await alone(memory);
    run(60_000);
    device.stop();
    const more = { data: Float64Array.from([...rows.data, 1, 2]), rows: 101, cols: 2 };
    const again = await alone(volatileMemory(2, memory.latest(), memory.latestHistory()), more);
    again.run(60_000);
    expect(again.device.status()).toMatchObject({
      rows: 100,
      rowsLeftOut: 1,
      guarded: { rowsWaiting: { fresh: 1, guests: 0, deleted: 0 }, isHistoryLost: false },
    });
  });
});

it("a network of guarded devices settles near the objective of an open one, and classes stay large enough", async () => {
  const links = ring(5);
  const given = await problem("var", links, 1, { privacy: "guarded", minimum: 10 });
  const network = simulate(given);
  expect(network.settle(HOUR)).toBe(true);
  network.setRows(2, { data: given.datasets[2].data.slice(0, 180), rows: 90, cols: 2 });
  network.crash(3);
  network.restart(3);
  expect(network.settle(HOUR)).toBe(true);
  for (let i = 0; i < 5; i++) expect(network.status(i).guarded?.smallestClass).toBeGreaterThanOrEqual(10);
  const plain = simulate(await problem("var", links, 1));
  expect(plain.settle(HOUR)).toBe(true);
  expect(network.objective()).toBeLessThan(1.05 * plain.objective());
});
