// The network of the devices by their names, links darker where the two ends disagree more.

import { dot, link, plot, text } from "@observablehq/plot";
import type { LinkModel, Model } from "../../../model/model.ts";
import { drawKey, roundStep, shades } from "../../demo/picture/network.ts";

const SIDE = 460;
const MARGIN = 70;
/** More names than this would lie on top of each other. */
const MOST_NAMES = 40;

export function drawNetwork(
  document: Document,
  { devices, links }: Model,
): { network: Element; key: Element | undefined } {
  const sorted = [...links].sort((a, b) => a.disagreement - b.disagreement);
  const largest = sorted.at(-1)?.disagreement ?? 0;
  const step = roundStep(largest / shades.length);
  const places = devices.map(({ name }, i) => {
    const angle = (2 * Math.PI * i) / devices.length;
    return { name, x: Math.sin(angle), y: Math.cos(angle) };
  });
  const placeOf = new Map(places.map((place) => [place.name, place]));
  const end = (which: 0 | 1, axis: "x" | "y") => (own: LinkModel) => placeOf.get(own.devices[which])?.[axis] ?? 0;
  const shade = ({ disagreement }: LinkModel) => shades[Math.min(shades.length - 1, Math.floor(disagreement / step))];
  const network = plot({
    document,
    width: SIDE,
    height: SIDE - MARGIN,
    marginLeft: MARGIN,
    marginRight: MARGIN,
    marginTop: 30,
    marginBottom: 30,
    style: { fontSize: "11px" },
    axis: null,
    x: { domain: [-1, 1] },
    y: { domain: [-1, 1] },
    color: { type: "identity" },
    marks: [
      link(sorted, {
        x1: end(0, "x"),
        y1: end(0, "y"),
        x2: end(1, "x"),
        y2: end(1, "y"),
        stroke: shade,
        strokeWidth: 2,
      }),
      dot(places, { x: "x", y: "y", r: 5, fill: "var(--paper)", stroke: "currentColor", strokeWidth: 1.5 }),
      ...(devices.length > MOST_NAMES ? [] : places.map(nameMark)),
    ],
  });
  return { network, key: links.length > 0 ? drawKey(document, step) : undefined };
}

/** Outside of the circle, on the side where its device stands. */
function nameMark({ name, x, y }: { name: string; x: number; y: number }) {
  const side = Math.abs(x) < 0.2 ? "middle" : x > 0 ? "start" : "end";
  const shown = name.length > 14 ? `${name.slice(0, 13)}…` : name;
  return text([shown], {
    x: [x],
    y: [y],
    dx: 10 * Math.sign(Math.round(5 * x)),
    dy: -12 * y,
    textAnchor: side,
    fill: "currentColor",
  });
}
