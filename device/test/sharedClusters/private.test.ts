// Private rows of devices with shared clusters: noise in shares under the masks, released once over devices that know of each other.

import { complete, globalCentroidDeviation, graph, kmeans, type Matrix, paperData, path, stack } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { seeBoards } from "../../src/audit/boards.ts";
import { decodeLedger } from "../../src/private/ledger.ts";
import { stages } from "../../src/sharedClusters/generation.ts";
import { type SimulationOptions, simulate } from "../../src/simulation/simulate.ts";
import { contractOf, parseStudy, type Study } from "../../src/study.ts";

const text = `name: private
k: 3
clusters: shared
privacy: private
typicalRows: 200
devices: 5
features:
  - { name: x, unit: "", min: -13, max: 13 }
  - { name: y, unit: "", min: -13, max: 13 }
`;
const study = parseStudy(text);
const contract = await contractOf(study);
const { datasets } = paperData("iso", 6, 200, 3);
const five = datasets.slice(0, 5);
const noRows: Matrix = { data: new Float64Array(0), rows: 0, cols: 2 };

function networkOf(changes: Partial<SimulationOptions> = {}) {
  const seen = seeBoards(study, contract);
  const network = simulate({
    study,
    contract,
    datasets: five,
    graph: complete(5),
    seed: 1,
    staggerMilliseconds: 200,
    onEvent: ({ frame }) => frame.length > 0 && seen.see(frame),
    ...changes,
  });
  return { network, seen };
}

const ledgerOf = (network: ReturnType<typeof simulate>, i: number) =>
  decodeLedger(network.history(i) ?? new Uint8Array(0), 2);

describe("private devices with shared clusters", () => {
  it("end with one answer, nearer to the pooled one than devices alone, after two releases, although frames are lost", () => {
    const { network, seen } = networkOf({ weather: { loss: 0.3 } });
    expect(network.settle(120_000)).toBe(true);
    const centroids = network.centroids();
    for (const own of centroids) expect(own.data).toEqual(centroids[0].data);
    const reference = kmeans(stack(five), { k: 3, restarts: 20 }).centroids;
    const alone = five.map((own) => kmeans(own, { k: 3 }).centroids);
    expect(globalCentroidDeviation(centroids, reference)).toBeLessThan(globalCentroidDeviation(alone, reference));
    expect(network.status(2)).toMatchObject({
      phase: "settled",
      private: { releases: 2, stage: "means", isOutdated: false, isHistoryLost: false, failure: null },
      shared: { stage: "frozen", waiting: null },
    });
    expect(network.status(2).private?.epsilonSpent).toBeCloseTo(1, 6);
    expect(seen.padsTwice()).toBe(0);
    expect(seen.sums().filter(({ content }) => content.stage === stages.cells)).toHaveLength(1);
  });
});
