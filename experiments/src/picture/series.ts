// What a picture shows, as numbers: for every panel and method its points, each with the ends of its bar, and how far the
// axis of a measure reaches.

import { methodTitles, type Spacing } from "@fedkm/pictures";
import type { DotEntry, DotGrid, MeasureName, PanelGrid, Strip, SummaryName } from "../studies/plan.ts";
import { selectCellRows, type TableRow } from "../table.ts";

/** Rounding ends here; below it there is nothing to see. */
const LOWEST = 1e-32;

export interface PictureLook {
  readonly summary: SummaryName;
  /** A journal has captions of its own. */
  readonly titles: boolean;
}

/** What stands for the runs of a cell: a value, and the ends of its bar or band. */
export interface Point {
  readonly x: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** The points of every method in one panel, in the order of x. */
export function panelSeries(
  table: readonly TableRow[],
  grid: PanelGrid,
  { row, column, summary }: { row: Strip; column: Strip; summary: SummaryName },
): Point[][] {
  const measure = column.measure ?? grid.measure;
  return grid.methods.map((method) => {
    const own = selectCellRows(table, row.where, column.where, { method });
    // A method that the axis does not touch, such as local k-means and alpha, is as good everywhere.
    const flat = own.length > 0 && own.every((cell) => cell[grid.x.column] === null);
    const spread = flat ? grid.x.ticks.map((x) => ({ ...own[0], [grid.x.column]: x })) : own;
    return spread
      .map((cell) => pointOf(cell, Number(cell[grid.x.column]), measure, summary))
      .filter((point) => point !== undefined)
      .sort((a, b) => a.x - b.x);
  });
}

/** The point of every entry in one panel, where it has one. */
export function dotPoints(
  table: readonly TableRow[],
  grid: DotGrid,
  { row, column, summary }: { row: Strip; column: DotGrid["columns"][number]; summary: SummaryName },
): (Point | undefined)[] {
  return grid.entries.map((entry: DotEntry, i) => {
    const [cell] = selectCellRows(table, row.where, column.where, entry.where);
    return cell && pointOf(cell, i, column.measure, summary);
  });
}

/** Squared distances span decades, and a ratio is as far from 1 as its inverse. */
function spacingOf(measure: MeasureName): Spacing {
  if (/^(gcd|cv)(_aligned)?$/.test(measure)) return "decades";
  return measure === "own_cost_ratio" ? "oneTwoFive" : "linear";
}

function isShare(measure: MeasureName): boolean {
  return measure === "nmi" || measure === "nmi_own";
}

/** undefined: not measured, or an exact 0, which has no logarithm: a network without links, or the pooled solution itself. */
function pointOf(cell: TableRow, x: number, measure: MeasureName, summary: SummaryName): Point | undefined {
  const of = (what: string) => Number(cell[`${measure}_${what}`] ?? Number.NaN);
  const value = summary === "median" ? of("median") : of("mean");
  const log = spacingOf(measure) !== "linear";
  if (Number.isNaN(value) || (log && !(value > 0))) return undefined;
  const half = of(summary === "error" ? "standard_error" : "interval");
  const [low, high] =
    summary === "median" ? [of("lower_quartile"), of("upper_quartile")] : [value - half, value + half];
  // A bar that reaches 0 has no lower end on a logarithmic axis, and is drawn upwards only.
  // The interval of a share can reach beyond what a share can be.
  if (isShare(measure)) return { x, value, low: Math.max(0, low), high: Math.min(1, high) };
  if (!log) return { x, value, low, high };
  return { x, value: Math.max(value, LOWEST), low: Math.max(low <= 0 ? value : low, LOWEST), high };
}

export function pictureMethodName(grid: PanelGrid, method: string): string {
  return grid.names?.[method] ?? methodTitles[method] ?? method;
}

/** How far an axis reaches: whole decades for squared distances, 1, 2 and 5 for ratios, whole steps otherwise. */
export interface Extent {
  readonly domain: readonly [number, number];
  readonly spacing: Spacing;
}

/** All values with the upper ends of their bars; where the axis is linear, with the lower ends too. */
export function seriesExtent(points: readonly Point[], measure: MeasureName): Extent {
  const spacing = spacingOf(measure);
  if (spacing === "decades") return { domain: decades(points), spacing };
  if (points.length === 0) return { domain: [0.5, 1], spacing };
  if (spacing === "oneTwoFive") return { domain: oneTwoFive(points), spacing };
  const [low, high] = [Math.min(...points.map((point) => point.low)), Math.max(...points.map((point) => point.high))];
  const step = stepOf(high - low, high);
  const first = Math.floor(low / step + SLACK);
  const last = Math.max(first + 1, Math.ceil(high / step - SLACK));
  return { domain: [rounded(first * step), rounded(last * step)], spacing };
}

/** Of a step: what rounding may take off a value that lies on one. */
const SLACK = 1e-9;

function decades(points: readonly Point[]): readonly [number, number] {
  if (points.length === 0) return [0.1, 1];
  const low = Math.floor(Math.log10(Math.min(...points.map(({ value }) => value))));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...points.map((point) => point.high)))));
  return [Number(`1e${low}`), Number(`1e${high}`)];
}

/** From one of 1, 2 and 5 times a power of ten to another. */
function oneTwoFive(points: readonly Point[]): readonly [number, number] {
  const low = Math.min(...points.map(({ value }) => value));
  const high = Math.max(...points.map((point) => point.high));
  const steps = [low, high].flatMap((value) => {
    const power = Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((factor) => Number(`${factor}e${power}`));
  });
  return [Math.max(...steps.filter((step) => step <= low)), Math.min(...steps.filter((step) => step >= high))];
}

/** 1, 2 or 5 times a power of ten: at least four of them in the range, or a tenth of a value that has none. */
function stepOf(range: number, value: number): number {
  const rough = range > 0 ? range / 4 : Math.abs(value) / 10;
  if (!(rough > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([5, 2].find((factor) => factor * power <= rough) ?? 1);
}

/** Three steps of 0.1 are 0.3. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 1e-6 as journals write it: 10⁻⁶. Other labels stay. */
export function seriesTickLabel(label: string): string {
  const [, sign, digits] = /^1e(-?)(\d+)$/.exec(label) ?? [];
  if (digits === undefined) return label;
  return `10${sign === "" ? "" : "⁻"}${Array.from(digits, (digit) => superscripts[Number(digit)]).join("")}`;
}
