// A grid of panels as in the paper: one row for each dataset, lines with error bars over a log axis, one legend.
/// <reference lib="dom" />

import { blankPage, faint, labelSize, lineStyle, methodTitles, quiet } from "@fedkm/pictures";
import { dot, frame, gridY, line, link, type Markish, plot, ruleX } from "@observablehq/plot";
import { select, type TableRow, type Value } from "../table.ts";

/** A row or a column of panels: its name, and which rows of the table belong to it. */
interface Strip {
  readonly label: string;
  readonly where: { readonly [column: string]: Value };
  /** Of columns that show different measures. */
  readonly measure?: Measure;
}

type Measure = "gcd" | "cv" | "nmi";

interface Axis {
  readonly column: string;
  readonly label: string;
  readonly ticks: readonly number[];
  readonly log?: boolean;
}

export interface PanelGrid {
  readonly title: string;
  /** What the error bars are, and the like. */
  readonly caption: string;
  readonly rows: readonly Strip[];
  readonly columns: readonly Strip[];
  readonly x: Axis;
  readonly measure: Measure;
  readonly methods: readonly string[];
}

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
  const step = Math.min(170, (WIDTH - LEFT) / grid.methods.length);
  grid.methods.forEach((method, i) => {
    page.sample(LEFT + i * step, bottom + 52, lineStyle(method));
    page.label(LEFT + i * step + 40, bottom + 56, methodTitles[method] ?? method);
  });
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
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
  readonly log: boolean;
}

/** Whole decades that hold all means and the upper ends of their bars. */
function extent(points: readonly Point[], measure: Measure): Range {
  if (measure === "nmi") return linearExtent(points);
  const low = Math.floor(Math.log10(Math.min(1, ...points.map(({ mean }) => mean))));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...points.map(({ high }) => high)))));
  const step = [1, 2, 4, 8].find((size) => (high - low) / size <= 5) ?? 16;
  const first = step * Math.ceil(low / step);
  const ticks = Array.from({ length: Math.floor((high - first) / step) + 1 }, (_, i) => 10 ** (first + i * step));
  return { low: 10 ** low, high: 10 ** high, ticks, log: true };
}

/** Whole twentieths, with up to five ticks. */
function linearExtent(points: readonly Point[]): Range {
  const low = Math.floor(20 * Math.min(...points.map((point) => point.low)));
  const high = Math.ceil(20 * Math.max(...points.map((point) => point.high)));
  const step = Math.max(1, Math.ceil((high - low) / 5));
  const ticks = Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => (low + i * step) / 20);
  return { low: low / 20, high: high / 20, ticks, log: false };
}

/** Room around a panel for its ticks. */
const MARGIN = 40;
const MARGIN_TOP = 8;

function drawPanel(
  document: Document,
  { x, methods }: PanelGrid,
  series: readonly (readonly Point[])[],
  { low, high, ticks, log }: Range,
  axes: { readonly x: boolean; readonly y: boolean },
  width: number,
): Element {
  const first = Math.min(...x.ticks);
  const last = Math.max(...x.ticks);
  const half = x.log ? undefined : 0.012 * (last - first);
  const format = (value: number) => (log ? `1e${Math.round(Math.log10(value))}` : String(value));
  const values = { type: log ? ("log" as const) : ("linear" as const), domain: [low, high] };
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
      ticks: [...x.ticks],
      tickFormat: axes.x ? String : () => "",
      tickSize: 3,
      label: null,
      inset: 6,
    },
    y: { ...values, ticks: [...ticks], tickFormat: axes.y ? format : () => "", tickSize: 3, label: null },
    marks: [
      gridY(ticks, { stroke: faint, strokeOpacity: 0.7 }),
      frame({ anchor: "left", stroke: quiet }),
      frame({ anchor: "bottom", stroke: quiet }),
      ...methods.flatMap((method, i) => marks(method, series[i], low, half)),
    ],
  });
}

/** Bars below, then the line, then the marks. A bar that reaches below the panel ends at its edge, without a cap. */
function marks(method: string, points: readonly Point[], floor: number, half: number | undefined): Markish[] {
  const { stroke, width, dashes, mark } = lineStyle(method);
  const dashed = dashes === undefined ? {} : { strokeDasharray: dashes, strokeLinecap: "round" as const };
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
    line(points, { x: "x", y: "mean", stroke, strokeWidth: width, ...dashed }),
    dot(points, { x: "x", y: "mean", symbol: mark, r: mark === "triangle" ? 2.6 : 2.1, fill: stroke }),
  ];
}
