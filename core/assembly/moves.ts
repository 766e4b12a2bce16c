// The rows of a chunk that change cluster: listed first, then moved together, because each has to come from slow memory.

import { move, splitHigh, splitLow, transferOne } from "./exact";
import { IRREGULAR, pointAt, pointBytes, rowAt, State } from "./state";

/** Bytes of rows that are brought into the cache at a time: half of a usual first cache. */
const TOGETHER: i32 = 16384;
const LINE: usize = 64;
/** From so many columns on a row is a page of memory: processors fetch it ahead by themselves, and additions cost more. */
const WIDE: i32 = 500;
/** Bytes of a list of all rows of a chunk. Behind the list lie a second one and the places of a counting sort. */
const LIST: usize = 4096;

/** The cluster a row was in before this chunk. */
@inline
export function labelOf(state: State, row: i32): i32 {
  return <i32>load<u16>(state.labels + (<usize>row << 1)) & (IRREGULAR - 1);
}

/** Lists a row with its new cluster. The list lies over that of active rows, of which more have been read by then. */
@inline
export function list(state: State, row: i32, label: i32): void {
  store<u32>(state.active + (<usize>state.moving << 2), ((row - state.first) << 16) | label);
  state.moving++;
}

@inline
function rowOf(state: State, entry: usize): i32 {
  return state.first + <i32>load<u16>(entry, 2);
}

@inline
function newLabelOf(entry: usize): i32 {
  return <i32>load<u16>(entry);
}

@inline
function oldLabelOf(state: State, entry: usize): i32 {
  return labelOf(state, rowOf(state, entry));
}

export function moveListed(state: State): void {
  if (state.weights || state.cols < WIDE) moveEach(state);
  else moveGroups(state);
}

/** One row after the other, but several at a time from memory. */
function moveEach(state: State): void {
  const bytes = pointBytes(state);
  const group = <usize>max(1, TOGETHER / <i32>bytes) << 2;
  const end = state.active + (<usize>state.moving << 2);
  for (let at = state.active; at < end; at += group) {
    const stop = min(end, at + group);
    touch(state, at, stop, bytes);
    for (let entry = at; entry < stop; entry += 4) {
      const row = rowOf(state, entry);
      move(state, row, labelOf(state, row), newLabelOf(entry));
      relabel(state, entry);
    }
  }
}

/** Reads a number of every cache line of the listed rows: none waits for another, so memory answers many at a time. */
function touch(state: State, from: usize, to: usize, bytes: usize): void {
  let touched = 0;
  for (let entry = from; entry < to; entry += 4) {
    const x = rowAt(state.points, rowOf(state, entry), bytes);
    for (let at: usize = 0; at < bytes; at += LINE) touched |= load<i32>(x + at);
    // A row may end one line later than it seems from where it begins.
    touched |= load<i32>(x + bytes - 4);
  }
  state.touched = touched;
}

@inline
function relabel(state: State, entry: usize): void {
  const stored = state.labels + (<usize>rowOf(state, entry) << 1);
  store<u16>(stored, (<i32>load<u16>(stored) & IRREGULAR) | newLabelOf(entry));
}

/** Up to four rows that go the same way at a time: their parts are added up and go into the sums once. */
function moveGroups(state: State): void {
  const second = state.active + LIST;
  sort(state, state.active, second, true);
  sort(state, second, state.active, false);
  const end = state.active + (<usize>state.moving << 2);
  for (let at = state.active; at < end; ) {
    const from = oldLabelOf(state, at);
    const to = newLabelOf(at);
    let stop = at + 4;
    while (stop < min(end, at + 16) && newLabelOf(stop) == to && oldLabelOf(state, stop) == from) stop += 4;
    const count = <i32>(stop - at) >> 2;
    if (count == 1) move(state, rowOf(state, at), from, to);
    else if (count == 2) moveTogether(state, at, 2, from, to);
    else if (count == 3) moveTogether(state, at, 3, from, to);
    else moveTogether(state, at, 4, from, to);
    for (; at < stop; at += 4) relabel(state, at);
  }
}

/** A stable counting sort of the list, by the old or by the new clusters. */
function sort(state: State, from: usize, into: usize, isByOld: bool): void {
  const places = state.active + 2 * LIST;
  const end = from + (<usize>state.moving << 2);
  memory.fill(places, 0, <usize>(state.k + 2) << 2);
  for (let at = from; at < end; at += 4) {
    const place = placeOf(state, places, at, isByOld);
    store<i32>(place, load<i32>(place, 4) + 4, 4);
  }
  let next = 0;
  for (let c = 0; c <= state.k; c++) {
    const place = places + (<usize>c << 2);
    next += load<i32>(place);
    store<i32>(place, next);
  }
  for (let at = from; at < end; at += 4) {
    const place = placeOf(state, places, at, isByOld);
    store<u32>(into + <usize>load<i32>(place), load<u32>(at));
    store<i32>(place, load<i32>(place) + 4);
  }
}

/** Rows that were in no cluster come last. */
@inline
function placeOf(state: State, places: usize, entry: usize, isByOld: bool): usize {
  return places + (<usize>(isByOld ? min(state.k, oldLabelOf(state, entry)) : newLabelOf(entry)) << 2);
}

/** `move` for 2 to 4 listed rows without weights. The parts of their sum are exact, so they may be added in any order. */
@inline
function moveTogether(state: State, entry: usize, count: i32, from: i32, to: i32): void {
  const bytes = <usize>state.cols << 3;
  const width = bytes + 8;
  let x0 = pointAt(state, rowOf(state, entry), 0);
  let x1 = pointAt(state, rowOf(state, entry + 4), 1);
  let x2 = count > 2 ? pointAt(state, rowOf(state, entry + 8), 2) : 0;
  let x3 = count > 3 ? pointAt(state, rowOf(state, entry + 12), 3) : 0;
  let added = state.sums + <usize>to * 2 * width;
  let removed = from < state.k ? state.sums + <usize>from * 2 * width : 0;
  let coarse = state.grids;
  let fine = coarse + width;
  let addedLow = added + width;
  let removedLow = removed + width;
  const end = x0 + (bytes & ~15);
  for (; x0 < end; x0 += 16, x1 += 16, x2 += 16, x3 += 16) {
    const coarseGrid = v128.load(coarse);
    const fineGrid = v128.load(fine);
    const v0 = v128.load(x0);
    const v1 = v128.load(x1);
    const high0 = splitHigh(v0, coarseGrid);
    const high1 = splitHigh(v1, coarseGrid);
    let high = f64x2.add(high0, high1);
    let low = f64x2.add(splitLow(v0, high0, fineGrid), splitLow(v1, high1, fineGrid));
    if (count > 2) {
      const v2 = v128.load(x2);
      const high2 = splitHigh(v2, coarseGrid);
      high = f64x2.add(high, high2);
      low = f64x2.add(low, splitLow(v2, high2, fineGrid));
    }
    if (count > 3) {
      const v3 = v128.load(x3);
      const high3 = splitHigh(v3, coarseGrid);
      high = f64x2.add(high, high3);
      low = f64x2.add(low, splitLow(v3, high3, fineGrid));
    }
    v128.store(added, f64x2.add(v128.load(added), high));
    v128.store(addedLow, f64x2.add(v128.load(addedLow), low));
    if (removed) {
      v128.store(removed, f64x2.sub(v128.load(removed), high));
      v128.store(removedLow, f64x2.sub(v128.load(removedLow), low));
      removed += 16;
      removedLow += 16;
    }
    coarse += 16;
    fine += 16;
    added += 16;
    addedLow += 16;
  }
  if (bytes & 8) {
    transferOne(load<f64>(x0), coarse, added, removed, width);
    transferOne(load<f64>(x1), coarse, added, removed, width);
    if (count > 2) transferOne(load<f64>(x2), coarse, added, removed, width);
    if (count > 3) transferOne(load<f64>(x3), coarse, added, removed, width);
    coarse += 8;
    added += 8;
    if (removed) removed += 8;
  }
  for (let i = 0; i < count; i++) transferOne(1, coarse, added, removed, width);
}
