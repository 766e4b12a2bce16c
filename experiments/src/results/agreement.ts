// Our medians beside those of an independent implementation, for the starts that it was run from.

import { readFileSync } from "node:fs";
import type { StartName } from "../cell.ts";
import { groupCells, parseCsv, type TableRow } from "../table.ts";

/** Its columns are in the order of the CSV. */
export type AgreementRow = TableRow<keyof ReturnType<typeof comparedMedians>>;

/** The starts that it was run from; each has a table. */
const theirStarts: readonly StartName[] = ["local", "kmeans++"];

/** Two medians below this are both rounding, so that they say nothing of each other. */
const ROUNDING = 1e-26;

/**
 * A row for every cell and measure that both have from one start: five of the sixteen sizes, ten runs on their side.
 * factor: the medians are compared. range: half of our runs lie further apart than the factor, so that a median of ten
 * is not known that well; what can be asked is whether their median lies among our runs. rounding: nothing is asked.
 */
export function agreementRows(aggregated: readonly TableRow[], runs: readonly TableRow[]): AgreementRow[] {
  const isFigure = ({ study }: TableRow) => study === "figures";
  const [cells, singles] = [aggregated.filter(isFigure), runs.filter(isFigure)];
  return theirStarts.flatMap((start) => {
    if (!cells.some((row) => row.start === start)) return [];
    const isOwn = (row: TableRow) => row.start === start || row.start === null;
    const [own, ownRuns] = [cells.filter(isOwn), singles.filter(isOwn)];
    const facts = parseCsv(readFileSync(new URL(`../../data/study-${start}.csv`, import.meta.url), "utf8"));
    return facts.flatMap((fact) => {
      const ours = own.find((row) => isSameCell(row, fact));
      if (ours === undefined) return [];
      const inCell = ownRuns.filter((row) => isSameCell(row, fact));
      return (["gcd", "cv"] as const)
        .filter((measure) => typeof fact[`median_${measure}`] === "number")
        .map((measure) => {
          const values = inCell.map((row) => Number(row[measure]));
          return comparedMedians(start, measure, ours, fact, [Math.min(...values), Math.max(...values)]);
        });
    });
  });
}

function comparedMedians(
  start: StartName,
  measure: "gcd" | "cv",
  ours: TableRow,
  fact: TableRow,
  [lowest, highest]: readonly [number, number],
) {
  const { dataset, method, alpha, edge_probability, points_per_device } = fact;
  const [median, theirs] = [Number(ours[`${measure}_median`]), Number(fact[`median_${measure}`])];
  const [lower, upper] = [Number(ours[`${measure}_lower_quartile`]), Number(ours[`${measure}_upper_quartile`])];
  const ratio = median / theirs;
  // Overlapping clusters have neighbouring optima, and a median of ten knows less there.
  const allowed = dataset === "iso" ? 2 : 3;
  const isKnown = upper <= allowed * lower;
  const judgedBy = Math.max(median, theirs) < ROUNDING ? "rounding" : isKnown ? "factor" : "range";
  const isWithin = isKnown ? ratio <= allowed && ratio >= 1 / allowed : theirs >= lowest && theirs <= highest;
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
    lower_quartile: lower,
    upper_quartile: upper,
    lowest_run: lowest,
    highest_run: highest,
    wrong_percent: ours.wrong_percent,
    their_wrong_percent: fact.wrong_percent,
    judged_by: judgedBy,
    agrees: judgedBy === "rounding" ? null : isWithin ? 1 : 0,
  };
}

/** For each start and method how many cells were asked what, and how many of them agree. */
export function agreementSummary(rows: readonly AgreementRow[]) {
  return groupCells(rows, ({ start, method }) => `${start} ${method}`).map((own) => {
    const by = (judge: string) => own.filter((row) => row.judged_by === judge);
    const agreeing = (some: readonly AgreementRow[]) => some.filter(({ agrees }) => agrees === 1).length;
    return {
      start: String(own[0].start),
      method: String(own[0].method),
      // Of those whose medians are compared, and of those that are spread too widely for that.
      agreeing: agreeing(by("factor")),
      of: by("factor").length,
      inRange: agreeing(by("range")),
      spread: by("range").length,
      rounding: by("rounding").length,
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
