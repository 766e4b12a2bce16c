// The network of devices on a circle: who is linked with whom, and how far apart the two ends of a link are.
/// <reference lib="dom" />

import { ink, linkShades, paper } from "./palette.ts";
import { type Attributes, svgElement } from "./svg.ts";
import { axisStepLabels, labelSize, shortenedLabel, textWidth } from "./ticks.ts";

/** What is drawn of a network: its devices and links. */
export interface NetworkDrawing {
  readonly names: readonly string[];
  readonly links: readonly Link[];
}

interface Link {
  /** The numbers of two devices. */
  readonly ends: readonly [number, number];
  readonly disagreement: number;
}

/** Pixels. A name longer than the longest is cut, and shown whole on hovering. */
const NODE = 12;
const SMALL_NODE = 5;
const LONGEST_NAME = { level: 130, turned: 96 };
/** Names beside more devices than this would touch; they are turned to stand around the circle. */
const MOST_LEVEL = 12;
const LINE = labelSize + 2;
/** Between a device and its name. */
const AWAY = 9;

/** What one shade spans; the darkest one is for the largest disagreements. */
export function shadeStep(disagreements: readonly number[]): number {
  // Not spread into Math.max: there may be more links than a call takes arguments.
  return roundUp(disagreements.reduce((most, own) => Math.max(most, own), 0) / linkShades.length);
}

/** The one rule for the colour of a link. */
export function linkShade(disagreement: number, step: number): string {
  return linkShades[Math.min(linkShades.length - 1, Math.floor(disagreement / step))];
}

/** The next number of at most two digits that counts well, times a power of ten. */
function roundUp(least: number): number {
  // Devices in perfect agreement still need a scale.
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8].find((candidate) => candidate * power >= least) ?? 10;
  return Number((factor * power).toPrecision(2));
}

/** `width` pixels wide; as high as the circle and the names need. */
export function drawNetwork(document: Document, { names, links }: NetworkDrawing, width: number): Element {
  const { spots, radius, height, isInside } = layout(names, width);
  const create = (tag: string, attributes: Attributes, content?: string) =>
    svgElement(document, tag, attributes, content);
  const root = create("svg", { width, height, viewBox: `0 0 ${width} ${height}`, fill: "none" });
  const step = shadeStep(links.map(({ disagreement }) => disagreement));
  // The darkest last, so that no light link crosses over one that matters.
  for (const { ends, disagreement } of [...links].sort((a, b) => a.disagreement - b.disagreement)) {
    const [from, to] = ends.map((device) => spots[device]);
    const line = { x1: from.x, y1: from.y, x2: to.x, y2: to.y, "stroke-width": links.length > 200 ? 1 : 2 };
    root.append(create("line", { ...line, stroke: linkShade(disagreement, step) }));
  }
  for (const { x, y, name, label, text } of spots) {
    const node = create("circle", { cx: x, cy: y, r: radius, fill: paper, stroke: ink, "stroke-width": 1.25 });
    node.append(create("title", {}, name));
    root.append(node);
    const font = { fill: ink, "font-family": "system-ui, sans-serif", "font-size": labelSize };
    if (label === "") continue;
    const written = create("text", { ...font, ...text }, label);
    if (label !== name && !isInside) written.append(create("title", {}, name));
    root.append(written);
  }
  return root;
}

/** The first device is on top, the others follow clockwise. */
function layout(names: readonly string[], width: number) {
  const isInside = names.length <= 2 * MOST_LEVEL && names.every((name) => textWidth(name) <= 2 * NODE - 6);
  const radius = isInside ? NODE : SMALL_NODE;
  const isTurned = !isInside && names.length > MOST_LEVEL;
  const most = isTurned ? LONGEST_NAME.turned : LONGEST_NAME.level;
  const longest = names.reduce((widest, name) => Math.min(most, Math.max(widest, textWidth(name))), 0);
  const beside = isInside ? NODE + 2 : AWAY + longest + 2;
  const above = isInside ? NODE + 2 : isTurned ? beside : AWAY + LINE;
  // A pair of devices needs no large circle.
  const circle = Math.min(width / 2 - beside, 50 + 20 * names.length);
  // Around a full circle even turned names need a line each.
  const every = isTurned ? Math.ceil((names.length * LINE) / (2 * Math.PI * (circle + AWAY))) : 1;
  const spots = names.map((name, i) => {
    const turn = (2 * Math.PI * i) / names.length;
    const [across, up] = [Math.sin(turn), Math.cos(turn)];
    const [x, y] = [width / 2 + circle * across, above + circle - circle * up];
    const label = i % every === 0 ? shortenedLabel(name, most) : "";
    const inside = { x, y: y + MIDDLE, "text-anchor": "middle" };
    const text: Attributes = isInside ? inside : isTurned ? turned(x, y, turn) : level(x, y, across, up);
    return { x, y, name, label, text };
  });
  return { spots, radius, height: Math.ceil(2 * (above + circle)), isInside };
}

const MIDDLE = 0.35 * labelSize;

/** Outside of the circle, on the side where the device stands. */
function level(x: number, y: number, across: number, up: number): Attributes {
  if (Math.abs(across) < 0.2) return { x, y: up > 0 ? y - AWAY : y + AWAY + 2 * MIDDLE, "text-anchor": "middle" };
  return { x: x + AWAY * Math.sign(across), y: y + MIDDLE - AWAY * up, "text-anchor": across > 0 ? "start" : "end" };
}

/** Along the ray from the middle, never upside down. */
function turned(x: number, y: number, turn: number): Attributes {
  const degrees = (180 * turn) / Math.PI - 90;
  const isLeft = turn > Math.PI;
  const rotation = `rotate(${isLeft ? degrees + 180 : degrees} ${x} ${y})`;
  const anchor = isLeft ? "end" : "start";
  return { x: isLeft ? x - AWAY : x + AWAY, y: y + MIDDLE, "text-anchor": anchor, transform: rotation };
}

const KEY = { width: 300, beside: 24, height: 34, bar: 10 };

/** What the shades of links mean: a bar for each, and the numbers between them. */
export function drawNetworkKey(document: Document, disagreements: readonly number[]): Element {
  const { width, beside, height, bar } = KEY;
  const step = shadeStep(disagreements);
  const root = svgElement(document, "svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  const length = width - 2 * beside;
  const each = length / linkShades.length;
  linkShades.forEach((fill, i) => {
    root.append(svgElement(document, "rect", { x: beside + i * each, y: 0, width: each, height: bar, fill }));
  });
  axisStepLabels(step, linkShades.length).forEach((label, i) => {
    const at = { x: beside + i * each, y: height - 6, "text-anchor": "middle", fill: ink };
    const font = { "font-family": "system-ui, sans-serif", "font-size": labelSize };
    root.append(svgElement(document, "text", { ...at, ...font }, label));
  });
  return root;
}
