// npm run pictures [-- --out folder]: every method on one small problem, a picture each, for docs/methods.md.

import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type CoresetModel, type FitModel, grid, type Matrix, methods, paperData, splitByLabel } from "@fedkm/core";
import { draw } from "./pictures/draw.ts";

/** Devices hold clusters unevenly, and the methods differ: on most seeds more of them are near the pooled answer. */
const SEED = 11;

const { values } = parseArgs({ options: { out: { type: "string", default: "docs/methods" } } });
mkdirSync(values.out, { recursive: true });

const drawn = paperData("var", 1, 240, SEED);
const { datasets } = splitByLabel({ points: drawn.datasets[0], labels: drawn.labels[0] }, 6, 0.7, SEED);
const network = grid(2, 3);
const options = { k: 3, alpha: 1, seed: SEED };
const [reference] = methods.pooled(datasets, network, options).centroids;

const travels: Record<keyof typeof methods, string> = {
  fedkm: "centroids travel",
  consensus: "centroids, counts and sums travel",
  local: "nothing travels",
  pooled: "every record travels",
  distributed: "centroids travel",
  gradient: "centroids travel",
  coreset: "samples, centroids, counts travel",
  backbone: "many centroids travel",
  kfed: "centroids travel",
  fkm: "centroids and counts travel",
};

/** The records that leave each device. */
function recordsOf(name: string, model: FitModel): readonly Matrix[] {
  if (name === "pooled") return datasets;
  return datasets.map(({ cols }, i) => {
    if (!("parts" in model)) return { data: new Float64Array(0), rows: 0, cols };
    const { points, samples } = (model as CoresetModel).parts[i];
    return { data: points.data.slice(0, samples * cols), rows: samples, cols };
  });
}

for (const name of Object.keys(methods) as (keyof typeof methods)[]) {
  const model = methods[name](datasets, network, options);
  const scene = { name, travels: travels[name], records: recordsOf(name, model), datasets, network, reference, model };
  const file = join(values.out, `${name}.svg`);
  // Whole or not at all.
  writeFileSync(`${file}.part`, draw(scene));
  renameSync(`${file}.part`, file);
}
