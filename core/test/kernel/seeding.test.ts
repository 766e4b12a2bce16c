// k-means++: draws that share their room.

import { matrix, randomStream } from "@fedkm/core";
import { expect, it } from "vitest";
import { jsKernel } from "../../src/kernel/js.ts";
import { plusPlus, type SeedingRoom } from "../../src/kernel/seeding.ts";

it.each([2, 3])("draws that share their room give the seeds of draws that do not, %i columns", (cols) => {
  const random = randomStream(1, "points");
  const points = matrix(Array.from({ length: 20 }, () => Array.from({ length: cols }, random)));
  const problem = { points, prepared: jsKernel.prepare(points), k: 4 };
  const room: SeedingRoom = {};
  const [together, apart] = [randomStream(2, "draws"), randomStream(2, "draws")];
  for (let draw = 0; draw < 20; draw++) {
    const seeds = plusPlus(problem, together, undefined, room);
    expect(seeds).toEqual(plusPlus(problem, apart));
    // Seeds are rows.
    expect(points.data.join()).toContain(seeds.subarray(0, cols).join());
  }
});

it.each([
  [1, 2],
  [2, 2],
  [3, 3],
  [7, 3],
  [8, 4],
  [20, 4],
  [21, 5],
  [54, 5],
  [55, 6],
])("for %i clusters every seed but the first is the best of %i draws, 2 + ln k", (k, trials) => {
  const random = randomStream(1, "points");
  const points = matrix(Array.from({ length: 80 }, () => [random(), random(), random()]));
  const problem = { points, prepared: jsKernel.prepare(points), k };
  const drawsOf = (...given: [number?]) => {
    const stream = randomStream(2, "draws");
    let draws = 0;
    const counted = () => {
      draws++;
      return stream();
    };
    plusPlus(problem, counted as typeof stream, ...given);
    return draws;
  };
  expect(drawsOf()).toBe(1 + (k - 1) * trials);
  expect(drawsOf(1)).toBe(k);
});
