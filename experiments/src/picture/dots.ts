// A grid of panels with a dot for each method and its bar across: one row for each dataset, one column for each measure.
/// <reference lib="dom" />

import { axisTicks, faint, labelSize, lineStyle, quiet, textWidth } from "@fedkm/pictures";
import { blankPage } from "@fedkm/pictures/node";
import { dot, frame, gridX, gridY, plot, ruleX, ruleY } from "@observablehq/plot";
import { type DotGrid, type MeasureName, summaryTitles } from "../studies/plan.ts";
import type { TableRow } from "../table.ts";
import { dotPoints, type Extent, type PictureLook, type Point, seriesExtent, seriesTickLabel } from "./series.ts";

const WIDTH = 680;
const RIGHT = 14;
const LINE = 15;
const ACROSS = 44;
const DOWN = 34;

/** The picture of aggregated rows, read by the names of their columns. */
export function drawDotGrid(table: readonly TableRow[], grid: DotGrid, { summary, titles }: PictureLook): string {
  const { rows, columns, entries } = grid;
  const top = titles ? 58 : 28;
  const panelHeight = LINE * entries.length;
  const left = 34 + Math.max(...entries.map(({ label }) => textWidth(label)));
  // One scale for all needs less room for its labels.
  const gap = grid.across === undefined ? ACROSS : ACROSS / 2;
  const width = (WIDTH - left - RIGHT - (columns.length - 1) * gap) / columns.length;
  const below = top + rows.length * (panelHeight + DOWN);
  const height = below + (grid.across === undefined ? 0 : 20) + (titles ? 26 : 6);
  const page = blankPage(WIDTH, height, grid.title);
  if (titles) page.heading(14, 20, grid.title);
  const points = rows.map((row) => columns.map((column) => dotPoints(table, grid, { row, column, summary })));
  const extent =
    grid.across === undefined
      ? undefined
      : seriesExtent(
          points.flat(2).filter((point) => point !== undefined),
          columns[0].measure,
        );
  columns.forEach(({ label }, c) => {
    const named = grid.across === undefined ? `${label} \u2192` : label;
    page.label(left + c * (width + gap) + width / 2, top - 12, named, { anchor: "middle" });
  });
  rows.forEach(({ label }, r) => {
    const upper = top + r * (panelHeight + DOWN);
    page.label(14, upper + panelHeight / 2, label, { anchor: "middle", upwards: true });
    entries.forEach((entry, i) => {
      page.label(left - 8, upper + LINE * (i + 0.5) + 4, entry.label, { anchor: "end" });
    });
    columns.forEach(({ measure }, c) => {
      const drawing = drawPanel(page.document, grid, points[r][c], { measure, width, height: panelHeight, extent });
      page.place(drawing, left + c * (width + gap) - MARGIN, upper);
    });
  });
  if (grid.across !== undefined) {
    page.label((left + WIDTH - RIGHT) / 2, below + 14, grid.across, { anchor: "middle" });
  }
  if (titles) page.label(14, height - 8, `${summaryTitles[summary]}. ${grid.caption}`);
  return page.toString();
}

/** Room beside and below a panel for its ticks. */
const MARGIN = 30;

interface PanelLook {
  readonly measure: MeasureName;
  readonly width: number;
  readonly height: number;
  /** Of all panels, where they share one. */
  readonly extent: Extent | undefined;
}

function drawPanel(
  document: Document,
  { entries, level }: DotGrid,
  points: readonly (Point | undefined)[],
  { measure, width, height, extent }: PanelLook,
): Element {
  const known = points.filter((point) => point !== undefined);
  const { domain, spacing } = extent ?? seriesExtent(known, measure);
  const { ticks, tickFormat } = axisTicks({ domain, length: width, spacing, direction: "across", most: 5 }).axis;
  const inside = known.map((point) => ({
    ...point,
    y: -point.x,
    low: Math.max(point.low, domain[0]),
    high: Math.min(point.high, domain[1]),
  }));
  return plot({
    document,
    width: width + 2 * MARGIN,
    height: height + MARGIN,
    marginLeft: MARGIN,
    marginRight: MARGIN,
    marginTop: 0,
    marginBottom: MARGIN,
    style: { fontSize: `${labelSize}px` },
    x: {
      type: spacing === "linear" ? "linear" : "log",
      domain,
      ticks,
      tickFormat: (value: number) => seriesTickLabel(tickFormat(value)),
      tickSize: 3,
      label: null,
    },
    y: { type: "linear", domain: [0.5 - entries.length, 0.5], axis: null },
    marks: [
      gridX(ticks, { stroke: faint, strokeOpacity: 0.7 }),
      gridY(
        entries.map((_, i) => -i),
        { stroke: faint, strokeOpacity: 0.4 },
      ),
      frame({ anchor: "left", stroke: quiet }),
      frame({ anchor: "bottom", stroke: quiet }),
      ...(level === undefined ? [] : [ruleX([level], { stroke: quiet, strokeWidth: 1 })]),
      ...inside.flatMap((point) => {
        const { stroke, mark } = lineStyle(entries[point.x].method);
        return [
          ruleY([point], { y: "y", x1: "low", x2: "high", stroke, strokeWidth: 1.2 }),
          dot([point], { x: "value", y: "y", symbol: mark, r: 3, fill: stroke }),
        ];
      }),
    ],
  });
}
