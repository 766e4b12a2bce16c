// The numbers of a picture for a paper: a CSV that pgfplots reads as it is, and the body of a LaTeX table.

import type { DotGrid, PanelGrid, SummaryName } from "../studies/plan.ts";
import type { TableRow } from "../table.ts";
import { dotPoints, type Point, panelSeries, pictureMethodName } from "./series.ts";

/**
 * The points of a method in one panel, or of all entries of a panel of dots, whose x is the number of an entry; with the
 * labels of its row, column and method, and what stands for it in the name of a CSV column.
 */
function panelPoints(table: readonly TableRow[], grid: PanelGrid | DotGrid, summary: SummaryName) {
  if ("entries" in grid) {
    return grid.rows.flatMap((row) =>
      grid.columns.map((column) => ({
        labels: [column.label, row.label],
        keys: [row.label, column.measure],
        points: dotPoints(table, grid, { row, column, summary }).filter((point) => point !== undefined),
      })),
    );
  }
  return grid.rows.flatMap((row) =>
    grid.columns.flatMap((column) =>
      panelSeries(table, grid, { row, column, summary }).map((points, i) => ({
        labels: [row.label, column.label, pictureMethodName(grid, grid.methods[i])],
        keys: [row.label, column.label, grid.methods[i]],
        points,
      })),
    ),
  );
}

function allX(panels: ReturnType<typeof panelPoints>): number[] {
  return [...new Set(panels.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);
}

/**
 * A line for each x, and for every panel and method its value and how far its bar reaches down and up, as
 * `\addplot table [x=x, y=iso_gcd_fedkm, y error minus=iso_gcd_fedkm_minus, ..]` wants them. An empty field is `nan`.
 */
export function pgfplotsTable(table: readonly TableRow[], grid: PanelGrid | DotGrid, summary: SummaryName): string {
  const panels = panelPoints(table, grid, summary);
  const names = panels.map(({ keys }) => columnName(keys));
  const head = ["x", ...names.flatMap((name) => [name, `${name}_minus`, `${name}_plus`])];
  const lines = allX(panels).map((x) => [
    String(x),
    ...panels.flatMap(({ points }) => {
      const point = points.find((one) => one.x === x);
      return point
        ? [point.value, point.value - point.low, point.high - point.value].map(String)
        : ["nan", "nan", "nan"];
    }),
  ]);
  return `${[head, ...lines].map((line) => line.join(",")).join("\n")}\n`;
}

/** Letters, digits and underscores: LaTeX takes nothing else in a column's name without trouble. */
function columnName(parts: readonly string[]): string {
  return parts
    .join("_")
    .replaceAll("α", "alpha")
    .replaceAll(/[^A-Za-z0-9.]+/g, "_")
    .toLowerCase();
}

/** Rows of `tabular` between `\toprule` and `\bottomrule`: every panel and method, with all its values. */
export function latexTable(table: readonly TableRow[], grid: PanelGrid | DotGrid, summary: SummaryName): string {
  const all = panelPoints(table, grid, summary);
  const panels = all.map(({ labels, points }) => ({
    name: labels.map(escapedText).join(", "),
    value: (x: number) =>
      latexValue(
        points.find((point) => point.x === x),
        summary,
      ),
    isEmpty: points.length === 0,
  }));
  const xs = allX(all);
  const lines =
    "entries" in grid
      ? [
          ["Method", ...panels.map(({ name }) => name)],
          ...grid.entries.map(({ label }, i) => [escapedText(label), ...panels.map(({ value }) => value(i))]),
        ]
      : [
          [escapedText(grid.x.label), ...xs.map((x) => `$${x}$`)],
          ...panels.filter(({ isEmpty }) => !isEmpty).map(({ name, value }) => [name, ...xs.map(value)]),
        ];
  const [head, ...rows] = lines.map((cells) => `${cells.join(" & ")} \\\\`);
  const columns = `l${"c".repeat(lines[0].length - 1)}`;
  return [
    `\\begin{tabular}{${columns}}`,
    "\\toprule",
    head,
    "\\midrule",
    ...rows,
    "\\bottomrule",
    "\\end{tabular}",
    "",
  ].join("\n");
}

/** As in the follow-up's tables: two decimals, with a power of ten where the value is small or large. */
function latexValue(point: Point | undefined, summary: SummaryName): string {
  if (point === undefined) return "--";
  const { value, low, high } = point;
  const isPlain = value >= 1e-2 && value < 1e3;
  const power = isPlain ? 0 : Math.floor(Math.log10(value));
  const short = (x: number) => (x / 10 ** power).toFixed(2);
  const body =
    summary === "median"
      ? `${short(value)}\\,[${short(low)}, ${short(high)}]`
      : `${short(value)}\\pm${short(high - value)}`;
  return isPlain ? `$${body}$` : `$(${body}){\\times}10^{${power}}$`;
}

const greek: { readonly [letter: string]: string } = { α: "$\\alpha$", γ: "$\\gamma$", ρ: "$\\rho$" };

function escapedText(text: string): string {
  return text.replaceAll(/[&%#_]/g, "\\$&").replaceAll(/[αγρ]/g, (letter) => greek[letter]);
}
