// The int16 bound: codes of points and centroids for the screen, and by how much a lead in their scores can be wrong.
//
// With y = x - origin, v = w - origin, the nearest centroid maximises y.v - |v|^2 / 2. Codes p = round(y / step) and
// q = round(v / grain) give the score p.q - round(|v|^2 / (2 step grain)), an integer below 2^30. Let y = step p + r and
// v = grain q + s. Then y.v - step grain p.q = r.v + step p.s, so for two centroids a, b the difference of their scores is
// off, in units of step grain, by at most |r| |va - vb| + |step p| |sa - sb| <= 2 (rest V + (R + rest) S) by
// Cauchy-Schwarz, where rest, V, R, S bound |r|, |v|, |y|, |s|. A lead beyond that, plus 1 for the two rounded norms,
// 2^(b + 1) for the b index bits in the scores, and the rounding of the reference itself, is certain. See kernel.md.

import type { Points } from "../data/matrix.ts";

/** The points that get codes: those within `radius` of `origin`. */
export interface Ball {
  readonly origin: Float64Array;
  readonly radius: number;
}

export interface PointCodes extends Ball {
  /** No point is farther than this from its code. */
  readonly rest: number;
}

/** Codes use this much of int16, which leaves room for rounding up. */
const CODE_LIMIT = 32700;
/** Scores stay within +-2^30; centroids out of reach lie below, at the end of int32. */
const SCORE_LIMIT = 2 ** 30;
const OUT_OF_REACH = -(2 ** 31);
/** Centroids that are scored side by side, see assembly/screen.mjs. */
const SIDE_BY_SIDE = 4;
/** Above this threshold nothing would be certain; it keeps sums of scores and threshold inside int32. */
const THRESHOLD_LIMIT = 2 ** 28;

/**
 * Origin and radius from a sample, by medians and quantiles, so that far points do not spoil the resolution of the
 * others. Points beyond the radius are not coded. Undefined where squares would leave the range of float64.
 */
export function codeBall({ data, rows, cols }: Points): Ball | undefined {
  const origin = new Float64Array(cols);
  const sample = sampleRows(rows, 63);
  for (let c = 0; c < cols; c++) {
    const column = sample.map((r) => data[r * cols + c]);
    origin[c] = quantile(column, 0.5);
  }
  const squares = sampleRows(rows, 511).map((r) => {
    let square = 0;
    for (let c = 0; c < cols; c++) square += (data[r * cols + c] - origin[c]) ** 2;
    return square;
  });
  const reach = Math.min(1.5 * Math.sqrt(quantile(squares, 0.98)), 1.1 * Math.sqrt(quantile(squares, 1)));
  // Where nearly all points are one, any radius will do.
  const radius = reach > 0 ? reach : 1;
  return radius > 2 ** -400 && radius < 2 ** 400 ? { origin, radius } : undefined;
}

/** The length of a unit of the codes. */
export function codeStep(radius: number): number {
  return radius / CODE_LIMIT;
}

export function sampleRows(rows: number, size: number): Float64Array {
  const count = Math.min(rows, size);
  return Float64Array.from({ length: count }, (_, i) => Math.floor((i * rows) / count));
}

function quantile(values: Float64Array, share: number): number {
  return values.toSorted()[Math.floor(share * (values.length - 1))];
}

/** Where the codes of the centroids go: views on the kernel's memory. */
export interface CentroidCodes {
  /**
   * int16 [blocks][pairs][width][2]: as many blocks of SIDE_BY_SIDE centroids as there are, then one of 2, then one of 1;
   * or, where `stride` is given, centroid after centroid, so many numbers apart.
   */
  readonly codes: Int16Array;
  readonly stride?: number | undefined;
  /** int32, one for each centroid; what follows is for padding. */
  readonly starts: Int32Array;
}

/** What the screen must know about one set of centroids; lengths in steps of the point codes. */
export interface ScreenBounds {
  readonly mask: number;
  readonly threshold: number;
  readonly unit: number;
  readonly squareError: number;
  readonly lengthError: number;
  /** What codes of centroids are wrong by. */
  readonly centroidError: number;
  /** No coded point is farther than this from a centroid that has a score. */
  readonly farthest: number;
  /** Every centroid has a score, so that the second best bounds all others. */
  readonly complete: boolean;
}

/** Codes all centroids; undefined if the screen could not tell them apart. */
export function codeCentroids(
  points: PointCodes,
  centroids: Float64Array,
  cols: number,
  /* OUT */ into: CentroidCodes,
): ScreenBounds | undefined {
  const { origin, rest } = points;
  const step = codeStep(points.radius);
  const k = centroids.length / cols;
  // All bounds below are taken a little larger than computed, which covers the rounding of their computation.
  const radius = points.radius * (1 + 1e-9);
  const squares = new Float64Array(k);
  for (let c = 0, at = 0; c < k; c++) {
    let square = 0;
    for (let j = 0; j < cols; j++, at++) square += (centroids[at] - origin[j]) ** 2;
    squares[c] = square;
  }
  // A coded point is within radius + smallest of some centroid, so one this far out is never the nearest.
  const reach = (2 * radius + Math.sqrt(squares.reduce((a, b) => Math.min(a, b)))) * (1 + 1e-9);
  const reached = squares.map((square) => (square <= reach * reach ? square : 0));
  const largest = Math.sqrt(reached.reduce((a, b) => Math.max(a, b))) * (1 + 1e-9);
  const scoreRange = (1.01 * (radius + rest) * largest + largest ** 2 / 2) / SCORE_LIMIT;
  const grain = Math.max(largest / CODE_LIMIT, scoreRange / step) || step;

  const isReached = (c: number) => squares[c] <= reach * reach;
  const off = writeCodes(origin, centroids, { grain, isReached }, into) * (1 + 1e-9);
  const scale = step * grain;
  into.starts.fill(OUT_OF_REACH);
  for (let c = 0; c < k; c++) if (isReached(c)) into.starts[c] = -Math.round(squares[c] / (2 * scale));

  const mask = 2 ** (32 - Math.clz32(Math.max(1, k - 1))) - 1;
  const rounding = (cols + 16) * 2 ** -50 * (radius + largest) ** 2;
  const error = 2 * (rest * largest + (radius + rest) * off) + rounding;
  const threshold = Math.ceil((error / scale) * (1 + 1e-9)) + 2 * (mask + 1) + 2;
  if (!(threshold < THRESHOLD_LIMIT)) return undefined;
  const unit = (2 * grain) / step;
  return {
    mask,
    threshold,
    unit,
    // What codes, index bits and float32 are wrong by; the last also covers all that is computed from the square.
    squareError:
      (2 * (radius + rest) * off) / step ** 2 + unit * (mask + 2) + 2 ** -19 * ((radius + largest) / step) ** 2,
    farthest: radius + largest,
    lengthError: (rest / step) * (1 + 2 ** -20),
    centroidError: (off / step) * (1 + 2 ** -20),
    complete: squares.every((square) => square <= reach * reach),
  };
}

/** Where the codes of a centroid begin, and how far apart its pairs of columns are. */
function codesAt(c: number, k: number, pairs: number, stride: number | undefined): { at: number; apart: number } {
  if (stride !== undefined) return { at: c * stride, apart: 2 };
  const { first, width } = blockOf(c, k);
  return { at: 2 * (first * pairs + c - first), apart: 2 * width };
}

/** The block of a centroid: its first one, and how many it has. */
function blockOf(c: number, k: number): { first: number; width: number } {
  let first = c - (c % SIDE_BY_SIDE);
  let width = SIDE_BY_SIDE;
  while (first + width > k || c >= first + width) {
    if (first + width <= k) first += width;
    width /= 2;
  }
  return { first, width };
}

/** Writes the codes of the centroids within reach, 0 for the others, and returns the largest length of a remainder. */
function writeCodes(
  origin: Float64Array,
  centroids: Float64Array,
  { grain, isReached }: { grain: number; isReached: (c: number) => boolean },
  /* OUT */ { codes, stride }: CentroidCodes,
): number {
  const cols = origin.length;
  const k = centroids.length / cols;
  const pairs = (cols + 1) >> 1;
  let worst = 0;
  codes.fill(0);
  for (let c = 0; c < k; c++) {
    if (!isReached(c)) continue;
    const { at, apart } = codesAt(c, k, pairs, stride);
    let square = 0;
    for (let j = 0; j < cols; j++) {
      const v = centroids[c * cols + j] - origin[j];
      const code = Math.round(v / grain);
      codes[at + (j >> 1) * apart + (j & 1)] = code;
      square += (v - code * grain) ** 2;
    }
    worst = Math.max(worst, square);
  }
  return Math.sqrt(worst) + 2 ** -48 * grain * CODE_LIMIT;
}
