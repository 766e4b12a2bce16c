// The audit of a study: every attack on many simulated networks, and what came of it.

import type { Matrix } from "@fedkm/core";
import type { Study } from "../../device/src/study/study.ts";
import { activeAttacks } from "./activeAttacks.ts";
import { type Outcome, type Tally, tally } from "./outcome.ts";
import { passiveAttacks } from "./passiveAttacks.ts";
import { attackScenario } from "./scenario.ts";
import { sharedAttacks } from "./sharedAttacks.ts";

export interface AuditOptions {
  readonly study: Study;
  /** Rows of devices, in the features' units; none: they are drawn anew for each run. */
  readonly datasets: readonly Matrix[];
  readonly runs: number;
  readonly seed: number;
  /** After every run. */
  readonly onRun?: (done: number) => void | Promise<void>;
}

export async function auditStudy({ study, datasets, runs, seed, onRun }: AuditOptions): Promise<Tally[]> {
  const outcomes: Outcome[] = [];
  for (let run = 0; run < runs; run++) {
    const scene = await attackScenario({ study, datasets, seed: seed + run });
    if (study.clusters === "shared") outcomes.push(...sharedAttacks(scene));
    else outcomes.push(...passiveAttacks(scene), ...activeAttacks(scene));
    await onRun?.(run + 1);
  }
  return tally(outcomes);
}
