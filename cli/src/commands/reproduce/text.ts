// What a reproduction found, on the terminal.

import { join } from "node:path";
import type { Results } from "@fedkm/experiments";
import { alignColumns, wrap } from "../../table.ts";

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
    `report: ${join(out, "report.html")}`,
  ];
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
