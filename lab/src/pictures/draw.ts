// One method's answer as SVG: a panel for each device of a 2 x 3 grid, the links between them, what it cost below.

import {
  discrepancy,
  edges,
  type FitModel,
  type Graph,
  globalCentroidDeviation,
  type Matrix,
  toRows,
} from "@fedkm/core";
import { ink, linkShade, paper, svgFile } from "@fedkm/pictures";
import { clustered, crosses, dots, frame, type Place, ring, scaleFor, short } from "./scatter.ts";

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
