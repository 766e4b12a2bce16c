// The rows as points: one panel a device, the same axes on all, clusters in the same colours, crosses for centroids.

import type { Matrix } from "@fedkm/core";
import { dot, frame, plot, text } from "@observablehq/plot";
import type { Fitted } from "../../../model/fitted.ts";
import { scaledCentroids } from "../../../model/model.ts";
import { count } from "../../../numbers.ts";
import { clusterColours } from "../../demo/picture/panels.ts";
import { sampleRows, viewOf } from "./components.ts";

/** A page with more points is slow to open and shows no more. */
const MOST_POINTS = 6000;
/** More panels than this are too small to read. */
const MOST_PANELS = 12;
const WIDTH = 960;
const MOST_STRETCHED = 6;
const margins = { marginLeft: 40, marginRight: 12, marginTop: 28, marginBottom: 26 };

/** Beyond eight clusters the shape tells those of one colour apart. */
const shapes = ["circle", "square", "triangle", "diamond"] as const;

interface Place {
  readonly x: number;
  readonly y: number;
  readonly panel: number;
  readonly cluster: number;
}

export function drawProjection(document: Document, fitted: Fitted): { drawing: Element; caption: string } {
  const { model, datasets, labels } = fitted;
  const { project, names } = viewOf(datasets, model.columns, model.scaling);
  const hasPanels = datasets.length > 1 && datasets.length <= MOST_PANELS;
  const panelOf = (device: number) => (hasPanels ? device : 0);
  const at = ({ data, cols }: Matrix, row: number, device: number, cluster: number): Place => {
    const [x, y] = project(data, row * cols);
    return { x, y, panel: panelOf(device), cluster };
  };
  const points = Array.from(sampleRows(datasets, MOST_POINTS), ({ device, row }) =>
    at(datasets[device], row, device, labels[device][row]),
  );
  const crosses = model.devices.flatMap((own, device) => {
    const centroids = scaledCentroids(own, model.scaling);
    return Array.from({ length: centroids.rows }, (_, c) => at(centroids, c, device, c));
  });
  const total = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const sampled =
    points.length < total ? `${count(points.length)} of ${count(total)} rows` : `all ${count(total)} rows`;
  const titles = hasPanels ? model.devices.map(({ name, rows }) => `${name}, ${count(rows)} rows`) : ["all devices"];
  return {
    drawing: draw(document, points, crosses, titles, model.columns.length > 2),
    caption: `Across: ${names[0]}. Up: ${names[1] || "nothing, there is one column"}. Points are ${sampled}, crosses are centroids with their cluster's number.`,
  };
}

function draw(
  document: Document,
  points: readonly Place[],
  crosses: readonly Place[],
  titles: readonly string[],
  isEqual: boolean,
): Element {
  const columns = Math.min(4, titles.length);
  const rows = Math.ceil(titles.length / columns);
  const panel = (WIDTH - margins.marginLeft - margins.marginRight) / columns;
  const height = Math.min(panel, 460);
  const domains = domainsOf([...points, ...crosses], isEqual, height / panel);
  const facets = {
    fx: ({ panel }: { panel: number }) => panel % columns,
    fy: ({ panel }: { panel: number }) => Math.floor(panel / columns),
  };
  const place = { ...facets, x: "x", y: "y" } as const;
  const cross = { ...place, symbol: "times", r: 4 } as const;
  return plot({
    document,
    width: WIDTH,
    height: rows * height + margins.marginTop + margins.marginBottom,
    ...margins,
    style: { fontSize: "11px" },
    x: { domain: domains.x, ticks: 5, tickSize: 3, label: null },
    y: { domain: domains.y, ticks: 5, tickSize: 3, label: null },
    fx: { axis: null, padding: 0.06 },
    fy: { axis: null, padding: 0.16 * (panel / height) },
    color: { type: "identity" },
    symbol: { type: "identity" },
    marks: [
      frame({ stroke: "currentColor", strokeOpacity: 0.2 }),
      dot(points, {
        ...place,
        r: 2,
        symbol: ({ cluster }: Place) => shapes[Math.floor(cluster / clusterColours.length) % shapes.length],
        fill: ({ cluster }: Place) => clusterColours[cluster % clusterColours.length],
        fillOpacity: 0.45,
      }),
      dot(crosses, { ...cross, stroke: "var(--paper)", strokeWidth: 5 }),
      dot(crosses, { ...cross, stroke: "currentColor", strokeWidth: 2 }),
      text(labelled(crosses), {
        ...place,
        text: ({ cluster }: Place) => String(cluster),
        dx: 9,
        dy: -7,
        fill: "currentColor",
        stroke: "var(--paper)",
        strokeWidth: 3,
      }),
      text(
        titles.map((title, panel) => ({ title, panel })),
        { ...facets, text: "title", frameAnchor: "top-left", dy: -14, fill: "currentColor" },
      ),
    ],
  });
}

/** One number for each cluster in a panel: where many devices share one, their crosses lie on a heap. */
function labelled(crosses: readonly Place[]): Place[] {
  const seen = new Set<string>();
  return crosses.filter(({ panel, cluster }) => {
    const isNew = !seen.has(`${panel} ${cluster}`);
    seen.add(`${panel} ${cluster}`);
    return isNew;
  });
}

/** What the axes span, with a little room; a single value still needs a scale. */
function domainsOf(
  places: readonly Place[],
  isEqual: boolean,
  heightToWidth: number,
): { x: [number, number]; y: [number, number] } {
  const [x, y] = (["x", "y"] as const).map((axis) => {
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (const place of places) {
      least = Math.min(least, place[axis]);
      most = Math.max(most, place[axis]);
    }
    return { middle: (least + most) / 2, half: most > least ? 0.54 * (most - least) : 1 };
  });
  // A unit is as long up as across, unless one direction would then be a line.
  if (isEqual && y.half > x.half / MOST_STRETCHED) {
    x.half = Math.max(x.half, y.half / heightToWidth);
    y.half = x.half * heightToWidth;
  }
  return { x: [x.middle - x.half, x.middle + x.half], y: [y.middle - y.half, y.middle + y.half] };
}
