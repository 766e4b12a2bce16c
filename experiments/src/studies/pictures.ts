// The pictures of a sweep: panels with lines over a factor, or a dot for each method, from what its file says of a figure
// and from the values that its cells have.

import { methodTitles } from "@fedkm/pictures";
import { cellRow, type StartName, type StudyCell, startTitles } from "../cell.ts";
import type { TableRow, Value, Where } from "../table.ts";
import type { FigureText, SweepFile } from "./file.ts";
import type { DotEntry, PlannedPicture, Strip } from "./plan.ts";

/** A factor as the column of the CSV. */
const columnNames: { readonly [factor: string]: string } = {
  data: "dataset",
  points: "points_per_device",
  graph: "edge_probability",
  rounds: "most_rounds",
};

const labels: { readonly [column: string]: string } = {
  alpha: "coupling strength α",
  points_per_device: "points per device, m",
  edge_probability: "probability of a link, p",
};

const measureTitles: { readonly [measure: string]: string } = {
  gcd: "GCD",
  cv: "CV",
  gcd_aligned: "GCD",
  cv_aligned: "CV",
  nmi: "NMI",
  nmi_own: "NMI, own points",
  cost_ratio: "cost relative to pooled",
};

const short: { readonly [column: string]: string } = { alpha: "α = ", edge_probability: "p = ", k: "k = " };

const columnOf = (factor: string) => columnNames[factor] ?? factor;

/** One picture for each start, and for each measure that plug-ins add the same panels again. */
export function sweepPictures(
  file: SweepFile,
  cells: readonly StudyCell[],
  measures: readonly string[],
): PlannedPicture[] {
  const rows = cells.filter(({ study }) => study === file.study).map(cellRow);
  const starts = distinct(rows, "start") as StartName[];
  const texts = file.figures.length > 0 ? file.figures : [usualFigure(rows)];
  const further = texts
    .filter(({ y = "" }) => !String(y).startsWith("cv"))
    .flatMap((text) =>
      measures.map((measure) => ({
        ...text,
        name: `${text.name ?? file.study}-${measure}`,
        title: `${measure}: ${text.title ?? file.study}`,
        y: measure,
      })),
    );
  return [...texts, ...further].flatMap((text) =>
    (starts.length === 0 ? [undefined] : starts).map((start) => {
      const name = text.name ?? file.study;
      return { name: start === undefined ? name : `${name}-${start}`, grid: gridOf(file, text, rows, start) };
    }),
  );
}

/** Where a file names no figure: cost over its first factor of numbers, a column for each value of another. */
function usualFigure(rows: readonly TableRow[]): FigureText {
  const varied = Object.keys(rows[0] ?? {}).filter(
    (column) =>
      !["dataset", "method", "settings", "run", "seed", "start", "study"].includes(column) && isVaried(rows, column),
  );
  const x = varied.find((column) => distinct(rows, column).every((value) => typeof value === "number"));
  const columns = varied.find((column) => column !== x);
  if (x === undefined) return { y: ["cost_ratio", "gcd"] };
  return { x, y: "cost_ratio", ...(columns !== undefined && { columns }) };
}

function gridOf(file: SweepFile, text: FigureText, rows: readonly TableRow[], start: StartName | undefined) {
  const { x, where = {}, summary = "mean", names, note, title = file.study } = text;
  const measures = typeof text.y === "string" ? [text.y] : (text.y ?? ["gcd_aligned", "cv_aligned"]);
  const fixed: Where = { study: file.study, ...where, ...(start !== undefined && { start }) };
  const rowsOf = columnOf(text.rows ?? "data");
  const only = measures.length === 1 ? measures[0] : undefined;
  const strips = distinct(rows, rowsOf).map((value) => ({
    label: only === undefined || x === undefined ? String(value) : `${titleOf(only)}, ${value}`,
    where: { ...fixed, [rowsOf]: value },
  }));
  const started = start === undefined ? "" : `Start: ${startTitles[start]}.`;
  const common = {
    title,
    caption: `${started}${note === undefined ? "" : ` ${note}`}`,
    rows: strips.length > 0 ? strips : [{ label: "", where: fixed }],
    summary,
    ...(names && { names }),
  };
  const columns: (Strip & { measure: string })[] =
    text.columns === undefined
      ? measures.map((measure) => ({ label: titleOf(measure), where: {}, measure }))
      : distinct(rows, columnOf(text.columns)).map((value) => {
          const column = columnOf(text.columns as string);
          return { label: `${short[column] ?? ""}${value}`, where: { [column]: value }, measure: measures[0] };
        });
  if (x === undefined) {
    const { level, across } = text;
    const dots = { ...(level !== undefined && { level }), ...(across !== undefined && { across }) };
    return { ...common, columns, entries: entriesOf(rows, start, text), ...dots };
  }
  const column = columnOf(x);
  const ticks = text.ticks ?? (distinct(rows, column) as number[]).sort((a, b) => a - b);
  return {
    ...common,
    // A scale that all columns share has no name of its own.
    columns:
      text.columns === undefined && measures.length > 1 ? columns : columns.map(({ measure, ...strip }) => strip),
    x: { column, label: labels[column] ?? x, ticks, ...(text.log && { log: true }) },
    measure: measures[0],
    methods: text.methods ?? (distinct(rows, "method") as string[]),
  };
}

function titleOf(measure: string): string {
  return measureTitles[measure] ?? measure;
}

/** A line for every method, with alpha and settings where it has several. */
function entriesOf(
  rows: readonly TableRow[],
  start: StartName | undefined,
  { names, methods }: FigureText,
): DotEntry[] {
  const known = methods ?? (distinct(rows, "method") as string[]);
  return known.flatMap((method) => {
    const own = rows.filter((row) => row.method === method && (row.start === start || row.start === null));
    const told = ["alpha", "settings"].filter((column) => isVaried(own, column));
    const kinds = new Map(own.map((row) => [told.map((column) => row[column]).join(), row]));
    return [...kinds.values()].map((row) => ({
      label: [
        names?.[method] ?? methodTitles[method] ?? method,
        ...told.map((column) => (column === "alpha" ? `α ${row.alpha}` : String(row[column]).replaceAll("=", " "))),
      ].join(", "),
      method: methodTitles[method] === undefined ? String(row.method).split("-")[0] : method,
      where: { method, ...Object.fromEntries(told.map((column) => [column, row[column]])) },
    }));
  });
}

function isVaried(rows: readonly TableRow[], column: string): boolean {
  return new Set(rows.map((row) => row[column] ?? null).filter((value) => value !== null)).size > 1;
}

function distinct(rows: readonly TableRow[], column: string): Value[] {
  return [...new Set(rows.map((row) => row[column] ?? null))].filter((value) => value !== null);
}
