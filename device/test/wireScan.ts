// A look at everything that devices send in any test of the suite, also in processes that a test starts; see
// wireWatch.mjs for what is looked at. It is a setup file: what it finds fails the test.
// It imports little, because it stands before every test file; what it needs comes with the modules that it watches.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, vi } from "vitest";

const faults: string[] = [];
/** Where processes write what they find, a line each. */
const file = join(tmpdir(), `fedkm-wire-${process.pid}.txt`);
const preload = `--import=${new URL("./wireProcess.mjs", import.meta.url).href}`;

process.env.FEDKM_WIRE_FAULTS = file;
if (!process.env.NODE_OPTIONS?.includes(preload)) {
  process.env.NODE_OPTIONS = [process.env.NODE_OPTIONS, preload].filter((option) => option).join(" ");
}

/** What was found since it was last asked. */
export function takeFaults(): string[] {
  if (existsSync(file)) {
    faults.push(...readFileSync(file, "utf8").trimEnd().split("\n"));
    rmSync(file);
  }
  return faults.splice(0);
}

vi.mock(import("../src/loop/updateModel.ts"), async (original) => {
  const actual = await original();
  const { scaleRows } = await import("../src/study/units.ts");
  const { watchedModel } = await import("./wireWatch.mjs");
  return { ...actual, UpdateModel: watchedModel(actual.UpdateModel, scaleRows) };
});

vi.mock(import("../src/loop/sender.ts"), async (original) => {
  const actual = await original();
  const { defaults } = await import("@fedkm/core/defaults");
  const { watchedSender } = await import("./wireWatch.mjs");
  return { ...actual, Sender: watchedSender(actual.Sender, defaults.restarts, (fault) => faults.push(fault)) };
});

vi.mock(import("../src/sharedClusters/sharedRows.ts"), async (original) => {
  const actual = await original();
  const { stages } = await import("../src/sharedClusters/generation.ts");
  const { watchedRows } = await import("./wireWatch.mjs");
  return { ...actual, SharedRows: watchedRows(actual.SharedRows, stages.describe, (fault) => faults.push(fault)) };
});

function failOnFaults(): void {
  const [first, ...more] = takeFaults();
  if (first !== undefined)
    throw new Error(`on the wire: ${first}${more.length > 0 ? ` (and ${more.length} more)` : ""}`);
}

afterEach(failOnFaults);
// Processes may end after the last test.
afterAll(failOnFaults);
