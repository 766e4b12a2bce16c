// Where one device's data lie in linear memory. src/kernel/placedPoints.ts writes the fields, in this order, as 32-bit words.

@unmanaged
export class State {
  rows: i32;
  cols: i32;
  k: i32;
  /** Points row by row, f32 if there is `widened`, otherwise f64; for the small engine f64 tiles [rows / 8][cols][8]. */
  points: usize;
  /** f64 weights, or 0 when every point weighs 1. */
  weights: usize;
  /** u16 labels of the last call, IRREGULAR added for points that the screen cannot represent. */
  labels: usize;
  /** f64 [k][2][cols + 1]: coarse, then fine sums of every column and, last, of the weights. */
  sums: usize;
  /** f64 [2][cols + 1]: coarse, then fine magic numbers of the columns and, last, of the weights. */
  grids: usize;
  /** f64 [k][cols]: the centroids of this call. */
  centroids: usize;
  /** f64 [blocks of 8][cols][8]: the same with lanes across centroids, padded with infinity. */
  lanes: usize;
  /** i16 points: tiles [rows / 8][pairs][8][2], or [rows][pairs][2] if `isByRows`. */
  tiles: usize;
  /** Pairs of columns: cols / 2, rounded up. */
  pairs: i32;
  /** i16 centroids [blocks of 4, then of 2 and 1][pairs][width][2], or [k][cols padded to 8], and i32 starts of their scores. */
  codes: usize;
  starts: usize;
  /** Low bits of a score that hold the index of its centroid. */
  mask: i32;
  /** A centroid whose score is no more than this below the best may be the nearest. */
  threshold: i32;
  /** i32 [k][8] scores of a tile, or [8][k padded to 8] of rows; then the best, the second best and the slack of its 8 points; then what rows in doubt need (doubts.ts). */
  scores: usize;
  /** i32 squared lengths of the points' codes. */
  norms: usize;
  /** f32 slack per point, or 0 when movement bounds are not kept. */
  slack: usize;
  /** f32 per centroid, what this call's movement takes from the slack; 0 when there is no slack yet. */
  decrease: usize;
  /** u32 list of the rows of a chunk that need a new look, then of those that move, and room to sort it; and the tile for packing rows. */
  active: usize;
  packed: usize;
  /** In squared or plain units of the point codes: twice a score unit, and the errors of a distance. */
  unit: f32;
  squareError: f32;
  lengthError: f32;
  /** Counters: rows that the screen looked at, distances that were computed to verify it. */
  looked: i32;
  verified: i32;
  /** The first row of the chunk at hand, its rows that move so far, and those that wait to be verified. */
  first: i32;
  moving: i32;
  waiting: i32;
  /** What was read to bring rows into the cache: written, so that nobody leaves the reading out. */
  touched: i32;
  /** Whether the codes of a row lie together, which pair bounds need. */
  isByRows: i32;
  /** u16 [rows][k padded to 8] lower bounds of distances plus the ways of the centroids, or 0 when none are kept; whether they hold. */
  bounds: usize;
  isBounded: i32;
  /** u16 [k padded to 8] ways of the centroids since the bounds were begun, rounded up; the longest of four if they share a bound. */
  ways: usize;
  /** Units of bounds and ways in a step of the point codes. */
  scale: f32;
  /** Counter: pairs of a row and a centroid that got a score. */
  scored: u32;
  /** f64 [4][cols], where f32 rows become f64 before anything is computed from them; 0 when points are f64. */
  widened: usize;
  /** Whether four centroids that follow each other share a bound: [k / 4 padded to 8] then. */
  isShared: i32;
  /** The block of the projection (projection.ts), or 0 when there is none. */
  projection: usize;
  /** Units of the codes in the projection in a step of the codes of points and in a grain of those of centroids. */
  rowScale: f32;
  centroidScale: f32;
  /** Units of bounds in one of the projection, and what is taken off, half a unit included. */
  projectedScale: f32;
  projectedOff: f32;
  /** Counters: groups of rows whose bounds were renewed by the projection, and those that it helped. */
  projected: i32;
  helped: i32;
}

/** Label of a row that is in no cluster yet. */
export const UNASSIGNED: i32 = 0x7fff;

/** Flag of a label: the point is too far out for its code, so it is always settled in float64. */
export const IRREGULAR: i32 = 0x8000;

@inline
export function rowAt(base: usize, row: i32, bytes: usize): usize {
  return base + <usize>row * bytes;
}

/**
 * The address of a row of the points in f64. A row in f32 is widened, exactly, into one of four places, so that all that is
 * computed from it is what f64 points of the same values would give.
 */
@inline
export function pointAt(state: State, row: i32, place: i32): usize {
  return state.widened ? widen(state, row, place) : rowAt(state.points, row, <usize>state.cols << 3);
}

function widen(state: State, row: i32, place: i32): usize {
  const bytes = <usize>state.cols << 2;
  const into = rowAt(state.widened, place, bytes << 1);
  let x = rowAt(state.points, row, bytes);
  let to = into;
  for (const end = x + (bytes & ~15); x < end; x += 16, to += 32) {
    const four = v128.load(x);
    v128.store(to, f64x2.promote_low_f32x4(four));
    v128.store(to, f64x2.promote_low_f32x4(v128.shuffle<i64>(four, four, 1, 1)), 16);
  }
  for (const end = into + (bytes << 1); to < end; x += 4, to += 8) store<f64>(to, <f64>load<f32>(x));
  return into;
}

/** Bytes from one row of the points to the next. */
@inline
export function pointBytes(state: State): usize {
  return <usize>state.cols << (state.widened ? 2 : 3);
}
