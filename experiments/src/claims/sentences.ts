// What the paper claims, sentence by sentence in its own words, and what has to be so for each in the rows of a run.

import type { StartName } from "../cell.ts";

/** A measure of one run, or its mean over the runs. */
type ClaimMeasure = "gcd" | "cv" | "objective_rises" | "recovered_clusters";

/** The value at some cell. */
export type Lookup = (measure: ClaimMeasure, method: "fedkm" | "distributed" | "local", at: Place) => number;

interface Place {
  readonly points: number;
  readonly alpha?: number;
  readonly edgeProbability?: number;
}

export interface Claim {
  /** The figure whose runs it is judged by. */
  readonly figure: number;
  /** Where the paper says it. */
  readonly place: string;
  /** A few words, for a narrow table. */
  readonly name: string;
  readonly sentence: string;
  /** What has to be so, in numbers. */
  readonly measured: string;
  readonly datasets?: readonly string[];
  /** Of which it can be judged; all unless said. */
  readonly starts?: readonly StartName[];
  /** Judged at every size, or once from the smallest to the largest. */
  readonly across?: "sizes";
  /** may: one case is enough. worded: what is refuted is the wording, and one case is enough for that. */
  readonly judged?: "may" | "worded";
  readonly holds: (value: Lookup, points: number, largest: number) => boolean;
}

/** Algorithm 1 at alpha = 1. */
const ours = (value: Lookup, measure: ClaimMeasure, points: number, edgeProbability = 0.7, alpha = 1) =>
  value(measure, "fedkm", { points, alpha, edgeProbability });

const theirs = (value: Lookup, measure: ClaimMeasure, points: number, edgeProbability = 0.7) =>
  value(measure, "distributed", { points, edgeProbability });

const alone = (value: Lookup, points: number) => value("gcd", "local", { points });

/** How many times larger a measure is on the sparse network than on the full one. */
const fromSparseToFull = (of: typeof theirs, value: Lookup, measure: ClaimMeasure, points: number) =>
  of(value, measure, points, 0.4) / of(value, measure, points, 1);

const alphaFalls = {
  figure: 1,
  place: "IV-B",
  sentence: "increasing alpha progressively reduces GCD",
} as const;

const connectivityFalls = {
  figure: 3,
  place: "IV-C",
  sentence: "achieves decreasing GCD as connectivity increases",
} as const;

export const claims: readonly Claim[] = [
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
    figure: 1,
    place: "IV-B",
    name: "nearer to pooled with m",
    sentence: "approaching the centralized solution as local sample size grows",
    measured: "GCD (alpha 1) at the largest size below the smallest",
    across: "sizes",
    holds: (value, m, largest) => ours(value, "gcd", largest) < ours(value, "gcd", m),
  },
  {
    figure: 1,
    place: "IV-B",
    name: "below distributed",
    sentence:
      "outperforms distributed k-means on the isotropic and heterogeneous-variance datasets with lower GCD on anisotropic data",
    measured: "GCD (alpha 1) below distributed",
    holds: (value, m) => ours(value, "gcd", m) < theirs(value, "gcd", m),
  },
  {
    figure: 1,
    place: "IV-B",
    name: "distributed behind local",
    sentence: "anisotropic data, where distributed k-means may fall behind local k-means",
    measured: "GCD of distributed above local",
    datasets: ["aniso"],
    judged: "may",
    holds: (value, m) => theirs(value, "gcd", m) > alone(value, m),
  },
  {
    figure: 2,
    place: "IV-B",
    name: "CV falls with m",
    sentence: "decreasing cross-node disagreement as local sample size increases",
    measured: "CV (alpha 1) at the largest size below the smallest",
    across: "sizes",
    holds: (value, m, largest) => ours(value, "cv", largest) < ours(value, "cv", m),
  },
  {
    figure: 2,
    place: "IV-B",
    name: "distributed: CV rises with m",
    sentence: "whereas distributed k-means exhibits the opposite trend",
    measured: "CV of distributed at the largest size above the smallest",
    across: "sizes",
    holds: (value, m, largest) => theirs(value, "cv", largest) > theirs(value, "cv", m),
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
    figure: 3,
    place: "IV-C",
    name: "best at p = 1",
    sentence: "reaching the best performance under full connectivity across all datasets",
    measured: "GCD at p 1 below p 0.4 and p 0.7",
    holds: (value, m) => ours(value, "gcd", m, 1) < Math.min(ours(value, "gcd", m, 0.4), ours(value, "gcd", m)),
  },
  {
    figure: 3,
    place: "IV-C",
    name: "distributed behind local, p 0.4",
    sentence:
      "unstable behavior, particularly on anisotropic data and under sparse graphs, where it falls behind local k-means",
    measured: "GCD of distributed at p 0.4 above local",
    holds: (value, m) => theirs(value, "gcd", m, 0.4) > alone(value, m),
  },
  {
    figure: 4,
    place: "IV-C",
    name: "CV falls with m, p 0.4",
    sentence: "achieves stronger consensus as local sample size increases",
    measured: "CV at p 0.4 at the largest size below the smallest",
    across: "sizes",
    holds: (value, m, largest) => ours(value, "cv", largest, 0.4) < ours(value, "cv", m, 0.4),
  },
  {
    figure: 4,
    place: "IV-C",
    name: "CV depends less on p",
    sentence:
      "largely independent of graph connectivity, whereas distributed k-means is highly sensitive to sparse communication",
    measured: "CV at p 0.4 over CV at p 1 is smaller than for distributed",
    holds: (value, m) => fromSparseToFull(ours, value, "cv", m) < fromSparseToFull(theirs, value, "cv", m),
  },
  {
    figure: 4,
    place: "IV-C",
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
    measured: "at p 1 no neighbour can solve consecutive messages for a cluster's own mean and share of points",
    judged: "worded",
    starts: ["authors", "raw"],
    holds: (value, m) => ours(value, "recovered_clusters", m, 1) === 0,
  },
];
