// What a reproduction leaves behind: tables, pictures, a report and a few lines on the terminal, all from the rows' CSV.

import { join } from "node:path";
import {
  type AgreementCount,
  aggregate,
  aggregateColumns,
  agreementColumns,
  certifiedLine,
  claimColumns,
  compareWithStudy,
  countAgreement,
  drawPicture,
  judgeClaims,
  latexTable,
  type Plan,
  parseCsv,
  personalisationOf,
  pgfplotsTable,
  renderReport,
  type TableRow,
  toCsv,
} from "@fedkm/experiments";
import { toPdf, toPng } from "@fedkm/pictures/node";
import type { Console } from "../../console.ts";
import { alignColumns, wrap } from "../../table.ts";
import { writeFolder } from "../../write.ts";
import { watchable } from "./watch.ts";

export interface Results {
  readonly plan: Plan;
  /** Of plug-ins, which are columns like others. */
  readonly measures: readonly string[];
  /** Of single runs. */
  readonly csv: string;
  readonly manifest: { readonly what: string; readonly runs: number; readonly seed: number; readonly cells: number };
  readonly out: string;
  readonly workers: number;
  readonly seconds: number;
  readonly json: boolean;
  /** What was asked of the pictures. */
  readonly look: { readonly summary?: "mean" | "median"; readonly titles: boolean };
}

export async function writeResults(results: Results, stdout: Console["stdout"]): Promise<void> {
  const { plan, measures, csv, manifest, out, workers, seconds, json, look } = results;
  const runs = parseCsv(csv);
  const aggregated = aggregate(runs, measures);
  const claims = judgeClaims(runs, plan.figures, aggregated);
  // A median of fewer runs says too little.
  const agreement = plan.figures.length > 0 && manifest.runs >= 10 ? compareWithStudy(aggregated, runs) : [];
  const pictures = plan.pictures.map(({ name, grid }) => {
    const summary = look.summary ?? grid.summary;
    return {
      name,
      svg: drawPicture(aggregated, grid, look),
      csv: pgfplotsTable(aggregated, grid, summary),
      tex: latexTable(aggregated, grid, summary),
    };
  });
  const effort = `${manifest.cells} cells in ${seconds.toFixed(1)} s with ${workers} ${workers === 1 ? "worker" : "workers"}, seed ${manifest.seed}.`;
  const certified = certifiedLine(runs);
  const personalisation = personalisationOf(aggregated);
  const watched = watchable(runs);
  const report = renderReport({
    title: `fedkm reproduce ${manifest.what}`,
    effort,
    certified,
    claims,
    agreement,
    aggregated,
    watched,
    pictures: pictures.map(({ svg }) => svg),
    manifest,
  });
  const files = new Map<string, string | Uint8Array>([
    ["runs.csv", csv],
    ["aggregated.csv", toCsv(aggregateColumns(measures), aggregated)],
    ...(claims.length > 0 ? [["claims.csv", toCsv(claimColumns, claims)] as const] : []),
    ...(agreement.length > 0 ? [["agreement.csv", toCsv(agreementColumns, agreement)] as const] : []),
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
  await writeFolder(out, async (put) => {
    for (const [name, content] of files) await put(name, content);
  });
  const agreeing = countAgreement(agreement);
  if (json) {
    const summary = {
      ...manifest,
      seconds,
      certified,
      claims,
      ...(personalisation && { personalisation: personalisation.sentences }),
      agreement: agreeing,
      watched,
      files: [...files.keys()],
    };
    stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
    return;
  }
  const lines = [
    effort,
    ...(certified === undefined ? [] : wrap(`${certified}.`, 100)),
    ...claimTables(claims),
    ...personalisationLines(personalisation),
    ...agreementLines(agreeing),
    "",
    ...(watched.length === 0 ? [] : ["watch a run (more in the report):", `  ${watched[0].command}`]),
    `report: ${join(out, "report.html")}`,
  ];
  stdout.write(`${lines.join("\n")}\n`);
}

function agreementLines(counts: readonly AgreementCount[]): string[] {
  if (counts.length === 0) return [];
  const rows = counts.map(({ start, method, agreeing, of, inRange, spread, rounding }) => [
    `${start}, ${method}`,
    `${agreeing} of ${of}`,
    `${inRange} of ${spread}`,
    String(rounding),
  ]);
  return [
    "",
    ...alignColumns([["independent medians (agreement.csv)", "agree", "among our runs", "rounding"], ...rows]),
  ];
}

function personalisationLines(found: ReturnType<typeof personalisationOf>): string[] {
  if (found === undefined) return [];
  const tables = found.tables.flatMap(({ title, heading, rows }) => [
    "",
    ...alignColumns([[title, ...heading.slice(1)], ...rows]),
  ]);
  return [...tables, "", ...found.sentences.flatMap((sentence) => wrap(sentence, 100))];
}

/** A table for every start, a line for every claim: in how many means and in how many runs it held, for each dataset. */
function claimTables(claims: readonly TableRow[]): string[] {
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
