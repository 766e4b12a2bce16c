// The network of devices: who is linked with whom, and how much the two ends of a link disagree.

import { discrepancy, edges } from "@fedkm/core";
import { ink, labelSize } from "@fedkm/pictures";
import { dot, link, plot, rect, text } from "@observablehq/plot";
import type { Comparison } from "../comparison.ts";

/** One hue, light to dark; a hue that no cluster and no method has. */
export const shades = ["#cfcce6", "#b3aed6", "#8f82bf", "#664c9f", "#3a0a78"];

const SIDE = 300;
const NODE = 12;

interface Link {
  readonly ends: readonly [number, number];
  readonly disagreement: number;
}

/** The network, and the key to the colours of its links. */
export function drawNetwork(document: Document, { problem, results }: Comparison): { network: Element; key: Element } {
  const { centroids } = results.fedkm.model;
  const links = Array.from(edges(problem.graph), ([i, j]): Link => {
    return { ends: [i, j], disagreement: discrepancy(centroids[i], centroids[j]) };
  });
  // The darkest last, so that no light link crosses over one that matters.
  links.sort((a, b) => a.disagreement - b.disagreement);
  const step = roundStep(Math.max(...links.map(({ disagreement }) => disagreement)) / shades.length);
  return { network: drawLinks(document, problem.graph.size, links, step), key: drawKey(document, step) };
}

/** Devices on a circle, the first on top, clockwise. */
function drawLinks(document: Document, size: number, links: readonly Link[], step: number): Element {
  const nodes = Array.from({ length: size }, (_, device) => {
    const angle = (2 * Math.PI * device) / size;
    return { x: Math.sin(angle), y: Math.cos(angle), name: String(device + 1) };
  });
  const shade = ({ disagreement }: Link) => shades[Math.min(shades.length - 1, Math.floor(disagreement / step))];
  return plot({
    document,
    width: SIDE,
    height: SIDE,
    margin: NODE + 2,
    style: { fontSize: `${labelSize}px` },
    axis: null,
    x: { domain: [-1, 1] },
    y: { domain: [-1, 1] },
    color: { type: "identity" },
    marks: [
      link(links, {
        x1: ({ ends: [from] }: Link) => nodes[from].x,
        y1: ({ ends: [from] }: Link) => nodes[from].y,
        x2: ({ ends: [, to] }: Link) => nodes[to].x,
        y2: ({ ends: [, to] }: Link) => nodes[to].y,
        stroke: shade,
        strokeWidth: 2,
      }),
      dot(nodes, { x: "x", y: "y", r: NODE, fill: "white", stroke: ink, strokeWidth: 1.25 }),
      text(nodes, { x: "x", y: "y", text: "name", fill: ink }),
    ],
  });
}

export function drawKey(document: Document, step: number): Element {
  const bounds = Array.from({ length: shades.length + 1 }, (_, i) => i);
  return plot({
    document,
    width: SIDE,
    height: 34,
    marginTop: 0,
    marginBottom: 24,
    marginLeft: 20,
    marginRight: 20,
    style: { fontSize: `${labelSize}px` },
    x: {
      domain: [0, shades.length],
      ticks: bounds,
      tickSize: 3,
      tickFormat: (i: number) => tickText(i * step),
      label: null,
    },
    y: { axis: null },
    color: { type: "identity" },
    marks: [
      rect(shades, {
        x1: (_, i) => i,
        x2: (_, i) => i + 1,
        y1: 0,
        y2: 1,
        fill: (colour: string) => colour,
      }),
    ],
  });
}

/** The next number of at most two digits that counts well, times a power of ten. */
export function roundStep(least: number): number {
  // Devices in perfect agreement still need a scale.
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8].find((factor) => factor * power >= least) ?? 10);
}

function tickText(value: number): string {
  const rounded = Number(value.toPrecision(3));
  return value === 0 || (value >= 0.01 && value < 1e5) ? String(rounded) : rounded.toExponential().replace("e+", "e");
}
