// Quality against bytes: how near to pooled k-means every method comes for what it sends, on log axes.
/// <reference lib="dom" />

import { axisTicks, faint, labelSize, lineStyle, quiet, strokeOptions } from "@fedkm/pictures";
import { blankPage } from "@fedkm/pictures/node";
import { dot, frame, gridY, line, type Markish, plot, ruleY } from "@observablehq/plot";
import type { CurvePoint, MethodOutcome } from "./compare.ts";

const WIDTH = 784;
const LEFT = 56;
const PANEL = 326;
const HEIGHT = 260;
const BETWEEN = 56;
const TOP = 74;
const COLUMNS = 5;
const margins = { marginLeft: 48, marginRight: 14, marginTop: 8, marginBottom: 40 };

/** Below it results are as good as equal to the pooled one, and are drawn at the edge. */
const FLOOR = 1e-16;

/** Quality and cost of all methods as SVG. */
export function drawComparison(outcomes: readonly MethodOutcome[], title: string): string {
  const legend = Math.ceil(outcomes.length / COLUMNS);
  const height = TOP + HEIGHT + 62 + 20 * legend + 24;
  const page = blankPage(WIDTH, height, title);
  page.heading(LEFT, 24, title);
  page.label(LEFT, 56, "Distance to the pooled solution (GCD)");
  page.label(LEFT + PANEL + BETWEEN, 56, "Cost on all rows above the pooled solution's, relative");
  const panels: Quality[] = [({ gcd }) => gcd, ({ costRatio }) => (costRatio === null ? null : costRatio - 1)];
  panels.forEach((quality, i) => {
    const x = LEFT + i * (PANEL + BETWEEN);
    page.place(drawPanel(page.document, outcomes, quality), x - margins.marginLeft, TOP - margins.marginTop);
  });
  page.label(WIDTH / 2, TOP + HEIGHT + 34, "bytes sent over all links, from the start to the end of the budget", {
    anchor: "middle",
  });
  outcomes.forEach(({ method }, i) => {
    const [x, y] = [LEFT + (i % COLUMNS) * 140, TOP + HEIGHT + 58 + 20 * Math.floor(i / COLUMNS)];
    page.sample(x, y, lineStyle(method));
    page.label(x + 40, y + 4, method);
  });
  const note = "On the lower edge: pooled itself, and what is as near to it. Level line: nothing sent.";
  page.label(LEFT, TOP + HEIGHT + 62 + 20 * legend + 8, note);
  return page.toString();
}

/** Null has no place in the picture. */
type Quality = (point: CurvePoint) => number | null;

function drawPanel(document: Document, outcomes: readonly MethodOutcome[], quality: Quality): Element {
  const all = outcomes.flatMap(({ curve }) => curve);
  const rivals = outcomes.filter(({ method }) => method !== "pooled").flatMap(({ curve }) => curve);
  const known = (rivals.length > 0 ? rivals : all).map(quality).filter((own) => own !== null);
  const sent = all.map(({ bytes }) => bytes).filter((bytes) => bytes > 0);
  const across = decades(sent.length > 0 ? sent : [1]);
  // Pooled is infinitely near to itself, so the others say how deep the picture goes.
  const up = decades((known.length > 0 ? known : [FLOOR]).map((own) => Math.max(FLOOR, own)));
  const value = (point: CurvePoint) => Math.max(up[0], quality(point) ?? Number.NaN);
  const ticks = (domain: readonly [number, number], length: number, direction: "across" | "up") =>
    axisTicks({ domain, length, spacing: "decades", direction, most: 7 }).axis;
  const upTicks = ticks(up, HEIGHT, "up");
  return plot({
    document,
    width: PANEL + margins.marginLeft + margins.marginRight,
    height: HEIGHT + margins.marginTop + margins.marginBottom,
    ...margins,
    style: { fontSize: `${labelSize}px` },
    x: { type: "log", domain: across, ...ticks(across, PANEL, "across"), tickSize: 3, label: null },
    y: { type: "log", domain: up, ...upTicks, tickSize: 3, label: null },
    marks: [
      gridY(upTicks.ticks, { stroke: faint, strokeOpacity: 0.7 }),
      frame({ anchor: "left", stroke: quiet }),
      frame({ anchor: "bottom", stroke: quiet }),
      ...outcomes.flatMap(({ method, curve }) =>
        marks(
          method,
          curve.filter((point) => quality(point) !== null),
          value,
        ),
      ),
    ],
  });
}

function decades(values: readonly number[]): [number, number] {
  const low = Math.floor(Math.log10(Math.min(...values)));
  return [10 ** low, 10 ** Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))];
}

function marks(method: string, curve: readonly CurvePoint[], value: (point: CurvePoint) => number): Markish[] {
  const style = lineStyle(method);
  const { stroke, mark } = style;
  const sent = curve.filter(({ bytes }) => bytes > 0);
  if (sent.length === 0) return [ruleY(curve.slice(-1), { y: value, ...strokeOptions(style) })];
  const at = { x: "bytes", y: value } as const;
  return [
    line(sent, { ...at, ...strokeOptions(style) }),
    dot(sent.length === 1 ? sent : sent.slice(-1), { ...at, symbol: mark, r: 4, fill: stroke }),
    dot(sent, { ...at, symbol: mark, r: 2, fill: stroke }),
  ];
}
