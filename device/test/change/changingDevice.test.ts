// A network that changes its study one device after the other: nobody stops, and all end where fit ends.

import { erdosRenyi, fit, type Graph, type Matrix, objective, path, randomStream, ring } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { ChangingDevice } from "../../src/change/changingDevice.ts";
import { volatileMemory } from "../../src/loop/savedState.ts";
import { simulatedClock } from "../../src/simulation/clock.ts";
import { type NextStudy, type Simulation, simulate } from "../../src/simulation/simulate.ts";
import { canonicalStudy, contractOf, type Study } from "../../src/study/study.ts";
import { studyId } from "../../src/wire/frames.ts";
import {
  decodeStatementFrame,
  encodeCentroidsFrame,
  encodeStatementFrame,
  encodeStudyFrame,
} from "../../src/wire/studyFrames.ts";
import { emptyNetwork, problem, said, studyWith } from "../problem.ts";

const HOUR = 3_600_000;

/** The same rows in another study; with one feature it is the first column. */
async function nextOf(changes: Partial<Study>, rows: Matrix): Promise<NextStudy> {
  const study = studyWith(changes);
  const cols = study.features.length;
  const data = rows.data.filter((_, i) => i % rows.cols < cols);
  return { study, contract: await contractOf(study), rows: { data, rows: rows.rows, cols } };
}

async function planned(graph: Graph, changes: Partial<Study>, seed: number) {
  const given = await problem("iso", graph, seed);
  const nexts = await Promise.all(given.datasets.map((rows) => nextOf(changes, rows)));
  const { k, alpha } = nexts[0].study;
  const rows = nexts.map((next) => next.rows);
  return {
    given,
    nexts,
    id: studyId(nexts[0].contract),
    best: () => fit(rows, graph, { k, alpha, seed: 1, rounds: 10_000 }).objective,
    reached: (network: Simulation) => objective(rows, network.centroids(), graph, { alpha }),
  };
}

describe("new ChangingDevice(options)", () => {
  it("counts malformed statements as refused, reads no more than it may, and answers those who ask", async () => {
    const { study, contract, datasets } = await problem("iso", path(2), 1);
    const around = emptyNetwork();
    const [clock, memory] = [simulatedClock(), volatileMemory(1)];
    const { network, sent } = around;
    const options = { study, contract, network, clock, memory, links: ["other"], rows: datasets[0] };
    const device = new ChangingDevice({ ...options, onAgreed: () => {} });
    void device.start();
    while (clock.step(5_000));
    around.listener.onConnect("other");
    const hear = (frame: Uint8Array) => around.listener.onFrame("other", frame);
    const stated = (text: string, isAsking = false) =>
      encodeStatementFrame({
        current: contract,
        next: { contract: { ...contract, hash: new Uint8Array(16) }, text },
        isAsking,
        isOut: false,
      });
    const plain = stated("{}");
    // Flags that there are not, a hash without a text, a text that is no UTF-8.
    hear(plain.map((byte, i) => (i === 10 ? 4 : byte)));
    hear(plain.subarray(0, 60));
    hear(plain.map((byte, i) => (i === 60 ? 0xff : byte)));
    expect(device.status().neighbours[0].framesRefused).toEqual({ type: 3 });
    hear(plain);
    expect(device.change().proposals).toEqual([]);
    const before = sent.length;
    hear(stated(canonicalStudy(studyWith({ alpha: 3 })), true));
    expect(sent.slice(before).map(({ frame }) => decodeStatementFrame(frame))).toEqual([
      { current: studyId(contract), next: undefined, isAsking: false, isOut: false },
    ]);
    for (let n = 0; n < 100; n++) hear(stated(canonicalStudy(studyWith({ alpha: 4 + n }))));
    // Sixteen were read: five above, then eleven.
    expect(device.change().proposals).toMatchObject([{ text: canonicalStudy(studyWith({ alpha: 14 })) }]);
    expect(sent).toHaveLength(before + 1);
    device.stop();
  });

  it("forgets what a neighbour proposed that goes on with this device's study", async () => {
    const { study, contract, datasets } = await problem("iso", path(2), 1);
    const around = emptyNetwork();
    const [clock, memory] = [simulatedClock(), volatileMemory(1)];
    const options = { study, contract, network: around.network, clock, memory, links: ["other"], rows: datasets[0] };
    const device = new ChangingDevice({ ...options, onAgreed: () => {} });
    void device.start();
    while (clock.step(5_000));
    around.listener.onConnect("other");
    const other = studyWith({ alpha: 3 });
    around.listener.onFrame("other", encodeStudyFrame(await contractOf(other), canonicalStudy(other)));
    expect(device.change().proposals).toMatchObject([{ peers: ["other"] }]);
    const content = said(Array(contract.k * contract.d).fill(0), Array(contract.k).fill(true));
    around.listener.onFrame("other", encodeCentroidsFrame(contract, { epoch: 1, sequence: 0 }, content));
    expect(device.change().proposals).toEqual([]);
    device.stop();
  });
});

describe("simulate(options) with a change of study", () => {
  const oneFeature = { features: studyWith().features.slice(0, 1) };
  const changes: [string, Partial<Study>][] = [
    ["alpha", { alpha: 2 }],
    ["k", { k: 2 }],
    ["list of features", oneFeature],
  ];

  it.each(changes)(
    "ends where fit of the new study ends, with another %s and a restart on the way",
    async (_, change) => {
      const { given, nexts, id, best, reached } = await planned(ring(5), change, 1);
      const network = simulate(given);
      expect(network.settle(HOUR)).toBe(true);
      const everybody = [0, 1, 2, 3, 4];
      const isAnswered = (who: readonly number[]) => who.every((i) => network.status(i).centroids !== null);
      for (const i of everybody) {
        network.begin(i, nexts[i]);
        for (let look = 0; look < 20; look++) {
          network.run(100);
          expect(isAnswered(everybody)).toBe(true);
        }
        if (i !== 2) continue;
        network.crash(2);
        network.run(1_000);
        network.restart(2);
        expect(network.change(2).next?.study).toBe(id);
      }
      expect(network.settle(HOUR)).toBe(true);
      network.run(5_000);
      expect(network.settle(HOUR)).toBe(true);
      for (const i of everybody) expect(network.change(i)).toMatchObject({ study: id, next: null, proposals: [] });
      for (const i of everybody)
        expect(network.status(i).neighbours.map(({ refusal }) => refusal)).toEqual([null, null]);
      expect(Math.abs(reached(network) / best() - 1)).toBeLessThan(1e-3);
    },
  );

  it("ends there in any order of devices, over links that lose frames, with crashes at any time", async () => {
    for (const seed of [1, 2]) {
      const random = randomStream(seed, "change");
      const graph = erdosRenyi(6, 0.5, random);
      const { given, nexts, id, best, reached } = await planned(graph, { alpha: 0.5 }, seed);
      const network = simulate({ ...given, weather: { loss: 0.1 } });
      network.run(5_000);
      const order = [0, 1, 2, 3, 4, 5].sort((a, b) => nexts[a].rows.data[0] - nexts[b].rows.data[0]);
      for (const i of order) {
        network.begin(i, nexts[i]);
        network.run(3_000 * random());
        const down = Math.floor(6 * random());
        network.crash(down);
        network.run(2_000 * random());
        network.restart(down);
      }
      // What is lost is said again with the next heartbeats.
      network.run(300_000);
      for (const i of order) expect(network.change(i), `seed ${seed}`).toMatchObject({ study: id, next: null });
      expect(Math.abs(reached(network) / best() - 1), `seed ${seed}`).toBeLessThan(1e-3);
    }
  });

  it("goes on as before where nobody follows, names who is missing, and can be withdrawn", async () => {
    const { given, nexts, id } = await planned(path(3), { alpha: 2 }, 1);
    const network = simulate(given);
    expect(network.settle(HOUR)).toBe(true);
    const before = { objective: network.objective(), study: network.change(0).study };
    network.begin(1, nexts[1]);
    network.run(120_000);
    expect(network.change(1)).toMatchObject({ study: before.study, missing: ["device-0", "device-2"] });
    expect(network.change(1).next?.device).toMatchObject({ phase: "alone" });
    expect(network.change(0).proposals).toEqual([{ id, text: canonicalStudy(nexts[1].study), peers: ["device-1"] }]);
    expect(network.objective()).toBeCloseTo(before.objective, 6);
    for (const i of [0, 1, 2]) {
      for (const { framesRefused } of network.status(i).neighbours) expect(framesRefused).toEqual({});
    }
    network.withdraw(1);
    network.run(1_000);
    expect(network.change(1)).toMatchObject({ study: before.study, next: null, missing: [] });
    expect(network.change(0).proposals).toEqual([]);
    expect(network.objective()).toBeCloseTo(before.objective, 6);
  });

  it("leaves who does not follow with words when somebody finishes all the same, and takes it in when it follows", async () => {
    const { given, nexts, id, best, reached } = await planned(path(2), { alpha: 2 }, 1);
    const network = simulate(given);
    expect(network.settle(HOUR)).toBe(true);
    network.begin(0, nexts[0]);
    network.run(2_000);
    network.finish(0);
    network.run(60_000);
    const words = (i: number) => network.status(i).neighbours[0].refusal;
    expect([words(0), words(1)]).toEqual([
      "another study, alpha: 2 here, 1 there",
      "another study, alpha: 1 here, 2 there",
    ]);
    expect(network.change(1).proposals).toMatchObject([{ id, peers: ["device-0"] }]);
    network.begin(1, nexts[1]);
    network.run(60_000);
    expect(network.settle(HOUR)).toBe(true);
    expect(network.change(1)).toMatchObject({ study: id, next: null });
    expect([words(0), words(1)]).toEqual([null, null]);
    expect(Math.abs(reached(network) / best() - 1)).toBeLessThan(1e-3);
  });
});
