// What the paper claims, sentence by sentence in its own words, and in how many means and single runs each of them holds,
// for every dataset and start.

import type { StartName } from "../cell.ts";
import { isFalling } from "../statistics.ts";
import type { TableRow } from "../table.ts";
import { aggregate } from "./aggregate.ts";

/** A measure of one run, or its mean over the runs. */
type ClaimMeasure = "gcd" | "cv" | "objective_rises" | "recovered_rows";

type Lookup = (measure: ClaimMeasure, method: "fedkm" | "distributed" | "local", at: ClaimSetting) => number;

interface ClaimSetting {
  readonly points: number;
  readonly alpha?: number;
  readonly edgeProbability?: number;
}

interface ClaimFacts {
  /** The figure whose runs it is judged by. */
  readonly figure: number;
  readonly place: string;
  /** A few words, for a narrow table. */
  readonly name: string;
  readonly sentence: string;
  /** What has to be so, in numbers. */
  readonly measured: string;
  readonly datasets?: readonly string[];
  /** Of which it can be judged; all unless said. */
  readonly starts?: readonly StartName[];
  /** One case is enough. */
  readonly judged?: "may";
}

interface SizeClaim extends ClaimFacts {
  /** Judged at every size. */
  readonly holds: (value: Lookup, points: number) => boolean;
}

interface TrendClaim extends ClaimFacts {
  /** Judged once, over all sizes, by Kendall's rank test. */
  readonly falls: (value: Lookup, points: number) => number;
}

type Claim = SizeClaim | TrendClaim;

/** Algorithm 1 at alpha = 1. */
const ours = (value: Lookup, measure: ClaimMeasure, points: number, edgeProbability = 0.7, alpha = 1) =>
  value(measure, "fedkm", { points, alpha, edgeProbability });

const theirs = (value: Lookup, measure: ClaimMeasure, points: number, edgeProbability = 0.7) =>
  value(measure, "distributed", { points, edgeProbability });

const alone = (value: Lookup, points: number) => value("gcd", "local", { points });

/** How many times larger a measure is on the sparse network than on the full one. */
const fromSparseToFull = (of: typeof theirs, value: Lookup, measure: ClaimMeasure, points: number) =>
  of(value, measure, points, 0.4) / of(value, measure, points, 1);

// Where the paper speaks of its figures.
const [first, second] = [1, 2].map((figure) => ({ figure, place: "IV-B" }));
const [third, fourth] = [3, 4].map((figure) => ({ figure, place: "IV-C" }));
const alphaFalls = { ...first, sentence: "increasing alpha progressively reduces GCD" };
const connectivityFalls = { ...third, sentence: "achieves decreasing GCD as connectivity increases" };

const claims: readonly Claim[] = [
  {
    ...alphaFalls,
    name: "GCD falls, alpha 0 to 0.5",
    measured: "GCD at alpha 0.5 below alpha 0",
    holds: (value, m) => ours(value, "gcd", m, 0.7, 0.5) < ours(value, "gcd", m, 0.7, 0),
  },
  {
    ...alphaFalls,
    name: "GCD falls, alpha 0.5 to 1",
    measured: "GCD at alpha 1 below alpha 0.5",
    holds: (value, m) => ours(value, "gcd", m) < ours(value, "gcd", m, 0.7, 0.5),
  },
  {
    ...first,
    name: "nearer to pooled with m",
    sentence: "approaching the centralized solution as local sample size grows",
    measured: "GCD (alpha 1) falls over all sizes by Kendall's test at 5 %",
    falls: (value, m) => ours(value, "gcd", m),
  },
  {
    ...first,
    name: "below distributed",
    sentence:
      "outperforms distributed k-means on the isotropic and heterogeneous-variance datasets with lower GCD on anisotropic data",
    measured: "GCD (alpha 1) below distributed",
    holds: (value, m) => ours(value, "gcd", m) < theirs(value, "gcd", m),
  },
  {
    ...first,
    name: "distributed behind local",
    sentence: "anisotropic data, where distributed k-means may fall behind local k-means",
    measured: "GCD of distributed above local",
    datasets: ["aniso"],
    judged: "may",
    holds: (value, m) => theirs(value, "gcd", m) > alone(value, m),
  },
  {
    ...second,
    name: "CV falls with m",
    sentence: "decreasing cross-node disagreement as local sample size increases",
    measured: "CV (alpha 1) falls over all sizes by Kendall's test at 5 %",
    falls: (value, m) => ours(value, "cv", m),
  },
  {
    ...second,
    name: "distributed: CV rises with m",
    sentence: "whereas distributed k-means exhibits the opposite trend",
    measured: "CV of distributed rises over all sizes by Kendall's test at 5 %",
    falls: (value, m) => -theirs(value, "cv", m),
  },
  {
    ...connectivityFalls,
    name: "GCD falls, p 0.4 to 0.7",
    measured: "GCD at p 0.7 below p 0.4",
    holds: (value, m) => ours(value, "gcd", m) < ours(value, "gcd", m, 0.4),
  },
  {
    ...connectivityFalls,
    name: "GCD falls, p 0.7 to 1",
    measured: "GCD at p 1 below p 0.7",
    holds: (value, m) => ours(value, "gcd", m, 1) < ours(value, "gcd", m),
  },
  {
    ...third,
    name: "best at p = 1",
    sentence: "reaching the best performance under full connectivity across all datasets",
    measured: "GCD at p 1 below p 0.4 and p 0.7",
    holds: (value, m) => ours(value, "gcd", m, 1) < Math.min(ours(value, "gcd", m, 0.4), ours(value, "gcd", m)),
  },
  {
    ...third,
    name: "distributed behind local, p 0.4",
    sentence:
      "unstable behavior, particularly on anisotropic data and under sparse graphs, where it falls behind local k-means",
    measured: "GCD of distributed at p 0.4 above local",
    holds: (value, m) => theirs(value, "gcd", m, 0.4) > alone(value, m),
  },
  {
    ...fourth,
    name: "CV falls with m, p 0.4",
    sentence: "achieves stronger consensus as local sample size increases",
    measured: "CV at p 0.4 falls over all sizes by Kendall's test at 5 %",
    falls: (value, m) => ours(value, "cv", m, 0.4),
  },
  {
    ...fourth,
    name: "CV depends less on p",
    sentence:
      "largely independent of graph connectivity, whereas distributed k-means is highly sensitive to sparse communication",
    measured: "CV at p 0.4 over CV at p 1 is smaller than for distributed",
    holds: (value, m) => fromSparseToFull(ours, value, "cv", m) < fromSparseToFull(theirs, value, "cv", m),
  },
  {
    ...fourth,
    name: "distributed: CV worse, p 0.4",
    sentence: "distributed k-means shows degraded consensus",
    measured: "CV of distributed at p 0.4 above p 1",
    holds: (value, m) => theirs(value, "cv", m, 0.4) > theirs(value, "cv", m, 1),
  },
  {
    figure: 3,
    place: "IV-D",
    name: "adapts to connectivity",
    sentence: "soft coupling allows our method to better adapt to the connectivity of a federated learning network",
    measured: "GCD at p 0.4 over GCD at p 1 is smaller than for distributed",
    holds: (value, m) => fromSparseToFull(ours, value, "gcd", m) < fromSparseToFull(theirs, value, "gcd", m),
  },
  {
    figure: 2,
    place: "IV-D",
    name: "agreement, not exact",
    sentence: "promotes agreement via penalizing GTV, without requiring exact consensus",
    measured: "CV at alpha 1 above 0 and below alpha 0",
    holds: (value, m) => {
      const together = ours(value, "cv", m);
      return together > 0 && together < ours(value, "cv", m, 0.7, 0);
    },
  },
  {
    figure: 1,
    place: "IV-D",
    name: "below local",
    sentence:
      "the results verify the usefulness of GTVMin-based methods; independent k-means performs poorly for small local datasets (I)",
    measured: "GCD (alpha 1) below local",
    holds: (value, m) => ours(value, "gcd", m) < alone(value, m),
  },
  {
    figure: 1,
    place: "III",
    name: "objective never rises",
    sentence: "any iteration of Algorithm 1 can never increase the objective function",
    measured: "no round raises GTVMin (losses divided by m_i) at any alpha",
    holds: (value, m) => [0, 0.5, 1].every((alpha) => ours(value, "objective_rises", m, 0.7, alpha) === 0),
  },
  {
    figure: 3,
    place: "abstract",
    name: "only aggregates are sent",
    sentence: "privacy-friendly, as only aggregated information is exchanged",
    measured: "at p 1 nobody who hears all messages computes a single row, by the attack of the audit",
    starts: ["local", "kmeans++"],
    holds: (value, m) => ours(value, "recovered_rows", m, 1) === 0,
  },
];

/** A row for every claim about the given figures, dataset and start, from the rows of single runs and their means. */
export function judgeClaims(
  runs: readonly TableRow[],
  figures: readonly number[],
  aggregated: readonly TableRow[] = aggregate(runs),
): TableRow[] {
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
          datasets
            .filter((dataset) => claim.datasets?.includes(dataset.split(":")[0]) ?? true)
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
    recovered_rows: row.recovered_rows_mean,
  };
}

/** Rows of one start and dataset, to be looked up by what they are about; sizes in rising order. */
function indexOf(rows: readonly TableRow[]) {
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
      (run: TableRow[string]): Lookup =>
      (measure, method, { points, alpha, edgeProbability }) =>
        Number(found.get(key(run, method, points, alpha ?? "-", edgeProbability ?? "-"))?.[measure] ?? Number.NaN),
  };
}

/** In how many runs, at how many sizes each or over all of them, a claim holds. */
function count(claim: Claim, { runs, sizes, valueIn }: ReturnType<typeof indexOf>): { held: number; of: number } {
  const found = runs.flatMap((run) => {
    const value = valueIn(run);
    if ("holds" in claim) return sizes.map((points) => claim.holds(value, points));
    return isFalling(sizes.map((points) => claim.falls(value, points))) ?? [];
  });
  return { held: found.filter(Boolean).length, of: found.length };
}

function distinct(rows: readonly TableRow[], column: string) {
  return [...new Set(rows.map((row) => row[column]))];
}

/** The paper's figures show means, so that its claims are about means; it states no share of them as enough. */
function verdict({ judged }: Claim, { held, of }: { held: number; of: number }): string {
  if (of === 0) return "too few sizes";
  if (judged === "may") return held > 0 ? "it happens" : "not seen";
  if (held === of) return "holds";
  if (held === 0) return "does not hold";
  return held > of / 2 ? "mostly" : "in part";
}
