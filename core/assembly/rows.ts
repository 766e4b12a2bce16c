// Passes in float64 over points that lie row by row: exhaustive assignment, loss and distances.

import { move } from "./exact";
import { IRREGULAR, pointAt, State } from "./state";

/** Assigns rows by comparing all distances in float64, two rows against eight centroids at a time. */
export function plain(state: State, from: i32, to: i32): void {
  const bytes = <usize>state.cols << 3;
  for (let row = from; row < to; row += 2) {
    const x = pointAt(state, row, 0);
    // An odd last row is computed twice and settled once.
    const paired = row + 1 < to;
    const labels = nearestOfTwo(x, paired ? pointAt(state, row + 1, 1) : x, state.lanes, (state.k + 7) >> 3, bytes);
    settle(state, row, <i32>labels);
    if (paired) settle(state, row + 1, <i32>(labels >> 32));
  }
}

function settle(state: State, row: i32, label: i32): void {
  const at = state.labels + (<usize>row << 1);
  const stored = <i32>load<u16>(at);
  const flag = stored & IRREGULAR;
  const old = stored ^ flag;
  if (label == old) return;
  move(state, row, old, label);
  store<u16>(at, label | flag);
}

/** Nearest centroids of two rows, as the low and the high half of the result. */
function nearestOfTwo(x: usize, y: usize, lanes: usize, blocks: i32, bytes: usize): i64 {
  let bestX = f64x2.splat(Infinity);
  let bestY = bestX;
  let labelX = i64x2.splat(0);
  let labelY = labelX;
  // Lanes hold the indices of neighbouring centroids; later vectors of a block are 2, 4 and 6 further.
  let index = i64x2(0, 1);
  const two = i64x2.splat(2);
  for (let block = 0; block < blocks; block++) {
    let x0 = f64x2.splat(0);
    let x1 = x0;
    let x2 = x0;
    let x3 = x0;
    let y0 = x0;
    let y1 = x0;
    let y2 = x0;
    let y3 = x0;
    for (let at: usize = 0; at < bytes; at += 8) {
      const xj = v128.load64_splat(x + at);
      const yj = v128.load64_splat(y + at);
      x0 = addSquare(x0, xj, v128.load(lanes));
      y0 = addSquare(y0, yj, v128.load(lanes));
      x1 = addSquare(x1, xj, v128.load(lanes, 16));
      y1 = addSquare(y1, yj, v128.load(lanes, 16));
      x2 = addSquare(x2, xj, v128.load(lanes, 32));
      y2 = addSquare(y2, yj, v128.load(lanes, 32));
      x3 = addSquare(x3, xj, v128.load(lanes, 48));
      y3 = addSquare(y3, yj, v128.load(lanes, 48));
      lanes += 64;
    }
    labelX = v128.bitselect(index, labelX, f64x2.lt(x0, bestX));
    labelY = v128.bitselect(index, labelY, f64x2.lt(y0, bestY));
    bestX = f64x2.pmin(bestX, x0);
    bestY = f64x2.pmin(bestY, y0);
    index = i64x2.add(index, two);
    labelX = v128.bitselect(index, labelX, f64x2.lt(x1, bestX));
    labelY = v128.bitselect(index, labelY, f64x2.lt(y1, bestY));
    bestX = f64x2.pmin(bestX, x1);
    bestY = f64x2.pmin(bestY, y1);
    index = i64x2.add(index, two);
    labelX = v128.bitselect(index, labelX, f64x2.lt(x2, bestX));
    labelY = v128.bitselect(index, labelY, f64x2.lt(y2, bestY));
    bestX = f64x2.pmin(bestX, x2);
    bestY = f64x2.pmin(bestY, y2);
    index = i64x2.add(index, two);
    labelX = v128.bitselect(index, labelX, f64x2.lt(x3, bestX));
    labelY = v128.bitselect(index, labelY, f64x2.lt(y3, bestY));
    bestX = f64x2.pmin(bestX, x3);
    bestY = f64x2.pmin(bestY, y3);
    index = i64x2.add(index, two);
  }
  return merge(bestX, labelX) | (merge(bestY, labelY) << 32);
}

@inline
function addSquare(sum: v128, x: v128, w: v128): v128 {
  return f64x2.add(sum, square(x, w));
}

/** The label of the better lane; the lower label on ties. */
@inline
function merge(best: v128, label: v128): i64 {
  const a = f64x2.extract_lane(best, 0);
  const b = f64x2.extract_lane(best, 1);
  const labelA = i64x2.extract_lane(label, 0);
  const labelB = i64x2.extract_lane(label, 1);
  return b < a || (b == a && labelB < labelA) ? labelB : labelA;
}

/**
 * Loss of the rows of one block (at most 1,024): lane r mod 4 adds the weighted squared distances of its rows in
 * order, then (lane 0 + lane 1) + (lane 2 + lane 3). `scratch` holds 4 numbers.
 */
export function loss(state: State, from: i32, to: i32, scratch: usize): f64 {
  const bytes = <usize>state.cols << 3;
  let low = f64x2.splat(0);
  let high = low;
  for (let row = from; row < to; row += 4) {
    const count = min(4, to - row);
    fourDistances(
      pointAt(state, row, 0), pointAt(state, row + min(1, count - 1), 1),
      pointAt(state, row + min(2, count - 1), 2), pointAt(state, row + min(3, count - 1), 3),
      ownCentroid(state, row, bytes), ownCentroid(state, row + min(1, count - 1), bytes),
      ownCentroid(state, row + min(2, count - 1), bytes), ownCentroid(state, row + min(3, count - 1), bytes),
      state.cols, scratch,
    );
    weigh(state, row, count, scratch);
    low = f64x2.add(low, v128.load(scratch));
    high = f64x2.add(high, v128.load(scratch, 16));
  }
  return f64x2.extract_lane(low, 0) + f64x2.extract_lane(low, 1) + (f64x2.extract_lane(high, 0) + f64x2.extract_lane(high, 1));
}

@inline
function ownCentroid(state: State, row: i32, bytes: usize): usize {
  return state.centroids + <usize>(load<u16>(state.labels + (<usize>row << 1)) & (IRREGULAR - 1)) * bytes;
}

/** Multiplies four distances by the weights of their rows; those beyond `count` become 0. */
export function weigh(state: State, row: i32, count: i32, distances: usize): void {
  if (count == 4 && !state.weights) return;
  for (let lane = 0; lane < 4; lane++) {
    const at = distances + (<usize>lane << 3);
    const weight = lane >= count ? 0 : state.weights ? load<f64>(state.weights + (<usize>(row + lane) << 3)) : 1;
    store<f64>(at, lane >= count ? 0 : load<f64>(at) * weight);
  }
}

/** Squared distances of all rows in a range to one origin; `into` has room for a multiple of four. */
export function distances(state: State, origin: usize, from: i32, to: i32, into: usize): void {
  for (let row = from; row < to; row += 4) {
    const last = to - row - 1;
    fourDistances(
      pointAt(state, row, 0), pointAt(state, row + min(1, last), 1),
      pointAt(state, row + min(2, last), 2), pointAt(state, row + min(3, last), 3),
      origin, origin, origin, origin, state.cols, into,
    );
    into += 32;
  }
}

/** Four squared distances at once; each adds its columns in order. */
export function fourDistances(
  x0: usize, x1: usize, x2: usize, x3: usize, w0: usize, w1: usize, w2: usize, w3: usize, cols: i32, into: usize,
): void {
  let low = f64x2.splat(0);
  let high = low;
  const even = <usize>(cols & ~1) << 3;
  for (let at: usize = 0; at < even; at += 16) {
    const s0 = square(v128.load(x0 + at), v128.load(w0 + at));
    const s1 = square(v128.load(x1 + at), v128.load(w1 + at));
    const s2 = square(v128.load(x2 + at), v128.load(w2 + at));
    const s3 = square(v128.load(x3 + at), v128.load(w3 + at));
    low = f64x2.add(low, v128.shuffle<f64>(s0, s1, 0, 2));
    high = f64x2.add(high, v128.shuffle<f64>(s2, s3, 0, 2));
    low = f64x2.add(low, v128.shuffle<f64>(s0, s1, 1, 3));
    high = f64x2.add(high, v128.shuffle<f64>(s2, s3, 1, 3));
  }
  if (cols & 1) {
    const s0 = square(v128.load64_splat(x0 + even), v128.load64_splat(w0 + even));
    const s1 = square(v128.load64_splat(x1 + even), v128.load64_splat(w1 + even));
    const s2 = square(v128.load64_splat(x2 + even), v128.load64_splat(w2 + even));
    const s3 = square(v128.load64_splat(x3 + even), v128.load64_splat(w3 + even));
    low = f64x2.add(low, v128.shuffle<f64>(s0, s1, 0, 2));
    high = f64x2.add(high, v128.shuffle<f64>(s2, s3, 0, 2));
  }
  v128.store(into, low);
  v128.store(into, high, 16);
}

@inline
export function square(x: v128, w: v128): v128 {
  const difference = f64x2.sub(x, w);
  return f64x2.mul(difference, difference);
}
