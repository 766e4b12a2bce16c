// In how many means over the runs, and in how many single runs, each claim of the paper is so, for every dataset and start.

import { aggregate } from "../aggregate.ts";
import type { StartName } from "../cell.ts";
import type { TableRow } from "../table.ts";
import { type Claim, claims, type Lookup } from "./sentences.ts";

export const claimColumns = [
  "figure",
  "section",
  "name",
  "claim",
  "measured",
  "dataset",
  "start",
  "means_held",
  "means",
  "runs_held",
  "runs",
  "verdict",
] as const;

/** A row for every claim about the given figures, dataset and start, from the rows of single runs and their means. */
export function judgeClaims(
  runs: readonly TableRow[],
  figures: readonly number[],
  aggregated: readonly TableRow[] = aggregate(runs),
): TableRow<(typeof claimColumns)[number]>[] {
  const [cells, averages] = [runs, aggregated].map((rows) => rows.filter(({ study }) => study === "figures"));
  const starts = distinct(cells, "start").filter((start): start is StartName => start !== null);
  const datasets = distinct(cells, "dataset").map(String);
  const means = averages.map(asRun);
  // Made once for all claims about the same rows.
  const indexes = new Map(
    starts.flatMap((start) =>
      datasets.map((dataset) => {
        const own = (row: TableRow) => row.dataset === dataset && (row.start === start || row.start === null);
        return [`${start} ${dataset}`, [cells, means].map((rows) => indexOf(rows.filter(own)))] as const;
      }),
    ),
  );
  return claims
    .filter(({ figure }) => figures.includes(figure))
    .flatMap((claim) =>
      (claim.starts ?? starts)
        .filter((start) => starts.includes(start))
        .flatMap((start) =>
          (claim.datasets ?? datasets)
            .filter((dataset) => datasets.includes(dataset))
            .map((dataset) => {
              const [inRuns, inMeans] = (indexes.get(`${start} ${dataset}`) ?? []).map((index) => count(claim, index));
              return {
                figure: claim.figure,
                section: claim.place,
                name: claim.name,
                claim: claim.sentence,
                measured: claim.measured,
                dataset,
                start,
                means_held: inMeans.held,
                means: inMeans.of,
                runs_held: inRuns.held,
                runs: inRuns.of,
                verdict: verdict(claim, inMeans),
              };
            }),
        ),
    );
}

/** The means of a cell as if they were one run. */
function asRun(row: TableRow): TableRow {
  return {
    ...row,
    run: 0,
    gcd: row.gcd_mean,
    cv: row.cv_mean,
    recovered_clusters: row.recovered_clusters_mean,
  };
}

/** Rows of one start and dataset, to be looked up by what they are about. */
interface RowIndex {
  readonly runs: readonly TableRow[string][];
  /** In rising order. */
  readonly sizes: readonly number[];
  readonly valueIn: (run: TableRow[string]) => Lookup;
}

function indexOf(rows: readonly TableRow[]): RowIndex {
  const key = (...parts: readonly unknown[]) => parts.join(" ");
  const found = new Map(
    rows.map((row) => [
      key(
        row.run,
        row.method,
        row.points_per_device,
        row.alpha ?? "-",
        row.method === "local" ? "-" : row.edge_probability,
      ),
      row,
    ]),
  );
  return {
    runs: distinct(rows, "run"),
    sizes: distinct(rows, "points_per_device")
      .map(Number)
      .sort((a, b) => a - b),
    valueIn:
      (run) =>
      (measure, method, { points, alpha, edgeProbability }) =>
        Number(found.get(key(run, method, points, alpha ?? "-", edgeProbability ?? "-"))?.[measure] ?? Number.NaN),
  };
}

/** In how many runs, at how many sizes each, a claim holds. */
function count({ across, holds }: Claim, { runs, sizes, valueIn }: RowIndex): { held: number; of: number } {
  const largest = sizes[sizes.length - 1];
  let [held, of] = [0, 0];
  for (const run of runs) {
    const value = valueIn(run);
    for (const points of across === "sizes" ? sizes.slice(0, 1) : sizes) {
      of++;
      if (holds(value, points, largest)) held++;
    }
  }
  return { held, of };
}

function distinct(rows: readonly TableRow[], column: string) {
  return [...new Set(rows.map((row) => row[column]))];
}

/** The paper's figures show means, so that its claims are about means; it states no share of them as enough. */
function verdict({ judged }: Claim, { held, of }: { held: number; of: number }): string {
  if (judged === "may") return held > 0 ? "it happens" : "not seen";
  if (held === of) return "holds";
  if (judged === "worded") return "not as worded";
  if (held === 0) return "does not hold";
  return held > of / 2 ? "mostly" : "in part";
}
