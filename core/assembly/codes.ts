// Points made ready: how large their columns are, and their codes for the screen.

import { turn } from "./pruned";
import { square } from "./rows";
import { IRREGULAR, pointAt, State } from "./state";

/** Raises `largest` to the magnitudes of the weighted columns of a range of rows; the last number is for the weights. */
export function survey(state: State, from: i32, to: i32, largest: usize): void {
  const bytes = <usize>state.cols << 3;
  for (let row = from; row < to; row++) {
    const x = pointAt(state, row, 0);
    const weight = state.weights ? load<f64>(state.weights + (<usize>row << 3)) : 1;
    const factor = f64x2.splat(weight);
    let at: usize = 0;
    for (; at + 8 < bytes; at += 16) {
      const value = f64x2.abs(f64x2.mul(v128.load(x + at), factor));
      v128.store(largest + at, f64x2.pmax(v128.load(largest + at), value));
    }
    if (at < bytes) store<f64>(largest + at, max(load<f64>(largest + at), abs(load<f64>(x + at) * weight)));
    store<f64>(largest + bytes, max(load<f64>(largest + bytes), weight));
  }
}

/** Adding it rounds a number to an integer, which the low bits of the sum hold: 1.5 * 2^52. */
const TO_INTEGER: f64 = 6755399441055744;

/**
 * Surveys a range of rows as above and codes them: (x - origin) / step rounded to int16, into tiles or, if
 * `isByRows`, rows. Rows farther than `radius` from the origin get the label flag IRREGULAR and code 0. Returns the largest
 * squared length of what rounding took off the others. `from` is even, or starts a tile.
 */
export function encode(state: State, origin: usize, from: i32, to: i32, step: f64, radius: f64, largest: usize): f64 {
  let worst: f64 = 0;
  for (let row = from; row < to; row += 2) {
    // An odd last row is coded twice: nobody reads the place behind it.
    worst = max(worst, encodeTwo(state, row, min(row + 1, to - 1), origin, step, radius, largest));
  }
  if (state.isByRows) turn(state, from, to, true);
  return worst;
}

/**
 * Codes of two rows, a pair of columns every 32 bytes. Squared lengths of the rows from the origin and of what rounding
 * took off are added in whatever order is fast: they decide nothing that could change a label.
 */
function encodeTwo(state: State, row: i32, next: i32, origin: usize, step: f64, radius: f64, largest: usize): f64 {
  const bytes = <usize>state.cols << 3;
  const target = state.tiles + <usize>(row >> 3) * (<usize>state.pairs << 5) + (<usize>(row & 7) << 2);
  let x = pointAt(state, row, 0);
  let y = pointAt(state, next, 1);
  const weightX = state.weights ? load<f64>(state.weights + (<usize>row << 3)) : 1;
  const weightY = state.weights ? load<f64>(state.weights + (<usize>next << 3)) : 1;
  store<f64>(largest + bytes, max(load<f64>(largest + bytes), max(weightX, weightY)));
  const inverse = f64x2.splat(1 / step);
  const steps = f64x2.splat(step);
  const toInteger = f64x2.splat(TO_INTEGER);
  let normX = f64x2.splat(0);
  let normY = normX;
  let restX = normX;
  let restY = normX;
  let squares = i32x4.splat(0);
  let to = target;
  const even = x + (bytes & ~15);
  while (x < even) {
    const valueX = v128.load(x);
    const valueY = v128.load(y);
    const sizeX = f64x2.abs(f64x2.mul(valueX, f64x2.splat(weightX)));
    const sizeY = f64x2.abs(f64x2.mul(valueY, f64x2.splat(weightY)));
    v128.store(largest, f64x2.pmax(v128.load(largest), f64x2.pmax(sizeX, sizeY)));
    const middle = v128.load(origin);
    const offX = f64x2.sub(valueX, middle);
    const offY = f64x2.sub(valueY, middle);
    normX = f64x2.add(normX, f64x2.mul(offX, offX));
    normY = f64x2.add(normY, f64x2.mul(offY, offY));
    const codeX = f64x2.add(f64x2.mul(offX, inverse), toInteger);
    const codeY = f64x2.add(f64x2.mul(offY, inverse), toInteger);
    restX = f64x2.add(restX, square(offX, f64x2.mul(f64x2.sub(codeX, toInteger), steps)));
    restY = f64x2.add(restY, square(offY, f64x2.mul(f64x2.sub(codeY, toInteger), steps)));
    const integers = v128.shuffle<i32>(codeX, codeY, 0, 2, 4, 6);
    const codes = i16x8.narrow_i32x4_s(integers, integers);
    v128.store64_lane(to, codes, 0);
    squares = i32x4.add(squares, i32x4.dot_i16x8_s(codes, codes));
    x += 16;
    y += 16;
    origin += 16;
    largest += 16;
    to += 32;
  }
  let lengthsX = f64x2.add(v128.shuffle<f64>(normX, restX, 0, 2), v128.shuffle<f64>(normX, restX, 1, 3));
  let lengthsY = f64x2.add(v128.shuffle<f64>(normY, restY, 0, 2), v128.shuffle<f64>(normY, restY, 1, 3));
  if (bytes & 15) {
    store<f64>(largest, max(load<f64>(largest), max(abs(load<f64>(x) * weightX), abs(load<f64>(y) * weightY))));
    lengthsX = f64x2.add(lengthsX, encodeOne(load<f64>(x) - load<f64>(origin), to, step));
    lengthsY = f64x2.add(lengthsY, encodeOne(load<f64>(y) - load<f64>(origin), to + 4, step));
    const codes = v128.load64_zero(to);
    squares = i32x4.add(squares, i32x4.dot_i16x8_s(codes, codes));
  }
  v128.store64_lane(state.norms + (<usize>row << 2), squares, 0);
  const most = radius * radius;
  const rest = restOf(state, row, target, lengthsX, most, largest - 8);
  return next == row ? rest : max(rest, restOf(state, next, target + 4, lengthsY, most, largest - 8));
}

/** The code of a last column without a partner, and the squares of its length and of what rounding took off. */
function encodeOne(off: f64, target: usize, step: f64): v128 {
  const code = nearest(off / step);
  const rest = off - code * step;
  store<i32>(target, <i32>max<f64>(-32768, min<f64>(32767, code)) & 0xffff);
  return f64x2.replace_lane(f64x2.splat(off * off), 1, rest * rest);
}

/** What rounding took off a row within the radius. One beyond gets its flag and no code; NaN counts as infinitely large. */
function restOf(state: State, row: i32, target: usize, lengths: v128, most: f64, column: usize): f64 {
  const length = f64x2.extract_lane(lengths, 0);
  if (length <= most) return f64x2.extract_lane(lengths, 1);
  if (isNaN(length)) store<f64>(column, Infinity);
  const label = state.labels + (<usize>row << 1);
  store<u16>(label, load<u16>(label) | IRREGULAR);
  for (let pair = 0; pair < state.pairs; pair++) store<i32>(target + (<usize>pair << 5), 0);
  return 0;
}
