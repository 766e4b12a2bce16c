// The picture of a study: a grid of panels as in the paper, one row for each dataset, lines with error bars, one legend;
// studies with a dot for each method are drawn by the file beside this.
/// <reference lib="dom" />

import { axisTicks, faint, labelSize, lineStyle, quiet, strokeOptions, textWidth } from "@fedkm/pictures";
import { blankPage } from "@fedkm/pictures/node";
import { areaY, dot, frame, gridY, line, link, type Markish, plot, ruleX } from "@observablehq/plot";
import { type DotGrid, type MeasureName, type PanelGrid, type SummaryName, summaryTitles } from "../studies/plan.ts";
import type { TableRow } from "../table.ts";
import { drawDotGrid } from "./dots.ts";
import {
  type PictureLook,
  type Point,
  panelSeries,
  pictureMethodName,
  seriesExtent,
  seriesTickLabel,
} from "./series.ts";

/** 180 mm at 96 dots per inch: two columns of a journal page. Labels are 8 points then. */
const WIDTH = 680;
const LEFT = 66;
const RIGHT = 14;
const TOP = 62;
const PANEL_HEIGHT = 138;
const ACROSS = 14;
const DOWN = 18;
const BELOW = 86;

export function drawPicture(
  table: readonly TableRow[],
  grid: PanelGrid | DotGrid,
  asked: Partial<PictureLook>,
): string {
  const look = { summary: asked.summary ?? grid.summary, titles: asked.titles ?? true };
  return "entries" in grid ? drawDotGrid(table, grid, look) : drawPanelGrid(table, grid, look);
}

/** The picture of aggregated rows, read by the names of their columns. */
function drawPanelGrid(table: readonly TableRow[], grid: PanelGrid, { summary, titles }: PictureLook): string {
  const { rows, columns, title } = grid;
  const top = titles ? TOP : TOP - 30;
  const legend = legendOf(grid);
  const below = BELOW + LEGEND_LINE * (legend[legend.length - 1]?.line ?? 0) - (titles ? 0 : 20);
  const height = top + rows.length * PANEL_HEIGHT + (rows.length - 1) * DOWN + below;
  const page = blankPage(WIDTH, height, title);
  if (titles) page.heading(LEFT, 20, title);
  // Measures of different kinds have scales of their own; else a row of panels shares one.
  const isOwn = columns.some(({ measure }) => measure !== undefined);
  const across = isOwn ? ACROSS + 34 : ACROSS;
  const panelWidth = (WIDTH - LEFT - RIGHT - (columns.length - 1) * across) / columns.length;
  const left = (column: number) => LEFT + column * (panelWidth + across);
  const upper = (row: number) => top + row * (PANEL_HEIGHT + DOWN);
  columns.forEach(({ label, measure }, c) => {
    // A scale of its own has its name above it, as the rows' names cannot say it.
    if (measure === undefined) page.label(left(c) + panelWidth / 2, top - 12, label, { anchor: "middle" });
    else page.label(left(c) - 30, top - 12, `\u2191 ${label}`);
  });
  rows.forEach(({ label }, r) => {
    page.label(14, upper(r) + PANEL_HEIGHT / 2, label, { anchor: "middle", upwards: true });
    const series = columns.map((column) => panelSeries(table, grid, { row: rows[r], column, summary }));
    const shared = rangeOf(series.flat(2), grid.measure);
    columns.forEach(({ measure = grid.measure }, c) => {
      const range = isOwn ? rangeOf(series[c].flat(), measure) : shared;
      const axes = { y: isOwn || c === 0, x: r === rows.length - 1 };
      const drawing = drawPanel(page.document, grid, series[c], { range, axes, width: panelWidth, summary });
      page.place(drawing, left(c) - MARGIN, upper(r) - MARGIN_TOP);
    });
  });
  const bottom = upper(rows.length - 1) + PANEL_HEIGHT;
  page.label(LEFT + (WIDTH - LEFT - RIGHT) / 2, bottom + 34, grid.x.label, { anchor: "middle" });
  for (const { method, name, x, line } of legend) {
    page.sample(x, bottom + 52 + LEGEND_LINE * line, lineStyle(method));
    page.label(x + SAMPLE, bottom + 56 + LEGEND_LINE * line, name);
  }
  if (titles) page.label(LEFT, height - 10, `${summaryTitles[summary]}. ${grid.caption}`);
  return page.toString();
}

const LEGEND_LINE = 18;
/** What the sample of a line takes before its name. */
const SAMPLE = 40;

/** Where every method stands in the legend, which goes on in a further line where the page ends. */
function legendOf(grid: PanelGrid) {
  let [x, line] = [LEFT, 0];
  return grid.methods.map((method) => {
    const name = pictureMethodName(grid, method);
    const width = SAMPLE + textWidth(name);
    if (x > LEFT && x + width > WIDTH) [x, line] = [LEFT, line + 1];
    const placed = { method, name, x, line };
    x += grid.methods.length > 4 ? width + 10 : Math.max(SAMPLE + 88, width) + 20;
    return placed;
  });
}

function rangeOf(points: readonly Point[], measure: MeasureName) {
  const { domain, spacing } = seriesExtent(points, measure);
  const { ticks, tickFormat } = axisTicks({ domain, length: PANEL_HEIGHT, spacing, direction: "up", most: 6 }).axis;
  return { domain, spacing, ticks, tickFormat: (value: number) => seriesTickLabel(tickFormat(value)) };
}

/** Room around a panel for its ticks. */
const MARGIN = 40;
const MARGIN_TOP = 8;
/** Between a panel's edge and its first and last point. */
const INSET = 6;

interface PanelLook {
  readonly range: ReturnType<typeof rangeOf>;
  /** Which of its axes have labels. */
  readonly axes: { readonly x: boolean; readonly y: boolean };
  readonly width: number;
  readonly summary: SummaryName;
}

function drawPanel(
  document: Document,
  { x, methods }: PanelGrid,
  series: readonly (readonly Point[])[],
  { range, axes, width, summary }: PanelLook,
): Element {
  const { domain, spacing: upwards, ticks, tickFormat } = range;
  const [first, last] = [Math.min(...x.ticks), Math.max(...x.ticks)];
  const half = x.log ? undefined : 0.012 * (last - first);
  const spacing = x.log ? "oneTwoFive" : "linear";
  const length = width - 2 * INSET;
  const across = axisTicks({ domain: [first, last], length, spacing, direction: "across" }).axis;
  return plot({
    document,
    width: width + 2 * MARGIN,
    height: PANEL_HEIGHT + MARGIN_TOP + MARGIN,
    marginLeft: MARGIN,
    marginRight: MARGIN,
    marginTop: MARGIN_TOP,
    marginBottom: MARGIN,
    style: { fontSize: `${labelSize}px` },
    x: {
      type: x.log ? "log" : "linear",
      domain: [first, last],
      ticks: across.ticks,
      tickFormat: axes.x ? across.tickFormat : () => "",
      tickSize: 3,
      label: null,
      inset: INSET,
    },
    y: {
      type: upwards === "linear" ? "linear" : "log",
      domain,
      ticks,
      tickFormat: axes.y ? tickFormat : () => "",
      tickSize: 3,
      label: null,
    },
    marks: [
      gridY(ticks, { stroke: faint, strokeOpacity: 0.7 }),
      frame({ anchor: "left", stroke: quiet }),
      frame({ anchor: "bottom", stroke: quiet }),
      // In the order of the legend: the dashes of local k-means lie on Algorithm 1's line where the two are the same.
      ...methods.flatMap((method, i) => marks(method, series[i], summary, { floor: domain[0], half })),
    ],
  });
}

/** Bars or a band below, then the line, then the marks. What reaches below the panel ends at its edge, without a cap. */
function marks(
  method: string,
  points: readonly Point[],
  summary: SummaryName,
  { floor, half }: { readonly floor: number; readonly half: number | undefined },
): Markish[] {
  const style = lineStyle(method);
  const { stroke, mark } = style;
  const bars = points.filter(({ low, high }) => high > low);
  const cap = (end: "low" | "high") =>
    half === undefined
      ? []
      : [
          link(
            bars.filter((point) => point[end] > floor),
            {
              x1: ({ x }: Point) => x - half,
              x2: ({ x }: Point) => x + half,
              y1: end,
              y2: end,
              stroke,
              strokeWidth: 1,
            },
          ),
        ];
  const clipped = bars.map((point) => ({ ...point, low: Math.max(point.low, floor) }));
  const bands = points.map((point) => ({ ...point, low: Math.max(point.low, floor) }));
  return [
    ...(summary === "median"
      ? [areaY(bands, { x: "x", y1: "low", y2: "high", fill: stroke, fillOpacity: 0.16 })]
      : [ruleX(clipped, { x: "x", y1: "low", y2: "high", stroke, strokeWidth: 0.8 }), ...cap("low"), ...cap("high")]),
    line(points, { x: "x", y: "value", ...strokeOptions(style) }),
    dot(points, { x: "x", y: "value", symbol: mark, r: mark === "circle" ? 2.1 : 2.6, fill: stroke }),
  ];
}
