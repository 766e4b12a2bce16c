// Numbers as people read them: no more digits than are known, thousands apart, large and small ones short.

/** So many significant digits: 0.049, 20.29, 5.3e-6. */
export function significant(value: number, digits: number): string {
  if (value === 0) return "0";
  const short = value.toExponential(digits - 1);
  const exponent = exponentOf(short);
  if (exponent < -3 || exponent > 4) return short.replace("e+", "e");
  return Number(short).toFixed(Math.max(0, digits - 1 - exponent));
}

/** A whole number, its thousands apart: 636,768. */
export function count(value: number): string {
  return value.toLocaleString("en");
}

/** The power of ten in 1.2e-5: -5. */
export function exponentOf(written: string): number {
  return Number(written.slice(written.indexOf("e") + 1));
}
