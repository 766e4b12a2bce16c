// Writes the AssemblyScript of the small engine: one kernel per number of columns, lanes across points, all in registers.
// AssemblyScript has no constant type parameters, and loops over the columns would keep the coordinates in memory. The
// distances stay at hand, so the loss comes with the labels.

import { nearestOfFour, SMALL_COLUMNS, SUM_OF_LANES } from "./four.mjs";

/** The text of assembly/small.ts, which exists only while asc runs. */
export function smallSource() {
  return `
import { transfer, transferOne } from "./exact";
import { square } from "./rows";
import { State } from "./state";
${SMALL_COLUMNS.map(smallSourceOf).join("")}
/** Assigns the rows of a block from a multiple of 8 on and returns their loss, in the order that rows.ts describes. */
export function small(state: State, from: i32, to: i32): f64 {
  ${SMALL_COLUMNS.map((d) => `if (state.cols == ${d}) return small${d}(state, from, to);`).join("\n  ")}
  return NaN;
}

/** Adds a row to the sums of cluster \`to\` and takes it out of \`from\` (out of range: it was in none). */
function move(state: State, row: i32, from: i32, to: i32): void {
  const cols = state.cols;
  const weight = state.weights ? load<f64>(state.weights + (<usize>row << 3)) : 1;
  const width = <usize>(cols + 1) << 3;
  let x = state.points + <usize>(row >> 3) * (<usize>cols << 6) + (<usize>(row & 7) << 3);
  let grid = state.grids;
  let added = state.sums + <usize>to * 2 * width;
  let removed = from < state.k ? state.sums + <usize>from * 2 * width : 0;
  if (cols > 1) {
    transfer(f64x2.mul(v128.load64_lane(x + 64, v128.load64_zero(x), 1), f64x2.splat(weight)), grid, added, removed, width);
    x += 128;
    grid += 16;
    added += 16;
    if (removed) removed += 16;
  }
  // What is left: column 2 and perhaps 3, or the only one.
  for (let c = cols > 1 ? 2 : 0; c < cols; c++) {
    transferOne(load<f64>(x) * weight, grid, added, removed, width);
    x += 64;
    grid += 8;
    added += 8;
    if (removed) removed += 8;
  }
  transferOne(weight, grid, added, removed, width);
}

/** Spreads rows that lie at \`source\` one after the other over tiles, and raises \`largest\` as survey in rows.ts does. */
export function arrange(state: State, from: i32, to: i32, source: usize, largest: usize): void {
  const cols = state.cols;
  for (let row = from; row < to; row++) {
    const weight = state.weights ? load<f64>(state.weights + (<usize>row << 3)) : 1;
    let target = state.points + <usize>(row >> 3) * (<usize>cols << 6) + (<usize>(row & 7) << 3);
    let top = largest;
    for (let c = 0; c < cols; c++) {
      const value = load<f64>(source);
      store<f64>(target, value);
      store<f64>(top, max(load<f64>(top), abs(value * weight)));
      source += 8;
      target += 64;
      top += 8;
    }
    store<f64>(top, max(load<f64>(top), weight));
  }
}
`;
}

/** The small engine for d columns: the eight points of a tile as twice four, which fit into the registers. */
function smallSourceOf(d) {
  const half = (at, from) => {
    const place = (v) => `weights + (<usize>row << 3), ${8 * from + 16 * v}`;
    const weigh = `if (weights) {
        best0 = f64x2.mul(best0, v128.load(${place(0)}));
        best1 = f64x2.mul(best1, v128.load(${place(1)}));
      }`;
    return nearestOfFour(d, {
      at,
      stride: 64,
      found: from === 0 ? "front" : "back",
      left: from === 0 ? "left" : "left - 4",
      weigh,
    });
  };
  return `
function small${d}(state: State, from: i32, to: i32): f64 {
  const centroids = state.centroids;
  const end = centroids + <usize>state.k * ${8 * d};
  const weights = state.weights;
  const one = i32x4.splat(1);
  let low = f64x2.splat(0);
  let high = low;
  let tile = state.points + <usize>(from >> 3) * ${64 * d};
  for (let row = from; row < to; row += 8, tile += ${64 * d}) {
    const left = to - row;
    let front: v128;
    let back: v128;
    ${half("tile", 0)}
    ${half("tile + 32", 4)}
    const found = i16x8.narrow_i32x4_u(front, back);
    const at = state.labels + (<usize>row << 1);
    const stored = v128.load(at);
    let lanes = i16x8.bitmask(i16x8.ne(found, stored));
    if (left < 8) lanes &= (1 << left) - 1;
    if (!lanes) continue;
    v128.store(at, found);
    v128.store(state.scores, stored);
    while (lanes) {
      const lane = ctz(lanes);
      lanes &= lanes - 1;
      move(state, row + lane, load<u16>(state.scores + (<usize>lane << 1)), load<u16>(at + (<usize>lane << 1)));
    }
  }
  return ${SUM_OF_LANES};
}
`;
}
