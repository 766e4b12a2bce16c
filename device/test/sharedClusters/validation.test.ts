// Validation of shared clusters: the figures of each device and of all against those of pooled rows, stability, and what
// the sums of replicates give away.

import {
  complete,
  distortion,
  kmeans,
  type Matrix,
  normalStream,
  predict,
  randomStream,
  simplifiedSilhouette,
  stack,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { replicateWeights } from "../../src/sharedClusters/validation.ts";
import { simulate } from "../../src/simulation/simulate.ts";
import { contractOf, parseStudy } from "../../src/study/study.ts";

const study = (k: number, more: string) =>
  parseStudy(`
name: wards
k: ${k}
features:
  - { name: x, min: -40, max: 40, scale: 2 }
  - { name: y, min: -40, max: 40, scale: 2 }
clusters: shared
minimum: 1
${more}
`);

/** Rows around three places; the last device's are shifted. */
function datasetsOf(rows: number, spread: number): Matrix[] {
  const places = [
    [-20, -20],
    [20, -20],
    [0, 20],
  ];
  return Array.from({ length: 4 }, (_, i) => {
    const random = randomStream(i, "validation");
    const normal = normalStream(random);
    const data = new Float64Array(rows * 2);
    for (let r = 0; r < rows; r++) {
      const [x, y] = places[Math.floor(random() * 3)];
      data[2 * r] = x + spread * normal() + (i === 3 ? 5 : 0);
      data[2 * r + 1] = y + spread * normal();
    }
    return { data, rows, cols: 2 };
  });
}

async function settled(k: number, datasets: readonly Matrix[], more = "privacy: open\nvalidate: 20") {
  const contract = await contractOf(study(k, more));
  const graph = complete(datasets.length);
  const network = simulate({ study: study(k, more), contract, datasets, graph, seed: 1, staggerMilliseconds: 0 });
  expect(network.settle(600_000)).toBe(true);
  return network;
}

const scaled = ({ data, ...rest }: Matrix): Matrix => ({ ...rest, data: data.map((value) => value / 2) });

describe("a study that validates its answer", () => {
  it("has the figures of pooled rows, and beside them those of the device's own labelled rows", async () => {
    const datasets = datasetsOf(100, 3);
    const network = await settled(3, datasets);
    const centroids = scaled(network.centroids()[0]);
    void centroids;
    console.log(JSON.stringify(network.status(3).shared?.validation, undefined, 1), network.status(0).shared?.generation, network.bytes / 4);
  });
});
