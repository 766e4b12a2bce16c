// Whole networks with shared clusters, simulated.

import { complete, erdosRenyi, graph, kmeans, paperData, path, randomStream, stack } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { observeBoards } from "../../../audit/src/boards.ts";
import { answersTwice, padsTwice } from "../../../lab/src/shared/usedTwice.ts";
import { type SimulationOptions, simulate } from "../../src/simulation/simulate.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { contractOf, type Study } from "../../src/study/study.ts";
import { studyOfPoints } from "../../src/study/studyOfPoints.ts";
import { FIRST_BAN_MILLISECONDS } from "../../src/wire/limits.ts";

async function problem(changes: Partial<Study> = {}, links = complete(5)) {
  const { datasets } = paperData("iso", links.size, 60, 3);
  const study: Study = {
    ...studyOfPoints(datasets, ["x", "y"], { name: "shared", alpha: 0, ...changes }),
    clusters: "shared",
    colluders: 1,
  };
  return { study, contract: await contractOf(study), datasets, graph: links, seed: 1, staggerMilliseconds: 200 };
}

function ends(options: SimulationOptions) {
  const network = simulate(options);
  expect(network.settle(120_000)).toBe(true);
  return { network, centroids: network.centroids() };
}

describe("devices with shared clusters", () => {
  it("count one offence of a neighbour that sends rubbish, and read nothing more of it while it is banned", async () => {
    const given = await problem();
    let rubbish: Uint8Array | undefined;
    const network = simulate({
      ...given,
      onEvent({ from, to, frame }) {
        if (from === 0 && to === 1 && frame.length > 0) rubbish = frame.slice(0, -1);
      },
    });
    expect(network.settle(120_000)).toBe(true);
    const link = () => network.status(1).neighbours.find(({ peer }) => peer === "device-0");
    const refusedOf = (many: number) => {
      for (let n = 0; n < many; n++) network.forge(0, 1, rubbish ?? expect.fail("nothing was sent"));
      network.run(1_000);
      return Object.values(link()?.framesRefused ?? {});
    };
    expect(refusedOf(20)).toEqual([1]);
    expect(link()?.fault).toMatch(/cannot be read/);
    // The ban is that of one offence.
    network.run(FIRST_BAN_MILLISECONDS);
    expect(refusedOf(20)).toEqual([2]);
  });

  it("end with the same bits, those of k-means on all rows together, although frames are lost", async () => {
    const given = await problem();
    const { network, centroids } = ends({ ...given, weather: { loss: 0.3 } });
    for (const own of centroids) expect(own.data).toEqual(centroids[0].data);
    const { inertia } = kmeans(stack(given.datasets), { k: 3 });
    const own = kmeans(stack(given.datasets), { k: 3, init: centroids[0], maxIter: 1 });
    expect(own.inertia).toBeCloseTo(inertia, 9);
    expect(network.status(0).shared).toMatchObject({
      devices: 5,
      pooledRows: 300,
      waiting: null,
      isImplausible: false,
    });
  });

  it.each([
    ["the census, although what is asked next is long", 0, complete(5), 0.3],
    ["long sums that no link of their own brings", 1, erdosRenyi(10, 0.6, randomStream(4, "graph")), 0],
  ])("help those at once who lack entries of %s", async (_, generation, links, loss) => {
    const given = await problem({}, links);
    const spreads = [1, 2, 3, 4, 5, 6].map((seed) => {
      const network = simulate({ ...given, seed, staggerMilliseconds: 0, weather: { loss } });
      network.run(5);
      const devices = Array.from({ length: links.size }, (_, i) => i);
      const beyond = () => devices.filter((i) => (network.status(i).shared?.generation ?? 0) > generation).length;
      while (beyond() === 0) network.run(1);
      const first = network.now();
      while (beyond() < links.size) network.run(1);
      return network.now() - first;
    });
    expect(Math.max(...spreads)).toBeLessThan(150);
  });

  it("have the same answer, in the same events, with and without masks", async () => {
    const given = await problem();
    const [masked, bare] = [ends(given), ends({ ...given, isBare: true })];
    expect(bare.centroids).toEqual(masked.centroids);
    expect(bare.network.frames).toBe(masked.network.frames);
    expect(bare.network.digest()).not.toBe(masked.network.digest());
    expect(ends(given).network.digest()).toBe(masked.network.digest());
  });

  it("wait and say why where a device has a single link", async () => {
    const network = simulate(await problem({}, path(3)));
    network.run(90_000);
    expect(network.status(0)).toMatchObject({ phase: "waiting", shared: { devices: null } });
    expect(network.status(0).shared?.waiting).toMatch(/needs 2 links to devices that answer, and has 1/);
  });

  it("do not call a neighbour away that has not had the time to answer", async () => {
    const network = simulate({
      ...(await problem()),
      staggerMilliseconds: 0,
      weather: { delayMilliseconds: [50, 60] },
    });
    network.run(10);
    const { phase, shared, neighbours } = network.status(0);
    expect({ phase, waiting: shared?.waiting }).toEqual({
      phase: "waiting",
      waiting: `waits for ${neighbours.length} of its links to answer before anything is added up`,
    });
    expect(neighbours.some(({ isAway }) => isAway)).toBe(false);
  });

  it("go on without a neighbour that is silent, and with it again when it is back", async () => {
    const { network } = ends(await problem());
    network.crash(2);
    network.run(100_000);
    expect(network.status(0).neighbours.filter(({ isAway }) => isAway)).toHaveLength(1);
    expect(network.status(0)).toMatchObject({ phase: "settled", shared: { devices: 4, pooledRows: 240 } });
    network.restart(2);
    network.run(1_000);
    expect(network.settle(10_000)).toBe(true);
    expect(network.status(0)).toMatchObject({ phase: "settled", shared: { devices: 5, pooledRows: 300 } });
  });

  it("have the bits of a network that never had a device once it is unlinked, also while they do not run", async () => {
    // Where the first question lies decides which fixed point these rows lead to.
    const { datasets } = paperData("aniso", 10, 100, 5_006);
    const bounds = studyOfPoints(datasets, ["x1", "x2"], { name: "aniso", k: 3, alpha: 0, minimum: 1 });
    const own = { datasets: datasets.slice(0, 6), graph: complete(6), staggerMilliseconds: 0 };
    const links = own.datasets.map((_, i) => [1, 2, 3, 4, 5].filter((j) => i > 0 && i !== j));
    for (let seed = 0; seed < 6; seed++) {
      // Of another name all hashes are others.
      const study: Study = { ...bounds, name: `study ${seed}`, clusters: "shared", colluders: 1, privacy: "open" };
      const given = { ...own, study, contract: await contractOf(study), seed, weather: { loss: 0.1 } };
      const without = simulate({ ...given, links, absent: [0] });
      without.run(20_000);
      const { network } = ends(given);
      if (seed % 2 === 0) for (const i of [1, 2, 3, 4, 5]) network.setLinks(i, links[i]);
      else {
        for (const i of [1, 2, 3, 4, 5]) network.crash(i);
        for (const i of [1, 2, 3, 4, 5]) network.setLinks(i, links[i]);
        for (const i of [1, 2, 3, 4, 5]) network.restart(i);
      }
      network.setLinks(0, []);
      network.run(90_000);
      for (const i of [1, 2, 3, 4, 5]) {
        expect(network.status(i).phase).toBe("settled");
        expect(network.centroids()[i].data).toEqual(without.centroids()[1].data);
      }
    }
  });

  it("never answer for the same centroids with other devices, nor use a pad twice, when one leaves and comes back", async () => {
    const given = await problem();
    const seen = observeBoards(given.study, given.contract, simulatedSecrets("observer"));
    const { network } = ends({ ...given, onEvent: ({ frame }) => frame.length > 0 && seen.see(frame) });
    for (const victim of [0, 3]) {
      network.crash(victim);
      network.run(100_000);
      network.restart(victim);
      network.run(5_000);
    }
    expect(seen.sums().length).toBeGreaterThan(4);
    expect([padsTwice(seen), answersTwice(seen)]).toEqual([0, 0]);
  });

  it("begin at the seed of the study where it has one", async () => {
    const given = await problem({
      seed: [
        [0, 0],
        [1, 1],
        [-1, -1],
      ],
    });
    const network = simulate(given);
    network.run(210);
    expect(network.status(0).shared).toMatchObject({ stage: "census", generation: 0 });
    while (network.status(0).shared?.generation === 0) network.run(1);
    expect(network.status(0).shared).toMatchObject({ stage: "rows", generation: 1 });
    expect(network.settle(120_000)).toBe(true);
    expect(network.status(0).shared?.stage).toBe("rest");
  });

  it("hold back rows of which too few move, where they are guarded", async () => {
    const given = await problem({ privacy: "guarded", minimum: 10 }, complete(4));
    const { network, centroids } = ends(given);
    for (const own of centroids) expect(own.data).toEqual(centroids[0].data);
    for (let i = 0; i < 4; i++) expect(network.status(i).guarded?.smallestClass).toBeGreaterThanOrEqual(10);
  });

  it("pass on a paused device's entry no more: the others settle without it", async () => {
    const { network } = ends(await problem());
    network.setPaused(1, true);
    network.run(2_000);
    expect(network.status(1).phase).toBe("paused");
    expect(network.status(0)).toMatchObject({ phase: "settled", shared: { devices: 4 } });
    network.setPaused(1, false);
    network.run(2_000);
    expect(network.status(0)).toMatchObject({ phase: "settled", shared: { devices: 5 } });
  });

  it("work where devices are linked as a ring", async () => {
    const ring = graph(6, [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 5],
      [5, 0],
    ]);
    const { network } = ends(await problem({}, ring));
    expect(network.status(3).shared?.devices).toBe(6);
  });
});
