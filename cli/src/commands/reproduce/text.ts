// What a reproduction found, on the terminal.

import { join } from "node:path";
import type { Results, TableRow, WatchedRun } from "@fedkm/experiments";
import { playgroundState, type Setup } from "@fedkm/web";
import { alignColumns, wrap } from "../../table.ts";

/**
 * Runs that the playground can show, with the same data, network, start and updates, so the same centroids. One run of each data set and start: that whose alpha is nearest to 1, then with the most points.
 */
export function reproduceWatchCommands(runs: readonly TableRow[]): WatchedRun[] {
  const found = new Map<string, TableRow>();
  for (const row of runs) {
    if (setupOf(row) === undefined) continue;
    const key = `${row.dataset} ${row.start}`;
    const known = found.get(key);
    if (known === undefined || isBetter(row, known)) found.set(key, row);
  }
  return [...found.values()].map((row) => ({
    dataset: String(row.dataset),
    start: String(row.start),
    shows: `run ${row.run}, alpha ${row.alpha}, ${row.points_per_device} points each, links with probability ${row.edge_probability}`,
    command: `fedkm playground '${playgroundState(setupOf(row) as Partial<Setup>)}'`,
  }));
}

function isBetter(row: TableRow, known: TableRow): boolean {
  const fromOne = ({ alpha }: TableRow) => Math.abs(Math.log(Number(alpha)));
  if (fromOne(row) !== fromOne(known)) return fromOne(row) < fromOne(known);
  return Number(row.points_per_device) > Number(known.points_per_device);
}

/** Undefined: the playground has no such data, network, method or updates. */
function setupOf(row: TableRow): Partial<Setup> | undefined {
  const data = (["iso", "var", "aniso"] as const).find((name) => name === row.dataset);
  const start = (["local", "kmeans++", "auto"] as const).find((name) => name === row.start);
  const isKnown = row.method === "fedkm" && row.settings === null && row.network === "er" && row.split === null;
  if (data === undefined || start === undefined || !isKnown || typeof row.edge_probability !== "number")
    return undefined;
  return {
    data,
    start,
    preset: start === "auto" ? "dependable" : "paper",
    devices: Number(row.devices),
    points: Number(row.points_per_device),
    graph: "er",
    density: row.edge_probability,
    k: Number(row.k),
    alpha: Number(row.alpha),
    seed: Number(row.seed),
  };
}

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
