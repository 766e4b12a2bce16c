// Numbers as people read them on the terminal: those of tables, and how long something took.

import { countLabel, significantLabel } from "@fedkm/tables/numbers";

export { counted, countLabel, dateText, firstNames, significantLabel, spreads, value } from "@fedkm/tables/numbers";

/** A ratio in words of a sentence: two digits are enough, and whole numbers from 10 on. */
export function times(value: number): string {
  return value < 10 ? significantLabel(value, 2) : countLabel(Number(value.toPrecision(2)));
}

/** Whole milliseconds: one run on a busy machine knows no more. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return "<1 ms";
  return milliseconds < 999.5 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
