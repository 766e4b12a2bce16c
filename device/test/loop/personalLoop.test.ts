import { complete, fit, graph, kmeans, type Matrix, matrix, path, stack, updateDevice } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { createDevice } from "../../src/change/studyLoop.ts";
import type { DeviceOptions } from "../../src/loop/device.ts";
import { type SavedState, volatileMemory } from "../../src/loop/savedState.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";
import { simulate } from "../../src/simulation/simulate.ts";
import { contractOf, type Study } from "../../src/study/study.ts";
import type { Stamp } from "../../src/wire/frames.ts";
import { decodeFrame, encodeCentroidsFrame } from "../../src/wire/studyFrames.ts";
import { emptyNetwork, noTag, problem, said, studyWith } from "../problem.ts";

const MINUTE = 60_000;

/** Three clear clusters at 0, 10 and 20 on both axes. */
function clusters(perCluster: number): Matrix {
  const rows = Array.from({ length: 3 * perCluster }, (_, i) => {
    const centre = 10 * (i % 3);
    return [centre + ((i * 7) % 11) / 11, centre + ((i * 5) % 13) / 13];
  });
  return matrix(rows);
}

interface Given {
  readonly rows?: Matrix;
  readonly links?: readonly string[];
  readonly study?: Partial<Study>;
  readonly epoch?: number;
  readonly saved?: SavedState;
}

/** One device with the test as all of its neighbours. */
async function alone({ rows = clusters(20), links = ["a", "b"], study: changes, epoch = 1, saved }: Given = {}) {
  const study = studyWith(changes);
  const contract = await contractOf(study);
  const clock = simulatedClock();
  const around = emptyNetwork();
  const memory = volatileMemory(epoch, saved);
  const notices: string[] = [];
  const notice = (line: string) => notices.push(line);
  const options: DeviceOptions = { study, contract, network: around.network, clock, memory, links, rows, notice };
  const device = createDevice(options);
  await device.start();
  const run = (milliseconds: number) => {
    const until = clock.now() + milliseconds;
    while (clock.step(until));
  };
  const heard = () => around.sent.map(({ peer, frame: sent }) => ({ peer, ...decodeFrame(contract, sent) }));
  /** From a neighbour that knows what the device has sent so far. */
  const frame = (stamp: Stamp, ...numbers: number[]) => {
    const last = heard().at(-1);
    const tag = last?.kind === "centroids" ? last.tag : noTag;
    return encodeCentroidsFrame(contract, stamp, said(numbers, [true, true, true], tag));
  };
  return { device, clock, around, memory, notices, run, frame, heard, contract, study };
}

const near = [0.4, 0.5, 10.4, 10.5, 20.4, 20.5];
const first = { epoch: 1, sequence: 0 };

describe("createDevice(options)", () => {
  it("sends nothing but the best of ten local k-means, and that only when it is finished", async () => {
    const { around, run, heard } = await alone();
    around.listener.onConnect("a");
    expect(around.sent).toEqual([]);
    run(1000);
    const [sent] = heard();
    const { centroids } = kmeans(clusters(20), { k: 3 });
    if (sent.kind !== "centroids") throw new Error(sent.kind);
    const sorted = (data: Float64Array) => Array.from(data).sort((a, b) => a - b);
    expect(sent.peer).toBe("a");
    sorted(sent.centroids.data).forEach((value, i) => {
      expect(value).toBeCloseTo(sorted(centroids.data)[i], 12);
    });
    // No seed: a seed is a row.
    const rows = new Set(
      Array.from({ length: 60 }, (_, r) =>
        clusters(20)
          .data.slice(2 * r, 2 * r + 2)
          .join(),
      ),
    );
    for (let c = 0; c < 3; c++) expect(rows.has(sent.centroids.data.slice(2 * c, 2 * c + 2).join())).toBe(false);
  });

  it("does one device update of core for each thing heard", async () => {
    const { device, around, run, frame, study } = await alone();
    around.listener.onConnect("a");
    run(1000);
    around.listener.onFrame("a", frame(first, ...near));
    run(1000);
    const before = device.status();
    const moved = near.map((value) => value + 0.1);
    around.listener.onFrame("a", frame({ epoch: 1, sequence: 1 }, ...moved));
    run(5);
    const { centroids, round } = device.status();
    const expected = updateDevice(
      clusters(20),
      matrix(before.centroids ?? []),
      [matrix([moved.slice(0, 2), moved.slice(2, 4), moved.slice(4)])],
      {
        alpha: study.alpha,
        passes: 1,
      },
    );
    expect(round).toBe(before.round + 1);
    expect(centroids?.flat()).toEqual(Array.from(expected.centroids.data));
  });

  it("is silent when settled, but for a heartbeat every 30 seconds", async () => {
    const { around, run, frame, device } = await alone();
    around.listener.onConnect("a");
    around.listener.onConnect("b");
    run(1000);
    around.listener.onFrame("a", frame(first, ...near));
    around.listener.onFrame("b", frame(first, ...near));
    run(20_000);
    expect(device.status().phase).toBe("settled");
    const settled = around.sent.length;
    run(10 * MINUTE);
    const heartbeats = around.sent.length - settled;
    expect(heartbeats).toBe(2 * 20);
    // One and the same frame for both.
    const [last, other] = around.sent.slice(-2);
    expect([last.peer, other.peer]).toEqual(["a", "b"]);
    expect(other.frame).toBe(last.frame);
  });

  it("sends to a neighbour at once when it connects again", async () => {
    const { around, run, heard } = await alone();
    around.listener.onConnect("a");
    run(1000);
    around.listener.onDisconnect("a");
    const before = around.sent.length;
    run(MINUTE);
    expect(around.sent.length).toBe(before);
    around.listener.onConnect("a");
    expect(around.sent.length).toBe(before + 1);
    const [earlier, later] = heard().slice(-2);
    if (earlier.kind !== "centroids" || later.kind !== "centroids") throw new Error("sent something else");
    expect(later.stamp.sequence).toBeGreaterThan(earlier.stamp.sequence);
    expect(later.centroids).toEqual(earlier.centroids);
  });

  it("keeps a silent neighbour's last value, counts it out after ten minutes and 50 rounds, and in again on return", async () => {
    const { device, around, run, frame, notices } = await alone();
    around.listener.onConnect("a");
    run(1000);
    const own = device.status().objective;
    around.listener.onFrame("a", frame(first, ...near));
    run(1000);
    const coupled = device.status().objective;
    around.listener.onDisconnect("a");
    // Ten minutes are 20 heartbeats, so 20 rounds: not yet.
    run(10 * MINUTE + 5_000);
    expect(device.status().neighbours[0].isAway).toBe(false);
    expect(device.status().objective).toBeCloseTo(coupled as number, 9);
    run(20 * MINUTE);
    expect(device.status().neighbours[0].isAway).toBe(true);
    expect(device.status().objective).toBeCloseTo(own as number, 9);
    expect(notices).toEqual(["a is away: silent for long"]);
    around.listener.onConnect("a");
    around.listener.onFrame("a", frame({ epoch: 1, sequence: 9 }, ...near));
    run(1000);
    expect(device.status().neighbours[0].isAway).toBe(false);
    expect(device.status().objective).toBeCloseTo(coupled as number, 6);
  });

  it("takes no older frame, and one of a later epoch whatever its sequence", async () => {
    const { device, around, run, frame } = await alone();
    around.listener.onConnect("a");
    const stamps: [number, number, boolean][] = [
      [5, 3, true],
      [5, 3, false],
      [5, 2, false],
      [4, 99, false],
      [6, 0, true],
      [5, 100, false],
    ];
    let taken = 0;
    for (const [epoch, sequence, isTaken] of stamps) {
      around.listener.onFrame("a", frame({ epoch, sequence }, ...near));
      run(100);
      taken += Number(isTaken);
      expect(device.status().neighbours[0].framesHeard).toBe(taken);
    }
    expect(device.status().neighbours[0].framesRefused).toEqual({ order: 4 });
  });

  it("drops what one neighbour floods it with, and still hears the other", async () => {
    const { device, around, run, frame } = await alone();
    for (const peer of ["a", "b"]) around.listener.onConnect(peer);
    run(1000);
    for (let i = 0; i < 10_000; i++) {
      around.listener.onFrame("a", frame({ epoch: 1, sequence: i }, ...near.map((value) => value + (i % 7) / 100)));
      run(0.1);
    }
    around.listener.onFrame("b", frame(first, ...near));
    run(100);
    const [flooding, other] = device.status().neighbours;
    expect(flooding.framesRefused.flood).toBeGreaterThan(9_000);
    expect(other.framesHeard).toBe(1);
    // The pace holds: one update every 10 ms at most.
    expect(device.status().round).toBeLessThan(130);
  });

  it("begins again where it stopped", async () => {
    const one = await alone();
    one.around.listener.onConnect("a");
    one.run(1000);
    one.around.listener.onFrame("a", one.frame({ epoch: 3, sequence: 8 }, ...near));
    one.run(20_000);
    const before = one.device.status();
    const two = await alone({ epoch: 2, saved: one.memory.latest() as SavedState });
    two.around.listener.onConnect("a");
    two.run(1000);
    const after = two.device.status();
    expect(after.epoch).toBe(2);
    expect(after.round).toBeGreaterThan(before.round);
    after.centroids?.flat().forEach((value, i) => {
      expect(value).toBeCloseTo(before.centroids?.flat()[i] as number, 9);
    });
    // It remembers what it has heard, too: the same frame again is an old one.
    two.around.listener.onFrame("a", two.frame({ epoch: 3, sequence: 8 }, ...near));
    expect(two.device.status().neighbours[0].framesRefused).toEqual({ order: 1 });
  });

  it("stays where it stopped although other clusters are better by now: a restart is no reason to jump", async () => {
    // Four heaps in three clusters: either the left two are one, or the right two.
    const heaps = [-20, -15, 15, 20].flatMap((x) => Array.from({ length: 10 }, (_, r) => [x + 0.1 * r, 0.1 * r]));
    const given = { rows: matrix(heaps), links: ["a"], study: { alpha: 0.01, minimum: 1 } };
    const one = await alone(given);
    one.around.listener.onConnect("a");
    one.run(1000);
    const { centroids = [] } = one.memory.latest() as SavedState;
    one.around.listener.onFrame("a", one.frame(first, ...centroids.flat()));
    one.run(20_000);
    const saved = one.memory.latest() as SavedState;
    const mirrored = saved.centroids.map(([x, y]) => [0.9 - x, y]);
    const neighbours = saved.neighbours.map((neighbour) => ({ ...neighbour, centroids: mirrored }));
    const two = await alone({ ...given, epoch: 2, saved: { ...saved, neighbours } });
    two.run(20_000);
    const { round, centroids: after = [] } = two.device.status();
    expect(round).toBeGreaterThan(saved.round);
    after?.flat().forEach((value, i) => {
      expect(Math.abs(value - saved.centroids.flat()[i])).toBeLessThan(1);
    });
    // Where its rows are others than they were, it does look again.
    const other = { ...given, rows: matrix(heaps.map(([x, y]) => [x + 1e-3, y])) };
    const three = await alone({ ...other, epoch: 2, saved: { ...saved, neighbours } });
    three.run(20_000);
    const moves = three.device
      .status()
      .centroids?.flat()
      .map((value, i) => Math.abs(value - saved.centroids.flat()[i]));
    expect(Math.max(...(moves ?? []))).toBeGreaterThan(1);
  });

  it("starts afresh from a state of another study, or of a wrong shape", async () => {
    const { memory, run, around } = await alone();
    around.listener.onConnect("a");
    run(1000);
    const saved = memory.latest() as SavedState;
    for (const wrong of [
      { ...saved, study: "another" },
      { ...saved, centroids: [[1, 2]] },
      { ...saved, centroids: [[1], [2], [3]] },
      { ...saved, round: "7" as unknown as number },
    ]) {
      const { device } = await alone({ saved: wrong });
      expect(device.status().phase).toBe("starting");
    }
    const { device } = await alone({ saved });
    expect(device.status().phase).not.toBe("starting");
  });

  it("folds in new rows without a restart", async () => {
    const { device, run, around } = await alone({ rows: clusters(20) });
    around.listener.onConnect("a");
    run(5000);
    const sent = around.sent.length;
    const more = stack([
      clusters(20),
      matrix([
        [20, 20.9],
        [20.1, 20.8],
        [19.9, 20.7],
      ]),
    ]);
    device.setRows(more);
    run(5000);
    const { centroids, rows, phase } = device.status();
    expect([rows, phase]).toEqual([63, "alone"]);
    expect(around.sent.length).toBeGreaterThan(sent);
    const expected = Array.from(kmeans(more, { k: 3 }).centroids.data).sort((a, b) => a - b);
    centroids
      ?.flat()
      .sort((a, b) => a - b)
      .forEach((value, i) => {
        expect(value).toBeCloseTo(expected[i], 12);
      });
  });

  it("goes on updating while new rows come faster than it can look at them", async () => {
    const { device, run, clock } = await alone();
    run(5000);
    const { round } = device.status();
    for (let i = 0; i < 50; i++) {
      device.setRows(clusters(20 + i));
      clock.step(clock.now() + 1000);
    }
    expect(device.status()).toMatchObject({ rows: 207, phase: "moving" });
    expect(device.status().round).toBeGreaterThan(round + 45);
  });

  it("leaves the basin of old rows where new ones are elsewhere", async () => {
    const { device, run } = await alone({ rows: clusters(20) });
    run(5000);
    const remoteRows = matrix(Array.from({ length: 60 }, (_, i) => [-25 + (i % 3) + (i % 20) / 1000, 25]));
    device.setRows(remoteRows);
    run(5000);
    const loss = 60 * (device.status().objective as number);
    expect(loss).toBeCloseTo(kmeans(remoteRows, { k: 3 }).inertia, 9);
  });

  it("passes on what it hears with too few rows, and sends nothing of its own", async () => {
    const { device, around, run, frame, heard } = await alone({ rows: clusters(3), study: { minimum: 10 } });
    around.listener.onConnect("a");
    run(MINUTE);
    expect(device.status()).toMatchObject({ phase: "waiting", rows: 0, rowsLeftOut: 9, centroids: null });
    expect(around.sent).toEqual([]);
    around.listener.onFrame("a", frame(first, ...near));
    run(1000);
    const [sent] = heard();
    expect(sent).toMatchObject({ kind: "centroids", centroids: { data: Float64Array.from(near) } });
  });

  it("sends no seed that was left without rows, at the start and after new rows", async () => {
    // Two places for three clusters: one centroid stays where it was drawn.
    const places = matrix(Array.from({ length: 30 }, (_, i) => [i % 2 === 0 ? 7 : -7, 1]));
    for (const rows of [places, clusters(20)]) {
      const { device, around, run, heard } = await alone({ rows });
      around.listener.onConnect("a");
      run(1000);
      device.setRows(places);
      run(1000);
      const last = heard().at(-1);
      expect(last).toMatchObject({ kind: "centroids", centroids: { rows: 2 } });
    }
  });

  it("leaves a centroid on too few rows out of what it sends, until neighbours have moved it", async () => {
    const lonely = stack([
      matrix(Array.from({ length: 40 }, (_, i) => [10 * (i % 2) + (i % 5) / 9, 0])),
      matrix([[29, 29]]),
    ]);
    const { around, run, frame, heard } = await alone({ rows: lonely, study: { minimum: 5 } });
    around.listener.onConnect("a");
    run(1000);
    const [sent] = heard();
    if (sent.kind !== "centroids") throw new Error(sent.kind);
    expect(sent.centroids.rows).toBe(2);
    expect(Array.from(sent.centroids.data)).not.toContain(29);
    around.listener.onFrame("a", frame(first, ...near));
    run(1000);
    const last = heard().at(-1);
    expect(last).toMatchObject({ kind: "centroids", centroids: { rows: 3 } });
    expect(last?.kind === "centroids" && Array.from(last.centroids.data)).not.toContain(29);
  });

  it("refuses a neighbour of another study, both say why, and it is heard once it has ours", async () => {
    const here = await alone();
    const there = await alone({ study: { alpha: 2 } });
    const pass = (from: typeof here, to: typeof here) => {
      for (const { frame } of from.around.sent.splice(0)) to.around.listener.onFrame("a", frame);
    };
    for (const side of [here, there]) side.run(1000);
    for (const side of [here, there]) side.around.listener.onConnect("a");
    for (let i = 0; i < 4; i++) {
      pass(here, there);
      pass(there, here);
    }
    expect(here.notices).toEqual(["a is refused: another study, alpha: 1 here, 2 there"]);
    expect(there.notices).toEqual(["a is refused: another study, alpha: 2 here, 1 there"]);
    here.run(5 * MINUTE);
    expect(here.around.sent).toEqual([]);
    expect(here.device.status().neighbours[0]).toMatchObject({
      refusal: "another study, alpha: 1 here, 2 there",
      framesHeard: 0,
    });
    here.around.listener.onFrame("a", here.frame(first, ...near));
    expect(here.device.status().neighbours[0]).toMatchObject({ refusal: null, framesHeard: 1 });
    expect(here.around.sent.length).toBe(1);
  });

  it("forgets a neighbour whose link is removed, and ignores strangers", async () => {
    const { device, around, run, frame } = await alone();
    around.listener.onConnect("a");
    run(1000);
    const own = device.status().objective as number;
    around.listener.onFrame("stranger", frame(first, ...near));
    around.listener.onConnect("stranger");
    around.listener.onFrame("a", frame(first, ...near));
    run(1000);
    expect(device.status().objective).toBeGreaterThan(own);
    device.setLinks(["b"]);
    run(1000);
    expect(device.status().objective).toBeCloseTo(own, 9);
    expect(device.status().neighbours.map(({ peer }) => peer)).toEqual(["b"]);
  });

  it("says nothing after it has been stopped", async () => {
    const { device, around, run, frame } = await alone();
    around.listener.onConnect("a");
    run(1000);
    device.stop();
    const sent = around.sent.length;
    around.listener.onFrame("a", frame(first, ...near));
    around.listener.onConnect("b");
    device.setRows(clusters(30));
    run(10 * MINUTE);
    expect(around.sent.length).toBe(sent);
  });
});

describe("devices that are settled", () => {
  it("are within 1e-6 of the range of the fixed point, as their threshold says", async () => {
    for (const links of [complete(4), path(5)]) {
      const given = await problem("iso", links, 3);
      const network = simulate(given);
      expect(network.settle(10 * MINUTE)).toBe(true);
      const exact = fit(given.datasets, links, {
        k: 3,
        alpha: 1,
        init: network.centroids(),
        preset: "paper",
        rounds: 10_000,
      });
      expect(exact.converged).toBe(true);
      network.centroids().forEach(({ data }, i) => {
        const distance = Math.max(...data.map((value, at) => Math.abs(value - exact.centroids[i].data[at]))) / 60;
        expect(distance).toBeLessThan(1e-6);
      });
    }
  });

  it("sum their parts to the objective", async () => {
    const given = await problem(
      "var",
      graph(3, [
        [0, 1],
        [1, 2],
      ]),
      4,
    );
    const network = simulate(given);
    network.settle(10 * MINUTE);
    const parts = [0, 1, 2].map((i) => network.status(i).objective as number);
    expect(parts.reduce((a, b) => a + b)).toBeCloseTo(network.objective(), 5);
  });
});
