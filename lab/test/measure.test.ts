// What the lab measures with: budgets, ratios, peak memory, and data that every program reads alike.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cpuSecondsWithin, middleOf, peakMemory, ratio } from "../src/measure.ts";
import { blobs, readNumbers, workloads, writePoints } from "../src/speed/workloads.ts";

test("ratios have two digits and no exponent", () => {
  expect([ratio(1, 3), ratio(2, 1), ratio(1234, 1), ratio(1, 400)]).toEqual(["0.33", "2", "1234", "0.0025"]);
});

test("the middle of an even number of values is the mean of two", () => {
  expect([middleOf([3, 10, 1]), middleOf([10, 1, 3, 4])]).toEqual([3, 3.5]);
});

test("a run is made once however small the budget, and never more often than asked", () => {
  let runs = 0;
  const work = () => {
    runs++;
    for (let spent = process.cpuUsage(); process.cpuUsage(spent).user < 2000; );
  };
  expect(cpuSecondsWithin(1e-9, 5, work)).toBeGreaterThan(0);
  expect(runs).toBe(1);
  cpuSecondsWithin(60, 5, work);
  expect(runs).toBe(6);
});

test("peak memory grows with what is held", () => {
  const before = peakMemory();
  // Filled, because untouched pages are not held.
  const held = new Float64Array(2 ** 24).fill(1);
  expect(peakMemory() - before).toBeGreaterThan(held.byteLength / 4);
});

test("quick workloads have a tenth of the points or jobs, and their data survive the file", () => {
  for (const [at, quick] of workloads(true).entries()) {
    const whole = workloads(false)[at];
    expect(10 * quick.m * quick.jobs).toBe(whole.m * whole.jobs);
  }
  const folder = mkdtempSync(join(tmpdir(), "fedkm-lab-"));
  try {
    const small = { ...workloads(true)[0], m: 1000 };
    writePoints(join(folder, "A.f64"), small);
    expect(readNumbers(join(folder, "A.f64"))).toEqual(blobs(1000, small.d, small.k));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
