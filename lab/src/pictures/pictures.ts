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
  type Graph,
  globalCentroidDeviation,
  grid,
  type Matrix,
  type Method,
  methods,
  paperData,
  splitByLabel,
  toRows,
} from "@fedkm/core";
import { ink, linkShade, paper, shadeStep, svgFile } from "@fedkm/pictures";
import { drawReports } from "./reports.ts";
import { clustered, crosses, dots, frame, type Place, ring, scaleFor, short } from "./scatter.ts";
import { drawScreens } from "./screens.ts";
import { drawTogether } from "./together.ts";

// One method's answer as SVG: a panel for each device of a 2 x 3 grid, the links between them, what it cost below.

const COLUMNS = 3;
const [GAP, MARGIN] = [36, 12];
const PANEL = { width: 160, height: 124 };
const WIDTH = 2 * MARGIN + COLUMNS * PANEL.width + (COLUMNS - 1) * GAP;
const HEIGHT = 2 * MARGIN + 2 * PANEL.height + GAP + 26;

export interface Scene {
  readonly name: string;
  /** What leaves a device, in words, and which of its records do. */
  readonly travels: string;
  readonly records: readonly Matrix[];
  readonly datasets: readonly Matrix[];
  readonly network: Graph;
  readonly reference: Matrix;
  readonly model: FitModel;
  /** What one shade of a link spans: the same for all methods, so that their pictures can be compared. */
  readonly shadeStep: number;
}

export function draw(scene: Scene): string {
  const { name, datasets, network, model, shadeStep } = scene;
  const { place } = scaleFor(datasets, PANEL);
  const links = Array.from(edges(network), ([i, j]) =>
    link(i, j, linkShade(discrepancy(model.centroids[i], model.centroids[j]), shadeStep)),
  );
  return svgFile({
    width: WIDTH,
    height: HEIGHT,
    name: `${name}: six devices, their points, their centroids (crosses) and the pooled ones (rings)`,
    body: [...links, ...datasets.map((_, i) => panel(scene, i, place)), caption(scene)].join("\n"),
  });
}

function corner(device: number): readonly [number, number] {
  const column = device % COLUMNS;
  const row = Math.floor(device / COLUMNS);
  return [MARGIN + column * (PANEL.width + GAP), MARGIN + row * (PANEL.height + GAP)];
}

function link(i: number, j: number, shade: string): string {
  const centre = (device: number) => corner(device).map((at, axis) => at + [PANEL.width, PANEL.height][axis] / 2);
  const [[x1, y1], [x2, y2]] = [centre(i), centre(j)];
  return `<path d="M${x1} ${y1}L${x2} ${y2}" stroke="${shade}" stroke-width="6"/>`;
}

function panel({ datasets, records, reference, model }: Scene, i: number, place: Place): string {
  const sent = toRows(records[i]);
  return [
    `<g transform="translate(${corner(i).join(" ")})">`,
    frame(PANEL),
    dots(sent, place, `stroke="${ink}" stroke-width="6.5"`),
    dots(sent, place, `stroke="${paper}" stroke-width="5"`),
    clustered(datasets[i], model.centroids[i], reference, place),
    ...toRows(reference).map((row) => ring(place(row), 6, ink)),
    crosses(model.centroids[i], reference, place),
    "</g>",
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function caption({ name, travels, reference, model }: Scene): string {
  const { messages, bytes, centroids } = model;
  const deviation = globalCentroidDeviation(centroids, reference);
  const rounded = deviation < 1e-20 ? "0" : String(Number(deviation.toPrecision(2)));
  const cost = `${messages} messages, ${short(bytes / 1000)} kB`;
  const text = (rest: string, x: number, anchor: string) =>
    `<text x="${x}" y="${HEIGHT - 14}" text-anchor="${anchor}" font-family="system-ui, sans-serif" font-size="13" fill="${ink}">${rest}</text>`;
  return [
    text(`<tspan font-weight="600">${name}</tspan>: sends ${travels}`, MARGIN, "start"),
    text(`${cost}, GCD ${rounded}`, WIDTH - MARGIN, "end"),
  ].join("\n");
}

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
