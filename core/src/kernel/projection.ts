// The axes on which sampled rows spread most: what first bounds are computed on (assembly/projection.ts, and kernel.md).

import type { Points } from "../data/matrix.ts";
import { type PointCodes, sampleRows } from "./codes.ts";

/** Axes, and the coordinates of a point: one for each axis and one for what they leave over. */
const AXES = 31;
export const COORDINATES = AXES + 1;
/** Rows that say where points spread, and how often all axes are turned towards that. */
const SAMPLED = 256;
const TURNS = 2;
/** Length of the codes of an axis: a product with the codes of a row stays within int32. */
const AXIS_LENGTH = 32_000;
/** An axis that lies in the others but for such a share of its length is none. */
const LEAST_LENGTH = 1e-9;

/**
 * Writes the int16 codes of the axes, `stride` apart, and the lower triangle that makes products with them those with
 * orthonormal axes. False if the rows spread in fewer directions.
 */
export function writeAxes(
  { data, rows, cols }: Points,
  { origin, radius }: PointCodes,
  stride: number,
  into: { codes: Int16Array; triangle: Float64Array },
): boolean {
  const sample: Float64Array[] = [];
  for (const r of sampleRows(rows, SAMPLED)) {
    const row = origin.map((middle, j) => data[r * cols + j] - middle);
    if (Math.sqrt(dot(row, row)) <= radius) sample.push(row);
  }
  // Rows lie in all directions in which there are any.
  let axes: Float64Array[] = Array.from({ length: Math.min(AXES, sample.length) }, (_, a) =>
    sample[Math.floor((a * sample.length) / AXES)].slice(),
  );
  for (let turn = 0; turn < TURNS; turn++) {
    if (axes.length < AXES || !makeOrthonormal(axes)) return false;
    axes = turned(axes, sample);
  }
  if (!makeOrthonormal(axes)) return false;
  const codes = axes.map((axis) => axis.map((x) => Math.round(AXIS_LENGTH * x)));
  into.codes.fill(0);
  for (const [a, code] of codes.entries()) into.codes.set(code, a * stride);
  return invertTriangle(codes, into.triangle);
}

/** The axes times the second moments of the sample. */
function turned(axes: readonly Float64Array[], sample: readonly Float64Array[]): Float64Array[] {
  return axes.map((axis) => {
    const sum = new Float64Array(axis.length);
    for (const row of sample) {
      const share = dot(row, axis);
      for (let j = 0; j < sum.length; j++) sum[j] += share * row[j];
    }
    return sum;
  });
}

/** Each axis less its parts along those before it, twice because the first time leaves rounding, and of length 1. */
function makeOrthonormal(/* IN OUT */ axes: readonly Float64Array[]): boolean {
  for (const [a, axis] of axes.entries()) {
    const before = Math.sqrt(dot(axis, axis));
    for (let time = 0; time < 2; time++) {
      for (const other of axes.slice(0, a)) {
        const share = dot(axis, other);
        for (let j = 0; j < axis.length; j++) axis[j] -= share * other[j];
      }
    }
    const length = Math.sqrt(dot(axis, axis));
    if (!(length > LEAST_LENGTH * before)) return false;
    for (let j = 0; j < axis.length; j++) axis[j] /= length;
  }
  return true;
}

/** The inverse of the Cholesky factor of the products of the codes: applied to them it leaves orthonormal axes. */
function invertTriangle(codes: readonly Float64Array[], /* OUT */ inverse: Float64Array): boolean {
  const factor = codes.map((code) => codes.map((other) => dot(code, other)));
  inverse.fill(0);
  for (let i = 0; i < AXES; i++) {
    for (let j = 0; j <= i; j++) {
      for (let n = 0; n < j; n++) factor[i][j] -= factor[i][n] * factor[j][n];
      if (j < i) factor[i][j] /= factor[j][j];
    }
    // Codes are orthogonal but for their rounding, so nothing is lost here.
    if (!(factor[i][i] > (0.5 * AXIS_LENGTH) ** 2)) return false;
    factor[i][i] = Math.sqrt(factor[i][i]);
    for (let j = 0; j <= i; j++) {
      let sum = i === j ? 1 : 0;
      for (let n = j; n < i; n++) sum -= factor[i][n] * inverse[n * COORDINATES + j];
      inverse[i * COORDINATES + j] = sum / factor[i][i];
    }
  }
  return true;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let j = 0; j < a.length; j++) sum += a[j] * b[j];
  return sum;
}
