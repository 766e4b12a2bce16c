// The checks of the public edge: one line that names the rule and the value. Public functions check their data once and
// call inner ones, which trust them; options are checked where they become settings.

import { largestMagnitudes, leastExactSummand } from "./exactSums.ts";
import { checkIsMatrix, type Matrix, type Numbers, type Points } from "./matrix.ts";
import { describeArgument, isList } from "./optionNames.ts";

/** Above it squared distances and their sums could overflow to infinity. */
const LARGEST_COORDINATE = 1e150;

/** Refuses by throwing a RangeError; `where` says which bound came from what. */
export function checkInteger(name: string, value: unknown, low: number, high = Number.MAX_SAFE_INTEGER, where = "") {
  if (!Number.isSafeInteger(value) || (value as number) < low || (value as number) > high) {
    const range = high === Number.MAX_SAFE_INTEGER ? `of at least ${low}` : `from ${low} to ${high}`;
    throw new RangeError(
      `${name} must be an integer ${range}${where && ` (${where})`}, got ${describeArgument(value)}`,
    );
  }
}

export function checkSeed(seed: unknown): void {
  if (!Number.isSafeInteger(seed)) throw new RangeError(`seed must be an integer, got ${describeArgument(seed)}`);
}

export function checkNumber(name: string, value: unknown, ok: (value: number) => boolean, rule: string): void {
  if (typeof value !== "number" || !Number.isFinite(value) || !ok(value)) {
    throw new RangeError(`${name} must be ${rule}, got ${describeArgument(value)}`);
  }
}

export function checkAtLeastZero(name: string, value: unknown): void {
  checkNumber(name, value, (number) => number >= 0, "a finite number of at least 0");
}

export function checkOneOf(name: string, value: unknown, allowed: readonly string[]): void {
  if (typeof value !== "string" || !allowed.includes(value)) {
    throw new RangeError(`${name} must be one of ${allowed.join(", ")}, got ${describeArgument(value)}`);
  }
}

/** The array itself: what is in it is checked by whoever knows. */
export function checkArray(name: string, value: unknown, of: string): void {
  if (!Array.isArray(value)) throw new TypeError(`${name} must be a list of ${of}, got ${describeArgument(value)}`);
}

/** Numbers in an array of any kind; what they are is checked by whoever knows. */
export function checkNumbers(name: string, value: unknown): void {
  if (!isList(value)) throw new TypeError(`${name} must be a list of numbers, got ${describeArgument(value)}`);
}

export function checkFunction(name: string, value: unknown, rule: string): void {
  if (typeof value !== "function") throw new TypeError(`${name} must be ${rule}, got ${describeArgument(value)}`);
}

export function checkRandom(random: unknown): void {
  checkFunction("random", random, "a function such as randomStream(seed)");
}

export function checkSignal(signal: unknown): void {
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.throwIfAborted !== "function") {
    throw new TypeError(`signal must be an AbortSignal, got ${describeArgument(signal)}`);
  }
}

/** The lists of a graph are there; that they fit together is what `graph` sees to. */
export function checkGraph(value: unknown): void {
  const { size, neighbours, weights } = (value ?? {}) as Partial<Record<"size" | "neighbours" | "weights", unknown>>;
  const isListed = [neighbours, weights].every(
    (rows) => Array.isArray(rows) && rows.length === size && rows.every(isList),
  );
  if (!isListed) {
    throw new TypeError(`graph must be a Graph { size, neighbours, weights }; graph(size, edges) makes one`);
  }
}

/** That it is a matrix, whatever numbers it holds. */
export function checkSize(name: string, value: Points): void {
  checkIsMatrix(name, value);
  const { data, rows, cols } = value;
  if (rows < 0 || cols < 0 || data.length !== rows * cols) {
    throw new RangeError(`${name} must hold rows * cols = ${rows * cols} numbers, got ${data.length}`);
  }
}

/** A matrix in float64, as all that is not points must be: results would be rounded to what they are written into. */
export function checkMatrix(name: string, value: Matrix): void {
  checkFinite(name, value);
  if (!(value.data instanceof Float64Array))
    throw new TypeError(`${name} must be in float64 (only points may be a Float32Array)`);
}

/** Returns whether all numbers are of ordinary size. */
export function checkFinite(name: string, value: Points): boolean {
  checkSize(name, value);
  const { data, cols } = value;
  if (isOrdinary(data)) return true;
  // Written so that NaN fails too.
  const at = data.findIndex((number) => !(Math.abs(number) <= LARGEST_COORDINATE));
  if (at < 0) return false;
  const rule = `finite numbers of at most ${LARGEST_COORDINATE} in size`;
  throw new RangeError(
    `${name} must hold ${rule}, got ${data[at]} at row ${Math.floor(at / cols)}, column ${at % cols}`,
  );
}

/** A matrix that will be summed up, column by column. */
export function checkPoints(name: string, points: Points): void {
  if (checkFinite(name, points)) return;
  const { data, rows, cols } = points;
  const largest = largestMagnitudes(points);
  for (let c = 0; c < cols; c++) {
    const least = leastExactSummand(largest[c], rows);
    let [filled, lost, example] = [0, 0, 0];
    for (let at = c; at < data.length; at += cols) {
      if (data[at] === 0) continue;
      filled++;
      if (Math.abs(data[at]) >= least) continue;
      lost++;
      example = data[at];
    }
    // A few small numbers do no harm. Beside a fill value such as 1e36 all others are small.
    if (2 * lost > filled) {
      const rule = `mostly hold numbers of at least ${least.toPrecision(2)} (beside ${largest[c].toPrecision(2)} smaller ones are lost in sums)`;
      throw new RangeError(`column ${c} of ${name} must ${rule}, got ${example}`);
    }
  }
}

/** Numbers up to this size need no further look. */
export const LARGEST_ORDINARY = 1e12;
/** Overflows for what is above. */
const OVERFLOWING = 1.8e296;

/**
 * False if a number is not finite or above 1e12, in one pass without a branch: what overflows or is NaN does not become 0
 * when multiplied by 0. Four sums, because an addition waits for the one before it.
 */
function isOrdinary(data: Numbers): boolean {
  const whole = data.length - (data.length % 4);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < whole; i += 4) {
    a += data[i] * OVERFLOWING * 0;
    b += data[i + 1] * OVERFLOWING * 0;
    c += data[i + 2] * OVERFLOWING * 0;
    d += data[i + 3] * OVERFLOWING * 0;
  }
  for (let i = whole; i < data.length; i++) a += data[i] * OVERFLOWING * 0;
  return a + b + (c + d) === 0;
}

/** A matrix of the wanted shape; `where` says where that shape comes from. */
export function checkMatrixOf(name: string, value: Matrix, rows: number, cols: number, where: string): void {
  checkMatrix(name, value);
  checkShape(name, value, rows, cols, where);
}

/** The shape alone, of a matrix whose numbers were checked. */
export function checkShape(name: string, value: Points, rows: number, cols: number, where: string): void {
  if (value.rows !== rows || value.cols !== cols) {
    throw new RangeError(`${name} must be ${rows} x ${cols} (${where}), got ${value.rows} x ${value.cols}`);
  }
}

export function checkWeights(weights: ArrayLike<number>, length: number, name: string, where: string): void {
  checkNumbers(name, weights);
  if (weights.length !== length) {
    throw new RangeError(`${name} must have ${length} numbers (${where}), got ${weights.length}`);
  }
  for (let i = 0; i < length; i++) checkAtLeastZero(`${name}[${i}]`, weights[i]);
}

/** A network's data: at least one device, one dimension everywhere, a graph of the same size. Returns the dimension. */
export function checkNetwork(datasets: readonly Points[], graph: { readonly size: number }): number {
  checkArray("datasets", datasets, "matrices, one for each device");
  checkGraph(graph);
  if (datasets.length === 0) throw new RangeError("datasets needs at least one device");
  for (const [i, points] of datasets.entries()) checkPoints(`datasets[${i}]`, points);
  if (graph.size !== datasets.length) {
    throw new RangeError(`graph must have ${datasets.length} devices (one for each of datasets), got ${graph.size}`);
  }
  const first = datasets.findIndex((points) => points.rows > 0);
  if (first < 0) throw new RangeError("datasets needs at least one point on some device");
  const { cols } = datasets[first];
  if (cols === 0) throw new RangeError(`datasets[${first}] must have at least 1 column, got 0`);
  datasets.forEach((points, i) => {
    if (points.rows > 0 && points.cols !== cols) {
      throw new RangeError(`datasets[${i}] must have ${cols} columns (as datasets[${first}]), got ${points.cols}`);
    }
  });
  return cols;
}
