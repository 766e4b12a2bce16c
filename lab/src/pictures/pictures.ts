// npm run lab -- pictures [--out FOLDER] [--screens] [--reports]: the README's picture, every method on one small problem for
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
import { draw } from "./draw.ts";
import { drawReports } from "./reports.ts";
import { drawScreens } from "./screens.ts";
import { drawTogether } from "./together.ts";

/** Devices hold clusters unevenly, and the methods differ: on most seeds more of them are near the pooled answer. */
const SEED = 11;

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
function write(file: string, svg: string): void {
  writeFileSync(`${file}.part`, svg);
  renameSync(`${file}.part`, file);
}

function drawMethods(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const table = Object.entries<Method>(methods);
  const models = table.map(([, method]) => method(datasets, network, options));
  const disagreements = models.flatMap(({ centroids }) =>
    Array.from(edges(network), ([i, j]) => discrepancy(centroids[i], centroids[j])),
  );
  table.forEach(([name, { travels = "centroids" }], i) => {
    const model = models[i];
    const shared = { datasets, network, reference, shadeStep: shadeStep(disagreements) };
    const scene = { ...shared, name, travels, records: recordsOf(name, model), model };
    write(join(folder, `${name}.svg`), draw(scene));
  });
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      out: { type: "string", default: "docs" },
      screens: { type: "boolean", default: false },
      reports: { type: "boolean", default: false },
    },
  });
  drawMethods(join(values.out, "methods"));
  write(join(values.out, "together.svg"), drawTogether());
  if (values.screens) await drawScreens(join(values.out, "screens"));
  if (values.reports) await drawReports(join(values.out, "reports"));
}
