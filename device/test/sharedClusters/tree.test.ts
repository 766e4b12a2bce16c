// Shared clusters with sums over a tree: the same answer, and as many bytes for a device however many there are.

import { complete, erdosRenyi, type Graph, grid, kmeans, paperData, randomStream, ring, stack } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { type SimulationOptions, simulate } from "../../src/simulation/simulate.ts";
import { contractOf, parseStudy, type Study } from "../../src/study/study.ts";
import { studyOfPoints } from "../../src/study/studyOfPoints.ts";

async function problem(graph: Graph, changes: Partial<Study> = {}) {
  const { datasets } = paperData("iso", graph.size, 60, 3);
  const study: Study = {
    ...studyOfPoints(datasets, ["x", "y"], { name: "shared", alpha: 0, ...changes }),
    clusters: "shared",
    colluders: 1,
    sums: "tree",
    neighbours: "trusted",
  };
  return { study, contract: await contractOf(study), datasets, graph, seed: 1, staggerMilliseconds: 200 };
}

/** They have settled on one answer, from which k-means on all rows does not move. */
function expectPooled(network: ReturnType<typeof simulate>, datasets: SimulationOptions["datasets"]) {
  const [first, ...others] = network.centroids();
  for (const own of others) expect(own.data).toEqual(first.data);
  const { centroids } = kmeans(stack(datasets), { k: 3, init: first, maxIter: 1 });
  centroids.data.forEach((value, i) => {
    expect(Math.abs(value - first.data[i])).toBeLessThan(1e-9);
  });
}

describe("shared clusters with sums over a tree", () => {
  it("end at k-means on all rows together, the same bits on all devices, on any graph and although frames are lost", async () => {
    const graphs = [complete(5), ring(7), grid(4, 4), erdosRenyi(12, 0.5, randomStream(1, "tree"))];
    for (const graph of graphs) {
      const given = await problem(graph);
      const network = simulate({ ...given, weather: { loss: 0.3 } });
      expect(network.settle(600_000)).toBe(true);
      expectPooled(network, given.datasets);
    }
  });

  it("go on when devices are killed, when one leaves and when one joins", async () => {
    for (let seed = 0; seed < 6; seed++) {
      const given = await problem(erdosRenyi(10, 0.6, randomStream(seed, "tree")));
      const network = simulate({ ...given, seed, absent: [9], weather: { loss: 0.3 } });
      for (let n = 0; n < 4; n++) {
        network.run(150 + 40 * seed);
        const victim = (seed + 3 * n) % 9;
        network.crash(victim);
        network.run(30 * seed);
        network.restart(victim);
      }
      network.run(70_000);
      network.restart(9);
      network.run(2_000);
      expect(network.settle(200_000), `seed ${seed}`).toBe(true);
      expectPooled(network, given.datasets);
      network.crash(4);
      network.run(100_000);
      expect(network.settle(200_000)).toBe(true);
      const there = [0, 1, 2, 3, 5, 6, 7, 8, 9];
      const pooled = stack(there.map((i) => given.datasets[i]));
      const first = network.centroids()[0];
      const { inertia } = kmeans(pooled, { k: 3, init: first, maxIter: 1 });
      expect(inertia).toBeCloseTo(kmeans(pooled, { k: 3 }).inertia, 6);
    }
  });

  it("follow rows that change, and hold back guarded ones", async () => {
    const given = await problem(ring(6), { privacy: "guarded", minimum: 10 });
    const network = simulate(given);
    expect(network.settle(120_000)).toBe(true);
    const before = network.centroids()[0].data;
    network.setRows(2, given.datasets[0]);
    network.run(1_000);
    expect(network.settle(120_000)).toBe(true);
    expect(network.centroids()[0].data).not.toEqual(before);
    for (let i = 0; i < 6; i++) expect(network.status(i).guarded?.smallestClass).toBeGreaterThanOrEqual(10);
  });

  it("is a field of the study that private ones do not have", () => {
    const text = "name: t\nk: 1\nfeatures: [{ name: x, unit: m, min: 0, max: 1 }]\nclusters: shared\nprivacy: open\n";
    const trusted = parseStudy(`${text}sums: tree\nneighbours: trusted\n`);
    expect([trusted.sums, trusted.neighbours]).toEqual(["tree", "trusted"]);
    expect(() => parseStudy(`${text}sums: tree\n`)).toThrow(/^sums must be board unless neighbours is trusted/);
    expect(() => parseStudy(`${text}neighbours: trusted\n`)).toThrow(/^neighbours must be left out unless/);
    expect(parseStudy(`${text}sums: board\n`)).toEqual(parseStudy(text));
    expect(() => parseStudy(`${text}sums: star\n`)).toThrow(/^sums must be board or tree, got "star"/);
    const priv = text.replace("open", "private\ntypicalRows: 10\ndevices: 3");
    expect(() => parseStudy(`${priv}sums: tree\n`)).toThrow(/^sums must be board with privacy "private"/);
  });
});
