// Writes the AssemblyScript of the small engine: one kernel per number of columns, lanes across points, all in registers.
// AssemblyScript has no constant type parameters, and loops over the columns would keep the coordinates in memory.

export const SMALL_COLUMNS = [1, 2, 3, 4];

/** The text of assembly/small.ts, which exists only while asc runs. */
export function smallSource() {
  return `
import { transfer, transferOne } from "./exact";
import { weigh } from "./rows";
import { State } from "./state";
${SMALL_COLUMNS.map(nearestSource).join("")}
/** Assigns the rows from a multiple of 8 on. */
export function small(state: State, from: i32, to: i32): void {
  const cols = state.cols;
  for (let row = from; row < to; row += 8) {
    const tile = state.points + <usize>(row >> 3) * (<usize>cols << 6);
    let found: v128;
    ${SMALL_COLUMNS.map((d) => `${d === SMALL_COLUMNS.length ? "" : `if (cols == ${d}) `}found = nearest${d}(tile, state.centroids, state.k);`).join("\n    else ")}
    const at = state.labels + (<usize>row << 1);
    const stored = v128.load(at);
    let lanes = i16x8.bitmask(i16x8.ne(found, stored));
    if (to - row < 8) lanes &= (1 << (to - row)) - 1;
    if (!lanes) continue;
    v128.store(at, found);
    v128.store(state.scores, stored);
    while (lanes) {
      const lane = ctz(lanes);
      lanes &= lanes - 1;
      move(state, row + lane, load<u16>(state.scores + (<usize>lane << 1)), load<u16>(at + (<usize>lane << 1)));
    }
  }
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

/** Loss of one block of rows, in the order that rows.ts describes. */
export function smallLoss(state: State, from: i32, to: i32, scratch: usize): f64 {
  const cols = state.cols;
  let low = f64x2.splat(0);
  let high = low;
  for (let row = from; row < to; row += 4) {
    const count = min(4, to - row);
    v128.store(scratch, ownDistances(state, row, min(1, count - 1)));
    v128.store(scratch, ownDistances(state, row + min(2, count - 1), count > 3 ? 1 : 0), 16);
    weigh(state, row, count, scratch);
    low = f64x2.add(low, v128.load(scratch));
    high = f64x2.add(high, v128.load(scratch, 16));
  }
  return f64x2.extract_lane(low, 0) + f64x2.extract_lane(low, 1) + (f64x2.extract_lane(high, 0) + f64x2.extract_lane(high, 1));
}

/** Squared distances of two neighbouring rows to their centroids. */
// @ts-ignore: decorator
@inline
function ownDistances(state: State, row: i32, next: i32): v128 {
  const bytes = <usize>state.cols << 3;
  const w0 = state.centroids + <usize>load<u16>(state.labels + (<usize>row << 1)) * bytes;
  const w1 = state.centroids + <usize>load<u16>(state.labels + (<usize>(row + next) << 1)) * bytes;
  let x = state.points + <usize>(row >> 3) * (bytes << 3) + (<usize>(row & 7) << 3);
  let sum = f64x2.splat(0);
  for (let at: usize = 0; at < bytes; at += 8) {
    const w = v128.load64_lane(w1 + at, v128.load64_zero(w0 + at), 1);
    const difference = f64x2.sub(v128.load(x), w);
    sum = f64x2.add(sum, f64x2.mul(difference, difference));
    x += 64;
  }
  return sum;
}
`;
}

/** Nearest centroids of the eight points of a tile: four vectors of two points, or twice two where registers are short. */
function nearestSource(d) {
  const vectors = d <= 2 ? 4 : 2;
  const columns = Array.from({ length: d }, (_, j) => j);
  const points = Array.from({ length: vectors }, (_, v) => v);
  const load = (v, j) => `const x${v}${j} = v128.load(tile, ${v * 16 + j * 64});`;
  const square = (v) => {
    const term = (j) => `f64x2.mul(d${v}${j}, d${v}${j})`;
    const differences = columns.map((j) => `const d${v}${j} = f64x2.sub(x${v}${j}, w${j});`).join(" ");
    return `${differences} const s${v} = ${columns.slice(1).reduce((sum, j) => `f64x2.add(${sum}, ${term(j)})`, term(0))};`;
  };
  // Labels only grow along the centroids, so the last that was strictly nearer is the largest.
  const keep = (v) =>
    `label${v} = i32x4.max_s(label${v}, v128.and(f64x2.lt(s${v}, best${v}), index)); best${v} = f64x2.pmin(best${v}, s${v});`;
  const centroid = columns.map((j) => `const w${j} = v128.load64_splat(w, ${8 * j});`).join(" ");
  const body = `
  ${points.flatMap((v) => columns.map((j) => load(v, j))).join("\n  ")}
  ${points.map((v) => `let best${v} = f64x2.splat(Infinity); let label${v} = i32x4.splat(0);`).join("\n  ")}
  let index = i32x4.splat(0);
  const end = w + <usize>k * ${8 * d};
  for (; w < end; w += ${8 * d}) {
    ${centroid}
    ${points.map((v) => `${square(v)} ${keep(v)}`).join("\n    ")}
    index = i32x4.add(index, i32x4.splat(1));
  }`;
  const pack = (a, b) => `v128.shuffle<i32>(label${a}, label${b}, 0, 2, 4, 6)`;
  if (vectors === 4)
    return `
function nearest${d}(tile: usize, w: usize, k: i32): v128 {${body}
  return i16x8.narrow_i32x4_u(${pack(0, 1)}, ${pack(2, 3)});
}
`;
  return `
function half${d}(tile: usize, w: usize, k: i32): v128 {${body}
  return ${pack(0, 1)};
}
function nearest${d}(tile: usize, w: usize, k: i32): v128 {
  return i16x8.narrow_i32x4_u(half${d}(tile, w, k), half${d}(tile + 32, w, k));
}
`;
}
