// Devices that go to and fro come to rest, and what converges is left alone.

import { type Matrix, matrix, randomStream, updateDevice } from "@fedkm/core";
import { expect, test } from "vitest";
import { Damping } from "../../src/loop/damping.ts";
import { UpdateModel } from "../../src/loop/updateModel.ts";
import { studyOfPoints } from "../../src/study/studyOfPoints.ts";
import { DAMPING_UPDATES } from "../../src/wire/limits.ts";

const distance = (a: Float64Array, b: Float64Array) => Math.max(...a.map((value, i) => Math.abs(value - b[i])));
const at = (...values: number[]): Matrix => matrix([values]);

/** Where repeated updates end, one after the other. */
function run(damping: Damping, start: Matrix, update: (from: Matrix) => Matrix, updates: number, neighbours = [at(0)]) {
  let place = start;
  for (let n = 0; n < updates; n++) place = damping.apply(place, update(place), neighbours);
  return place;
}

test("steps that converge, one way or from both sides, end where they would", () => {
  for (const rate of [0.9, 0.999, -0.9]) {
    const end = run(new Damping(distance), at(1), ({ data }) => at(5 + rate * (data[0] - 5)), 20_000);
    expect(end.data[0]).toBeCloseTo(5, 7);
  }
});

test("a step that leads one way takes the bits as they are", () => {
  const to = at(0.1 + 0.2);
  expect(new Damping(distance).apply(at(1), to, [])).toBe(to);
});

test.each([2, 3])("a circle of %d places is left for a place of rest between them", (places) => {
  // Each part of the line leads to the next of the places, on a circle.
  const update = ({ data }: Matrix) => {
    const turn = Math.round((Math.atan2(data[1], data[0]) / (2 * Math.PI)) * places) + 1;
    return at(Math.cos((2 * Math.PI * turn) / places), Math.sin((2 * Math.PI * turn) / places));
  };
  const damping = new Damping(distance);
  const place = run(damping, at(1, 0), update, 60 * DAMPING_UPDATES);
  expect(distance(place.data, run(damping, place, update, 1).data)).toBeLessThan(1e-9);
});

test("steps are whole again when a neighbour has moved further than the room of the circle, and not before", () => {
  const damping = new Damping(distance);
  const flip = ({ data }: Matrix) => at(data[0] > 0 ? -1 : 1);
  const place = run(damping, at(1), flip, 40 * DAMPING_UPDATES, [at(0)]);
  const near = damping.apply(place, at(9), [at(1.9)]);
  expect(distance(near.data, place.data)).toBeLessThan(1e-6);
  expect(damping.apply(near, at(9), [at(2.1)]).data[0]).toBe(9);
});

test("an opening makes steps whole again", () => {
  const damping = new Damping(distance);
  const place = run(damping, at(1), ({ data }) => at(data[0] > 0 ? -1 : 1), 40 * DAMPING_UPDATES);
  damping.reset();
  expect(damping.apply(place, at(9), [at(0)]).data[0]).toBe(9);
});

/** A device between two neighbours that say nothing new, whose rows lie where two clusters meet. */
function between(seed: number) {
  const random = randomStream(seed, "cycle");
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const rows = matrix(Array.from({ length: 30 }, (_, i) => [(i % 3 === 0 ? 4 : 0) + 1.5 * normal(), 1.5 * normal()]));
  const neighbour = () =>
    matrix([
      [-1 + 4 * random(), 2 * random() - 1],
      [2 + 4 * random(), 2 * random() - 1],
    ]);
  return { rows, neighbours: [neighbour(), neighbour()] };
}

test.each([10, 208, 289, 390])("device %d, which went to and fro for ever by itself, comes to rest", (seed) => {
  const { rows, neighbours } = between(seed);
  const study = studyOfPoints([rows], ["x1", "x2"], { name: "cycle", k: 2, alpha: 1 });
  const model = new UpdateModel(study, rows, 1, undefined);
  while (model.isRestarting) model.restart();
  let updates = 0;
  for (; model.isMoving && updates < 3_000; updates++) model.update(neighbours);
  expect(updates).toBeLessThan(3_000);

  // Without smaller steps it never would.
  let place = model.centroids as Matrix;
  let move = 0;
  for (let n = 0; n < 1_000; n++) {
    const { centroids } = updateDevice(rows, place, neighbours, { alpha: 1, robust: true, passes: 1 });
    move = distance(centroids.data, place.data);
    place = centroids;
  }
  expect(move).toBeGreaterThan(1e-4);
});
