// Numbers as people read them: no more digits than are known, and a unit where there is one.

/** So many significant digits: 0.049, 20.29, 5.3e-6. */
export function significant(value: number, digits: number): string {
  if (value === 0) return "0";
  const short = value.toExponential(digits - 1);
  const exponent = Number(short.slice(short.indexOf("e") + 1));
  if (exponent < -3 || exponent > 4) return short.replace("e+", "e");
  return Number(short).toFixed(Math.max(0, digits - 1 - exponent));
}

/** A whole number, its thousands apart: 636,768. */
export function count(value: number): string {
  return value.toLocaleString("en");
}

/** A ratio in words of a sentence: two digits are enough, and whole numbers from 10 on. */
export function times(value: number): string {
  return value < 10 ? significant(value, 2) : count(Number(value.toPrecision(2)));
}

/** Whole milliseconds: one run on a busy machine knows no more. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return "<1 ms";
  return milliseconds < 999.5 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
