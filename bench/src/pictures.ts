// npm run pictures [-- --out folder] [--screens] [--reports]: the README's picture, every method on one small problem for
// docs/methods.md and, where it is asked for, screenshots of the pages.

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
  type Method,
  methods,
  paperData,
  splitByLabel,
} from "@fedkm/core";
import { shadeStep } from "@fedkm/pictures";
import { draw } from "./pictures/draw.ts";
import { drawReports } from "./pictures/reports.ts";
import { drawScreens } from "./pictures/screens.ts";
import { drawTogether } from "./pictures/together.ts";

/** Devices hold clusters unevenly, and the methods differ: on most seeds more of them are near the pooled answer. */
const SEED = 11;

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "docs" },
    screens: { type: "boolean", default: false },
    reports: { type: "boolean", default: false },
  },
});
mkdirSync(join(values.out, "methods"), { recursive: true });

const drawn = paperData("var", 1, 240, SEED);
const { datasets } = splitByLabel({ points: drawn.datasets[0], labels: drawn.labels[0] }, 6, 0.7, SEED);
const network = grid(2, 3);
const options = { k: 3, alpha: 1, seed: SEED };
const [reference] = methods.pooled(datasets, network, options).centroids;

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

const table = Object.entries<Method>(methods);
const models = table.map(([, method]) => method(datasets, network, options));
const disagreements = models.flatMap(({ centroids }) =>
  Array.from(edges(network), ([i, j]) => discrepancy(centroids[i], centroids[j])),
);
table.forEach(([name, { travels = "centroids" }], i) => {
  const model = models[i];
  const shared = { datasets, network, reference, shadeStep: shadeStep(disagreements) };
  const scene = { ...shared, name, travels, records: recordsOf(name, model), model };
  write(join("methods", `${name}.svg`), draw(scene));
});
write("together.svg", drawTogether());
if (values.screens) await drawScreens(join(values.out, "screens"));
if (values.reports) await drawReports(join(values.out, "reports"));
