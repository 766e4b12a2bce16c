// Tiny devices: nothing is kept for them. Points and centroids are copied to fixed places in the first page of the
// memory, which the arena never hands out, and everything about them is computed there.

import { assign } from "./groups";

// Where things lie; src/kernel/tiny.ts knows these addresses too. There is room for TINY_NUMBERS (pick.ts).
/** f64 rows as the caller has them. */
export const ROWS: usize = 1024;
/** f64 centroids, row by row. */
export const CENTROIDS: usize = 9216;
/** f64 points in groups [rows / 4][cols][4]. */
export const POINTS: usize = 17408;
/** f64 points split onto the grids, see src/kernel/grid.ts: the coarse and the fine part of each, in the same groups. */
export const HIGH: usize = 3072;
export const LOW: usize = 5120;
/** i32 labels of the last call. */
export const LABELS: usize = 25600;
/** f64 [k][2][cols + 1]: coarse, then fine sums of every column and, last, of the weights, which are 1. */
export const PARTS: usize = 29696;
/** f64 [2][cols + 1]: the magic numbers of the columns, see src/kernel/grid.ts; those of the weights are not used. */
export const GRIDS: usize = 62464;
/** i32 labels of the group at hand before the call. */
export const OLD_LABELS: usize = 62592;
/** f64, the loss of the last call. */
const LOSS: usize = 62656;

/** A label that no cluster has. */
export const UNASSIGNED: i32 = 0x7fff;
/** The unit in the last place of this number is the smallest positive float64. */
const SMALLEST: f64 = 3.337610787760802e-308;

/** Makes the rows at ROWS the device at hand, with none of them in any of its k clusters. */
export function tinyLoad(rows: i32, cols: i32, k: i32): void {
  const groups = <usize>((rows + 3) >> 2);
  fill(LABELS, groups, i32x4.splat(UNASSIGNED));
  fill(PARTS, <usize>(k * (cols + 1)), i32x4.splat(0));
  arrange(rows, cols);
  makeGrids(rows, cols, groups);
  split(cols, groups);
}

/** Not memory.fill, which leaves the module: for a few numbers that takes longer than writing them. */
// @ts-expect-error: decorator
@inline
function fill(at: usize, vectors: usize, value: v128): void {
  for (const end = at + (vectors << 4); at < end; at += 16) v128.store(at, value);
}

/** Rows into groups, the last of which is filled up with zeros. */
function arrange(rows: i32, cols: i32): void {
  const padded = (rows + 3) & ~3;
  const bytes = <usize>cols << 3;
  const end = ROWS + <usize>padded * bytes;
  for (let at = ROWS + <usize>rows * bytes; at < end; at += 8) store<f64>(at, 0);
  let target = POINTS;
  if (cols == 2) {
    for (let source = ROWS; source < end; source += 64, target += 64) pair(source, target);
    return;
  }
  for (let source = ROWS; source < end; target += bytes << 2) {
    for (let lane: usize = 0; lane < 32; lane += 8) {
      for (let at: usize = 0; at < bytes; at += 8, source += 8) {
        store<f64>(target + (at << 2) + lane, load<f64>(source));
      }
    }
  }
}

/** A group of two columns in registers: planar points are the usual ones. */
// @ts-expect-error: decorator
@inline
function pair(source: usize, target: usize): void {
  const a = v128.load(source);
  const b = v128.load(source, 16);
  const c = v128.load(source, 32);
  const d = v128.load(source, 48);
  v128.store(target, v128.shuffle<f64>(a, b, 0, 2));
  v128.store(target, v128.shuffle<f64>(c, d, 0, 2), 16);
  v128.store(target, v128.shuffle<f64>(a, b, 1, 3), 32);
  v128.store(target, v128.shuffle<f64>(c, d, 1, 3), 48);
}

/** The grids of the sums, from the largest magnitude of every column: gridsFor in src/kernel/grid.ts. */
function makeGrids(rows: i32, cols: i32, groups: usize): void {
  const bits = 18 + clz(max(0, rows - 1));
  const width = <usize>(cols + 1) << 3;
  const group = <usize>cols << 5;
  for (let c: usize = 0; c < <usize>cols; c++) {
    let low = f64x2.splat(0);
    let high = low;
    const end = POINTS + groups * group;
    for (let at = POINTS + (c << 5); at < end; at += group) {
      low = f64x2.pmax(low, f64x2.abs(v128.load(at)));
      high = f64x2.pmax(high, f64x2.abs(v128.load(at, 16)));
    }
    const both = f64x2.pmax(low, high);
    const largest = max(f64x2.extract_lane(both, 0), f64x2.extract_lane(both, 1));
    // The smallest power of two above it, from the bits of its exponent.
    const above = reinterpret<f64>(((reinterpret<u64>(largest) >> 52) + 1) << 52);
    const coarse = max(SMALLEST, 1.5 * above * powerOfTwo(52 - bits));
    store<f64>(GRIDS + (c << 3), coarse);
    store<f64>(GRIDS + width + (c << 3), max(SMALLEST, coarse * powerOfTwo(-bits)));
  }
}

/** The parts that sums are made of. */
function split(cols: i32, groups: usize): void {
  const width = <usize>(cols + 1) << 3;
  const group = <usize>cols << 5;
  for (let c: usize = 0; c < <usize>cols; c++) {
    const coarse = v128.load64_splat(GRIDS + (c << 3));
    const fine = v128.load64_splat(GRIDS + width + (c << 3));
    const end = groups * group;
    for (let at = c << 5; at < end; at += group) {
      splitTwo(at, coarse, fine);
      splitTwo(at + 16, coarse, fine);
    }
  }
}

// @ts-expect-error: decorator
@inline
function splitTwo(at: usize, coarse: v128, fine: v128): void {
  const value = v128.load(POINTS + at);
  const high = f64x2.sub(f64x2.add(value, coarse), coarse);
  v128.store(HIGH + at, high);
  v128.store(LOW + at, f64x2.sub(f64x2.add(f64x2.sub(value, high), fine), fine));
}

// @ts-expect-error: decorator
@inline
function powerOfTwo(exponent: i32): f64 {
  return reinterpret<f64>(<i64>(1023 + exponent) << 52);
}

/** (E1) of the device at hand. */
export function tinyAssign(rows: i32, cols: i32, k: i32): f64 {
  return assign(rows, cols, k);
}

/**
 * Lloyd's iteration: runUpdate of src/update.ts without neighbours, to the bit. Leaves centroids, labels, sums and loss
 * behind and returns the number of passes, at most `most`.
 */
export function tinyLloyd(rows: i32, cols: i32, k: i32, most: i32, tol: f64): i32 {
  let loss = assign(rows, cols, k);
  let passes = 0;
  while (moveToMeans(cols, k)) {
    const before = loss;
    loss = assign(rows, cols, k);
    if (++passes == most || (tol > 0 && before - loss <= tol * max(1, abs(before)))) break;
  }
  store<f64>(LOSS, loss);
  return passes;
}

/** (M) without neighbours; false if nothing moved. */
function moveToMeans(cols: i32, k: i32): bool {
  const width = <usize>(cols + 1) << 3;
  let moved = false;
  let w = CENTROIDS;
  for (let c = 0, parts = PARTS; c < k; c++, parts += 2 * width) {
    const count = load<f64>(parts + width - 8);
    if (count == 0) {
      w += width - 8;
      continue;
    }
    for (let at: usize = 0; at < width - 8; at += 8, w += 8) {
      const target = (load<f64>(parts + at) + load<f64>(parts + at + width)) / count;
      if (target != load<f64>(w)) moved = true;
      store<f64>(w, target);
    }
  }
  return moved;
}
