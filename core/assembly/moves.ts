// The rows of a chunk that change cluster: listed first, then moved together, because each has to come from slow memory.

import { move } from "./exact";
import { rowAt } from "./rows";
import { IRREGULAR, State } from "./state";

/** Bytes of rows that are brought into the cache at a time: half of a usual first cache. */
const TOGETHER: i32 = 16384;
const LINE: usize = 64;

/** The cluster a row was in before this chunk. */
// @ts-expect-error: decorator
@inline
export function labelOf(state: State, row: i32): i32 {
  return <i32>load<u16>(state.labels + (<usize>row << 1)) & (IRREGULAR - 1);
}

/** Lists a row with its new cluster. The list lies over that of active rows, of which more have been read by then. */
// @ts-expect-error: decorator
@inline
export function list(state: State, row: i32, label: i32): void {
  store<u32>(state.active + (<usize>state.moving << 2), ((row - state.first) << 16) | label);
  state.moving++;
}

export function moveListed(state: State): void {
  const bytes = <usize>state.cols << 3;
  const group = <usize>max(1, TOGETHER / <i32>bytes) << 2;
  const end = state.active + (<usize>state.moving << 2);
  for (let at = state.active; at < end; at += group) {
    const stop = min(end, at + group);
    touch(state, at, stop, bytes);
    for (let entry = at; entry < stop; entry += 4) {
      const label = <i32>load<u16>(entry);
      const row = state.first + <i32>load<u16>(entry, 2);
      move(state, row, labelOf(state, row), label);
      const stored = state.labels + (<usize>row << 1);
      store<u16>(stored, (<i32>load<u16>(stored) & IRREGULAR) | label);
    }
  }
}

/** Reads a number of every cache line of the listed rows: none waits for another, so memory answers many at a time. */
function touch(state: State, from: usize, to: usize, bytes: usize): void {
  let touched = 0;
  for (let entry = from; entry < to; entry += 4) {
    const x = rowAt(state.points, state.first + <i32>load<u16>(entry, 2), bytes);
    for (let at: usize = 0; at < bytes; at += LINE) touched |= load<i32>(x + at);
    // A row may end one line later than it seems from where it begins.
    touched |= load<i32>(x + bytes - 4);
  }
  state.touched = touched;
}
