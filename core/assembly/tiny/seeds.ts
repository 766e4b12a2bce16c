// Seeds for the tiny device at hand: plusPlus of src/kernel/seeding.ts and the streams of src/data/random.ts, to the bit.

import { CENTROIDS, CLOSEST, ROWS, STREAM } from "./enter";

/** The stream at hand: xoroshiro128+, as pure-rand has it. */
let s01: i32 = 0;
let s00: i32 = 0;
let s11: i32 = 0;
let s10: i32 = 0;

/**
 * k seeds, every further one the best of `trials` draws, from the stream of start number `start`. Draws do not depend on
 * each other, so two are made side by side: a sum that has to be added up in order is mostly waiting.
 */
export function seed(rows: i32, cols: i32, k: i32, trials: i32, start: i32): void {
  enterStream(start);
  // The first: all rows are equally far.
  let chosen = anyRow(rows, uniform());
  let total = approach(chosen, rows, cols, true);
  take(chosen, 0, cols);
  for (let c = 1; c < k; c++) {
    let lowest: f64 = Infinity;
    chosen = 0;
    for (let t = 0; t < trials; t += 2) {
      const first = uniform();
      const isPair = t + 1 < trials;
      const two = draw(rows, total, first, isPair ? uniform() : first);
      const rowA = <i32>two;
      const rowB = <i32>(two >> 32);
      const reached = cols == 2 ? reachedInPlane(rowA, rowB, rows) : reachedBy(rowA, rowB, rows, cols);
      const a = f64x2.extract_lane(reached, 0);
      const b = f64x2.extract_lane(reached, 1);
      if (a < lowest) {
        lowest = a;
        chosen = rowA;
      }
      if (isPair && b < lowest) {
        lowest = b;
        chosen = rowB;
      }
    }
    take(chosen, c, cols);
    if (c + 1 < k) approach(chosen, rows, cols, false);
    total = lowest;
  }
}

/** Makes a row a seed. */
function take(row: i32, c: i32, cols: i32): void {
  const from = ROWS + (<usize>(row * cols) << 3);
  const to = CENTROIDS + (<usize>(c * cols) << 3);
  for (let at: usize = 0; at < <usize>cols << 3; at += 8) store<f64>(to + at, load<f64>(from + at));
}

/** Brings CLOSEST up to date with a further seed; returns the sum, which is wanted of the first only. */
function approach(row: i32, rows: i32, cols: i32, isFirst: bool): f64 {
  const bytes = <usize>cols << 3;
  const chosen = ROWS + <usize>row * bytes;
  let total: f64 = 0;
  let x = ROWS;
  for (let into = CLOSEST, end = CLOSEST + (<usize>rows << 3); into < end; into += 8) {
    let square: f64 = 0;
    for (let at: usize = 0; at < bytes; at += 8, x += 8) {
      const difference = load<f64>(x) - load<f64>(chosen + at);
      square += difference * difference;
    }
    const known = load<f64>(into);
    if (isFirst || square < known) store<f64>(into, square);
    total += square;
  }
  return total;
}

/** What CLOSEST would add up to with one of two further seeds. */
function reachedBy(rowA: i32, rowB: i32, rows: i32, cols: i32): v128 {
  const bytes = <usize>cols << 3;
  const a = ROWS + <usize>rowA * bytes;
  const b = ROWS + <usize>rowB * bytes;
  let total = f64x2.splat(0);
  let x = ROWS;
  for (let from = CLOSEST, end = CLOSEST + (<usize>rows << 3); from < end; from += 8) {
    let square = f64x2.splat(0);
    for (let at: usize = 0; at < bytes; at += 8, x += 8) {
      const seeds = v128.load64_lane(b + at, v128.load64_zero(a + at), 1);
      const difference = f64x2.sub(v128.load64_splat(x), seeds);
      square = f64x2.add(square, f64x2.mul(difference, difference));
    }
    total = f64x2.add(total, f64x2.pmin(square, v128.load64_splat(from)));
  }
  return total;
}

/** The same bits with the seeds in registers: planar points are the usual ones. */
function reachedInPlane(rowA: i32, rowB: i32, rows: i32): v128 {
  const a = v128.load(ROWS + (<usize>rowA << 4));
  const b = v128.load(ROWS + (<usize>rowB << 4));
  const seedX = v128.shuffle<f64>(a, b, 0, 2);
  const seedY = v128.shuffle<f64>(a, b, 1, 3);
  let total = f64x2.splat(0);
  let x = ROWS;
  for (let from = CLOSEST, end = CLOSEST + (<usize>rows << 3); from < end; from += 8, x += 16) {
    const dx = f64x2.sub(v128.load64_splat(x), seedX);
    const dy = f64x2.sub(v128.load64_splat(x, 8), seedY);
    const square = f64x2.add(f64x2.mul(dx, dx), f64x2.mul(dy, dy));
    total = f64x2.add(total, f64x2.pmin(square, v128.load64_splat(from)));
  }
  return total;
}

/** Where every point is a seed already, or none is. */
function anyRow(rows: i32, share: f64): i32 {
  return min(rows - 1, <i32>(share * <f64>rows));
}

/** Two rows drawn in proportion to their distances, which add up to `total`, by numbers from 0 to 1; 32 bits each. */
function draw(rows: i32, total: f64, first: f64, second: f64): i64 {
  if (!(total > 0)) return pairOf(anyRow(rows, first), anyRow(rows, second));
  let left = f64x2.replace_lane(f64x2.splat(first * total), 1, second * total);
  // As long as something is left the row drawn is a later one.
  let passed = i64x2.splat(0);
  for (let from = CLOSEST, end = CLOSEST + (<usize>rows << 3); from < end; from += 8) {
    left = f64x2.sub(left, v128.load64_splat(from));
    passed = i64x2.sub(passed, f64x2.ge(left, f64x2.splat(0)));
  }
  return pairOf(
    withChance(<i32>i64x2.extract_lane(passed, 0), rows),
    withChance(<i32>i64x2.extract_lane(passed, 1), rows),
  );
}

@inline
function pairOf(a: i32, b: i32): i64 {
  return <i64>a | (<i64>b << 32);
}

/** Rounding can leave a little over: then it is the last row that has any chance. */
function withChance(row: i32, rows: i32): i32 {
  if (row < rows) return row;
  for (row--; row > 0; row--) if (load<f64>(CLOSEST + (<usize>row << 3)) > 0) break;
  return row;
}

/** randomStream of the path whose hash is at STREAM, and one more part. */
function enterStream(part: i32): void {
  s01 = load<i32>(STREAM);
  s00 = load<i32>(STREAM, 4);
  s11 = load<i32>(STREAM, 8);
  s10 = load<i32>(STREAM, 12);
  absorb(1);
  absorb(part);
  absorb(0);
}

function absorb(word: i32): void {
  s01 = mixed(s01, word, s00, 0x85ebca6b);
  s00 = mixed(s00, word, s11, 0x85ebca6d);
  s11 = mixed(s11, word, s10, 0x85ebca6f);
  s10 = mixed(s10, word, s01, 0x85ebca71);
}

@inline
function mixed(lane: i32, word: i32, next: i32, factor: i32): i32 {
  const product = (lane ^ word ^ <i32>(<u32>next >>> 7)) * factor;
  const folded = (product ^ <i32>(<u32>product >>> 13)) * 0xc2b2ae35;
  return folded ^ <i32>(<u32>folded >>> 16);
}

/** uniformFloat64 of pure-rand: 53 bits. */
function uniform(): f64 {
  const high = next() & 0x3ffffff;
  const low = next() & 0x7ffffff;
  return <f64>high * 1.4901161193847656e-8 + <f64>low * 1.1102230246251565e-16;
}

function next(): i32 {
  const out = s00 + s10;
  const a0 = s10 ^ s00;
  const a1 = s11 ^ s01;
  const b0 = s00;
  const b1 = s01;
  s00 = (b0 << 24) ^ <i32>(<u32>b1 >>> 8) ^ a0 ^ (a0 << 16);
  s01 = (b1 << 24) ^ <i32>(<u32>b0 >>> 8) ^ a1 ^ ((a1 << 16) | <i32>(<u32>a0 >>> 16));
  s10 = (a1 << 5) ^ <i32>(<u32>a0 >>> 27);
  s11 = (a0 << 5) ^ <i32>(<u32>a1 >>> 27);
  return out;
}
