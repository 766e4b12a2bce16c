// A plan from a sweep file: its cells and its pictures, with those of the files that are part of it.

import { type Known, sweepCells } from "./cells.ts";
import type { SweepFile } from "./file.ts";
import { sweepPictures } from "./pictures.ts";
import type { Plan, PlanOptions } from "./plan.ts";

/** `measures` are those of plug-ins, each with pictures of its own. */
export function sweepPlan(file: SweepFile, options: PlanOptions, known: Known, measures: readonly string[] = []): Plan {
  const plans = file.include.map((part) => sweepPlan(part, options, known, measures));
  const isOwn = file.include.length === 0;
  const own = isOwn ? sweepCells(file, options, known) : [];
  const cells = [...plans.flatMap((plan) => plan.cells), ...own];
  return {
    cells: [...new Map(cells.map((cell) => [JSON.stringify(cell), cell])).values()],
    pictures: [...plans.flatMap(({ pictures }) => pictures), ...(isOwn ? sweepPictures(file, own, measures) : [])],
    figures: [...plans.flatMap(({ figures }) => figures), ...file.claims],
    options: [...new Set([...plans.flatMap((plan) => plan.options), ...sweptOptions(own)])],
  };
}

/** Options that differ between cells of one method: columns of their own, so that a figure can have them across. */
function sweptOptions(cells: Plan["cells"]): string[] {
  const values = new Map<string, Set<unknown>>();
  for (const { method, options } of cells) {
    for (const [option, value] of Object.entries(options)) {
      const key = `${option} ${method}`;
      values.set(key, (values.get(key) ?? new Set()).add(value));
    }
  }
  return [...values].filter(([, own]) => own.size > 1).map(([key]) => key.slice(0, key.indexOf(" ")));
}
