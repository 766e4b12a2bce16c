// What k clusters are worth as a description of the points, from sums alone: the nats per point that it takes to say
// which cluster a point is in and where in it.

import { ln } from "../data/elementary.ts";
import { type ClusterSums, covariance, factorOf, logDiagonal, ownFactors } from "./clusterMoments.ts";

/**
 * Points spread evenly take the same length however they are cut: each cut costs ln 2 for the name of the half and saves
 * ln 2 inside it. Points of one normal cluster take more when they are cut, and points of several take the least when
 * each cluster is one. So the k of the shortest length is the number of clusters, and one pair of them that overlaps
 * adds little. Clusters are normal, each with a covariance of its own or all with a common one, whichever is shorter.
 * `floor` is added to every variance: without it equal points would take no length at all.
 */
export function codeLength(sums: ClusterSums, floor: number): number {
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
  const [shape, places] = [(q * (q + 1)) / 2, filled.length * (q + 1)];
  const shapedAlone = own + flattered(places + filled.length * shape);
  const shapedAlike = logDiagonal(factorOf(covariance(sums, filled), q, floor), q) + flattered(places + shape);
  return names + Math.min(shapedAlone, shapedAlike);
}
