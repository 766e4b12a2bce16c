// Whether what totals of shared clusters give away are rows.

import type { Matrix } from "@fedkm/core";
import type { Study } from "../../device/src/study/study.ts";
import { type GenerationTotals, rowsMovedAlone } from "./moving.ts";
import type { Attack, Outcome } from "./outcome.ts";

/** A row counts as found if it is right to this share of the ranges. */
const FOUND = 1e-6;

/** Rows that totals give away and that were not known before. */
export function totalsOutcome(
  attack: Attack,
  totals: readonly GenerationTotals[],
  rows: readonly Matrix[],
  study: Study,
  known: Set<string>,
): Outcome {
  const errors = rowsMovedAlone(study, totals).flatMap((point) => {
    const { name, error } = nearestRow(point, rows, study.features);
    if (error > FOUND || known.has(name)) return [];
    known.add(name);
    return [error];
  });
  return { attack, rows: errors.length, ...(errors.length > 0 && { rowError: Math.min(...errors) }) };
}

function nearestRow(point: readonly number[], sets: readonly Matrix[], features: Study["features"]) {
  let [name, error] = ["", Number.POSITIVE_INFINITY];
  for (const { data, rows, cols } of sets) {
    for (let r = 0; r < rows; r++) {
      const own = features.map(({ min, max }, f) => Math.abs(data[r * cols + f] - point[f]) / (max - min));
      const most = Math.max(...own);
      if (most < error) [name, error] = [data.subarray(r * cols, (r + 1) * cols).join(" "), most];
    }
  }
  return { name, error };
}
