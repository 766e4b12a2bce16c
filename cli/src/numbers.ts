// Numbers as people read them on the terminal, written as in pictures, and with a unit where there is one.

import { count, significant } from "@fedkm/pictures";

export { count, significant };

/** A ratio in words of a sentence: two digits are enough, and whole numbers from 10 on. */
export function times(value: number): string {
  return value < 10 ? significant(value, 2) : count(Number(value.toPrecision(2)));
}

/** A distance in units of a spread, in a column of such; null is not known. */
export function spreads(distance: number | null, unknown: string): string {
  return distance === null ? unknown : distance.toFixed(distance < 10 ? 2 : 0);
}

/** Whole milliseconds: one run on a busy machine knows no more. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return "<1 ms";
  return milliseconds < 999.5 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
