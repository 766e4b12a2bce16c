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
