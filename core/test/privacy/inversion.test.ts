// A neighbour solves (M) for what a device meant to keep: the means and shares of its own clusters.

import { expect, test } from "vitest";
import { matrix } from "../../src/data/matrix.ts";
import { recoverClusters } from "../../src/privacy/inversion.ts";

test("recoverClusters finds the count and the mean of a cluster by hand", () => {
  // One centroid, four of ten points at mean (5, 1), alpha 0.5, one neighbour: w (0.4 + 1) = 0.4 mean + w'.
  const message = (other: readonly [number, number]) => ({
    sent: matrix([[(0.4 * 5 + other[0]) / 1.4, (0.4 * 1 + other[1]) / 1.4]]),
    neighbours: [matrix([[...other]])],
  });
  const [found] = recoverClusters([message([1, 1]), message([2, 4])], 0.5);
  expect(found?.share).toBeCloseTo(0.4, 12);
  expect(Array.from(found?.mean ?? [])).toEqual([expect.closeTo(5, 12), expect.closeTo(1, 12)]);
});

test("recoverClusters gives nothing where the device stands still, or where points changed their cluster", () => {
  const other = matrix([[1, 1]]);
  const still = { sent: matrix([[2, 2]]), neighbours: [other] };
  expect(recoverClusters([still, still], 0.5)[0]).toBeUndefined();
  const moved = { sent: matrix([[2.5, 1]]), neighbours: [matrix([[3, 0]])] };
  expect(recoverClusters([still, moved], 0.5)[0]).toBeUndefined();
});
