// What section IV of the paper claims, and in how many runs it is so: counted, for each dataset and start.

import { aggregate } from "./aggregate.ts";
import type { StartName } from "./cell.ts";
import type { TableRow } from "./table.ts";

export const claimColumns = [
  "figure",
  "name",
  "claim",
  "dataset",
  "start",
  "runs_held",
  "runs",
  "means_held",
  "means",
  "verdict",
] as const;

/** The value of a measure at some cell: of one run, or the mean over the runs. */
type Lookup = (measure: "gcd" | "cv", method: "fedkm" | "distributed" | "local", at: Place) => number;

interface Place {
  readonly points: number;
  readonly alpha?: number;
  readonly edgeProbability?: number;
}

interface Claim {
  readonly figure: number;
  /** A few words, for a narrow table. */
  readonly name: string;
  readonly text: string;
  readonly datasets?: readonly string[];
  /** Judged at every size, or once from the smallest to the largest. */
  readonly across?: "sizes";
  /** The paper says "may": one case is enough. */
  readonly may?: true;
  readonly holds: (value: Lookup, points: number, largest: number) => boolean;
}

const fedkm = (value: Lookup, measure: "gcd" | "cv", points: number, alpha: number, edgeProbability = 0.7) =>
  value(measure, "fedkm", { points, alpha, edgeProbability });

const distributed = (value: Lookup, measure: "gcd" | "cv", points: number, edgeProbability = 0.7) =>
  value(measure, "distributed", { points, edgeProbability });

const claims: readonly Claim[] = [
  {
    figure: 1,
    name: "GCD falls with alpha",
    text: "GCD falls as alpha grows (0 > 0.5 > 1)",
    holds: (value, m) =>
      fedkm(value, "gcd", m, 0) > fedkm(value, "gcd", m, 0.5) &&
      fedkm(value, "gcd", m, 0.5) > fedkm(value, "gcd", m, 1),
  },
  {
    figure: 1,
    name: "nearer to pooled with m",
    text: "Algorithm 1 (alpha 1) approaches the pooled solution as the sample grows: GCD lower at the largest size than at the smallest",
    across: "sizes",
    holds: (value, m, largest) => fedkm(value, "gcd", largest, 1) < fedkm(value, "gcd", m, 1),
  },
  {
    figure: 1,
    name: "below distributed",
    text: "Algorithm 1 (alpha 1) has a lower GCD than distributed k-means",
    holds: (value, m) => fedkm(value, "gcd", m, 1) < distributed(value, "gcd", m),
  },
  {
    figure: 1,
    name: "distributed behind local",
    text: "Distributed k-means may fall behind local k-means on aniso data",
    datasets: ["aniso"],
    may: true,
    holds: (value, m) => distributed(value, "gcd", m) > value("gcd", "local", { points: m }),
  },
  {
    figure: 2,
    name: "CV falls with m",
    text: "CV of Algorithm 1 (alpha 1) falls as the sample grows: lower at the largest size than at the smallest",
    across: "sizes",
    holds: (value, m, largest) => fedkm(value, "cv", largest, 1) < fedkm(value, "cv", m, 1),
  },
  {
    figure: 2,
    name: "distributed: CV rises with m",
    text: "CV of distributed k-means rises as the sample grows: higher at the largest size than at the smallest",
    across: "sizes",
    holds: (value, m, largest) => distributed(value, "cv", largest) > distributed(value, "cv", m),
  },
  {
    figure: 3,
    name: "GCD falls with p",
    text: "GCD of Algorithm 1 falls as connectivity grows (p 0.4 > 0.7 > 1)",
    holds: (value, m) =>
      fedkm(value, "gcd", m, 1, 0.4) > fedkm(value, "gcd", m, 1, 0.7) &&
      fedkm(value, "gcd", m, 1, 0.7) > fedkm(value, "gcd", m, 1, 1),
  },
  {
    figure: 3,
    name: "best at p = 1",
    text: "Algorithm 1 is best under full connectivity",
    holds: (value, m) =>
      fedkm(value, "gcd", m, 1, 1) < Math.min(fedkm(value, "gcd", m, 1, 0.4), fedkm(value, "gcd", m, 1, 0.7)),
  },
  {
    figure: 3,
    name: "distributed behind local, p 0.4",
    text: "Distributed k-means falls behind local k-means on sparse graphs (p 0.4)",
    holds: (value, m) => distributed(value, "gcd", m, 0.4) > value("gcd", "local", { points: m }),
  },
  {
    figure: 4,
    name: "CV falls with m, p 0.4",
    text: "Consensus of Algorithm 1 grows with the sample on sparse graphs too (p 0.4: CV lower at the largest size)",
    across: "sizes",
    holds: (value, m, largest) => fedkm(value, "cv", largest, 1, 0.4) < fedkm(value, "cv", m, 1, 0.4),
  },
  {
    figure: 4,
    name: "CV independent of p",
    text: "CV of Algorithm 1 is largely independent of connectivity (within a factor 2 from p 0.4 to 1)",
    holds: (value, m) => {
      const [sparse, full] = [fedkm(value, "cv", m, 1, 0.4), fedkm(value, "cv", m, 1, 1)];
      return Math.max(sparse, full) <= 2 * Math.min(sparse, full);
    },
  },
  {
    figure: 4,
    name: "distributed: CV worse, p 0.4",
    text: "Consensus of distributed k-means degrades on sparse graphs (CV higher at p 0.4 than at 1)",
    holds: (value, m) => distributed(value, "cv", m, 0.4) > distributed(value, "cv", m, 1),
  },
];

/** A row for every claim about the given figures, dataset and start, from the rows of single runs. */
export function judgeClaims(
  runs: readonly TableRow[],
  figures: readonly number[],
): TableRow<(typeof claimColumns)[number]>[] {
  const cells = runs.filter(({ study }) => study === "figures");
  const starts = distinct(cells, "start").filter((start): start is StartName => start !== null);
  const datasets = distinct(cells, "dataset").map(String);
  const means = aggregate(cells).map((row) => ({ ...row, run: 0, gcd: row.gcd_mean, cv: row.cv_mean }));
  return claims
    .filter(({ figure }) => figures.includes(figure))
    .flatMap((claim) =>
      starts.flatMap((start) =>
        (claim.datasets ?? datasets)
          .filter((dataset) => datasets.includes(dataset))
          .map((dataset) => {
            const own = (row: TableRow) => row.dataset === dataset && (row.start === start || row.start === null);
            const [inRuns, inMeans] = [cells, means].map((rows) => count(claim, rows.filter(own)));
            return {
              figure: claim.figure,
              name: claim.name,
              claim: claim.text,
              dataset,
              start,
              runs_held: inRuns.held,
              runs: inRuns.of,
              means_held: inMeans.held,
              means: inMeans.of,
              verdict: verdict(claim, inRuns),
            };
          }),
      ),
    );
}

/** In how many runs, at how many sizes each, a claim holds. */
function count({ across, holds }: Claim, rows: readonly TableRow[]): { held: number; of: number } {
  const key = (...parts: readonly unknown[]) => parts.join(" ");
  const index = new Map(
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
  const sizes = distinct(rows, "points_per_device")
    .map(Number)
    .sort((a, b) => a - b);
  const largest = sizes[sizes.length - 1];
  let [held, of] = [0, 0];
  for (const run of distinct(rows, "run")) {
    const value: Lookup = (measure, method, { points, alpha, edgeProbability }) =>
      Number(index.get(key(run, method, points, alpha ?? "-", edgeProbability ?? "-"))?.[measure] ?? Number.NaN);
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

function verdict({ may }: Claim, { held, of }: { held: number; of: number }): string {
  if (may) return held > 0 ? "it happens" : "not seen";
  const share = held / of;
  if (share >= 0.95) return "holds";
  if (share >= 0.75) return "mostly";
  return share >= 0.25 ? "in part" : "does not hold";
}
