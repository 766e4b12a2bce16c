// What a study consists of: its cells, and the pictures that are drawn from their rows.

import type { Cell, StartName } from "../cell.ts";
import type { DotGrid, PanelGrid } from "./grid.ts";

export interface PlanOptions {
  readonly runs: number;
  readonly seed: number;
  readonly starts: readonly StartName[];
  /** Fewer sizes, so that it takes a moment: for a first look and for tests. */
  readonly quick: boolean;
}

export interface Picture {
  /** Its file's name, without an ending. */
  readonly name: string;
  readonly grid: PanelGrid | DotGrid;
}

export interface Plan {
  readonly cells: readonly Cell[];
  readonly pictures: readonly Picture[];
  /** The paper's figures whose claims can be judged. */
  readonly figures: readonly number[];
}

/** Makes the plan of one study from what was asked for. */
export type Planner = (options: PlanOptions) => Plan;

/** Runs 1, 2, .. */
export function runNumbers({ runs }: PlanOptions): number[] {
  return Array.from({ length: runs }, (_, i) => i + 1);
}
