// One method's answer as SVG: a panel for each device of a 2 x 3 grid, the links between them, what it cost below.

import {
  discrepancy,
  edges,
  type FitModel,
  type Graph,
  globalCentroidDeviation,
  type Matrix,
  matchCentroids,
  predict,
  toRows,
} from "@fedkm/core";

const COLOURS = ["#0072B2", "#E69F00", "#009E73"];
const COLUMNS = 3;
const [PANEL_WIDTH, PANEL_HEIGHT, GAP, MARGIN] = [160, 124, 36, 12];
const WIDTH = 2 * MARGIN + COLUMNS * PANEL_WIDTH + (COLUMNS - 1) * GAP;
const HEIGHT = 2 * MARGIN + 2 * PANEL_HEIGHT + GAP + 26;

/** Light to dark: neighbours that agree, to the last digit or not, and neighbours that do not. */
const DISAGREEMENT: readonly (readonly [number, string])[] = [
  [1e-9, "#DDE8F2"],
  [1e-3, "#A9C8E3"],
  [1e-1, "#5C97C6"],
  [Number.POSITIVE_INFINITY, "#1F4E79"],
];

export interface Scene {
  readonly name: string;
  /** What leaves a device, in words, and which of its records do. */
  readonly travels: string;
  readonly records: readonly Matrix[];
  readonly datasets: readonly Matrix[];
  readonly network: Graph;
  readonly reference: Matrix;
  readonly model: FitModel;
}

type Place = (row: readonly number[]) => readonly [number, number];

export function draw(scene: Scene): string {
  const { name, datasets, network, model } = scene;
  const place = placed(datasets);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    `<title>${name}: six devices, their points, their centroids (crosses) and the pooled ones (rings)</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    ...Array.from(edges(network), ([i, j]) => link(i, j, discrepancy(model.centroids[i], model.centroids[j]))),
    ...datasets.map((_, i) => panel(scene, i, place)),
    caption(scene),
    "</svg>",
  ];
  return `${parts.join("\n")}\n`;
}

function corner(device: number): readonly [number, number] {
  const column = device % COLUMNS;
  const row = Math.floor(device / COLUMNS);
  return [MARGIN + column * (PANEL_WIDTH + GAP), MARGIN + row * (PANEL_HEIGHT + GAP)];
}

/** All points fit into a panel, at one scale for both axes. */
function placed(datasets: readonly Matrix[]): Place {
  const rows = datasets.flatMap(toRows);
  const range = [0, 1].map((x) => [Math.min(...rows.map((row) => row[x])), Math.max(...rows.map((row) => row[x]))]);
  const [across, down] = range.map(([low, high]) => high - low);
  const scale = Math.min((PANEL_WIDTH - 16) / across, (PANEL_HEIGHT - 16) / down);
  const [left, top] = [(PANEL_WIDTH - scale * across) / 2, (PANEL_HEIGHT - scale * down) / 2];
  return ([x, y]) => [left + scale * (x - range[0][0]), top + scale * (range[1][1] - y)];
}

function link(i: number, j: number, apart: number): string {
  const centre = (device: number) => corner(device).map((at, axis) => at + [PANEL_WIDTH, PANEL_HEIGHT][axis] / 2);
  const [[x1, y1], [x2, y2]] = [centre(i), centre(j)];
  const [, colour] = DISAGREEMENT.find(([most]) => apart <= most) as (typeof DISAGREEMENT)[number];
  return `<path d="M${x1} ${y1}L${x2} ${y2}" stroke="${colour}" stroke-width="6"/>`;
}

function panel({ datasets, records, reference, model }: Scene, i: number, place: Place): string {
  const centroids = model.centroids[i];
  // The colour says which pooled cluster it is, whatever the device calls it.
  const cluster = matchCentroids(centroids, reference);
  const rows = toRows(datasets[i]);
  const labels = datasets[i].rows > 0 ? predict(centroids, datasets[i]) : [];
  const shown = toRows(centroids);
  const own = COLOURS.map((_, c) => rows.filter((_, r) => cluster[labels[r]] === c));
  return [
    `<g transform="translate(${corner(i).join(" ")})">`,
    `<rect width="${PANEL_WIDTH}" height="${PANEL_HEIGHT}" rx="3" fill="white" stroke="#999999"/>`,
    dots(toRows(records[i]), place, 'stroke="#222222" stroke-width="6.5"'),
    dots(toRows(records[i]), place, 'stroke="white" stroke-width="5"'),
    ...own.map((points, c) => dots(points, place, `stroke="${COLOURS[c]}" stroke-opacity="0.45" stroke-width="4"`)),
    ...toRows(reference).map((row) => ring(place(row))),
    ...shown.map((row, c) => cross(place(row), COLOURS[cluster[c]])),
    "</g>",
  ]
    .filter((part) => part !== "")
    .join("\n");
}

/** Points as strokes of no length with round ends: a few bytes each. */
function dots(points: readonly (readonly number[])[], place: Place, style: string): string {
  if (points.length === 0) return "";
  const path = points.map((row) => `M${place(row).map(short).join(" ")}h0`).join("");
  return `<path d="${path}" stroke-linecap="round" ${style}/>`;
}

function ring([x, y]: readonly [number, number]): string {
  return `<circle cx="${short(x)}" cy="${short(y)}" r="6" fill="none" stroke="#222222"/>`;
}

function cross([x, y]: readonly [number, number], colour: string): string {
  const path = `M${short(x - 4)} ${short(y - 4)}l8 8m0-8l-8 8`;
  const stroke = (name: string, width: number) =>
    `<path d="${path}" fill="none" stroke="${name}" stroke-width="${width}"/>`;
  return stroke("white", 5) + stroke(colour, 2.5);
}

function caption({ name, travels, reference, model }: Scene): string {
  const { messages, bytes, centroids } = model;
  const deviation = globalCentroidDeviation(centroids, reference);
  const rounded = deviation < 1e-20 ? "0" : String(Number(deviation.toPrecision(2)));
  const cost = `${messages} messages, ${short(bytes / 1000)} kB`;
  const text = (rest: string, x: number, anchor: string) =>
    `<text x="${x}" y="${HEIGHT - 14}" text-anchor="${anchor}" font-family="system-ui, sans-serif" font-size="13" fill="#222222">${rest}</text>`;
  return [
    text(`<tspan font-weight="600">${name}</tspan>: ${travels}`, MARGIN, "start"),
    text(`${cost}, GCD ${rounded}`, WIDTH - MARGIN, "end"),
  ].join("\n");
}

function short(value: number): string {
  return String(Math.round(10 * value) / 10);
}
