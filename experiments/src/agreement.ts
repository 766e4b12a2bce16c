// Our medians beside those of an independent implementation, for the starts that it was run from.

import { readFileSync } from "node:fs";
import type { StartName } from "./cell.ts";
import { parseCsv, type TableRow } from "./table.ts";

export const agreementColumns = [
  "start",
  "measure",
  "dataset",
  "method",
  "alpha",
  "edge_probability",
  "points_per_device",
  "median",
  "their_median",
  "ratio",
  "allowed_factor",
  "wrong_percent",
  "their_wrong_percent",
  "agrees",
] as const;

type AgreementRow = TableRow<(typeof agreementColumns)[number]>;

/** Its tables, by start. From the dependable start it was not run, so that nothing is compared. */
const tables: readonly (readonly [start: StartName, file: string])[] = [
  ["authors", "study-authors.csv"],
  ["raw", "study.csv"],
];

/** Two medians below this are both rounding, whatever their ratio. */
const ROUNDING = 1e-26;

/** A row for every cell and measure that both have from one start: five of the sixteen sizes, ten runs on their side. */
export function compareWithStudy(aggregated: readonly TableRow[]): AgreementRow[] {
  const cells = aggregated.filter(({ study }) => study === "figures");
  return tables.flatMap(([start, file]) => {
    if (!cells.some((row) => row.start === start)) return [];
    const own = cells.filter((row) => row.start === start || row.start === null);
    const facts = parseCsv(readFileSync(new URL(`../data/${file}`, import.meta.url), "utf8"));
    return facts.flatMap((fact) => {
      const ours = own.find((row) => isSameCell(row, fact));
      if (ours === undefined) return [];
      return (["gcd", "cv"] as const)
        .filter((measure) => typeof fact[`median_${measure}`] === "number")
        .map((measure) => compared(start, measure, ours, fact));
    });
  });
}

function compared(start: StartName, measure: "gcd" | "cv", ours: TableRow, fact: TableRow): AgreementRow {
  const { dataset, method, alpha, edge_probability, points_per_device } = fact;
  const [median, theirs] = [Number(ours[`${measure}_median`]), Number(fact[`median_${measure}`])];
  const ratio = median / theirs;
  // Overlapping clusters have neighbouring optima, and a median of ten knows less there.
  const allowed = dataset === "iso" ? 2 : 3;
  const isRounding = Math.max(median, theirs) < ROUNDING;
  return {
    start,
    measure,
    dataset,
    method,
    alpha,
    edge_probability,
    points_per_device,
    median,
    their_median: theirs,
    ratio,
    allowed_factor: allowed,
    wrong_percent: ours.wrong_percent,
    their_wrong_percent: fact.wrong_percent,
    agrees: isRounding || (ratio <= allowed && ratio >= 1 / allowed) ? 1 : 0,
  };
}

/** How many rows agree, for each start and method. */
export function countAgreement(rows: readonly AgreementRow[]) {
  const found = new Map<string, { start: string; method: string; agreeing: number; of: number }>();
  for (const row of rows) {
    const [start, method] = [String(row.start), String(row.method)];
    const known = found.get(`${start} ${method}`) ?? { start, method, agreeing: 0, of: 0 };
    found.set(`${start} ${method}`, { ...known, agreeing: known.agreeing + Number(row.agrees), of: known.of + 1 });
  }
  return [...found.values()];
}

function isSameCell(row: TableRow, fact: TableRow): boolean {
  return (
    row.dataset === fact.dataset &&
    row.method === fact.method &&
    row.points_per_device === fact.points_per_device &&
    row.alpha === fact.alpha &&
    (row.method === "local" || row.edge_probability === fact.edge_probability)
  );
}
