// Numbers as people read them in a report or on a terminal, written as in pictures, with a unit where there is one.

import { countLabel, significantLabel } from "@fedkm/pictures/ticks";

export { countLabel, significantLabel };

/** A value of the user's: four digits, and all of those before the point. */
export function readableValue(number: number): string {
  const size = Math.abs(number);
  return size >= 1e4 && size < 1e15 ? countLabel(Math.round(number)) : significantLabel(number, 4);
}

const DAY = 86_400_000;

/** Days since the beginning of 1970 as the date that they are. */
export function readableDate(days: number): string {
  return new Date(Math.round(days) * DAY).toISOString().slice(0, 10);
}

/** A share from 0 to 1 as a percentage; a small one keeps a digit, and what is there is never 0 %. */
export function percent(share: number): string {
  const hundredths = 100 * share;
  if (share > 0 && hundredths < 0.05) return "<0.1 %";
  const near = Math.min(hundredths, 100 - hundredths);
  return `${near > 0 && near < 0.95 && hundredths < 99.95 ? hundredths.toFixed(1) : hundredths.toFixed(0)} %`;
}

/** 3 rows, 1 row. */
export function counted(number: number, noun: string): string {
  return `${countLabel(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Names with commas between, and how many there are beyond the first so many. */
export function firstNames(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** A distance in units of a spread, in a column of such; null is not known. */
export function readableSpread(distance: number | null, unknown: string): string {
  return distance === null ? unknown : distance.toFixed(distance < 10 ? 2 : 0);
}
