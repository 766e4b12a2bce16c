// npm run pictures [-- --out folder]: the README's picture, and every method on one small problem for docs/methods.md.

import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type CoresetModel,
  discrepancy,
  edges,
  type FitModel,
  grid,
  type Matrix,
  methods,
  paperData,
  splitByLabel,
} from "@fedkm/core";
import { shadeStep } from "@fedkm/pictures";
import { draw } from "./pictures/draw.ts";
import { drawTogether } from "./pictures/together.ts";

/** Devices hold clusters unevenly, and the methods differ: on most seeds more of them are near the pooled answer. */
const SEED = 11;

const { values } = parseArgs({ options: { out: { type: "string", default: "docs" } } });
mkdirSync(join(values.out, "methods"), { recursive: true });

const drawn = paperData("var", 1, 240, SEED);
const { datasets } = splitByLabel({ points: drawn.datasets[0], labels: drawn.labels[0] }, 6, 0.7, SEED);
const network = grid(2, 3);
const options = { k: 3, alpha: 1, seed: SEED };
const [reference] = methods.pooled(datasets, network, options).centroids;

/** Of a method that is not listed, centroids travel. */
const travels: Readonly<Record<string, string>> = {
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

/** Whole or not at all. */
function write(name: string, svg: string): void {
  const file = join(values.out, name);
  writeFileSync(`${file}.part`, svg);
  renameSync(`${file}.part`, file);
}

const names = Object.keys(methods) as (keyof typeof methods)[];
const models = names.map((name) => methods[name](datasets, network, options));
const disagreements = models.flatMap(({ centroids }) =>
  Array.from(edges(network), ([i, j]) => discrepancy(centroids[i], centroids[j])),
);
names.forEach((name, i) => {
  const model = models[i];
  const shared = { datasets, network, reference, shadeStep: shadeStep(disagreements) };
  const scene = {
    ...shared,
    name,
    travels: travels[name] ?? "centroids travel",
    records: recordsOf(name, model),
    model,
  };
  write(join("methods", `${name}.svg`), draw(scene));
});
write("together.svg", drawTogether());
