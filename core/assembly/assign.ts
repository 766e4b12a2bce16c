// The assignment step (E1) with the int16 screen: who needs a look, screen, verify what is uncertain, move what changed.

import { nearest, twoDistances } from "./exact";
import { labelOf, list, moveListed } from "./moves";
import { fourDistances, rowAt } from "./rows";
import { score } from "./screen";
import { IRREGULAR, State } from "./state";

/** Assigns the rows of a chunk (`from` a multiple of 8). */
export function screen(state: State, from: i32, to: i32): void {
  state.first = from;
  state.moving = 0;
  state.waiting = 0;
  look(state, from, to);
  settleWaiting(state);
  moveListed(state);
}

function look(state: State, from: i32, to: i32): void {
  if (state.decrease) {
    const count = filter(state, from, to);
    // Packing costs a copy of the codes, so a chunk where most points need a look is taken as it lies.
    if (count * 8 < (to - from) * 7) {
      for (let first = 0; first < count; first += 8) screenPacked(state, first, min(8, count - first));
      state.looked += count;
      return;
    }
  }
  for (let row = from; row < to; row += 8) screenTile(state, row, min(8, to - row));
  state.looked += to - from;
}

/**
 * Lowers the slack of every row by the movement of the centroids since the last call and lists the rows where none
 * is left. While slack is positive, the own centroid is nearer than any other: see kernel.md, movement bounds.
 */
function filter(state: State, from: i32, to: i32): i32 {
  let count: usize = 0;
  for (let row = from; row < to; row++) {
    const label = load<u16>(state.labels + (<usize>row << 1)) & (IRREGULAR - 1);
    const at = state.slack + (<usize>row << 2);
    // The factor pays for the rounding of this very line, so that tiny movements add up and are not lost.
    const left = load<f32>(at) * (1 - f32(2.384185791015625e-7)) - load<f32>(state.decrease + (<usize>label << 2));
    store<f32>(at, left);
    store<u32>(state.active + (count << 2), row);
    count += left > 0 ? 0 : 1;
  }
  return <i32>count;
}

/** Scores a tile and returns where best and second best of its points are. */
@inline
function scoreTile(state: State, tile: usize): usize {
  return score(tile, state.codes, state.starts, state.k, state.pairs, state.mask, state.scores);
}

/** Screens eight rows that lie in one tile; `count` of them exist. */
function screenTile(state: State, row: i32, count: i32): void {
  const tile = state.tiles + <usize>(row >> 3) * (<usize>state.pairs << 5);
  const verdict = scoreTile(state, tile);
  if (state.slack) {
    const norms = state.norms + (<usize>row << 2);
    slackOfTile(state, v128.load(norms), v128.load(norms, 16), verdict);
    const at = state.slack + (<usize>row << 2);
    // These arrays are padded to whole tiles.
    v128.store(at, v128.load(verdict, 64));
    v128.store(at, v128.load(verdict, 80), 16);
  }
  const bestA = v128.load(verdict);
  const bestB = v128.load(verdict, 16);
  const threshold = i32x4.splat(state.threshold);
  const mask = i32x4.splat(state.mask);
  const labels = v128.load(state.labels + (<usize>row << 1));
  const doubtA = i32x4.ge_s(v128.load(verdict, 32), i32x4.sub(bestA, threshold));
  const doubtB = i32x4.ge_s(v128.load(verdict, 48), i32x4.sub(bestB, threshold));
  const otherA = i32x4.ne(v128.and(bestA, mask), i32x4.extend_low_i16x8_u(labels));
  const otherB = i32x4.ne(v128.and(bestB, mask), i32x4.extend_high_i16x8_u(labels));
  let lanes = i32x4.bitmask(v128.or(doubtA, otherA)) | (i32x4.bitmask(v128.or(doubtB, otherB)) << 4);
  lanes &= (1 << count) - 1;
  while (lanes) {
    const lane = ctz(lanes);
    lanes &= lanes - 1;
    settle(state, row + lane, verdict + (<usize>lane << 2), lane);
  }
}

/** Screens `count` (at most 8) rows of the active list, starting with entry `first`. */
function screenPacked(state: State, first: i32, count: i32): void {
  const active = state.active + (<usize>first << 2);
  const bytes = <usize>state.pairs << 5;
  // Lanes without a row repeat the last one.
  for (let lane = 0; lane < 8; lane++) {
    const row = load<u32>(active + (<usize>min(lane, count - 1) << 2));
    const source = state.tiles + <usize>(row >> 3) * bytes + (<usize>(row & 7) << 2);
    const target = state.packed + (<usize>lane << 2);
    for (let at: usize = 0; at < bytes; at += 32) {
      store<i32>(target + at, load<i32>(source + at));
    }
  }
  const verdict = scoreTile(state, state.packed);
  for (let lane = 0; lane < 8; lane++) {
    const row = load<u32>(active + (<usize>min(lane, count - 1) << 2));
    store<i32>(verdict + (<usize>lane << 2), load<i32>(state.norms + (<usize>row << 2)), 64);
  }
  slackOfTile(state, v128.load(verdict, 64), v128.load(verdict, 80), verdict);
  for (let lane = 0; lane < count; lane++) {
    const row = load<u32>(active + (<usize>lane << 2));
    const at = verdict + (<usize>lane << 2);
    store<f32>(state.slack + (<usize>row << 2), load<f32>(at, 64));
    settle(state, row, at, lane);
  }
}

/** Lists a screened row if its label is new; where the screen cannot tell, float64 does. */
function settle(state: State, row: i32, verdict: usize, lane: i32): void {
  const stored = <i32>load<u16>(state.labels + (<usize>row << 1));
  const best = load<i32>(verdict);
  let label = best & state.mask;
  if (stored & IRREGULAR) {
    label = nearest(state, row);
    if (state.slack) store<f32>(state.slack + (<usize>row << 2), 0);
  } else if (load<i32>(verdict, 32) >= best - state.threshold) {
    doubt(state, row, lane, best - state.threshold);
    return;
  }
  if (label != (stored & (IRREGULAR - 1))) list(state, row, label);
}

/**
 * Slack of the eight points of a screened tile, written behind best and second best: a lower bound of the distance
 * to any other centroid minus an upper bound of the distance to the own one, in units of the point codes, 0 if the
 * screen is uncertain. With G the certain part of the gap of the squared distances and U the upper bound of the own
 * distance it is sqrt(U^2 + G) - U = G / (sqrt(U^2 + G) + U).
 */
function slackOfTile(state: State, normA: v128, normB: v128, verdict: usize): void {
  v128.store(verdict, slackOf(state, normA, v128.load(verdict), v128.load(verdict, 32)), 64);
  v128.store(verdict, slackOf(state, normB, v128.load(verdict, 16), v128.load(verdict, 48)), 80);
}

@inline
function slackOf(state: State, norm: v128, best: v128, second: v128): v128 {
  const unit = f32x4.splat(state.unit);
  const zero = f32x4.splat(0);
  const own = f32x4.sub(f32x4.convert_i32x4_s(norm), f32x4.mul(unit, f32x4.convert_i32x4_s(best)));
  const length = f32x4.add(
    f32x4.sqrt(f32x4.pmax(zero, f32x4.add(own, f32x4.splat(state.squareError)))),
    f32x4.splat(state.lengthError),
  );
  // Halved before the subtraction: the scores of padding lie so low that a difference could overflow.
  const half = i32x4.sub(
    i32x4.sub(i32x4.shr_s(best, 1), i32x4.shr_s(second, 1)),
    i32x4.splat((state.threshold >> 1) + 2),
  );
  const gap = f32x4.mul(f32x4.add(unit, unit), f32x4.convert_i32x4_s(half));
  const positive = f32x4.pmax(zero, gap);
  const slack = f32x4.div(positive, f32x4.add(f32x4.sqrt(f32x4.add(f32x4.mul(length, length), positive)), length));
  // All of the above is off by less than 2^-20, and so is the reference's own rounding.
  return f32x4.sub(f32x4.mul(slack, f32x4.splat(1 - f32(1.9073486328125e-6))), f32x4.mul(length, f32x4.splat(f32(1.9073486328125e-6))));
}

// Rows that the screen is uncertain about, settled in float64 among the centroids that may be nearest. Those with two of
// them, as most have, wait until there are four: the additions of one distance wait for each other, those of four do not.

/** Where things lie behind the scores: from the verdict on, four waiting rows with their two centroids, and distances. */
const WAITING: usize = 96;
const DISTANCES: usize = 128;

/** Settles a row whose candidates are the centroids with a score of at least `limit`, at once or later. */
function doubt(state: State, row: i32, lane: i32, limit: i32): void {
  const k = state.k;
  const a = candidate(state, 0, lane, limit);
  const b = candidate(state, a + 1, lane, limit);
  if (candidate(state, b + 1, lane, limit) < k) {
    const label = nearestCandidate(state, row, lane, limit);
    if (label != labelOf(state, row)) list(state, row, label);
    return;
  }
  const at = verdictOf(state) + (<usize>state.waiting << 3);
  store<i32>(at, row, WAITING);
  store<i32>(at, a | (b << 16), WAITING + 4);
  if (++state.waiting == 4) settleWaiting(state);
}

@inline
function verdictOf(state: State): usize {
  return state.scores + (<usize>state.k << 5);
}

/** Settles the rows that wait; the lower index on ties. */
function settleWaiting(state: State): void {
  const count = state.waiting;
  if (!count) return;
  const verdict = verdictOf(state);
  const bytes = <usize>state.cols << 3;
  // Places without a row repeat the last one.
  for (let i = count; i < 4; i++) {
    v128.store64_lane(verdict + (<usize>i << 3), v128.load64_zero(verdict + (<usize>(count - 1) << 3), WAITING), 0, WAITING);
  }
  const x0 = waitingRow(state, verdict);
  const x1 = waitingRow(state, verdict + 8);
  const x2 = waitingRow(state, verdict + 16);
  const x3 = waitingRow(state, verdict + 24);
  for (let other: usize = 0; other < 4; other += 2) {
    fourDistances(
      x0, x1, x2, x3,
      rowAt(state.centroids, load<u16>(verdict + other, WAITING + 4), bytes), rowAt(state.centroids, load<u16>(verdict + other, WAITING + 12), bytes),
      rowAt(state.centroids, load<u16>(verdict + other, WAITING + 20), bytes), rowAt(state.centroids, load<u16>(verdict + other, WAITING + 28), bytes),
      state.cols, verdict + DISTANCES + (other << 4),
    );
  }
  for (let i: usize = 0; i < <usize>count; i++) {
    const row = load<i32>(verdict + (i << 3), WAITING);
    const isOther = load<f64>(verdict + (i << 3), DISTANCES + 32) < load<f64>(verdict + (i << 3), DISTANCES);
    const label = <i32>load<u16>(verdict + (i << 3) + (isOther ? 2 : 0), WAITING + 4);
    if (label != labelOf(state, row)) list(state, row, label);
  }
  state.verified += 2 * count;
  state.waiting = 0;
}

function waitingRow(state: State, at: usize): usize {
  return rowAt(state.points, load<i32>(at, WAITING), <usize>state.cols << 3);
}

/** The nearest in float64 of the centroids whose score reaches `limit`, two at a time; the lowest index on ties. */
function nearestCandidate(state: State, row: i32, lane: i32, limit: i32): i32 {
  const bytes = <usize>state.cols << 3;
  const x = state.points + <usize>row * bytes;
  const k = state.k;
  let best: f64 = Infinity;
  let label = 0;
  for (let a = candidate(state, 0, lane, limit); a < k; ) {
    const b = candidate(state, a + 1, lane, limit);
    const w = state.centroids + <usize>a * bytes;
    const squares = twoDistances(x, w, b < k ? state.centroids + <usize>b * bytes : w, state.cols);
    const first = f64x2.extract_lane(squares, 0);
    const second = f64x2.extract_lane(squares, 1);
    if (first < best) {
      best = first;
      label = a;
    }
    // Without a second candidate the first was measured twice and is not below itself.
    if (second < best) {
      best = second;
      label = b;
    }
    state.verified += 2;
    a = b < k ? candidate(state, b + 1, lane, limit) : k;
  }
  return label;
}

/** The first centroid from `c` on whose score reaches `limit`; k if there is none. */
function candidate(state: State, c: i32, lane: i32, limit: i32): i32 {
  let at = state.scores + (<usize>lane << 2) + (<usize>c << 5);
  while (c < state.k && load<i32>(at) < limit) {
    c++;
    at += 32;
  }
  return c;
}
