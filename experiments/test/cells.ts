// Cells and plans for tests: the paper's setting with a few changes, and studies by name.

import type { StudyCell } from "../src/cell.ts";
import { noPlugins } from "../src/plugins/plugin.ts";
import { studyPlan } from "../src/reproduce.ts";
import { bundledSweep } from "../src/studies/file.ts";
import type { Plan, PlanOptions } from "../src/studies/plan.ts";
import type { GivenData } from "../src/trial/datasets.ts";

export function testCell(changes: Partial<StudyCell> = {}): StudyCell {
  const method = changes.method ?? "fedkm";
  return {
    study: "test",
    dataset: "iso",
    split: null,
    heldBack: false,
    devices: 10,
    pointsPerDevice: 200,
    k: 3,
    graph: "er:0.7",
    method,
    base: method,
    start: "local",
    alpha: 1,
    options: {},
    isScored: false,
    rounds: 200,
    run: 1,
    seed: 1,
    ...changes,
  };
}

/** k-means alone depends on neither network nor start. */
export function aloneCell(changes: Partial<StudyCell> = {}): StudyCell {
  return testCell({ method: "local", graph: null, start: null, alpha: null, ...changes });
}

export function plannedStudy(name: string, options: PlanOptions, given: GivenData = {}): Plan {
  return studyPlan({ sweep: bundledSweep(name), given, isOpen: true }, options, noPlugins);
}
