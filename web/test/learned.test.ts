// The inversion that the playground shows: exact for the only neighbour of a device.

import { expect, test } from "vitest";
import { learnedFrom, truthOf } from "../src/engine/learned.ts";
import { problemOf } from "../src/engine/problem.ts";
import { story } from "../src/engine/story.ts";
import { stops } from "../src/playground/stops.ts";

test("learnedFrom computes the exact means and sizes of a neighbour's clusters", () => {
  const { setup } = stops[4];
  const problem = problemOf(setup);
  const moments = [...story(problem, setup, setup.method)];
  // Device 0 updates first in a round, from what device 1 had after the round before.
  const heard = (round: number) => ({
    own: moments[round].centroids[0],
    neighbour: moments[round - 1].centroids[1],
  });
  const learned = learnedFrom(heard(1), heard(2), setup.alpha);
  const truth = truthOf(problem.datasets[0], moments[2].centroids[0]);
  learned.forEach((cluster, c) => {
    expect(cluster?.share).toBeCloseTo(truth[c].share, 6);
    truth[c].mean.forEach((value, x) => {
      expect(cluster?.mean[x]).toBeCloseTo(value, 6);
    });
  });
});
