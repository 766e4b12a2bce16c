// How sums grow with a network: frames and bytes of a device in a generation, by the number of devices, each with six
// links; as a board, which everybody has whole, and over a tree.

import { type Edge, graph, type Matrix, paperData, randomStream } from "@fedkm/core";
import { type Study, studyOfPoints } from "@fedkm/device";
import { print } from "../measure.ts";
import { judge, network } from "./setting.ts";

const LINKS = 6;
const WITHIN_MILLISECONDS = 600_000;
/** Between two looks: a look at 10,000 devices takes a while. */
const LOOK_MILLISECONDS = 500;

/** A ring with three further partners for each device, drawn at random: few hops from everybody to everybody. */
function drawn(size: number) {
  const random = randomStream(size, "growth");
  const links: Edge[] = Array.from({ length: size }, (_, i) => [i, (i + 1) % size]);
  const seen = new Set(links.map(([i, j]) => `${Math.min(i, j)} ${Math.max(i, j)}`));
  while (links.length < Math.min((LINKS / 2) * size, (size * (size - 1)) / 2)) {
    const [i, j] = [Math.floor(size * random()), Math.floor(size * random())];
    const pair = `${Math.min(i, j)} ${Math.max(i, j)}`;
    if (i === j || seen.has(pair)) continue;
    seen.add(pair);
    links.push([i, j]);
  }
  return graph(size, links);
}

export interface GrowthOptions {
  readonly boards: readonly number[];
  readonly trees: readonly number[];
}

/** Bars: all settle on one answer, that of all rows; over a tree a device's bytes do not grow by half from the first size to the last. */
export async function growth({ boards, trees }: GrowthOptions): Promise<boolean> {
  const rows = [["sums", "devices", "generations", "frames", "kB", "settled after", "step of pooled k-means"]];
  let isGood = true;
  const bytes: number[] = [];
  for (const [sums, size] of [...boards.map((n) => ["board", n] as const), ...trees.map((n) => ["tree", n] as const)]) {
    const found = await grown(sums, size);
    isGood &&= found.isSettled && found.isSame && found.step < 1e-9;
    if (sums === "tree") bytes.push(found.bytes);
    rows.push([
      sums,
      String(size),
      String(found.generations),
      found.frames.toFixed(1),
      (found.bytes / 1000).toFixed(1),
      found.isSettled ? `${(found.at / 1000).toFixed(1)} s` : "never",
      found.step.toExponential(1),
    ]);
  }
  print(
    "Sums by the number of devices, k 3, two features, six links each; frames and kB of a device in a generation",
    rows,
  );
  return isGood && (bytes.at(-1) ?? 0) <= 1.5 * (bytes[0] ?? 0);
}

async function grown(sums: "board" | "tree", size: number) {
  const datasets: readonly Matrix[] = paperData("iso", size, 20, 1).datasets;
  const plain = studyOfPoints(datasets.slice(0, 1), ["x1", "x2"], { name: "growth", alpha: 0 });
  const features = plain.features.map((feature) => ({ ...feature, min: -30, max: 30 }));
  // A seed near the middle: what is measured are the generations of k-means.
  const seed = [
    [0, 0],
    [1, 1],
    [-1, 1],
  ];
  const shared = { ...plain, features, clusters: "shared", colluders: 1, seed } as const;
  const study: Study = sums === "tree" ? { ...shared, sums } : shared;
  const simulated = await network({ study, datasets, graph: drawn(size), seed: 1 });
  const isSettled = simulated.settle(WITHIN_MILLISECONDS, LOOK_MILLISECONDS);
  const generations = 1 + (simulated.status(0).shared?.generation ?? 0);
  return {
    isSettled,
    at: simulated.now(),
    generations,
    frames: simulated.frames / size / generations,
    bytes: simulated.bytes / size / generations,
    ...judge(simulated.centroids(), datasets),
  };
}
