import { complete, edges, graph, type Matrix, matrix, objective, path, randomStream, star } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { createDevice } from "../../src/change/studyLoop.ts";
import { Neighbour } from "../../src/loop/neighbours.ts";
import { Opening, openingStartSearch } from "../../src/loop/opening.ts";
import { OpeningSync } from "../../src/loop/openingSync.ts";
import { volatileMemory } from "../../src/loop/savedState.ts";

import { simulatedClock } from "../../src/simulation/clock.ts";
import { simulate } from "../../src/simulation/simulate.ts";
import { contractOf } from "../../src/study/study.ts";
import { originHash } from "../../src/wire/hashes.ts";
import { type DeviceSketch, decodeFrame, encodeCentroidsFrame } from "../../src/wire/studyFrames.ts";
import { emptyNetwork, noTag, problem, said, studyWith } from "../problem.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;
const all = [true, true, true];

/** A path of five and a guest that is linked to its end, so that the other end is four hops from the guest's neighbour. */
async function pathWithGuest(guest: Matrix) {
  const given = await problem("iso", path(5), 2);
  const datasets = [...given.datasets, guest];
  const links = [...given.graph.neighbours, []];
  const whole = graph(6, [...edges(given.graph), [0, 5]]);
  const network = simulate({ ...given, datasets, graph: whole, links, absent: [5] });
  const reached = () => objective(given.datasets, network.centroids().slice(0, 5), given.graph, { alpha: 1 });
  const join = () => {
    network.setLinks(5, [0]);
    network.setLinks(0, [1, 5]);
    network.restart(5);
    network.run(10_000);
  };
  const unlink = () => {
    network.crash(5);
    network.setLinks(0, [1]);
  };
  const rounds = () => Array.from({ length: 5 }, (_, i) => network.status(i).round);
  expect(network.settle(HOUR)).toBe(true);
  return { given, network, reached, join, unlink, rounds, without: reached() };
}

describe("a neighbour that has left", () => {
  const remoteRows = matrix(Array.from({ length: 60 }, (_, i) => [25 + (i % 7) / 7, -25 + (i % 5) / 5]));

  it("leaves nothing of its other data behind, four hops away either, within 200 rounds", async () => {
    const { network, reached, join, unlink, rounds, without } = await pathWithGuest(remoteRows);
    join();
    expect(network.settle(HOUR)).toBe(true);
    expect(reached()).toBeGreaterThan(2 * without);
    unlink();
    const before = rounds();
    while (rounds().every((round, i) => round < before[i] + 200)) network.run(100);
    expect(reached()).toBeLessThan(1.001 * without);
    expect(network.settle(HOUR)).toBe(true);
    expect(reached()).toBeCloseTo(without, 6);
  });

  it("is left out while it lies, leaves nothing of its lies behind, and out of bounds is refused at once", async () => {
    const { given, network, reached, join, unlink, without } = await pathWithGuest(remoteRows);
    join();
    const lie = (sequence: number, x: number) => {
      const numbers = [x, x, x - 0.1, x, x, x - 0.2];
      const sketch = {
        origin: 1,
        version: 9,
        shares: Uint8Array.of(255, 255, 255),
        centroids: Float64Array.from(numbers),
      };
      const tag = { number: network.status(5).opening, table: 1, start: 0 };
      const content = { ...said(numbers, all, tag), sketches: [sketch] };
      network.forge(5, 0, encodeCentroidsFrame(given.contract, { epoch: 1e9, sequence }, content));
      network.run(2_000);
    };
    lie(1, 29.9);
    expect(reached()).toBeLessThan(1.001 * without);
    lie(2, 30.1);
    expect(network.status(0).neighbours[1].framesRefused).toMatchObject({ bounds: 1 });
    unlink();
    expect(network.settle(HOUR)).toBe(true);
    expect(reached()).toBeCloseTo(without, 6);
  });

  it("leaves nothing behind although it rewrote everybody's sketches, under the right number and start", async () => {
    const given = await problem("iso", complete(5), 2);
    const links = given.graph.neighbours.map((others, i) => (i === 4 ? [] : others.filter((j) => j !== 4)));
    const { contract } = given;
    const lie = (numbers: Float64Array) => numbers.map((x) => x + 3);
    const disguise = (i: number, frame: Uint8Array) => {
      const heard = decodeFrame(contract, frame);
      if (i !== 4 || heard.kind !== "centroids" || heard.centroids.rows < 3) return frame;
      const { stamp, tag, centroids } = heard;
      const sketches = heard.sketches.map((own) => ({
        ...own,
        version: own.version + 1,
        centroids: lie(own.centroids),
      }));
      return encodeCentroidsFrame(contract, stamp, { tag, centroids: lie(centroids.data), present: all, sketches });
    };
    const network = simulate({ ...given, links, absent: [4], disguise });
    const honest = graph(
      4,
      Array.from(edges(given.graph)).filter(([, j]) => j < 4),
    );
    const reached = () => objective(given.datasets.slice(0, 4), network.centroids().slice(0, 4), honest, { alpha: 1 });
    expect(network.settle(HOUR)).toBe(true);
    const without = reached();
    for (let i = 0; i < 5; i++) network.setLinks(i, Array.from(given.graph.neighbours[i]));
    network.restart(4);
    network.run(20_000);
    expect(reached()).toBeLessThan(1.05 * without);
    network.crash(4);
    for (let i = 0; i < 5; i++) network.setLinks(i, Array.from(links[i]));
    expect(network.settle(HOUR)).toBe(true);
    expect(reached()).toBeCloseTo(without, 6);
  });

  it("does not leave its neighbours unheard because they passed on what it said of openings", async () => {
    const study = studyWith();
    const contract = await contractOf(study);
    const clock = simulatedClock();
    const around = emptyNetwork();
    const rows = matrix(Array.from({ length: 60 }, (_, i) => [10 * (i % 3) + i / 60, 5 * (i % 3)]));
    const links = ["liar", "honest"];
    const device = createDevice({
      study,
      contract,
      network: around.network,
      clock,
      memory: volatileMemory(1),
      links,
      rows,
    });
    await device.start();
    around.listener.onConnect("honest");
    const ask = (number: number) => {
      const content = said([0, 0, 10, 5, 20, 10], all, { ...noTag, number });
      around.listener.onFrame("honest", encodeCentroidsFrame(contract, { epoch: 1, sequence: number }, content));
    };
    for (let number = 1; number <= 200; number++) {
      ask(number);
      while (clock.step(100 * number));
    }
    expect(device.status().opening).toBeLessThan(200);
    device.setLinks(["honest"]);
    ask(201);
    expect(device.status().opening).toBe(201);
  });

  it("is given up when it is only silent, and counts again when it is back", async () => {
    const { network, reached, join, without } = await pathWithGuest(remoteRows);
    join();
    network.settle(HOUR);
    const together = reached();
    network.crash(5);
    network.run(HOUR);
    expect(network.status(0).neighbours[1].isAway).toBe(true);
    expect(reached()).toBeCloseTo(without, 6);
    network.restart(5);
    network.run(1_000);
    expect(network.settle(HOUR)).toBe(true);
    expect(reached()).toBeCloseTo(together, 4);
  });

  it("is noticed by a device that was not running when it was unlinked", async () => {
    const { network, reached, join, without } = await pathWithGuest(remoteRows);
    join();
    network.settle(HOUR);
    network.crash(5);
    network.crash(0);
    network.setLinks(0, [1]);
    network.restart(0);
    network.run(1_000);
    expect(network.settle(HOUR)).toBe(true);
    expect(reached()).toBeCloseTo(without, 6);
  });
});

describe("an opening", () => {
  it("is not begun by a restart, and a quiet network stays quiet after it", async () => {
    const given = await problem("var", star(5), 3);
    const network = simulate(given);
    network.settle(HOUR);
    const [before, reached] = [network.status(0).opening, network.objective()];
    network.crash(3);
    network.run(5_000);
    network.restart(3);
    network.settle(HOUR);
    expect(network.objective()).toBeCloseTo(reached, 8);
    expect(network.status(0).opening).toBe(before);
    network.run(HOUR);
    const { frames } = network;
    network.run(HOUR);
    expect(network.frames - frames).toBeLessThanOrEqual(8 * 121);
  });

  it("is the same in two halves that were apart, and they end where they were", async () => {
    const given = await problem("aniso", path(6), 4);
    const network = simulate(given);
    network.settle(HOUR);
    const reached = network.objective();
    network.setCut(2, 3, true);
    network.run(HOUR);
    network.reset(5);
    network.run(10 * MINUTE);
    expect(network.status(5).opening).toBeGreaterThan(network.status(0).opening);
    network.setCut(2, 3, false);
    network.run(1_000);
    expect(network.settle(HOUR)).toBe(true);
    expect(new Set([0, 1, 2, 3, 4, 5].map((i) => network.status(i).opening)).size).toBe(1);
    expect(network.objective()).toBeCloseTo(reached, 6);
  });

  it("is agreed on although a third of the frames are lost", async () => {
    const given = await problem("iso", path(5), 5);
    const reached = (loss: number) => {
      const network = simulate({ ...given, weather: { loss } });
      expect(network.settle(HOUR)).toBe(true);
      return network.objective();
    };
    expect(reached(0.33)).toBeCloseTo(reached(0), 4);
  });

  it("is not followed where one neighbour asks for it again and again, and a person is told once", async () => {
    const study = studyWith();
    const contract = await contractOf(study);
    const clock = simulatedClock();
    const around = emptyNetwork();
    const notices: string[] = [];
    const rows = matrix(Array.from({ length: 60 }, (_, i) => [10 * (i % 3) + i / 60, 5 * (i % 3)]));
    const [memory, links] = [volatileMemory(1), ["a"]];
    const notice = (line: string) => notices.push(line);
    const device = createDevice({ study, contract, network: around.network, clock, memory, links, rows, notice });
    await device.start();
    around.listener.onConnect("a");
    const followed = new Set<number>();
    for (let sequence = 1; sequence <= 3_000; sequence++) {
      const tag = { ...noTag, number: sequence };
      const frame = encodeCentroidsFrame(contract, { epoch: 1, sequence }, said([0, 0, 10, 5, 20, 10], all, tag));
      around.listener.onFrame("a", frame);
      while (clock.step(100 * sequence));
      followed.add(device.status().opening);
    }
    // 128 at once, and one in each of the five minutes.
    expect(followed.size).toBeGreaterThan(128);
    expect(followed.size).toBeLessThanOrEqual(128 + 5);
    expect(notices).toEqual(["a asks for a new opening too often, and is not followed for a while"]);
    while (clock.step(HOUR));
    const before = device.status().opening;
    const far = encodeCentroidsFrame(
      contract,
      { epoch: 2, sequence: 0 },
      said([0, 0, 10, 5, 20, 10], all, { ...noTag, number: 2 ** 52 }),
    );
    around.listener.onFrame("a", far);
    expect(device.status().opening).toBe(before);
  });
});

describe("reset()", () => {
  it("makes a device forget what came from neighbours, and all end where they were", async () => {
    const given = await problem("iso", path(3), 6);
    const network = simulate(given);
    network.settle(HOUR);
    const [reached, { opening }] = [network.objective(), network.status(0)];
    network.reset(2);
    expect(network.status(2).centroids).toBe(null);
    network.settle(HOUR);
    expect(network.objective()).toBeCloseTo(reached, 6);
    expect(network.status(0).opening).toBe(opening + 1);
  });
});

function sketches(count: number): DeviceSketch[] {
  const random = randomStream(1, "sketches");
  return Array.from({ length: count }, (_, i) => ({
    origin: originHash(`device-${i}`),
    version: 1,
    shares: Uint8Array.of(100, 155),
    centroids: Float64Array.of(random(), random(), 5 + random(), 5 + random()),
  }));
}

describe("sketches", () => {
  const resolution = Float64Array.of(1e-6, 1e-6);

  it("give the same start in every order, bit for bit", () => {
    const given = sketches(20);
    const startOf = (list: DeviceSketch[]) => {
      const search = openingStartSearch(list, 2, resolution);
      while (!search.step());
      return search.start();
    };
    expect(startOf([...given].reverse())).toEqual(startOf(given));
    expect(startOf(given.slice(0, 0))).toBe(undefined);
  });

  it("beyond 64 are the same sample everywhere, whoever was heard first", () => {
    const given = sketches(200);
    const tableOf = (list: DeviceSketch[], size: number) => {
      const opening = new Opening(2, resolution, undefined);
      for (let at = 0; at < list.length; at += size) opening.add(list.slice(at, at + size), 0);
      expect(Array.from(opening.sketches).length).toBe(64);
      return opening.tag.table;
    };
    expect(tableOf([...given].reverse(), 7)).toBe(tableOf(given, 200));
  });
});

it("a neighbour that has no common start yet counts as being there, and leads nobody away from it", () => {
  const ranges = Float64Array.of(10);
  const openingSync = new OpeningSync({ self: "a", epoch: 1, k: 2, ranges, alpha: 1, saved: undefined });
  openingSync.renew({ shares: Uint8Array.of(128, 127), centroids: Float64Array.of(1, 9) }, 0);
  let start: Matrix | undefined;
  while (openingSync.isSeeking) start = openingSync.step(1_000)?.start;
  expect(Array.from(start?.data ?? [])).toEqual([expect.closeTo(1), expect.closeTo(9)]);
  const own = matrix([[2], [3]]);
  const neighbour = { ...new Neighbour("b", 0), isConnected: true, centroids: own, start: 0, heardAt: 1_100 };
  expect(openingSync.placeOf(neighbour, 1_100)).toEqual(start);
  // Without a common start for longer than a heartbeat, it stands on its own rows.
  expect(openingSync.placeOf(neighbour, 31_000)).toBe(own);
  expect(openingSync.placeOf({ ...neighbour, start: 7 }, 31_000)).toBeUndefined();
  expect(openingSync.placeOf({ ...neighbour, start: openingSync.tag.start }, 1_100)).toBe(own);
});
