// What a network of places gains: the same rows clustered alone (above) and together (below), as SVG for the README.

import { discrepancy, edges, toRows } from "@fedkm/core";
import { clusterColours, ink, linkShade, quiet, shadeStep, svgFile } from "@fedkm/pictures";
import { type Draw, medianDraw } from "./clinics.ts";
import { clustered, crosses, frame, ring, type Scale, scaleFor } from "./scatter.ts";

const WIDTH = 900;
const HEIGHT = 396;
const LEFT = 112;
const GAP = 26;
const PANEL = { width: 172, height: 132 };
const ROWS = { alone: 34, together: 210 };

export function drawTogether(): string {
  const { draw, better, draws } = medianDraw();
  const scale = scaleFor(draw.datasets, PANEL);
  const parts = [
    ...draw.datasets.map(({ rows }, i) => text(centre(i), 22, `clinic ${i + 1}, ${rows} rows`, middle(ink))),
    ...rowName("alone", ["Each clinic", "clusters only", "its own rows."]),
    ...rowName("together", ["Neighbours", "send centroids,", "no rows."]),
    ...links(draw),
    ...(["alone", "together"] as const).flatMap((row) => draw.datasets.map((_, i) => panel(draw, row, i, scale))),
    text(12, HEIGHT - 12, caption(better, draws), `font-size="12" fill="${quiet}"`),
  ];
  return svgFile({
    width: WIDTH,
    height: HEIGHT,
    name: "Four clinics cluster the same rows alone and together: together each of them finds all three clusters",
    body: parts.join("\n"),
  });
}

function caption(better: number, draws: number): string {
  const often = better === draws ? `all ${draws}` : `${better} of ${draws}`;
  return `Clinics 1 to 3 have never seen one of the true clusters (rings); crosses are what each finds. Median of ${draws} such draws; together wins in ${often}.`;
}

const middle = (fill: string) => `text-anchor="middle" font-size="13" fill="${fill}"`;

function corner(i: number): number {
  return LEFT + i * (PANEL.width + GAP);
}

function centre(i: number): number {
  return corner(i) + PANEL.width / 2;
}

function rowName(row: keyof typeof ROWS, lines: readonly string[]): string[] {
  const top = ROWS[row] + PANEL.height / 2 - 22;
  return [
    text(12, top, row, `font-size="17" font-weight="600" fill="${ink}"`),
    ...lines.map((line, i) => text(12, top + 20 + 15 * i, line, `font-size="12" fill="${quiet}"`)),
  ];
}

/** In the colours that their ends would have alone and have together. */
function links({ network, alone, together }: Draw): string[] {
  const pairs = Array.from(edges(network));
  const apart = (found: Draw["alone"], i: number, j: number) => discrepancy(found.centroids[i], found.centroids[j]);
  const step = shadeStep(pairs.map(([i, j]) => apart(alone, i, j)));
  const y = ROWS.together + PANEL.height / 2;
  return pairs.map(
    ([i, j]) =>
      `<path d="M${corner(i) + PANEL.width} ${y}H${corner(j)}" stroke="${linkShade(apart(together, i, j), step)}" stroke-width="8"/>`,
  );
}

function panel(draw: Draw, row: keyof typeof ROWS, i: number, { place, unit }: Scale): string {
  const { truth, spreads } = draw;
  const { centroids, right } = draw[row];
  const percent = `<tspan font-size="16" font-weight="600" fill="${ink}">${Math.round(100 * right[i])} %</tspan>`;
  const number = text(PANEL.width / 2, PANEL.height + 19, `${percent} of all rows right`, middle(quiet));
  return [
    `<g transform="translate(${corner(i)} ${ROWS[row]})">`,
    frame(PANEL),
    ...toRows(truth).map((at, c) => ring(place(at), Math.max(9, 2 * unit * spreads[c]), clusterColours[c])),
    clustered(draw.datasets[i], centroids[i], truth, place),
    crosses(centroids[i], truth, place),
    number,
    "</g>",
  ].join("\n");
}

function text(x: number, y: number, content: string, style: string): string {
  return `<text x="${x}" y="${y}" font-family="system-ui, sans-serif" ${style}>${content}</text>`;
}
