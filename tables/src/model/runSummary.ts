// A run in a few words: what ran and how far it came, in the words of the terminal and of the report.

import { count, counted } from "../numbers.ts";
import { isShared, type Model } from "./model.ts";

/** The method, or the study whose devices were simulated, and what brings its devices together. */
export function runWords(model: Model): { readonly name: string; readonly pull: string } {
  const { study, options } = model;
  return {
    name: study === undefined ? options.method : `simulated devices of study ${JSON.stringify(study.name)}`,
    pull: isShared(model) ? "shared clusters" : `alpha = ${options.alpha}`,
  };
}

export function endWords(model: Model): string {
  const { rounds, passes, converged } = model;
  const end = converged ? "settled" : "stopped";
  if (passes !== undefined) return `${end} after ${count(passes)} ${passes === 1 ? "pass" : "passes"} over all rows`;
  // Some methods have no rounds to count.
  if (converged && rounds === 0) return end;
  return `${end} after ${counted(rounds, isShared(model) ? "generation" : "round")}`;
}
