// What a reproduction found, in lines for a terminal.

import { join } from "node:path";
import { alignColumns, wrap } from "@fedkm/pictures/terminal";
import type { Results } from "./results.ts";

/** `out` is the folder of its files. */
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
