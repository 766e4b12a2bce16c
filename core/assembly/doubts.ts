// Rows that scores are uncertain about, settled in float64 among the centroids that may be nearest. Those with two of them,
// as most have, wait until there are four: the additions of one distance wait for each other, those of four do not.

import { twoDistances } from "./exact";
import { labelOf, list } from "./moves";
import { fourDistances } from "./rows";
import { pointAt, rowAt, State } from "./state";

/** Where things lie behind the scores: from the verdict on, four waiting rows with their two centroids, distances, and candidates. */
const WAITING: usize = 96;
const DISTANCES: usize = 128;
const CANDIDATES: usize = 192;

@inline
export function verdictOf(state: State): usize {
  return state.scores + (<usize>((state.k + 7) & ~7) << 5);
}

/** For every four centroids a byte with a bit for each row of a group that they may be nearest to: behind the candidates. */
@inline
export function marksOf(state: State): usize {
  return verdictOf(state) + CANDIDATES + (<usize>((state.k + 7) & ~7) << 1);
}

/**
 * Settles a row, at once or later. Its candidates are those of `count` centroids whose score, one every `stride` bytes,
 * is at least `limit`; the low bits of a score say whose it is.
 */
export function doubt(state: State, row: i32, scores: usize, stride: usize, count: i32, limit: i32): void {
  const candidates = verdictOf(state) + CANDIDATES;
  let next = candidates;
  for (const end = scores + <usize>count * stride; scores < end; scores += stride) {
    const score = load<i32>(scores);
    store<u16>(next, score & state.mask);
    next += score >= limit ? 2 : 0;
  }
  if (next > candidates + 4) {
    const label = nearestCandidate(state, row, candidates, next);
    if (label != labelOf(state, row)) list(state, row, label);
    return;
  }
  const at = verdictOf(state) + (<usize>state.waiting << 3);
  store<i32>(at, row, WAITING);
  store<u32>(at, load<u32>(candidates), WAITING + 4);
  if (++state.waiting == 4) settleWaiting(state);
}

/** Settles the rows that wait; the lower index on ties. */
export function settleWaiting(state: State): void {
  const count = state.waiting;
  if (!count) return;
  const verdict = verdictOf(state);
  const bytes = <usize>state.cols << 3;
  // Places without a row repeat the last one.
  for (let i = count; i < 4; i++) {
    v128.store64_lane(verdict + (<usize>i << 3), v128.load64_zero(verdict + (<usize>(count - 1) << 3), WAITING), 0, WAITING);
  }
  const x0 = waitingRow(state, verdict, 0);
  const x1 = waitingRow(state, verdict, 1);
  const x2 = waitingRow(state, verdict, 2);
  const x3 = waitingRow(state, verdict, 3);
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

function waitingRow(state: State, verdict: usize, place: i32): usize {
  return pointAt(state, load<i32>(verdict + (<usize>place << 3), WAITING), place);
}

/** The nearest in float64 of the candidates, two at a time; the lowest index on ties. */
function nearestCandidate(state: State, row: i32, from: usize, to: usize): i32 {
  const bytes = <usize>state.cols << 3;
  const x = pointAt(state, row, 0);
  let best: f64 = Infinity;
  let label = 0;
  for (let at = from; at < to; at += 4) {
    // Without a second candidate the first is measured twice and is not below itself.
    const a = <i32>load<u16>(at);
    const b = at + 2 < to ? <i32>load<u16>(at, 2) : a;
    const squares = twoDistances(x, rowAt(state.centroids, a, bytes), rowAt(state.centroids, b, bytes), state.cols);
    const first = f64x2.extract_lane(squares, 0);
    const second = f64x2.extract_lane(squares, 1);
    if (first < best) {
      best = first;
      label = a;
    }
    if (second < best) {
      best = second;
      label = b;
    }
    state.verified += 2;
  }
  return label;
}
