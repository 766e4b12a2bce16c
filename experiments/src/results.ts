// What a reproduction leaves behind, all from the rows' CSV: tables, pictures, a report, and what they say in numbers.

import { toPdf, toPng } from "@fedkm/pictures/node";
import { aggregate, aggregateColumns } from "./aggregate.ts";
import { type AgreementCount, agreementColumns, compareWithStudy, countAgreement } from "./agreement.ts";
import { claimColumns, judgeClaims } from "./claims.ts";
import { type Personalisation, personalisationOf } from "./personalisation.ts";
import { drawPicture } from "./picture/panels.ts";
import { latexTable, pgfplotsTable } from "./picture/tables.ts";
import { certifiedLine, renderReport, type WatchedRun } from "./report.ts";
import type { Plan } from "./studies/plan.ts";
import { parseCsv, type TableRow, toCsv } from "./table.ts";

/** What was asked of the pictures. */
export interface ResultsLook {
  readonly summary?: "mean" | "median" | undefined;
  readonly titles: boolean;
}

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

export interface Results {
  readonly manifest: FinishedRuns["manifest"];
  readonly seconds: number;
  /** What was run and how long it took, as a sentence. */
  readonly effort: string;
  readonly certified: string | undefined;
  readonly claims: readonly TableRow[];
  readonly personalisation: Personalisation | undefined;
  readonly agreement: readonly AgreementCount[];
  readonly watched: readonly WatchedRun[];
  /** Their contents by name, for a folder. */
  readonly files: ReadonlyMap<string, string | Uint8Array>;
}

/** `watch` names the runs that can be watched, and the commands for that. */
export function resultsOf(
  { plan, measures, csv, manifest, workers, seconds }: FinishedRuns,
  look: ResultsLook,
  watch: (runs: readonly TableRow[]) => readonly WatchedRun[] = () => [],
): Results {
  const runs = parseCsv(csv);
  const aggregated = aggregate(runs, measures);
  const claims = judgeClaims(runs, plan.figures, aggregated);
  // A median of fewer runs says too little.
  const agreement = plan.figures.length > 0 && manifest.runs >= 10 ? compareWithStudy(aggregated, runs) : [];
  const pictures = plan.pictures.map(({ name, grid }) => {
    const { summary = grid.summary, titles } = look;
    return {
      name,
      svg: drawPicture(aggregated, grid, { summary, titles }),
      csv: pgfplotsTable(aggregated, grid, summary),
      tex: latexTable(aggregated, grid, summary),
    };
  });
  const effort = `${manifest.cells} cells in ${seconds.toFixed(1)} s with ${workers} ${workers === 1 ? "worker" : "workers"}, seed ${manifest.seed}.`;
  const certified = certifiedLine(runs);
  const personalisation = personalisationOf(aggregated);
  const watched = watch(runs);
  const report = renderReport({
    title: `fedkm reproduce ${manifest.what}`,
    effort,
    certified,
    claims,
    agreement,
    aggregated,
    personalisation,
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
  const counts = countAgreement(agreement);
  return { manifest, seconds, effort, certified, claims, personalisation, agreement: counts, watched, files };
}
