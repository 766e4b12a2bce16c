// What a reproduction leaves behind, all from the rows' CSV: tables, pictures, a report, and what they say in numbers.

import { join } from "node:path";
import { toPdf, toPng } from "@fedkm/pictures/node";
import { alignColumns, wrap } from "@fedkm/pictures/terminal";
import { drawPicture } from "../picture/panels.ts";
import type { PictureLook } from "../picture/series.ts";
import { latexTable, pgfplotsTable } from "../picture/tables.ts";
import type { Plan } from "../studies/plan.ts";
import { parseCsv, type TableRow, toCsv } from "../table.ts";
import { aggregate } from "./aggregate.ts";
import { agreementRows, agreementSummary } from "./agreement.ts";
import { judgeClaims } from "./claims.ts";
import { renderStudyReport, reportCertificateLine, reportPersonalisation, type WatchedRun } from "./report.ts";

export interface FinishedRuns {
  readonly plan: Plan;
  /** Of plug-ins, which are columns like others. */
  readonly measures: readonly string[];
  /** Of single runs. */
  readonly csv: string;
  readonly manifest: { readonly what: string; readonly runs: number; readonly seed: number; readonly cells: number };
  readonly workers: number;
  readonly seconds: number;
}

/** The results of a study. */
export type Results = ReturnType<typeof resultsOf>;

/** `look` is what was asked of the pictures; `watch` names the runs that can be watched, and the commands for that. */
export function resultsOf(
  { plan, measures, csv, manifest, workers, seconds }: FinishedRuns,
  look: Partial<PictureLook>,
  watch: (runs: readonly TableRow[]) => readonly WatchedRun[] = () => [],
) {
  const runs = parseCsv(csv);
  const aggregated = aggregate(runs, measures, plan.options);
  const claims = judgeClaims(runs, plan.figures, aggregated);
  // A median of fewer runs says too little.
  const agreement = plan.figures.length > 0 && manifest.runs >= 10 ? agreementRows(aggregated, runs) : [];
  const pictures = plan.pictures.map(({ name, grid }) => {
    const { summary = grid.summary } = look;
    return {
      name,
      svg: drawPicture(aggregated, grid, look),
      csv: pgfplotsTable(aggregated, grid, summary),
      tex: latexTable(aggregated, grid, summary),
    };
  });
  const effort = `${manifest.cells} cells in ${seconds.toFixed(1)} s with ${workers} ${workers === 1 ? "worker" : "workers"}, seed ${manifest.seed}.`;
  const certified = reportCertificateLine(runs);
  const found = { manifest, effort, certified, claims, personalisation: reportPersonalisation(aggregated) };
  const shown = { ...found, watched: watch(runs) };
  const title = `fedkm: ${manifest.what}`;
  const report = renderStudyReport({
    ...shown,
    title,
    agreement,
    aggregated,
    pictures: pictures.map(({ svg }) => svg),
  });
  const files = new Map<string, string | Uint8Array>([
    ["runs.csv", csv],
    ...Object.entries({ aggregated, claims, agreement })
      .filter(([, rows]) => rows.length > 0)
      .map(([name, rows]): [string, string] => [`${name}.csv`, toCsv(Object.keys(rows[0]), rows)]),
    ["manifest.json", `${JSON.stringify(manifest, undefined, 2)}\n`],
    ...pictures.flatMap(({ name, svg, csv: numbers, tex }): [string, string | Uint8Array][] => [
      [`${name}.svg`, svg],
      [`${name}.csv`, numbers],
      [`${name}.tex`, tex],
      [`${name}.png`, toPng(svg)],
      [`${name}.pdf`, toPdf(svg)],
    ]),
    ["report.html", report],
  ]);
  // The files are contents by name, for a folder.
  const beaten = runs.filter(({ reference_from }) => reference_from !== null && reference_from !== "best known");
  const replaced = new Set(
    beaten.map((row) => [row.dataset, row.split, row.points_per_device, row.k, row.seed].join()),
  );
  return { ...shown, seconds, agreement: agreementSummary(agreement), replaced: replaced.size, files };
}

/** The same in lines for a terminal; `out` is the folder of its files. */
export function resultLines(results: Results, out: string): string[] {
  const { effort, certified, personalisation, watched } = results;
  return [
    effort,
    ...(certified === undefined ? [] : wrap(`${certified}.`, 100)),
    ...claimTables(results.claims),
    ...(personalisation === undefined ? [] : personalisationLines(personalisation)),
    ...agreementLines(results.agreement),
    "",
    ...(watched.length === 0 ? [] : ["watch a run (more in the report):", `  ${watched[0].command}`]),
    ...replacedLines(results.replaced),
    `report: ${join(out, "report.html")}`,
  ];
}

/** A reference that a method beat was replaced by what k-means makes of that method's centroids. */
function replacedLines(replaced: number): string[] {
  return replaced === 0 ? [] : [`${replaced} pooled references were beaten and replaced (reference_from in runs.csv)`];
}

function agreementLines(counts: Results["agreement"]): string[] {
  if (counts.length === 0) return [];
  const rows = counts.map(({ start, method, agreeing, of, inRange, spread, rounding }) => [
    `${start}, ${method}`,
    `${agreeing} of ${of}`,
    `${inRange} of ${spread}`,
    String(rounding),
  ]);
  const heading = ["independent medians (agreement.csv)", "agree", "among our runs", "rounding"];
  return ["", ...alignColumns([heading, ...rows])];
}

function personalisationLines({ tables, sentences }: NonNullable<Results["personalisation"]>): string[] {
  const lines = tables.flatMap(({ title, heading, rows }) => [
    "",
    ...alignColumns([[title, ...heading.slice(1)], ...rows]),
  ]);
  return [...lines, "", ...sentences.flatMap((sentence) => wrap(sentence, 100))];
}

/** A table for every start, a line for every claim: in how many means and in how many runs it held, for each dataset. */
function claimTables(claims: Results["claims"]): string[] {
  const distinct = (column: string) => [...new Set(claims.map((row) => String(row[column])))];
  const datasets = distinct("dataset");
  return distinct("start").flatMap((start) => {
    const own = claims.filter((row) => row.start === start);
    const rows = [...new Set(own.map(({ name }) => String(name)))].map((name) => [
      name,
      ...datasets.map((dataset) => {
        const row = own.find((one) => one.name === name && one.dataset === dataset);
        return row === undefined ? "" : `${row.means_held}/${row.means} ${row.runs_held}/${row.runs}`;
      }),
    ]);
    return ["", ...alignColumns([[`${start} start: means, runs`, ...datasets], ...rows])];
  });
}
