// A grid of panels as in the paper: one row for each dataset, lines with error bars over a log axis, one legend.
/// <reference lib="dom" />

import { axisTicks, faint, labelSize, lineStyle, methodTitles, quiet, strokeOptions, textWidth } from "@fedkm/pictures";
import { blankPage } from "@fedkm/pictures/node";
import { dot, frame, gridY, line, link, type Markish, plot, ruleX } from "@observablehq/plot";
import type { Measure, PanelGrid, Strip } from "../studies/grid.ts";
import { select, type TableRow } from "../table.ts";

/** 180 mm at 96 dots per inch: two columns of a journal page. Labels are 8 points then. */
const WIDTH = 680;
const LEFT = 66;
const RIGHT = 14;
const TOP = 62;
const PANEL_HEIGHT = 138;
const ACROSS = 14;
const DOWN = 18;
const BELOW = 86;

/** Rounding ends here; below it there is nothing to see. */
const LOWEST = 1e-32;

/** The picture of aggregated rows, read by the names of their columns. */
export function drawPanelGrid(table: readonly TableRow[], grid: PanelGrid): string {
  const { rows, columns, title } = grid;
  const height = TOP + rows.length * PANEL_HEIGHT + (rows.length - 1) * DOWN + BELOW;
  const page = blankPage(WIDTH, height, title);
  page.heading(LEFT, 20, title);
  const width = (WIDTH - LEFT - RIGHT - (columns.length - 1) * ACROSS) / columns.length;
  // Measures of different kinds have scales of their own; else a row of panels shares one.
  const isOwn = columns.some(({ measure }) => measure !== undefined);
  const across = isOwn ? ACROSS + 34 : ACROSS;
  const panelWidth = isOwn ? (WIDTH - LEFT - RIGHT - (columns.length - 1) * across) / columns.length : width;
  const left = (column: number) => LEFT + column * (panelWidth + across);
  const upper = (row: number) => TOP + row * (PANEL_HEIGHT + DOWN);
  columns.forEach(({ label }, c) => {
    page.label(left(c) + panelWidth / 2, TOP - 12, label, { anchor: "middle" });
  });
  rows.forEach(({ label }, r) => {
    page.label(14, upper(r) + PANEL_HEIGHT / 2, label, { anchor: "middle", upwards: true });
    const series = columns.map((column) => panelSeries(table, grid, rows[r], column));
    const shared = extent(series.flat(2), grid.measure);
    columns.forEach(({ measure = grid.measure }, c) => {
      const range = isOwn ? extent(series[c].flat(), measure) : shared;
      const axes = { y: isOwn || c === 0, x: r === rows.length - 1 };
      const drawing = drawPanel(page.document, grid, series[c], range, axes, panelWidth);
      page.place(drawing, left(c) - MARGIN, upper(r) - MARGIN_TOP);
    });
  });
  const bottom = upper(rows.length - 1) + PANEL_HEIGHT;
  page.label(LEFT + (WIDTH - LEFT - RIGHT) / 2, bottom + 34, grid.x.label, { anchor: "middle" });
  let x = LEFT;
  for (const method of grid.methods) {
    const name = methodTitles[method] ?? method;
    page.sample(x, bottom + 52, lineStyle(method));
    page.label(x + 40, bottom + 56, name);
    x += 40 + Math.max(88, textWidth(name)) + 24;
  }
  page.label(LEFT, bottom + 76, grid.caption);
  return page.toString();
}

interface Point {
  readonly x: number;
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** The points of every method in one panel, in the order of x. */
function panelSeries(table: readonly TableRow[], grid: PanelGrid, row: Strip, column: Strip): Point[][] {
  const measure = column.measure ?? grid.measure;
  return grid.methods.map((method) => {
    const own = select(table, { ...row.where, ...column.where, method });
    // A method that the axis does not touch, such as local k-means and alpha, is as good everywhere.
    const flat = own.length > 0 && own.every((cell) => cell[grid.x.column] === null);
    const spread = flat ? grid.x.ticks.map((x) => ({ ...own[0], [grid.x.column]: x })) : own;
    return (
      spread
        // An exact 0 has no logarithm: a network without links, or the pooled solution itself.
        .filter((cell) => Number(cell[`${measure}_mean`]) > 0)
        .map((cell) => point(cell, grid.x.column, measure))
        .sort((a, b) => a.x - b.x)
    );
  });
}

function point(cell: TableRow, column: string, measure: Measure): Point {
  const lowest = measure === "nmi" ? 0 : LOWEST;
  const mean = Math.max(Number(cell[`${measure}_mean`]), lowest);
  const error = Number(cell[`${measure}_standard_error`]);
  return { x: Number(cell[column]), mean, low: Math.max(mean - error, lowest), high: mean + error };
}

interface Range {
  readonly domain: readonly [number, number];
  readonly log: boolean;
  readonly ticks: number[];
  readonly tickFormat: (value: number) => string;
}

/** Whole decades that hold all means and the upper ends of their bars; whole twentieths of a share. */
function extent(points: readonly Point[], measure: Measure): Range {
  const highest = Math.max(...points.map((point) => point.high));
  if (measure === "nmi") {
    const lowest = Math.min(...points.map((point) => point.low));
    const domain = [Math.floor(20 * lowest) / 20, Math.ceil(20 * highest) / 20] as const;
    return { domain, log: false, ...upTicks(domain, "linear") };
  }
  const low = Math.floor(Math.log10(Math.min(1, ...points.map(({ mean }) => mean))));
  const high = Math.max(low + 1, Math.ceil(Math.log10(highest)));
  const domain = [Number(`1e${low}`), Number(`1e${high}`)] as const;
  return { domain, log: true, ...upTicks(domain, "decades") };
}

function upTicks(domain: readonly [number, number], spacing: "linear" | "decades") {
  return axisTicks({ domain, length: PANEL_HEIGHT, spacing, direction: "up", most: 6 }).axis;
}

/** Room around a panel for its ticks. */
const MARGIN = 40;
const MARGIN_TOP = 8;
/** Between a panel's edge and its first and last point. */
const INSET = 6;

function drawPanel(
  document: Document,
  { x, methods }: PanelGrid,
  series: readonly (readonly Point[])[],
  { domain, log, ticks, tickFormat }: Range,
  axes: { readonly x: boolean; readonly y: boolean },
  width: number,
): Element {
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
      type: log ? "log" : "linear",
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
      ...methods.flatMap((method, i) => marks(method, series[i], domain[0], half)),
    ],
  });
}

/** Bars below, then the line, then the marks. A bar that reaches below the panel ends at its edge, without a cap. */
function marks(method: string, points: readonly Point[], floor: number, half: number | undefined): Markish[] {
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
  return [
    ruleX(clipped, { x: "x", y1: "low", y2: "high", stroke, strokeWidth: 0.8 }),
    ...cap("low"),
    ...cap("high"),
    line(points, { x: "x", y: "mean", ...strokeOptions(style) }),
    dot(points, { x: "x", y: "mean", symbol: mark, r: mark === "triangle" ? 2.6 : 2.1, fill: stroke }),
  ];
}
