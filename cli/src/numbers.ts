// Numbers as people read them on the terminal: those of tables, and how long something took.

export {
  counted,
  countLabel,
  firstNames,
  readableDate,
  readableSpread,
  readableValue,
  significantLabel,
} from "@fedkm/tables/numbers";

/** Whole milliseconds: one run on a busy machine knows no more. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return "<1 ms";
  return milliseconds < 999.5 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
