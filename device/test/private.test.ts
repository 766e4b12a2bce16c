// Private rows of a device: two releases, a ledger that is paid before anything is sent, and rows that are not asked again.

import { erdosRenyi, globalCentroidDeviation, kmeans, matrix, paperData, randomStream, stack } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { simulate } from "../src/simulation/simulate.ts";
import { contractOf, parseStudy } from "../src/study.ts";

const study = parseStudy(`
name: private
k: 3
alpha: 1
privacy: private
typicalRows: 800
features:
  - { name: x, unit: "", min: -13, max: 13 }
  - { name: y, unit: "", min: -13, max: 13 }
`);

async function networkOf(seed: number) {
  const { datasets } = paperData("iso", 10, 800, seed);
  const graph = erdosRenyi(10, 0.7, randomStream(seed, "graph"));
  return { datasets, simulation: simulate({ study, contract: await contractOf(study), datasets, graph, seed }) };
}

describe("a network of private devices", () => {
  it("ends", async () => {
    const { datasets, simulation } = await networkOf(3);
    for (let t = 0; t < 14; t++) {
      simulation.run(t < 6 ? 2000 : 10000);
      console.log(
        simulation.now(),
        simulation.frames,
        Array.from({ length: 10 }, (_, i) => simulation.status(i))
          .map((x) => `${x.phase[0]}${x.round}:${(x.move ?? 0).toExponential(0)}/${x.threshold.toExponential(0)}`)
          .join(" "),
      );
    }
  }, 100000);
});
