// The assignment of rows with many columns: a lower bound of every distance says which centroids need a score at all. The
// codes of a row lie together, lanes run along the columns. The proof is in kernel.md, pair bounds.

import { doubt, marksOf, verdictOf } from "./doubts";
import { nearest } from "./exact";
import { labelOf, list } from "./moves";
import { boundByProjection, guessesOf } from "./projection";
import { IRREGULAR, rowAt, State, UNASSIGNED } from "./state";

/** Rows that are scored together: their codes and those of four centroids stay in the first cache. */
const GROUP: i32 = 8;
/** A bound is at most this: the sum of a way and a distance, which ends one higher, then always makes a candidate. */
const LARGEST_BOUND: i32 = 65534;
/** Groups that are tried with a projection before it has to help. */
const TRIAL: i32 = 32;
/** Of the fours of a group those that may be marked before all are as cheap, and after a projection, which costs an eighth of that. */
const MOST_MARKED: f32 = 0.9;
const MOST_PROJECTED: f32 = 0.33;
/** Adding it to a number below 2^22 rounds that to an integer, which the low bits of the sum hold: 2^23. */
const TO_INTEGER: f32 = 8388608;

/** Turns the codes of whole tiles of 8 rows from pairs of columns side by side into rows, or back. */
export function turn(state: State, from: i32, to: i32, isIntoRows: bool): void {
  const pairs = <usize>state.pairs;
  const bytes = pairs << 5;
  for (let row = from; row < to; row += 8) {
    const tile = state.tiles + <usize>(row >> 3) * bytes;
    memory.copy(state.packed, tile, bytes);
    for (let lane: usize = 0; lane < 8; lane++) {
      const own = lane * (pairs << 2);
      for (let pair: usize = 0; pair < pairs; pair++) {
        const inTile = (pair << 5) + (lane << 2);
        const inRow = own + (pair << 2);
        if (isIntoRows) store<i32>(tile + inRow, load<i32>(state.packed + inTile));
        else store<i32>(tile + inTile, load<i32>(state.packed + inRow));
      }
    }
  }
}

export function lookByBounds(state: State, from: i32, to: i32): void {
  for (let row = from; row < to; row += GROUP) lookAtGroup(state, row, min(GROUP, to - row));
}

/**
 * Every row with its candidates, or all with all centroids if these are too many. Where four centroids share a bound, they are
 * always scored side by side. Bounds that leave too many are renewed by the projection, if there is one, while that helps.
 */
function lookAtGroup(state: State, row: i32, count: i32): void {
  const width = <usize>paddedCount(state) << 1;
  const marks = marksOf(state);
  let isNarrowed = state.isBounded && narrow(state, row, count, marks, MOST_MARKED);
  if (!isNarrowed && state.projection && (state.projected < TRIAL || 2 * state.helped > state.projected)) {
    boundByProjection(state, row, count);
    isNarrowed = narrow(state, row, count, marks, MOST_PROJECTED);
    state.projected++;
    if (isNarrowed) state.helped++;
    // Rows are not all alike: first, often, come those that are the starts. What was long ago counts less.
    if (state.projected == 2 * TRIAL) {
      state.projected >>= 1;
      state.helped >>= 1;
    }
  }
  if (isNarrowed && !state.isShared) {
    const counts = verdictOf(state);
    for (let i = 0; i < count; i++) {
      scoreListed(state, row + i, state.scores + <usize>i * width, load<i32>(counts + (<usize>i << 2)));
    }
    return;
  }
  if (!isNarrowed) memory.fill(marks, <u8>((<i32>1 << count) - 1), <usize>paddedCount(state) >> 2);
  scoreGroup(state, row, marks);
  for (let i = 0; i < count; i++) rankMarked(state, row + i, state.scores + <usize>i * (width << 1), marks, 1 << i);
  state.looked += count;
}

/** Lists or marks the candidates of a group. False where they are too many: half in a list, which is twice as slow as side by side. */
function narrow(state: State, row: i32, count: i32, marks: usize, mostMarked: f32): bool {
  if (state.isShared) return markGroup(state, row, count, marks, mostMarked);
  return listGroup(state, row, count, <usize>paddedCount(state) << 1);
}

/**
 * Sets the bit of a row of a group in the marks of all four centroids of which one may be nearer than its last one. False if
 * more than the share `most` is marked.
 */
function markGroup(state: State, row: i32, count: i32, marks: usize, most: f32): bool {
  const bytes = boundBytes(state);
  const zero = i16x8.splat(0);
  let marked = 0;
  memory.fill(marks, 0, bytes >> 1);
  for (let i = 0; i < count; i++) {
    const label = lastOf(state, row, i);
    if (label < 0) continue;
    const own = v128.splat<i16>(<i16>ownDistance(state, row + i, label));
    const bounds = boundsOf(state, row + i);
    const mark = i8x16.splat(<i8>(<i32>1 << i));
    for (let at: usize = 0; at < bytes; at += 16) {
      const reach = i16x8.add_sat_u(v128.load(state.ways + at), own);
      const isNear = i16x8.eq(i16x8.sub_sat_u(v128.load(bounds + at), reach), zero);
      const set = v128.and(i8x16.narrow_i16x8_s(isNear, isNear), mark);
      const into = marks + (at >> 1);
      v128.store64_lane(into, v128.or(v128.load64_zero(into), set), 0);
      marked += popcnt(i16x8.bitmask(isNear));
    }
  }
  return <f32>marked <= most * <f32>(count * (<i32>bytes >> 1));
}

/** The last centroid of a row of a group, or the one that seems nearest where it has none; -1 for a row without codes. */
@inline
function lastOf(state: State, row: i32, place: i32): i32 {
  const stored = <i32>load<u16>(state.labels + (<usize>(row + place) << 1));
  if (stored & IRREGULAR) return -1;
  return stored == UNASSIGNED ? load<i32>(guessesOf(state) + (<usize>place << 2)) : stored;
}

/** Lists the candidates of all rows of a group, or gives up. Where centroids jumped, the first row tells. */
function listGroup(state: State, row: i32, count: i32, width: usize): bool {
  const counts = verdictOf(state);
  let candidates = 0;
  for (let i = 0; i < count; i++) {
    const found = listCandidates(state, row, i, state.scores + <usize>i * width);
    store<i32>(counts + (<usize>i << 2), found);
    candidates += found;
    if (2 * candidates > count * state.k || 4 * candidates > 3 * (i + 1) * state.k) return false;
  }
  return true;
}

/** Centroids with padding, as bounds and scores have it. */
@inline
export function paddedCount(state: State): i32 {
  return (state.k + 7) & ~7;
}

/** Bytes of the codes of a centroid, which are padded with zeros: what a row has there are the codes of the next. */
@inline
export function codeBytes(state: State): usize {
  return (<usize>state.cols * 2 + 15) & ~15;
}

@inline
export function codesOf(state: State, row: i32): usize {
  return rowAt(state.tiles, row, <usize>state.pairs << 2);
}

/** Bytes of the bounds of a row: one for every centroid, or for four that follow each other, in whole vectors. */
@inline
function boundBytes(state: State): usize {
  const padded = <usize>paddedCount(state);
  return state.isShared ? ((padded >> 1) + 15) & ~15 : padded << 1;
}

@inline
function boundsOf(state: State, row: i32): usize {
  return rowAt(state.bounds, row, boundBytes(state));
}

/**
 * Lists the centroids that are not certainly farther than the last one, in their order, that one included. A row without
 * codes has none.
 */
function listCandidates(state: State, row: i32, place: i32, into: usize): i32 {
  const label = lastOf(state, row, place);
  if (label < 0) return 0;
  const own = v128.splat<i16>(<i16>ownDistance(state, row + place, label));
  const bounds = boundsOf(state, row + place);
  let ways = state.ways;
  const zero = i16x8.splat(0);
  const end = bounds + (<usize>paddedCount(state) << 1);
  let next = into;
  let c = 0;
  for (let at = bounds; at < end; at += 16) {
    const reach = i16x8.add_sat_u(v128.load(ways), own);
    const isNear = i16x8.eq(i16x8.sub_sat_u(v128.load(at), reach), zero);
    if (v128.any_true(isNear)) next = listLanes(isNear, c, next);
    ways += 16;
    c += 8;
  }
  while (next > into && <i32>load<u16>(next - 2) >= state.k) next -= 2;
  return <i32>(next - into) >> 1;
}

/** Lists the centroids from `c` on whose lanes are set. */
function listLanes(isSet: v128, c: i32, into: usize): usize {
  for (let lanes = i16x8.bitmask(isSet); lanes; lanes &= lanes - 1) {
    store<u16>(into, c + ctz(lanes));
    into += 2;
  }
  return into;
}

/** An upper bound of the distance to the last centroid in units, rounded down: a larger whole number is certainly farther. */
function ownDistance(state: State, row: i32, label: i32): i32 {
  const bytes = codeBytes(state);
  const x = codesOf(state, row);
  const w = rowAt(state.codes, label, bytes);
  let sum = i32x4.splat(0);
  for (let at: usize = 0; at < bytes; at += 16) {
    sum = i32x4.add(sum, i32x4.dot_i16x8_s(v128.load(x + at), v128.load(w + at)));
  }
  const score = load<i32>(state.starts + (<usize>label << 2)) + lanesAdded(sum);
  const square = <f32>load<i32>(state.norms + (<usize>row << 2)) - state.unit * <f32>score;
  const length = sqrt<f32>(max<f32>(0, square + state.squareError)) + state.lengthError;
  return <i32>min<f32>(65535, length * state.scale);
}

@inline
function lanesAdded(sum: v128): i32 {
  const half = i32x4.add(sum, v128.shuffle<i32>(sum, sum, 2, 3, 0, 1));
  return i32x4.extract_lane(half, 0) + i32x4.extract_lane(half, 1);
}

/**
 * Lower bounds of four distances in whole units, from scores. `square` is that of the row's length, less the error; `off`
 * is the error of a length, and half a unit.
 */
@inline
function lowerUnits(square: v128, scores: v128, unit: v128, scale: v128, off: v128): v128 {
  return toUnits(f32x4.sub(square, f32x4.mul(unit, f32x4.convert_i32x4_s(scores))), scale, off);
}

/** Lengths in whole units from their squares, rounded down. */
@inline
export function toUnits(left: v128, scale: v128, off: v128): v128 {
  const units = f32x4.sub(f32x4.mul(f32x4.sqrt(f32x4.pmax(f32x4.splat(0), left)), scale), off);
  const inRange = f32x4.pmin(f32x4.splat(<f32>LARGEST_BOUND), f32x4.pmax(f32x4.splat(0), units));
  return i32x4.sub(f32x4.add(inRange, f32x4.splat(TO_INTEGER)), i32x4.splat(0x4b000000));
}

/** What is taken off a length in units: its error, and half a unit, because an integer is the nearest one. */
@inline
function offUnits(state: State): v128 {
  return f32x4.splat(state.lengthError * state.scale + 0.5);
}

@inline
function squareOf(state: State, row: i32): v128 {
  return f32x4.splat(<f32>load<i32>(state.norms + (<usize>row << 2)) - state.squareError);
}

/** Scores the listed centroids, four at a time, renews their bounds and settles the row. */
function scoreListed(state: State, row: i32, listed: usize, count: i32): void {
  if (count == 0) {
    settle(state, row, 0, 0, 0, 0);
    return;
  }
  if (count == 1) {
    const only = <i32>load<u16>(listed);
    if (only != labelOf(state, row)) list(state, row, only);
    return;
  }
  const bytes = codeBytes(state);
  const x = codesOf(state, row);
  const bounds = boundsOf(state, row);
  const square = squareOf(state, row);
  const unit = f32x4.splat(state.unit);
  const scale = f32x4.splat(state.scale);
  const off = offUnits(state);
  const scores = state.scores + (<usize>paddedCount(state) << 4);
  const least = i32x4.splat(i32.MIN_VALUE);
  const keep = i32x4.splat(~state.mask);
  let best = least;
  let second = least;
  for (let i = 0; i < count; i += 4) {
    const last = count - 1;
    // Places without a centroid repeat the last one.
    const a = <usize>load<u16>(listed + (<usize>i << 1));
    const b = <usize>load<u16>(listed + (<usize>min(last, i + 1) << 1));
    const c = <usize>load<u16>(listed + (<usize>min(last, i + 2) << 1));
    const d = <usize>load<u16>(listed + (<usize>min(last, i + 3) << 1));
    const sums = fourDots(x, state.codes + a * bytes, state.codes + b * bytes, state.codes + c * bytes, state.codes + d * bytes, bytes);
    let starts = v128.load32_zero(state.starts + (a << 2));
    starts = v128.load32_lane(state.starts + (b << 2), starts, 1);
    starts = v128.load32_lane(state.starts + (c << 2), starts, 2);
    starts = v128.load32_lane(state.starts + (d << 2), starts, 3);
    let index = i32x4.splat(<i32>a);
    index = i32x4.replace_lane(index, 1, <i32>b);
    index = i32x4.replace_lane(index, 2, <i32>c);
    index = i32x4.replace_lane(index, 3, <i32>d);
    const found = v128.or(v128.and(i32x4.add(sums, starts), keep), index);
    const units = lowerUnits(square, found, unit, scale, off);
    renew(state, bounds, a, i32x4.extract_lane(units, 0));
    renew(state, bounds, b, i32x4.extract_lane(units, 1));
    renew(state, bounds, c, i32x4.extract_lane(units, 2));
    renew(state, bounds, d, i32x4.extract_lane(units, 3));
    const exists = i32x4.lt_s(i32x4.add(i32x4.splat(i), i32x4(0, 1, 2, 3)), i32x4.splat(count));
    const counted = v128.bitselect(found, least, exists);
    v128.store(scores + (<usize>i << 2), counted);
    second = i32x4.max_s(second, i32x4.min_s(best, counted));
    best = i32x4.max_s(best, counted);
  }
  state.looked++;
  state.scored += count;
  const top = highest(best);
  settle(state, row, top, runnerUp(best, second, top), scores, count);
}

/** The bounds of a row to four centroids that follow each other, or the one that these share. */
@inline
export function writeBounds(state: State, row: i32, c: i32, units: v128): void {
  const bounds = boundsOf(state, row);
  if (state.isShared) {
    renew(state, bounds, <usize>c >> 2, leastOf(units));
    return;
  }
  const sum = i16x8.add_sat_u(i16x8.narrow_i32x4_u(units, units), v128.load64_zero(state.ways + (<usize>c << 1)));
  v128.store64_lane(bounds + (<usize>c << 1), i16x8.min_u(sum, i16x8.splat(<i16>LARGEST_BOUND)), 0);
}

@inline
function renew(state: State, bounds: usize, c: usize, units: i32): void {
  store<u16>(bounds + (c << 1), min(LARGEST_BOUND, units + <i32>load<u16>(state.ways + (c << 1))));
}

/** The products of a row with four centroids, lane by lane. */
function fourDots(x: usize, v0: usize, v1: usize, v2: usize, v3: usize, bytes: usize): v128 {
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  for (const end = x + bytes; x < end; x += 16, v0 += 16, v1 += 16, v2 += 16, v3 += 16) {
    const own = v128.load(x);
    a = i32x4.add(a, i32x4.dot_i16x8_s(own, v128.load(v0)));
    b = i32x4.add(b, i32x4.dot_i16x8_s(own, v128.load(v1)));
    c = i32x4.add(c, i32x4.dot_i16x8_s(own, v128.load(v2)));
    d = i32x4.add(d, i32x4.dot_i16x8_s(own, v128.load(v3)));
  }
  return sumsOf(a, b, c, d);
}

/** The sums of the lanes of four vectors. */
@inline
function sumsOf(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = i32x4.add(v128.shuffle<i32>(a, b, 0, 4, 1, 5), v128.shuffle<i32>(a, b, 2, 6, 3, 7));
  const cd = i32x4.add(v128.shuffle<i32>(c, d, 0, 4, 1, 5), v128.shuffle<i32>(c, d, 2, 6, 3, 7));
  return i32x4.add(v128.shuffle<i32>(ab, cd, 0, 1, 4, 5), v128.shuffle<i32>(ab, cd, 2, 3, 6, 7));
}

@inline
function highest(best: v128): i32 {
  return max(
    max(i32x4.extract_lane(best, 0), i32x4.extract_lane(best, 1)),
    max(i32x4.extract_lane(best, 2), i32x4.extract_lane(best, 3)),
  );
}

@inline
export function leastOf(values: v128): i32 {
  return min(
    min(i32x4.extract_lane(values, 0), i32x4.extract_lane(values, 1)),
    min(i32x4.extract_lane(values, 2), i32x4.extract_lane(values, 3)),
  );
}

/** The second highest: a second of its lane, or the best of another. Scores carry an index, so no two are equal. */
@inline
function runnerUp(best: v128, second: v128, top: i32): i32 {
  const isTop = i32x4.eq(best, i32x4.splat(top));
  return highest(v128.bitselect(second, best, isTop));
}

/** Scores of a group of rows, each against the centroids that are marked for it, row by row, the centroids padded. */
function scoreGroup(state: State, row: i32, marks: usize): void {
  const bytes = codeBytes(state);
  const width = <usize>paddedCount(state) << 2;
  let w = state.codes;
  for (let c = 0; c < state.k; c += 4) {
    const into = state.scores + (<usize>c << 2);
    const starts = v128.load(state.starts + (<usize>c << 2));
    let left = <i32>load<u8>(marks + (<usize>c >> 2));
    state.scored += popcnt(left) * min(4, state.k - c);
    while (left) {
      const i = ctz(left);
      left &= left - 1;
      // An odd last row is scored twice.
      const next = left ? ctz(left) : i;
      left &= left - 1;
      eightDots(
        codesOf(state, row + i), codesOf(state, row + next), w, bytes, starts,
        into + <usize>i * width, into + <usize>next * width,
      );
    }
    w += bytes << 2;
  }
}

/** Two rows times four centroids that follow each other. */
export function eightDots(x: usize, y: usize, w: usize, bytes: usize, starts: v128, intoX: usize, intoY: usize): void {
  let a0 = i32x4.splat(0);
  let a1 = a0;
  let a2 = a0;
  let a3 = a0;
  let b0 = a0;
  let b1 = a0;
  let b2 = a0;
  let b3 = a0;
  let w1 = w + bytes;
  let w2 = w1 + bytes;
  let w3 = w2 + bytes;
  for (const end = x + bytes; x < end; x += 16, y += 16, w += 16, w1 += 16, w2 += 16, w3 += 16) {
    const xs = v128.load(x);
    const ys = v128.load(y);
    const c0 = v128.load(w);
    a0 = i32x4.add(a0, i32x4.dot_i16x8_s(xs, c0));
    b0 = i32x4.add(b0, i32x4.dot_i16x8_s(ys, c0));
    const c1 = v128.load(w1);
    a1 = i32x4.add(a1, i32x4.dot_i16x8_s(xs, c1));
    b1 = i32x4.add(b1, i32x4.dot_i16x8_s(ys, c1));
    const c2 = v128.load(w2);
    a2 = i32x4.add(a2, i32x4.dot_i16x8_s(xs, c2));
    b2 = i32x4.add(b2, i32x4.dot_i16x8_s(ys, c2));
    const c3 = v128.load(w3);
    a3 = i32x4.add(a3, i32x4.dot_i16x8_s(xs, c3));
    b3 = i32x4.add(b3, i32x4.dot_i16x8_s(ys, c3));
  }
  v128.store(intoX, i32x4.add(starts, sumsOf(a0, a1, a2, a3)));
  v128.store(intoY, i32x4.add(starts, sumsOf(b0, b1, b2, b3)));
}

/** Best and second best of the scores that are marked for a row; renews their bounds, where they are kept, and settles it. */
function rankMarked(state: State, row: i32, scores: usize, marks: usize, bit: i32): void {
  const keep = i32x4.splat(~state.mask);
  const square = squareOf(state, row);
  const unit = f32x4.splat(state.unit);
  const scale = f32x4.splat(state.scale);
  const off = offUnits(state);
  const hasBounds = state.bounds != 0;
  let best = i32x4.splat(i32.MIN_VALUE);
  let second = best;
  let next = scores;
  for (let c = 0; c < state.k; c += 4) {
    const place = <usize>c >> 2;
    if (!(<i32>load<u8>(marks + place) & bit)) continue;
    const index = i32x4.add(i32x4.splat(c), i32x4(0, 1, 2, 3));
    const found = v128.or(v128.and(v128.load(scores + (<usize>c << 2)), keep), index);
    v128.store(next, found);
    next += 16;
    second = i32x4.max_s(second, i32x4.min_s(best, found));
    best = i32x4.max_s(best, found);
    if (hasBounds) writeBounds(state, row, c, lowerUnits(square, found, unit, scale, off));
  }
  const top = highest(best);
  settle(state, row, top, runnerUp(best, second, top), scores, <i32>(next - scores) >> 2);
}

/** Lists a row whose label is new; where its `count` scores cannot tell, float64 does. */
function settle(state: State, row: i32, best: i32, second: i32, scores: usize, count: i32): void {
  const stored = <i32>load<u16>(state.labels + (<usize>row << 1));
  let label = best & state.mask;
  if (stored & IRREGULAR) label = nearest(state, row);
  else if (second >= best - state.threshold) {
    doubt(state, row, scores, 4, count, best - state.threshold);
    return;
  }
  if (label != labelOf(state, row)) list(state, row, label);
}
