// What is done in float64: squared distances in the reference's order of operations, and sums on the grids.

import { pointAt, State } from "./state";

/**
 * Squared distances of a row to two others, differences squared and added in the order of the columns, as js.ts does.
 * The additions of one distance wait for each other, so a second one is free.
 */
export function twoDistances(x: usize, v: usize, w: usize, cols: i32): v128 {
  let sum = f64x2.splat(0);
  const even = x + (<usize>(cols & ~1) << 3);
  while (x < even) {
    const here = v128.load(x);
    const a = f64x2.sub(here, v128.load(v));
    const b = f64x2.sub(here, v128.load(w));
    const squareA = f64x2.mul(a, a);
    const squareB = f64x2.mul(b, b);
    sum = f64x2.add(sum, v128.shuffle<f64>(squareA, squareB, 0, 2));
    sum = f64x2.add(sum, v128.shuffle<f64>(squareA, squareB, 1, 3));
    x += 16;
    v += 16;
    w += 16;
  }
  if (cols & 1) {
    const difference = f64x2.sub(v128.load64_splat(x), v128.load64_lane(w, v128.load64_zero(v), 1));
    sum = f64x2.add(sum, f64x2.mul(difference, difference));
  }
  return sum;
}

/** Adds a row to the sums of cluster `to` and takes it out of `from` (out of range: it was in none). */
export function move(state: State, row: i32, from: i32, to: i32): void {
  const cols = state.cols;
  let x = pointAt(state, row, 0);
  const weight = state.weights ? load<f64>(state.weights + (<usize>row << 3)) : 1;
  const width = <usize>(cols + 1) << 3;
  let added = state.sums + <usize>to * 2 * width;
  let removed = from < state.k ? state.sums + <usize>from * 2 * width : 0;
  const end = x + (<usize>(cols & ~1) << 3);
  let grid = state.grids;
  const factor = f64x2.splat(weight);
  // Addresses that go along cost less than sums of two.
  let fine = grid + width;
  let addedLow = added + width;
  let removedLow = removed + width;
  if (removed) {
    for (; x < end; x += 16, grid += 16, fine += 16, added += 16, addedLow += 16, removed += 16, removedLow += 16) {
      transfer(f64x2.mul(v128.load(x), factor), grid, fine, added, addedLow, removed, removedLow, true);
    }
  } else {
    for (; x < end; x += 16, grid += 16, fine += 16, added += 16, addedLow += 16) {
      transfer(f64x2.mul(v128.load(x), factor), grid, fine, added, addedLow, 0, 0, false);
    }
  }
  if (cols & 1) {
    transferOne(load<f64>(x) * weight, grid, added, removed, width);
    grid += 8;
    added += 8;
    if (removed) removed += 8;
  }
  transferOne(weight, grid, added, removed, width);
}

/** Two columns of a row, split onto their grids (see src/data/exactSums.ts), into sums and, if `isTaken`, out of others. */
@inline
export function transfer(
  value: v128, grid: usize, fineGrid: usize, added: usize, addedLow: usize, removed: usize, removedLow: usize, isTaken: bool,
): void {
  const coarse = v128.load(grid);
  const fine = v128.load(fineGrid);
  const high = splitHigh(value, coarse);
  const low = splitLow(value, high, fine);
  v128.store(added, f64x2.add(v128.load(added), high));
  v128.store(addedLow, f64x2.add(v128.load(addedLow), low));
  if (isTaken) {
    v128.store(removed, f64x2.sub(v128.load(removed), high));
    v128.store(removedLow, f64x2.sub(v128.load(removedLow), low));
  }
}

@inline
export function splitHigh(value: v128, coarse: v128): v128 {
  return f64x2.sub(f64x2.add(value, coarse), coarse);
}

@inline
export function splitLow(value: v128, high: v128, fine: v128): v128 {
  return f64x2.sub(f64x2.add(f64x2.sub(value, high), fine), fine);
}

/** `transfer` for one column. */
@inline
export function transferOne(value: f64, grid: usize, added: usize, removed: usize, width: usize): void {
  const coarse = load<f64>(grid);
  const fine = load<f64>(grid + width);
  const high = value + coarse - coarse;
  const low = value - high + fine - fine;
  store<f64>(added, load<f64>(added) + high);
  store<f64>(added + width, load<f64>(added + width) + low);
  if (removed) {
    store<f64>(removed, load<f64>(removed) - high);
    store<f64>(removed + width, load<f64>(removed + width) - low);
  }
}

/** Nearest of all centroids in float64; the lowest index on ties. */
export function nearest(state: State, row: i32): i32 {
  const bytes = <usize>state.cols << 3;
  const x = pointAt(state, row, 0);
  let best: f64 = Infinity;
  let label = 0;
  for (let c = 0; c < state.k; c += 2) {
    // An odd last centroid is measured twice.
    const v = state.centroids + <usize>c * bytes;
    const squares = twoDistances(x, v, c + 1 < state.k ? v + bytes : v, state.cols);
    const first = f64x2.extract_lane(squares, 0);
    const second = f64x2.extract_lane(squares, 1);
    if (first < best) {
      best = first;
      label = c;
    }
    if (second < best) {
      best = second;
      label = c + 1;
    }
  }
  return label;
}
