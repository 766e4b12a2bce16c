// Seeds for the tiny device at hand: plusPlus of src/seeding.ts and the streams of src/random.ts, to the bit.

import { CENTROIDS, CLOSEST, NEARER, ROWS, STREAM, TRIAL } from "./places";

/** The stream at hand: xoroshiro128+, as pure-rand has it. */
let s01: i32 = 0;
let s00: i32 = 0;
let s11: i32 = 0;
let s10: i32 = 0;

/** k centres, every further one the best of `trials` draws, from the stream of start number `start`. */
export function seed(rows: i32, cols: i32, k: i32, trials: i32, start: i32): void {
  enterStream(start);
  // The first: all rows are equally far.
  let chosen = min(rows - 1, <i32>(uniform() * <f64>rows));
  let closest = CLOSEST;
  let nearer = NEARER;
  let trial = TRIAL;
  let total = distances(chosen, rows, cols, 0, closest);
  take(chosen, 0, cols);
  for (let c = 1; c < k; c++) {
    let lowest: f64 = Infinity;
    chosen = 0;
    for (let t = 0; t < trials; t++) {
      const row = draw(rows, closest, total);
      const reached = distances(row, rows, cols, closest, trial);
      if (!(reached < lowest)) continue;
      lowest = reached;
      chosen = row;
      const other = nearer;
      nearer = trial;
      trial = other;
    }
    take(chosen, c, cols);
    const other = closest;
    closest = nearer;
    nearer = other;
    total = lowest;
  }
}

/** Makes a row a centre. */
function take(row: i32, c: i32, cols: i32): void {
  const from = ROWS + (<usize>(row * cols) << 3);
  const to = CENTROIDS + (<usize>(c * cols) << 3);
  for (let at: usize = 0; at < <usize>cols << 3; at += 8) store<f64>(to + at, load<f64>(from + at));
}

/** Squared distances to a row, or those at `closest` where there are any and they are less; returns their sum. */
function distances(row: i32, rows: i32, cols: i32, closest: usize, into: usize): f64 {
  const bytes = <usize>cols << 3;
  const centre = ROWS + <usize>row * bytes;
  const end = into + (<usize>rows << 3);
  let total: f64 = 0;
  for (let x = ROWS; into < end; into += 8, x += bytes) {
    let square: f64 = 0;
    for (let at: usize = 0; at < bytes; at += 8) {
      const difference = load<f64>(x + at) - load<f64>(centre + at);
      square += difference * difference;
    }
    if (closest) {
      const known = load<f64>(closest);
      if (known < square) square = known;
      closest += 8;
    }
    store<f64>(into, square);
    total += square;
  }
  return total;
}

/** A row drawn in proportion to its distance; any where every point already is a centre. */
function draw(rows: i32, closest: usize, total: f64): i32 {
  let left = uniform() * (total > 0 ? total : <f64>rows);
  let last = 0;
  for (let r = 0; r < rows; r++) {
    const share = total > 0 ? load<f64>(closest + (<usize>r << 3)) : 1;
    if (share == 0) continue;
    last = r;
    left -= share;
    if (left < 0) break;
  }
  return last;
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

// @ts-expect-error: decorator
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
