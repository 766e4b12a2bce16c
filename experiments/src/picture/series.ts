// What a picture shows, as numbers: for every panel and method its points, each with the ends of its bar.

import { methodTitles } from "@fedkm/pictures";
import {
  type DotEntry,
  type DotGrid,
  type Measure,
  type PanelGrid,
  type Strip,
  type Summary,
  spacingOf,
} from "../studies/grid.ts";
import { select, type TableRow } from "../table.ts";

/** Rounding ends here; below it there is nothing to see. */
const LOWEST = 1e-32;

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
  { row, column, summary }: { row: Strip; column: Strip; summary: Summary },
): Point[][] {
  const measure = column.measure ?? grid.measure;
  return grid.methods.map((method) => {
    const own = select(table, row.where, column.where, { method });
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
  { row, column, summary }: { row: Strip; column: DotGrid["columns"][number]; summary: Summary },
): (Point | undefined)[] {
  return grid.entries.map((entry: DotEntry, i) => {
    const [cell] = select(table, row.where, column.where, entry.where);
    return cell && pointOf(cell, i, column.measure, summary);
  });
}

function isShare(measure: Measure): boolean {
  return measure === "nmi" || measure === "nmi_own";
}

/** undefined: not measured, or an exact 0, which has no logarithm: a network without links, or the pooled solution itself. */
function pointOf(cell: TableRow, x: number, measure: Measure, summary: Summary): Point | undefined {
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

/** What a picture calls a method. */
export function nameOf(grid: PanelGrid, method: string): string {
  return grid.names?.[method] ?? methodTitles[method] ?? method;
}
