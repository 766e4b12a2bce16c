// The rows as points: one panel a device, the same axes on all, clusters in the same colours, crosses for centroids.

import type { Matrix } from "@fedkm/core";
import { type Scaling, unscaled } from "@fedkm/files";
import {
  axisTicks,
  clusterColours,
  countLabel,
  domainOf,
  faint,
  ink,
  labelSize,
  paper,
  pointOpacity,
  principalAxes,
  shortenedLabel,
  textWidth,
} from "@fedkm/pictures";
import { dot, frame, plot, text } from "@observablehq/plot";
import type { FittedRows } from "../model/clusterSums.ts";
import { scaledCentroids } from "../model/model.ts";
import { sampleRows, sampleRowsForAxes } from "../model/sampleRows.ts";

// Where to look at rows of many columns from: the two directions along which they differ most (principal components).

interface View {
  readonly names: readonly [string, string];
  /** Of a row or centroid on the model's scale. */
  project(data: Float64Array, at: number): [number, number];
}

/** Two columns are shown as they are, more by their principal components, a single one along a line. */
function viewOf(datasets: readonly Matrix[], columns: readonly string[], scaling: Scaling): View {
  const d = columns.length;
  if (d <= 2) {
    const value = (data: Float64Array, at: number, c: number) => (c < d ? unscaled(scaling, c, data[at + c]) : 0);
    return { names: [columns[0], columns[1] ?? ""], project: (data, at) => [value(data, at, 0), value(data, at, 1)] };
  }
  const { means, axes, shares } = principalAxes(sampleRowsForAxes(datasets, d), 2);
  const names = ["first", "second"].map(
    (word, i) => `${word} principal component, ${(100 * shares[i]).toFixed(0)} % of the variance`,
  );
  const along = (axis: Float64Array, data: Float64Array, at: number) => {
    let sum = 0;
    for (let c = 0; c < d; c++) sum += axis[c] * (data[at + c] - means[c]);
    return sum;
  };
  return { names: [names[0], names[1]], project: (data, at) => [along(axes[0], data, at), along(axes[1], data, at)] };
}

/** A page with more points is slow to open and shows no more. */
const MOST_POINTS = 6000;
const FEWEST_IN_PANEL = 100;
/** More panels than this are too small to read. */
const MOST_PANELS = 12;
const WIDTH = 940;
/** A panel alone: what is wider would be too small to read on a phone. */
const SINGLE_WIDTH = 520;
const MOST_STRETCHED = 6;
const margins = { marginTop: 28, marginBottom: 26 };
const MARGIN_RIGHT = 12;
const BETWEEN = 16;
const HIGHEST = 460;
const LINE_HEIGHT = 80;
const FLATTEST = 0.45;
const USUAL_LEFT = 40;

/** Beyond eight clusters the shape tells those of one colour apart. */
const shapes = ["circle", "square", "triangle", "diamond"] as const;

interface Dot {
  readonly x: number;
  readonly y: number;
  readonly panel: number;
  readonly cluster: number;
}

interface Point extends Dot {
  /** Its number in the list of rows. */
  readonly row: number;
}

interface Cross extends Dot {
  /** Of the rows of all devices; otherwise a device's centroid. */
  readonly isMean?: boolean;
}

interface Panel {
  readonly drawing: Element;
  /** Whose rows are in it; empty: all there are. */
  readonly of: string;
}

/** `listed` is asked for the number of each row that is drawn. */
export function drawProjection(
  document: Document,
  fitted: FittedRows,
  listed: (device: number, row: number) => number,
): { drawings: Panel[]; caption: string } {
  const { model, datasets, labels } = fitted;
  const { project, names } = viewOf(datasets, model.columns, model.scaling);
  const hasPanels = datasets.length > 1 && datasets.length <= MOST_PANELS;
  const panelOf = (device: number) => (hasPanels ? device : 0);
  const at = ({ data, cols }: Matrix, row: number, device: number, cluster: number): Dot => {
    const [x, y] = project(data, row * cols);
    return { x, y, panel: panelOf(device), cluster };
  };
  const all = Array.from(
    shownRows(datasets, hasPanels),
    ({ device, row }): Point => ({
      ...at(datasets[device], row, device, labels[device][row]),
      row: listed(device, row),
    }),
  );
  const crosses = hasPanels || datasets.length === 1 ? ownCrosses(model, at) : commonCrosses(fitted, at);
  const { points, moved } = withinReach(all, crosses);
  const total = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const sampled =
    points.length < total
      ? `${countLabel(points.length)} of ${countLabel(total)} rows`
      : `all ${countLabel(total)} rows`;
  const titles = hasPanels
    ? model.devices.map(({ name, rows }) => ({ name, rest: `, ${countLabel(rows)} rows` }))
    : [{ name: datasets.length === 1 ? "" : "all devices", rest: "" }];
  const crossed = crosses.some(({ isMean }) => isMean) ? "the common means of clusters" : "centroids";
  const edge = moved === 0 ? "" : ` ${countLabel(moved)} of them lie far outside and are drawn at the edge.`;
  return {
    drawings: draw(document, points, crosses, titles, shapeOf(model.columns.length)),
    caption: `Across: ${names[0]}. ${names[1] === "" ? "" : `Up: ${names[1]}. `}Points are ${sampled}, crosses are ${crossed} with the cluster's number.${edge}`,
  };
}

type At = (points: Matrix, row: number, device: number, cluster: number) => Dot;

function ownCrosses({ devices, scaling }: FittedRows["model"], at: At): Cross[] {
  return devices.flatMap((own, device) => {
    const centroids = scaledCentroids(own, scaling);
    return Array.from({ length: centroids.rows }, (_, c) => at(centroids, c, device, c));
  });
}

/** Crosses of very many devices would hide the rows. */
function commonCrosses({ sums: { k, cols, common, totals } }: FittedRows, at: At): Cross[] {
  const means = { data: common, rows: k, cols };
  return Array.from(totals.keys())
    .filter((c) => totals[c] > 0)
    .map((c) => ({ ...at(means, c, 0, c), isMean: true }));
}

/** A range so many times as wide as that of almost all rows would show nothing of them. */
const FAR = 2;
const ALMOST_ALL = 0.99;

/** Rows far outside are moved to the edge, so that the others have room. */
function withinReach(all: readonly Point[], crosses: readonly Dot[]): { points: Point[]; moved: number } {
  const [x, y] = (["x", "y"] as const).map((axis) => {
    const sorted = Float64Array.from(all, (own) => own[axis]).sort();
    const rest = Math.floor(((1 - ALMOST_ALL) / 2) * sorted.length);
    const [low, high] = [sorted[rest], sorted[sorted.length - 1 - rest]];
    const [least, most] = domainOf(crosses.map((cross) => cross[axis]));
    const room = (high - low) / 10;
    const reach: [number, number] = [Math.min(low - room, least), Math.max(high + room, most)];
    const isWide = sorted[sorted.length - 1] - sorted[0] > FAR * (reach[1] - reach[0]);
    return isWide ? reach : ([sorted[0], sorted[sorted.length - 1]] as const);
  });
  const inside = (value: number, [least, most]: readonly [number, number]) => Math.min(most, Math.max(least, value));
  const points = all.map((own) => ({ ...own, x: inside(own.x, x), y: inside(own.y, y) }));
  return { points, moved: points.filter((own, i) => own.x !== all[i].x || own.y !== all[i].y).length };
}

/** Rows at even distances, and of a device with a panel of its own as many as show where they are. */
function* shownRows(datasets: readonly Matrix[], hasPanels: boolean): Generator<{ device: number; row: number }> {
  const total = datasets.reduce((sum, { rows }) => sum + rows, 0);
  if (!hasPanels) return yield* sampleRows(datasets, MOST_POINTS);
  for (const [device, own] of datasets.entries()) {
    const share = Math.max(FEWEST_IN_PANEL, Math.floor((MOST_POINTS * own.rows) / total));
    for (const { row } of sampleRows([own], share)) yield { device, row };
  }
}

/** Rows of one column lie on a line; principal components have the same unit across and up. */
type Shape = "line" | "plane" | "equal";

function shapeOf(columns: number): Shape {
  return columns === 1 ? "line" : columns === 2 ? "plane" : "equal";
}

interface Title {
  readonly name: string;
  /** Is never shortened. */
  readonly rest: string;
}

function draw(
  document: Document,
  points: readonly Point[],
  crosses: readonly Dot[],
  titles: readonly Title[],
  shape: Shape,
): Panel[] {
  const arranged = arrange([...points, ...crosses], Math.min(4, titles.length), shape);
  const radius = points.length > 2000 ? 2 : 2.6;
  return titles.map(({ name, rest }, panel) => {
    const own = <T extends Dot>(of: readonly T[]) => of.filter((own) => own.panel === panel);
    const title = { full: `${name}${rest}`, shown: `${shortenedLabel(name, arranged.panel - textWidth(rest))}${rest}` };
    const drawing = drawPanel(document, { points: own(points), crosses: own(crosses), radius, title, shape, arranged });
    return { drawing, of: title.full };
  });
}

interface PanelParts {
  readonly points: readonly Point[];
  readonly crosses: readonly Dot[];
  readonly radius: number;
  readonly title: { readonly full: string; readonly shown: string };
  readonly shape: Shape;
  readonly arranged: ReturnType<typeof arrange>;
}

function drawPanel(document: Document, parts: PanelParts): Element {
  const { points, crosses, radius, title, shape, arranged } = parts;
  const { domains, up, across, width, height, right } = arranged;
  const axes = { x: "x", y: "y" } as const;
  const clusters = [...new Set(points.map(({ cluster }) => cluster))].sort((a, b) => a - b);
  const cross = { ...axes, symbol: "times", r: 4 } as const;
  const drawing = plot({
    document,
    width,
    height: height + margins.marginTop + margins.marginBottom,
    ...margins,
    marginLeft: up.room,
    marginRight: right,
    style: { fontSize: `${labelSize}px` },
    x: { domain: domains.x, ...across.axis, tickSize: 3, label: null },
    y: { domain: domains.y, ...(shape === "line" ? { axis: null } : up.axis), tickSize: 3, label: null },
    color: { type: "identity" },
    symbol: { type: "identity" },
    marks: [
      frame({ stroke: faint }),
      // The small clusters last, so that they are seen.
      ...clusters.map((cluster) =>
        dot(
          points.filter((own) => own.cluster === cluster),
          {
            ...axes,
            className: `${CLUSTER}${cluster}`,
            r: radius,
            symbol: shapes[Math.floor(cluster / clusterColours.length) % shapes.length],
            fill: clusterColours[cluster % clusterColours.length],
            fillOpacity: pointOpacity,
          },
        ),
      ),
      dot(crosses, { ...cross, stroke: paper, strokeWidth: 5 }),
      dot(crosses, { ...cross, stroke: ink, strokeWidth: 2 }),
      text(crosses, {
        ...axes,
        text: ({ cluster }: Dot) => String(cluster),
        dx: 9,
        dy: -7,
        fill: ink,
        stroke: paper,
        strokeWidth: 3,
      }),
      text([title], { text: "shown", title: "full", frameAnchor: "top-left", dy: -14, fill: ink }),
    ],
  });
  // The page's script finds a cluster's marks, and those of rows, by this.
  for (const group of drawing.querySelectorAll(`[class^="${CLUSTER}"]`)) {
    const own = (group.getAttribute("class") ?? "").slice(CLUSTER.length);
    group.setAttribute("data-cluster", own);
    group.removeAttribute("class");
    const rows = points.filter(({ cluster }) => cluster === Number(own));
    Array.from(group.children).forEach((mark, i) => {
      mark.setAttribute("data-row", String(rows[i].row));
    });
  }
  return drawing;
}

const CLUSTER = "cluster-";

/** The size of a panel and its axes: labels up take room from it, and its width says how many labels fit across. */
function arrange(dots: readonly Dot[], columns: number, shape: Shape) {
  const width = columns === 1 ? SINGLE_WIDTH : Math.floor((WIDTH - (columns - 1) * BETWEEN) / columns);
  const sized = (left: number, right: number) => {
    const panel = width - left - right;
    const height = shape === "line" ? LINE_HEIGHT : Math.min(panel * heightShare(dots, shape), HIGHEST);
    const domains = domainsOf(dots, shape, height / panel);
    const ticks = (domain: readonly [number, number], length: number, direction: "across" | "up") =>
      axisTicks({ domain, length, spacing: "linear", direction });
    const [up, across] = [ticks(domains.y, height, "up"), ticks(domains.x, panel, "across")];
    return { width, panel, height, right, domains, up, across };
  };
  const { up, across } = sized(USUAL_LEFT, MARGIN_RIGHT);
  return sized(up.room, MARGIN_RIGHT + across.beyond[1]);
}

/** No higher than rows of one unit need, and no flatter than a panel that is still looked at. */
function heightShare(dots: readonly Dot[], shape: Shape): number {
  if (shape !== "equal") return 1;
  const [across, up] = (["x", "y"] as const).map((axis) => {
    const [least, most] = domainOf(dots.map((own) => own[axis]));
    return most - least;
  });
  return Math.min(1, Math.max(FLATTEST, up / across));
}

/** What the axes span, with a little room; a single value still needs a scale. */
function domainsOf(
  dots: readonly Dot[],
  shape: Shape,
  heightToWidth: number,
): { x: [number, number]; y: [number, number] } {
  const [x, y] = (["x", "y"] as const).map((axis) => {
    const [least, most] = domainOf(dots.map((own) => own[axis]));
    return { middle: (least + most) / 2, half: 0.54 * (most - least) };
  });
  if (shape === "line") y.middle = 0;
  // A unit is as long up as across, unless one direction would then be a line.
  if (shape === "equal" && y.half > x.half / MOST_STRETCHED) {
    x.half = Math.max(x.half, y.half / heightToWidth);
    y.half = x.half * heightToWidth;
  }
  return { x: [x.middle - x.half, x.middle + x.half], y: [y.middle - y.half, y.middle + y.half] };
}
