import { type Matrix, matrix, normalStream, randomStream } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { mergeSketches, type PointSketch } from "../../src/start/federated.ts";

const normal = normalStream(randomStream(1, "sketch test"));
const sketchOfRows = (rows: number): PointSketch => ({
  centroids: matrix(Array.from({ length: rows }, () => [normal(), normal()])),
  counts: Float64Array.from({ length: rows }, (_, r) => 1 + (r % 3)),
});
const random = () => randomStream(1, "merge test");

function weightedMean({ centroids, counts }: PointSketch, column: number): number {
  const { data, cols }: Matrix = centroids;
  const total = counts.reduce((a, b) => a + b);
  return counts.reduce((sum, count, r) => sum + (count * data[r * cols + column]) / total, 0);
}

describe("mergeSketches(parts, k, random)", () => {
  it("leaves few centroids as they are", () => {
    const parts = [sketchOfRows(30), sketchOfRows(34)];
    const { centroids, counts } = mergeSketches(parts, 2, random);
    expect(Array.from(centroids.data)).toEqual(parts.flatMap((part) => Array.from(part.centroids.data)));
    expect(Array.from(counts)).toEqual(parts.flatMap((part) => Array.from(part.counts)));
  });

  it("merges many to at most 16 k that stand for as many points, each for no fewer than before", () => {
    const parts = [sketchOfRows(100), sketchOfRows(200)];
    const merged = mergeSketches(parts, 2, random);
    expect(merged.centroids.rows).toBeLessThanOrEqual(32);
    expect(merged.counts.reduce((a, b) => a + b)).toBe(
      parts.reduce((sum, part) => sum + part.counts.reduce((a, b) => a + b), 0),
    );
    expect(Math.min(...merged.counts)).toBeGreaterThanOrEqual(1);
  });

  it("keeps the mean of all points to two digits", () => {
    const parts = [sketchOfRows(150)];
    const merged = mergeSketches(parts, 2, random);
    for (const column of [0, 1]) expect(weightedMean(merged, column)).toBeCloseTo(weightedMean(parts[0], column), 2);
  });
});
