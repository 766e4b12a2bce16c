// How good k clusters are, from sums alone: the nats per point that describe which cluster a point is in and where in it,
// and which clusters stand apart.

import { ln } from "../data/elementary.ts";
import { dot } from "../data/matrix.ts";
import {
  type ClusterMoments,
  cholesky,
  covariance,
  factorOf,
  logDiagonal,
  ownFactors,
  solved,
  steadied,
} from "./clusterMoments.ts";

// Separation: what cutting a pair of clusters in two gains, compared with points that are spread evenly.

/** In nats per point of the pair; two clusters are apart if `separation` is more than `needed`. */
interface Separation {
  readonly separation: number;
  readonly needed: number;
}

/** Evenly spread points cut in two give 0 with a variance of 0.3 / n (the delta method); four deviations are chance. */
const NOISE = 4 * Math.sqrt(0.3);

/** Below it lies what compact cells gain in a square of evenly spread points, however many there are. */
export const COMPACT = 0.09;

/** Fewer points than this are strays: no cluster, and no reason why others should not be apart. */
const FEWEST = 5;

/** The share of the points whose cluster is apart from every other; a single one has nothing to be apart from. */
export function shareApart(sums: ClusterMoments): number {
  const { counts } = sums;
  if (counts.length === 1) return 1;
  const clusters = Array.from(counts.keys()).filter((c) => counts[c] >= FEWEST);
  const joined = new Set<number>();
  clusters.forEach((a, at) => {
    for (const b of clusters.slice(0, at)) {
      if (joined.has(a) && joined.has(b)) continue;
      const { separation, needed } = pairSeparation(sums, a, b);
      if (separation <= needed) joined.add(a).add(b);
    }
  });
  const apart = clusters.length > 1 ? clusters.filter((c) => !joined.has(c)) : [];
  return (
    apart.reduce((sum, c) => sum + counts[c], 0) /
    Math.max(
      1,
      counts.reduce((sum, count) => sum + count, 0),
    )
  );
}

/**
 * Two normal distributions of one shape against one that covers both: ln(1 + s t D^2) / 2 nats less per point, with
 * shares s and t and D the distance of the means in units of the common spread, for the entropy of the shares more.
 * A normal cluster cut in two loses 0.19, evenly spread points gain nothing, a valley between the two gains.
 */
export function pairSeparation(sums: ClusterMoments, a: number, b: number): Separation {
  const [m, n] = [sums.counts[a], sums.counts[b]];
  // Chance counts by the smaller cluster: a few far points are no cluster.
  const needed = Math.max(COMPACT, NOISE / Math.sqrt(Math.max(1, (4 * m * n) / Math.max(1, m + n))));
  // Two points alone are always apart, which says nothing.
  if (m === 0 || n === 0 || m + n <= 2) return { separation: 0, needed };
  const [s, t] = [m / (m + n), n / (m + n)];
  const gained = ln(1 + s * t * squaredSeparation(sums, a, b)) / 2;
  return { separation: gained + s * ln(s) + t * ln(t), needed };
}

/** Of equal points it would be infinite. */
const LARGEST_SQUARE = 1e12;

/**
 * D^2 = (v - w)' S^-1 (v - w): v and w the means of the pair, S the covariance inside its clusters. Points count the
 * same, or clusters do, whichever brings the two nearer: the thin tail of one heap is no cluster beside its core.
 */
function squaredSeparation(sums: ClusterMoments, a: number, b: number): number {
  const { data, cols: q } = sums.means;
  const gap = Float64Array.from({ length: q }, (_, n) => data[a * q + n] - data[b * q + n]);
  const together = steadied(sums, [a, b]);
  if (together === undefined) return dot(gap, gap) > 0 ? LARGEST_SQUARE : 0;
  const [first, second] = [steadied(sums, [a]), steadied(sums, [b])];
  const halves = together.map((_, x) => ((first?.[x] ?? 0) + (second?.[x] ?? 0)) / 2);
  return [together, halves].reduce((least, inside) => {
    const { data: across } = solved(cholesky(inside, q), { data: gap, rows: 1, cols: q });
    return Math.min(least, dot(across, across));
  }, LARGEST_SQUARE);
}

/**
 * Points spread evenly take the same length however they are cut: each cut costs ln 2 for the name of the half and saves
 * ln 2 inside it. Points of one normal cluster take more when they are cut, and points of several take the least when
 * each cluster is one. So the k of the shortest length is the number of clusters, and one pair of them that overlaps
 * adds little. Clusters are normal, each with a covariance of its own or all with a common one, whichever is shorter.
 * `floor` is added to every variance: without it equal points would take no length at all.
 */
export function codeLength(sums: ClusterMoments, floor: number): number {
  const { counts, means } = sums;
  const q = means.cols;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const filled = Array.from(counts.keys()).filter((c) => counts[c] > 0);
  if (total === 0 || floor === 0) return 0;
  const factors = ownFactors(sums, floor);
  let names = 0;
  let own = 0;
  for (const c of filled) {
    const share = counts[c] / total;
    names -= share * ln(share);
    own += share * logDiagonal(factors[c], q);
  }
  // What is fitted to the points describes them too well: by about one nat for each number that was fitted (Akaike).
  const flattered = (fitted: number) => fitted / total;
  const [shape, positions] = [(q * (q + 1)) / 2, filled.length * (q + 1)];
  const shapedAlone = own + flattered(positions + filled.length * shape);
  const shapedAlike = logDiagonal(factorOf(covariance(sums, filled), q, floor), q) + flattered(positions + shape);
  return names + Math.min(shapedAlone, shapedAlike);
}
