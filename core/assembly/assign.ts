// The assignment step (E1) with the int16 screen: who needs a look, screen, verify what is uncertain, move what changed.

import { doubt, settleWaiting } from "./doubts";
import { nearest } from "./exact";
import { list, moveListed } from "./moves";
import { lookByBounds } from "./pruned";
import { score } from "./screen";
import { IRREGULAR, State } from "./state";

/** Assigns the rows of a chunk (`from` a multiple of 8). */
export function screen(state: State, from: i32, to: i32): void {
  state.first = from;
  state.moving = 0;
  state.waiting = 0;
  if (state.isByRows) lookByBounds(state, from, to);
  else look(state, from, to);
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
    doubt(state, row, state.scores + (<usize>lane << 2), 32, state.k, best - state.threshold);
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
