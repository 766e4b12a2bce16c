import { readFileSync } from "node:fs";
import {
  edges,
  erdosRenyi,
  fit,
  matrix,
  objective,
  path,
  randomStream,
  ring,
  smallWorld,
  updateDevice,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { testSeed as seed } from "../../../test/runs.ts";
import { createDevice } from "../../src/change/studyLoop.ts";
import { volatileMemory } from "../../src/loop/savedState.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";
import { type SimulatedEvent, simulatedEventLog, simulatedLinks } from "../../src/simulation/links.ts";
import { type SimulationOptions, simulate } from "../../src/simulation/simulate.ts";
import { contractOf, type Study } from "../../src/study/study.ts";
import { studyId } from "../../src/wire/frames.ts";
import { problem, studyWith } from "../problem.ts";

const HOUR = 3_600_000;

describe("simulate(options)", () => {
  it("ends where fit ends, from staggered starts", async () => {
    for (const kind of ["iso", "var", "aniso"] as const) {
      for (const links of [erdosRenyi(10, 0.7, randomStream(seed, "graph")), ring(6)]) {
        const given = await problem(kind, links, seed);
        const network = simulate({ ...given, staggerMilliseconds: 3000 });
        expect(network.settle(HOUR)).toBe(true);
        const { objective: best } = fit(given.datasets, links, { k: 3, alpha: 1, seed, rounds: 10_000 });
        expect(network.objective()).toBeLessThan(1.001 * best);
        expect(network.objective()).toBeGreaterThan(0.99 * best);
      }
    }
  });

  it("ends where fit ends with transport, and with weights by sample on unequal devices", async () => {
    const links = ring(5);
    const { datasets: even } = await problem("iso", links, seed);
    const datasets = even.map((rows, i) => ({
      ...rows,
      rows: 100 - 15 * i,
      data: rows.data.slice(0, 2 * (100 - 15 * i)),
    }));
    for (const changes of [
      { coupling: "transport" },
      { weighting: "sample", typicalRows: 35 },
      { coupling: "transport", weighting: "sample", typicalRows: 140 },
    ] as const) {
      const given = await problem("iso", links, seed, changes);
      const network = simulate({ ...given, datasets });
      expect(network.settle(HOUR)).toBe(true);
      // Dividing by 35 rows instead of the mean of 70 doubles the losses: as half of alpha, twice the objective.
      const scale = "typicalRows" in changes ? 70 / changes.typicalRows : 1;
      const { typicalRows, ...options } = { typicalRows: null, ...changes };
      const { objective: best } = fit(datasets, links, { k: 3, alpha: 1 / scale, ...options, seed, rounds: 10_000 });
      expect(Math.abs(network.objective() / (scale * best) - 1)).toBeLessThan(1e-3);
    }
  });

  it("ends where fit ends although one device has other rows, if neighbours are trusted, and holds it back if not", async () => {
    const links = erdosRenyi(8, 0.7, randomStream(seed, "graph"));
    const { datasets: alike } = await problem("iso", links, seed);
    const datasets = alike.map((rows, i) => (i === 0 ? { ...rows, data: rows.data.map((x) => x + 3) } : rows));
    const { objective: best } = fit(datasets, links, { k: 3, alpha: 1, seed, rounds: 10_000 });
    const reached = async (changes: Partial<Study>) => {
      const network = simulate({ ...(await problem("iso", links, seed, changes)), datasets });
      expect(network.settle(HOUR)).toBe(true);
      const [doubter] = links.neighbours[0];
      const shares = network.status(doubter).neighbours.map(({ rejected }) => rejected);
      return { above: network.objective() / best - 1, shares };
    };
    const trusting = await reached({ neighbours: "trusted" });
    expect(Math.abs(trusting.above)).toBeLessThan(1e-5);
    expect(trusting.shares.every((share) => share === null)).toBe(true);
    const doubting = await reached({});
    expect(doubting.above).toBeGreaterThan(0.01);
    expect(Math.max(...doubting.shares.map(Number))).toBeGreaterThan(0);
  });

  it("replays bit for bit, event by event, and differs with another seed", async () => {
    const given = await problem("iso", smallWorld(12, 4, 0.2, randomStream(seed, "graph")), seed);
    const run = (changes: Partial<SimulationOptions> = {}) => {
      const events: SimulatedEvent[] = [];
      const weather = { delayMilliseconds: [1, 40], loss: 0.1 } as const;
      const network = simulate({ ...given, weather, onEvent: (event) => events.push(event), ...changes });
      network.run(1500);
      network.crash(3);
      network.setCut(0, given.graph.neighbours[0][0], true);
      network.run(1000);
      network.restart(3);
      network.setCut(0, given.graph.neighbours[0][0], false);
      network.run(1000);
      return { events, digest: network.digest(), objective: network.objective() };
    };
    const one = run();
    const two = run();
    expect(one.events.length).toBeGreaterThan(1000);
    expect(new Set(one.events.map(({ kind }) => kind)).size).toBe(6);
    expect(two.events).toEqual(one.events);
    expect(two.digest).toBe(one.digest);
    expect(two.objective).toBe(one.objective);
    expect(run({ seed: seed + 1 }).digest).not.toBe(one.digest);
  });

  it("keeps to the latest: a link never carries two frames of one device at once", async () => {
    const given = await problem("iso", path(2), seed);
    const network = simulate({ ...given, weather: { delayMilliseconds: [500, 500] } });
    network.run(20_000);
    // 20 seconds at half a second a frame, in both directions.
    expect(network.frames).toBeLessThanOrEqual(2 * 40);
    // Frames of 109 bytes, and a few with sketches in the opening.
    expect(network.bytes).toBeLessThan(network.frames * 109 + 30 * 67);
  });

  it("a settled network sends heartbeats only", async () => {
    const given = await problem("iso", ring(5), seed);
    const network = simulate(given);
    expect(network.settle(HOUR)).toBe(true);
    const { frames } = network;
    network.run(HOUR);
    // Each of 10 ways once in 30 seconds; the very first may also carry a last difference.
    expect(network.frames - frames).toBeGreaterThanOrEqual(10 * 119);
    expect(network.frames - frames).toBeLessThanOrEqual(10 * 122);
  });

  it("is as good after faults as without: loss, crashes, and an hour apart", async () => {
    const given = await problem("var", erdosRenyi(8, 0.5, randomStream(seed, "graph")), seed);
    const without = simulate(given);
    without.settle(HOUR);
    const network = simulate({
      ...given,
      weather: { delayMilliseconds: [5, 60], loss: 0.3 },
      paceMilliseconds: (i) => (i < 2 ? 100 : 10),
    });
    network.run(1500);
    network.crash(2);
    network.crash(5);
    const across = Array.from(edges(given.graph)).filter(([i, j]) => i < 4 !== j < 4);
    for (const [i, j] of across) network.setCut(i, j, true);
    network.run(HOUR);
    network.restart(2);
    network.restart(5);
    network.run(500);
    for (const [i, j] of across) network.setCut(i, j, false);
    expect(network.settle(HOUR)).toBe(true);
    expect(Math.abs(network.objective() / without.objective() - 1)).toBeLessThan(1e-4);
  });

  it("an hour apart is exactly GTVMin without the links between", async () => {
    const given = await problem("iso", path(4), seed);
    const network = simulate(given);
    network.run(3000);
    network.setCut(1, 2, true);
    network.run(HOUR);
    const { neighbours } = network.status(1);
    expect(neighbours.map(({ isAway }) => isAway)).toEqual([false, true]);
    for (const half of [
      [0, 1],
      [2, 3],
    ]) {
      const datasets = half.map((i) => given.datasets[i]);
      const init = half.map((i) => network.centroids()[i]);
      const exact = fit(datasets, path(2), { k: 3, alpha: 1, init, preset: "paper", rounds: 10_000 });
      expect(objective(datasets, init, path(2), { alpha: 1 })).toBeCloseTo(exact.objective, 9);
    }
  });

  it("a device without rows joins in between its neighbours", async () => {
    const given = await problem("iso", path(3), seed);
    const datasets = given.datasets.map((rows, i) =>
      i === 1 ? { data: new Float64Array(0), rows: 0, cols: 2 } : rows,
    );
    const network = simulate({ ...given, datasets });
    expect(network.settle(HOUR)).toBe(true);
    expect(network.status(1)).toMatchObject({ rows: 0, phase: "settled" });
    const { objective: best } = fit(datasets, path(3), { k: 3, alpha: 1, seed, rounds: 10_000 });
    expect(network.objective()).toBeLessThan(1.001 * best);
  });

  it("refuses to report a device that does not run", async () => {
    const network = simulate(await problem("iso", path(2), seed));
    expect(() => network.status(0)).toThrow("device 0 must be running to have a status");
  });
});

describe("the problem with a cycle of two", () => {
  const fixture = new URL("../../../core/test/fixtures/oracle/option-13-damped-two-cycle.json", import.meta.url);
  const given = JSON.parse(readFileSync(fixture, "utf8"));
  const points = given.points.map(matrix);
  const start = given.start.map(matrix);
  const { alpha } = given.options;

  it("is one: neighbours that solve to the end at the same time swap for ever", () => {
    let now = start;
    const seen: Float64Array[] = [];
    for (let round = 0; round < 200; round++) {
      now = [0, 1].map((i) => updateDevice(points[i], now[i], [now[1 - i]], { alpha }).centroids);
      seen.push(now[0].data);
    }
    const apart = (a: number, b: number) => Math.max(...seen[a].map((value, i) => Math.abs(value - seen[b][i])));
    expect(apart(199, 197)).toBeLessThan(1e-9);
    expect(apart(199, 198)).toBeGreaterThan(0.1);
    expect(objective(points, now, path(2), { alpha })).toBeGreaterThan(1.1 * given.expected.objective.at(-1));
  });

  it("does not catch devices that update at the very same moments", async () => {
    const features = [0, 1, 2, 3].map((f) => ({ name: `x${f}`, unit: "", min: -20, max: 20, scale: 1 }));
    const study = studyWith({ k: 4, alpha, features });
    const contract = await contractOf(study);
    const clock = simulatedClock();
    // Frames take as long as the rest between two updates: every step is simultaneous.
    const links = simulatedLinks({
      neighbours: [[1], [0]],
      clock,
      weather: { delayMilliseconds: [10, 10], loss: 0 },
      random: () => 0,
      log: simulatedEventLog(clock.now),
    });
    const hash = studyId(contract);
    const devices = [0, 1].map((i) => {
      const centroids = given.start[i];
      const opening = { number: 0, start: 0, sketches: [] };
      const present = [true, true, true, true];
      const saved = { study: hash, round: 0, centroids, present, opening, own: null, sketch: null, neighbours: [] };
      const network = links.network(i);
      const rows = points[i];
      return createDevice({
        study,
        contract,
        network,
        clock,
        memory: volatileMemory(1, saved),
        links: [`device-${1 - i}`],
        rows,
      });
    });
    await Promise.all(devices.map((device) => device.start()));
    while (clock.step(25_000));
    expect(devices.map((device) => device.status().phase)).toEqual(["settled", "settled"]);
    const ends = devices.map((device) => matrix(device.status().centroids ?? []));
    // Not above the damped answer of the independent implementation, and a fixed point.
    expect(objective(points, ends, path(2), { alpha })).toBeLessThan(given.expected.objective.at(-1));
    const exact = fit(points, path(2), { k: 4, alpha, init: ends, preset: "paper", rounds: 10_000 });
    expect(objective(points, ends, path(2), { alpha })).toBeCloseTo(exact.objective, 8);
  });
});
