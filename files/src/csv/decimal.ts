// Decimal digits to the nearest double, without making a string: the same bits as Number(text), or NaN for "ask Number".

/** Powers of ten that are doubles without error. */
export const exactPowers = Float64Array.from({ length: 23 }, (_, n) => 10 ** n);

/** Digits that surely fit a double: 10^15 < 2^53. */
export const EXACT_DIGITS = 15;
/** Of one half of a number's digits; so many fit an int32. */
export const HALF_DIGITS = 9;

/** Exponents of ten that the table covers: beyond, numbers are rare, and Number is asked. */
const MOST_EXPONENT = 60;

/** 10^e as an unevaluated sum of two doubles, and the first one split for exact products (Veltkamp). */
const head = new Float64Array(2 * MOST_EXPONENT + 1);
const tail = new Float64Array(2 * MOST_EXPONENT + 1);
const headHigh = new Float64Array(2 * MOST_EXPONENT + 1);
const headLow = new Float64Array(2 * MOST_EXPONENT + 1);

const SPLITTER = 2 ** 27 + 1;

for (let e = -MOST_EXPONENT; e <= MOST_EXPONENT; e++) {
  const i = e + MOST_EXPONENT;
  head[i] = Number(`1e${e}`);
  tail[i] = remainder(e, head[i]);
  const scaled = SPLITTER * head[i];
  headHigh[i] = scaled - (scaled - head[i]);
  headLow[i] = head[i] - headHigh[i];
}

/** 10^e - value as a double, from whole numbers of any size. */
function remainder(e: number, value: number): number {
  const bits = 340;
  const [exponent, mantissa] = takeApart(value);
  // Both over 2^bits: large enough for every bit of value, and for as many of the rest.
  const shift = BigInt(bits + exponent);
  const own = shift >= 0n ? mantissa << shift : mantissa >> -shift;
  const unit = 1n << BigInt(bits);
  const exact = e >= 0 ? 10n ** BigInt(e) * unit : unit / 10n ** BigInt(-e);
  return Number(exact - own) / 2 ** bits;
}

/** value = mantissa * 2^exponent with a whole mantissa. */
function takeApart(value: number): [number, bigint] {
  const bits = new BigUint64Array(Float64Array.of(value).buffer)[0];
  const exponent = Number((bits >> 52n) & 0x7ffn) - 1075;
  return [exponent, (bits & 0xfffffffffffffn) | 0x10000000000000n];
}

/** More than the error of the product below relative to its tail wherever rounding is in doubt (Ziv's test). */
const DOUBT = 1 + 2 ** -39;

/**
 * (a * 10^lowDigits + b) * 10^exponent, rounded once; a and b below 10^9, b of `lowDigits` digits. NaN if the table ends,
 * or the exact value is too near the middle of two doubles to tell.
 */
export function roundDecimal(a: number, b: number, lowDigits: number, exponent: number): number {
  if (exponent < -MOST_EXPONENT || exponent > MOST_EXPONENT) return Number.NaN;
  // a * 5^9 < 2^51, so the first product is exact, and so is the sum of x and y.
  const shifted = a * exactPowers[lowDigits];
  const x = shifted + b;
  const y = b - (x - shifted);
  const i = exponent + MOST_EXPONENT;
  const power = head[i];
  const product = x * power;
  const scaled = SPLITTER * x;
  const xHigh = scaled - (scaled - x);
  const xLow = x - xHigh;
  // The error of x * power, exactly (Dekker), and the parts that the heads leave out: off by less than 2^-100 of the whole.
  const error = xHigh * headHigh[i] - product + xHigh * headLow[i] + xLow * headHigh[i] + xLow * headLow[i];
  const rest = error + x * tail[i] + y * power;
  const value = product + rest;
  const left = rest - (value - product);
  return value + left * DOUBT === value ? value : Number.NaN;
}
