// What a reproduction leaves behind: tables, pictures, a report and a few lines on the terminal, all from the rows' CSV.

import { join } from "node:path";
import {
  aggregate,
  aggregateColumns,
  agreementColumns,
  claimColumns,
  compareWithStudy,
  drawPanelGrid,
  judgeClaims,
  type Plan,
  parseCsv,
  renderReport,
  type TableRow,
  toCsv,
} from "@fedkm/experiments";
import { toPdf, toPng } from "@fedkm/pictures/node";
import type { Console } from "../../console.ts";
import { alignColumns } from "../../table.ts";
import { writeFolder } from "../../write.ts";

export interface Results {
  readonly plan: Plan;
  /** Of single runs. */
  readonly csv: string;
  readonly manifest: { readonly what: string; readonly runs: number; readonly seed: number; readonly cells: number };
  readonly out: string;
  readonly workers: number;
  readonly seconds: number;
  readonly json: boolean;
}

export async function writeResults(results: Results, stdout: Console["stdout"]): Promise<void> {
  const { plan, csv, manifest, out, workers, seconds, json } = results;
  const runs = parseCsv(csv);
  const aggregated = aggregate(runs);
  const claims = judgeClaims(runs, plan.figures);
  // A median of fewer runs says too little.
  const agreement = plan.figures.length > 0 && manifest.runs >= 10 ? compareWithStudy(aggregated) : [];
  const pictures = plan.pictures.map(({ name, grid }) => ({ name, svg: drawPanelGrid(aggregated, grid) }));
  const effort = `${manifest.cells} cells in ${seconds.toFixed(1)} s with ${workers} ${workers === 1 ? "worker" : "workers"}, seed ${manifest.seed}.`;
  const report = renderReport({
    title: `fedkm reproduce ${manifest.what}`,
    effort,
    claims,
    agreement,
    aggregated,
    pictures: pictures.map(({ svg }) => svg),
    manifest,
  });
  const files = new Map<string, string | Uint8Array>([
    ["runs.csv", csv],
    ["aggregated.csv", toCsv(aggregateColumns, aggregated)],
    ...(claims.length > 0 ? [["claims.csv", toCsv(claimColumns, claims)] as const] : []),
    ...(agreement.length > 0 ? [["agreement.csv", toCsv(agreementColumns, agreement)] as const] : []),
    ["manifest.json", `${JSON.stringify(manifest, undefined, 2)}\n`],
    ...pictures.flatMap(({ name, svg }): [string, string | Uint8Array][] => [
      [`${name}.svg`, svg],
      [`${name}.png`, toPng(svg)],
      [`${name}.pdf`, toPdf(svg)],
    ]),
    ["report.html", report],
  ]);
  await writeFolder(out, async (put) => {
    for (const [name, content] of files) await put(name, content);
  });
  const agreeing = agreement.filter(({ agrees }) => agrees === 1).length;
  if (json) {
    const summary = {
      ...manifest,
      seconds,
      claims,
      agreement: { agreeing, of: agreement.length },
      files: [...files.keys()],
    };
    stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
    return;
  }
  const lines = [
    effort,
    ...(claims.length > 0 ? ["", ...claimTable(claims)] : []),
    ...(agreement.length > 0
      ? ["", `${agreeing} of ${agreement.length} cells agree with an independent implementation (agreement.csv)`]
      : []),
    "",
    `report: ${join(out, "report.html")}`,
  ];
  stdout.write(`${lines.join("\n")}\n`);
}

/** One line for every claim: in how many of a hundred runs it held, for each start and dataset. */
function claimTable(claims: readonly TableRow[]): string[] {
  const starts = [...new Set(claims.map(({ start }) => String(start)))];
  const datasets = [...new Set(claims.map(({ dataset }) => String(dataset)))];
  const rows = [...new Set(claims.map(({ name }) => String(name)))].map((name) => {
    const held = starts.flatMap((start) =>
      datasets.map((dataset) => {
        const row = claims.find((one) => one.name === name && one.start === start && one.dataset === dataset);
        return row === undefined ? "" : `${Math.round((100 * Number(row.runs_held)) / Number(row.runs))} %`;
      }),
    );
    return [name, ...held];
  });
  const first = starts.flatMap((start) => datasets.map((_, i) => (i === 0 ? start : "")));
  return alignColumns([
    ["start:", ...first],
    ["claim, held in so many runs", ...starts.flatMap(() => datasets)],
    ...rows,
  ]);
}
