// The inversion that the playground shows: exact for the only neighbour of a device.

import { expect, test } from "vitest";
import { whatIsLearned } from "../src/engine/learned.ts";
import { playgroundData, story } from "../src/engine/story.ts";
import { stops } from "../src/playground/stops.ts";

test("whatIsLearned has the exact means and sizes of a neighbour's clusters", () => {
  const { setup, round } = stops[4];
  const problem = playgroundData(setup);
  const moments = [...story(problem, setup, setup.method)];
  // Device 0 updates first in a round, from what device 1 had after the round before.
  const exchanges = [round - 1, round].map((at) => ({
    sent: moments[at].centroids[0],
    neighbours: [moments[at - 1].centroids[1]],
  }));
  const compared = whatIsLearned(exchanges, setup.alpha, problem.datasets[0]);
  expect(compared.length).toBe(3);
  for (const { learned, truth } of compared) {
    expect(learned?.share).toBeCloseTo(truth.share, 6);
    Array.from(truth.mean).forEach((value, x) => {
      expect(learned?.mean[x]).toBeCloseTo(value, 6);
    });
  }
});
