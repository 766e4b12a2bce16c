// Our tables against those of an independent implementation: medians of GCD, and the share of wrong devices.

import { readFileSync } from "node:fs";
import { parseCsv, type TableRow } from "./table.ts";

export const agreementColumns = [
  "dataset",
  "method",
  "alpha",
  "edge_probability",
  "points_per_device",
  "gcd_median",
  "their_gcd_median",
  "ratio",
  "allowed_factor",
  "wrong_percent",
  "their_wrong_percent",
  "agrees",
] as const;

/** Wrong devices may differ by this many points of a hundred. */
const WRONG_POINTS = 15;

/** One row for every cell that both have: the paper's start, five of the sixteen sizes, ten runs on their side. */
export function compareWithStudy(aggregated: readonly TableRow[]): TableRow<(typeof agreementColumns)[number]>[] {
  const theirs = parseCsv(readFileSync(new URL("../data/study.csv", import.meta.url), "utf8"));
  return theirs.flatMap((fact) => {
    const ours = aggregated.find(
      (row) => row.study === "figures" && row.start !== "dependable" && isSameCell(row, fact),
    );
    if (ours === undefined) return [];
    const { dataset, method, alpha, edge_probability, points_per_device } = fact;
    const ratio = Number(ours.gcd_median) / Number(fact.median_gcd);
    // Overlapping clusters have neighbouring optima, and a median of ten knows less there.
    const allowed = dataset === "iso" ? 2 : 3;
    const apart = Math.abs(Number(ours.wrong_percent) - Number(fact.wrong_percent));
    return {
      dataset,
      method,
      alpha,
      edge_probability,
      points_per_device,
      gcd_median: ours.gcd_median,
      their_gcd_median: fact.median_gcd,
      ratio,
      allowed_factor: allowed,
      wrong_percent: ours.wrong_percent,
      their_wrong_percent: fact.wrong_percent,
      agrees: ratio <= allowed && ratio >= 1 / allowed && apart <= WRONG_POINTS ? 1 : 0,
    };
  });
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
