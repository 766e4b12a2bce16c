// Logarithm and exponential from + - * / alone. Engines and C libraries differ in the last bit of
// Math.log and Math.exp; these give every platform the same bytes for the same seed.

const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

/** Natural logarithm of a positive number, to about 1e-16 relative. */
export function ln(x: number): number {
  if (x === 0) return Number.NEGATIVE_INFINITY;
  let mantissa = x;
  let exponent = 0;
  while (mantissa > Math.SQRT2) {
    mantissa /= 2;
    exponent++;
  }
  while (mantissa < Math.SQRT1_2) {
    mantissa *= 2;
    exponent--;
  }
  // ln m = 2 atanh(s) with s = (m - 1) / (m + 1), |s| <= 0.172: the terms fall below 1e-18 after s^23.
  const s = (mantissa - 1) / (mantissa + 1);
  const square = s * s;
  let series = 0;
  for (let power = 23; power >= 3; power -= 2) series = (series + 1 / power) * square;
  return exponent * LN2_HIGH + (exponent * LN2_LOW + 2 * s * (1 + series));
}

/** e to the x; 0 below the normal range. */
export function exp(x: number): number {
  if (x < -708) return 0;
  const doublings = Math.round(x / Math.LN2);
  const rest = x - doublings * LN2_HIGH - doublings * LN2_LOW;
  // |rest| <= 0.35: 16 Taylor terms are exact to the last bit or so.
  let series = 1;
  for (let n = 16; n >= 1; n--) series = 1 + (rest / n) * series;
  // In two halves, because 2^1024 on its own would overflow.
  const half = Math.trunc(doublings / 2);
  return series * 2 ** half * 2 ** (doublings - half);
}
