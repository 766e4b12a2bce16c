// How a board grows: messages and bytes of a device in a generation, by the number of devices, each with six links.

import { type Edge, graph, type Matrix, paperData } from "@fedkm/core";
import { studyOfPoints } from "@fedkm/device";
import { print } from "../table.ts";
import { network, settledAt } from "./setting.ts";

const LINKS_AHEAD = 3;

/** A ring in which everybody is also linked to the next ones. */
function widened(size: number) {
  const links: Edge[] = [];
  for (let i = 0; i < size; i++) for (let n = 1; n <= LINKS_AHEAD; n++) links.push([i, (i + n) % size]);
  return graph(size, links);
}

export async function growth({ sizes }: { sizes: readonly number[] }): Promise<boolean> {
  const rows = [["devices", "generations", "frames of a device in one", "kB of a device in one", "settled after"]];
  let isGood = true;
  for (const size of sizes) {
    const datasets: readonly Matrix[] = paperData("iso", size, 20, 1).datasets;
    const plain = studyOfPoints(datasets, ["x1", "x2"], { name: "growth", alpha: 0 });
    // A seed near the middle: what is measured are the generations of k-means.
    const seed = [
      [0, 0],
      [1, 1],
      [-1, 1],
    ];
    const study = { ...plain, clusters: "shared", colluders: 1, seed } as const;
    const simulated = await network({ study, datasets, graph: widened(size), seed: 1 });
    const at = settledAt(
      simulated,
      datasets.map((_, i) => i),
      600_000,
    );
    const generations = 1 + (simulated.status(0).shared?.generation ?? 0);
    isGood &&= at !== undefined && simulated.status(0).shared?.devices === size;
    rows.push([
      String(size),
      String(generations),
      (simulated.frames / size / generations).toFixed(1),
      (simulated.bytes / size / generations / 1000).toFixed(1),
      at === undefined ? "never" : `${(at / 1000).toFixed(1)} s`,
    ]);
  }
  print("A board of masked sums by the number of devices, k 3, two features, six links each", rows);
  return isGood;
}
