import {
  adjustedRandIndex,
  consensusVariation,
  distortion,
  globalCentroidDeviation,
  graph,
  matchCentroids,
  matrix,
  normalizedMutualInformation,
  objective,
  path,
  simplifiedSilhouette,
  totalVariation,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";

const a = matrix([[0], [10]]);
const b = matrix([[10], [1]]);

describe("measures by hand", () => {
  it("GCD and CV, nearest and aligned", () => {
    // d(a, b) = (1 + 0) + (0 + 1) from both sides, 1 as one permutation.
    expect(globalCentroidDeviation([a, b], a)).toBe(2 / (2 * 2 * 2));
    expect(globalCentroidDeviation([a, b], a, "transport")).toBe(1 / (2 * 2));
    const network = graph(3, [[0, 1, 5]]);
    // Device 2 has no neighbour and does not count; neither do edge weights.
    expect(consensusVariation([a, b, a], network)).toBe((2 + 2) / (2 * 2 * 2));
    expect(consensusVariation([a, b, a], network, "transport")).toBe((1 + 1) / (2 * 2));
    expect(consensusVariation([a, b], graph(2, []))).toBe(0);
  });

  it("total variation and objective", () => {
    const network = graph(2, [[0, 1, 3]]);
    expect(totalVariation([a, b], network)).toBe(6);
    expect(totalVariation([a, b], network, "transport")).toBe(3);
    const datasets = [matrix([[0], [2]]), matrix([[10], [10], [10], [4]])];
    // Losses 4 of 2 points and 9 of 4 points; mean size 3.
    expect(objective(datasets, [a, b], network, { alpha: 0.5 })).toBe(4 / 2 + 9 / 4 + 3);
    expect(objective(datasets, [a, b], network, { alpha: 0.5, weighting: "sample" })).toBeCloseTo(13 / 3 + 3, 12);
    expect(distortion(datasets, [a, b])).toBe(13 / 2);
  });

  it("simplified silhouette", () => {
    // Distances 1 and 9, then 5 and 5.
    expect(simplifiedSilhouette(matrix([[1], [5]]), a)).toBeCloseTo((8 / 9 + 0) / 2, 12);
    expect(simplifiedSilhouette(matrix([[1]]), matrix([[4]]))).toBe(0);
    expect(simplifiedSilhouette(matrix([[4]]), matrix([[4], [4]]))).toBe(0);
    expect(simplifiedSilhouette(matrix([]), a)).toBe(0);
  });

  it("ARI and NMI: the same partition is 1 under any names, chance is about 0", () => {
    expect(adjustedRandIndex([0, 0, 1, 1, 2], [5, 5, 3, 3, 9])).toBe(1);
    expect(normalizedMutualInformation([0, 0, 1, 1, 2], [5, 5, 3, 3, 9])).toBeCloseTo(1, 12);
    expect(adjustedRandIndex([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2])).toBeCloseTo(0.24242424242424243, 12);
    expect(normalizedMutualInformation([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2])).toBeCloseTo(0.5158037429793888, 12);
    expect(adjustedRandIndex([0, 1, 0, 1], [0, 0, 1, 1])).toBeCloseTo(-0.5, 12);
    expect(normalizedMutualInformation([0, 1, 0, 1], [0, 0, 1, 1])).toBeCloseTo(0, 12);
    expect(normalizedMutualInformation([0, 0, 0], [1, 1, 1])).toBe(1);
    expect(normalizedMutualInformation([0, 0, 0], [0, 1, 2])).toBe(0);
    expect(adjustedRandIndex([0, 0, 0], [1, 1, 1])).toBe(1);
    expect(() => adjustedRandIndex([0], [0, 1])).toThrow("labellings must be of one length, got 1 and 2");
  });

  it("matchCentroids names every centroid after another one, even where the nearest is the same", () => {
    expect(Array.from(matchCentroids(matrix([[5.1], [-0.1], [9]]), matrix([[0], [5], [10]])))).toEqual([1, 0, 2]);
    expect(Array.from(matchCentroids(matrix([[1], [2]]), matrix([[0], [10]])))).toEqual([0, 1]);
  });

  it("refuses centroids that do not fit the graph", () => {
    expect(() => totalVariation([a], path(2))).toThrow(
      "centroids must have 2 sets (one for each device of graph), got 1",
    );
  });
});
