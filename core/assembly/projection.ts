// First bounds of rows that have none: from 31 coordinates on orthonormal axes and the length of what these leave over, in
// which no two points are farther apart than they are. The proof is in kernel.md, projected bounds.

import { verdictOf } from "./doubts";
import { codeBytes, codesOf, eightDots, leastOf, paddedCount, toUnits, writeBounds } from "./pruned";
import { rowAt, State } from "./state";

/** Coordinates, the last of which is the length of the rest. */
const COORDINATES: i32 = 32;
const CODE_BYTES: usize = 64;
const ROW_GROUP: i32 = 8;

/**
 * What lies in the scratch of scores meanwhile: i32 products of eight rows with the axes, their i16 codes and the squares of
 * these, their best scores, and the f64 products of one row.
 */
const CODES: usize = 1024;
const SQUARES: usize = 1536;
const BEST: usize = 1600;
const WIDE_PRODUCTS: usize = 1728;
const SCORES: usize = 1984;

/** The block of a projection: i16 codes of the axes, f64 [32][32] that makes them orthonormal, i16 codes of the centroids and i32 halves of their squares. */
@inline
function triangleOf(state: State): usize {
  return state.projection + <usize>COORDINATES * codeBytes(state);
}

@inline
function centroidsOf(state: State): usize {
  return triangleOf(state) + 8 * COORDINATES * COORDINATES;
}

@inline
function halvesOf(state: State): usize {
  return centroidsOf(state) + <usize>paddedCount(state) * CODE_BYTES;
}

/** The centroid of best score in the projection, for each row of a group. */
@inline
export function guessesOf(state: State): usize {
  return verdictOf(state) + 32;
}

/** Codes of all centroids in the projection. */
export function project(state: State): void {
  const bytes = codeBytes(state);
  const codes = centroidsOf(state);
  const halves = halvesOf(state);
  memory.fill(codes, 0, <usize>paddedCount(state) * CODE_BYTES);
  for (let c = 0; c < state.k; c += 2) {
    const x = rowAt(state.codes, c, bytes);
    const y = c + 1 < state.k ? x + bytes : x;
    productsOfTwo(state, x, y, state.scores);
    for (let i = 0; i < 2 && c + i < state.k; i++) {
      const into = rowAt(codes, c + i, CODE_BYTES);
      const own = squareOfCodes(i ? y : x, bytes);
      const square = codeOf(state, own, rowAt(state.scores, i, 4 * COORDINATES), into, state.centroidScale);
      store<i32>(halves + (<usize>(c + i) << 2), -(square >> 1));
    }
  }
  // Padding scores less than any centroid.
  for (let c = state.k; c < paddedCount(state); c++) store<i32>(halves + (<usize>c << 2), -(1 << 29));
}

/** Products of two rows of codes with all axes. */
function productsOfTwo(state: State, x: usize, y: usize, into: usize): void {
  const bytes = codeBytes(state);
  const other = into + 4 * COORDINATES;
  for (let axis = 0; axis < COORDINATES; axis += 4) {
    const at = <usize>axis << 2;
    eightDots(x, y, rowAt(state.projection, axis, bytes), bytes, i32x4.splat(0), into + at, other + at);
  }
}

/** Coordinates as int16 from the squared length of codes and their products with the axes. Returns the square of these. */
function codeOf(state: State, square: f64, products: usize, into: usize, scale: f64): i32 {
  const wide = state.scores + WIDE_PRODUCTS;
  for (let i: usize = 0; i < <usize>COORDINATES; i++) store<f64>(wide + (i << 3), <f64>load<i32>(products + (i << 2)));
  let left = square;
  for (let axis = 0; axis < COORDINATES - 1; axis++) {
    const factors = rowAt(triangleOf(state), axis, 8 * COORDINATES);
    let sums = f64x2.splat(0);
    for (let at: usize = 0; at <= <usize>axis << 3; at += 16) {
      sums = f64x2.add(sums, f64x2.mul(v128.load(factors + at), v128.load(wide + at)));
    }
    const coordinate = f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1);
    left -= coordinate * coordinate;
    store<i16>(into + (<usize>axis << 1), <i16>nearest(coordinate * scale));
  }
  store<i16>(into + CODE_BYTES - 2, <i16>nearest(sqrt(max<f64>(0, left)) * scale));
  return <i32>squareOfCodes(into, CODE_BYTES);
}

function squareOfCodes(x: usize, bytes: usize): f64 {
  let sum = i32x4.splat(0);
  for (let at: usize = 0; at < bytes; at += 16) {
    const own = v128.load(x + at);
    sum = i32x4.add(sum, i32x4.dot_i16x8_s(own, own));
  }
  return (
    <f64>i32x4.extract_lane(sum, 0) + <f64>i32x4.extract_lane(sum, 1) +
    <f64>i32x4.extract_lane(sum, 2) + <f64>i32x4.extract_lane(sum, 3)
  );
}

/** Bounds of a group of rows to all centroids, and the centroid that is nearest to each in the projection. */
export function boundByProjection(state: State, row: i32, count: i32): void {
  const scratch = state.scores;
  const codes = scratch + CODES;
  for (let i = 0; i < count; i += 2) {
    const next = min(i + 1, count - 1);
    const products = rowAt(scratch, i, 4 * COORDINATES);
    productsOfTwo(state, codesOf(state, row + i), codesOf(state, row + next), products);
    for (let j = i; j <= next; j++) {
      const own = rowAt(scratch, j, 4 * COORDINATES);
      const length = <f64>load<i32>(state.norms + (<usize>(row + j) << 2));
      const square = codeOf(state, length, own, rowAt(codes, j, CODE_BYTES), state.rowScale);
      store<i32>(scratch + SQUARES + (<usize>j << 2), square);
    }
  }
  for (let i = 0; i < ROW_GROUP; i++) v128.store(scratch + BEST + (<usize>i << 4), i32x4.splat(i32.MIN_VALUE));
  const scores = scratch + SCORES;
  let w = centroidsOf(state);
  for (let c = 0; c < state.k; c += 4) {
    const halves = v128.load(halvesOf(state) + (<usize>c << 2));
    for (let i = 0; i < count; i += 2) {
      const next = min(i + 1, count - 1);
      eightDots(rowAt(codes, i, CODE_BYTES), rowAt(codes, next, CODE_BYTES), w, CODE_BYTES, halves, scores, scores + 16);
      rate(state, row, i, c, v128.load(scores));
      if (next > i) rate(state, row, next, c, v128.load(scores + 16));
    }
    w += 4 * CODE_BYTES;
  }
  for (let i = 0; i < count; i++) {
    const best = leastOf(i32x4.neg(v128.load(scratch + BEST + (<usize>i << 4))));
    store<i32>(guessesOf(state) + (<usize>i << 2), -best & state.mask);
  }
}

/** Four bounds of a row from scores in the projection: the distance is the root of its square less twice the score. */
@inline
function rate(state: State, row: i32, place: i32, c: i32, scores: v128): void {
  const best = state.scores + BEST + (<usize>place << 4);
  const index = i32x4.add(i32x4.splat(c), i32x4(0, 1, 2, 3));
  const found = v128.or(v128.and(scores, i32x4.splat(~state.mask)), index);
  v128.store(best, i32x4.max_s(v128.load(best), found));
  const square = i32x4.splat(load<i32>(state.scores + SQUARES + (<usize>place << 2)));
  const squares = f32x4.convert_i32x4_s(i32x4.sub(square, i32x4.shl(scores, 1)));
  const units = toUnits(squares, f32x4.splat(state.projectedScale), f32x4.splat(state.projectedOff));
  writeBounds(state, row + place, c, units);
}
