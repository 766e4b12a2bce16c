// Writes the AssemblyScript of the small engine: one kernel per number of columns, lanes across points, all in registers.
// AssemblyScript has no constant type parameters, and loops over the columns would keep the coordinates in memory. The
// distances stay at hand, so the loss comes with the labels. The generator of the tiny engine shares the nearest of four points.

/** One kernel each: loops over the columns would keep the coordinates in memory. */
export const SMALL_COLUMNS = [1, 2, 3, 4];

export const columnsOf = (d) => Array.from({ length: d }, (_, j) => j);

/**
 * Nearest centroids of four points whose columns lie `stride` bytes apart from address `at` on: leaves
 * `found`, their labels, and adds their squared distances to `low` and `high`, in which two points each have
 * a lane. `left` points exist. The first centroid is the nearest until another is strictly nearer.
 */
export function nearestOfFour(d, { at, stride, found, left, weigh = "" }) {
  const columns = columnsOf(d);
  const each = (text) => [0, 1].map(text).join("\n      ");
  const coordinate = (v, j) => `const x${v}${j} = v128.load(${at}, ${stride * j + 16 * v});`;
  const square = (v, w) =>
    columns.map((j) => `square(x${v}${j}, ${w}${j})`).reduce((sum, term) => `f64x2.add(${sum}, ${term})`);
  // Labels only grow along the centroids, so the last that was strictly nearer is the largest. No square is negative, so
  // their bits compare as integers do, and additions need not share their units with comparisons.
  const keep = (v) =>
    `label${v} = i32x4.max_s(label${v}, v128.and(i64x2.lt_s(s${v}, best${v}), index)); best${v} = f64x2.pmin(best${v}, s${v});`;
  return `{
      ${columns.map((j) => each((v) => coordinate(v, j))).join("\n      ")}
      ${columns.map((j) => `const first${j} = v128.load64_splat(centroids, ${8 * j});`).join(" ")}
      ${each((v) => `let best${v} = ${square(v, "first")}; let label${v} = i32x4.splat(0);`)}
      let index = one;
      for (let w = centroids + ${8 * d}; w < end; w += ${8 * d}) {
        ${columns.map((j) => `const w${j} = v128.load64_splat(w, ${8 * j});`).join(" ")}
        ${each((v) => `const s${v} = ${square(v, "w")}; ${keep(v)}`)}
        index = i32x4.add(index, one);
      }
      ${found} = v128.shuffle<i32>(label0, label1, 0, 2, 4, 6);
      ${weigh}
      if (${left} < 4) {
        best0 = v128.and(best0, i64x2.gt_s(i64x2.splat(${left}), i64x2(0, 1)));
        best1 = v128.and(best1, i64x2.gt_s(i64x2.splat(${left}), i64x2(2, 3)));
      }
      low = f64x2.add(low, best0);
      high = f64x2.add(high, best1);
    }`;
}

/** The end of a loss: (lane 0 + lane 1) + (lane 2 + lane 3). */
export const SUM_OF_LANES =
  "f64x2.extract_lane(low, 0) + f64x2.extract_lane(low, 1) + (f64x2.extract_lane(high, 0) + f64x2.extract_lane(high, 1))";

/** Planar points are the usual ones: they are spread, and summed with their first labels, by code of their own. */
const USUAL_COLUMNS = [2];

/** The text of assembly/small.ts, which exists only while asc runs. */
export function smallSource() {
  return `
import { transfer, transferOne } from "./exact";
import { square } from "./rows";
import { State } from "./state";

/** Of rows that are in no cluster yet, see src/kernel/placedPoints.ts. */
const UNASSIGNED: i32 = 0x7fff;
/** Up to so many clusters it is faster to look at all rows of a block for each than to move them one by one. */
const GATHERED: i32 = 4;
${USUAL_COLUMNS.map((d) => gatherSourceOf(d) + arrangeSourceOf(d)).join("")}
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
    const both = f64x2.mul(v128.load64_lane(x + 64, v128.load64_zero(x), 1), f64x2.splat(weight));
    transfer(both, grid, grid + width, added, added + width, removed, removed + width, removed != 0);
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

/** Spreads rows that lie at \`source\` one after the other over tiles, and raises \`largest\` as survey in codes.ts does; for NaN, beyond all bounds. */
export function arrange(state: State, from: i32, to: i32, source: usize, largest: usize): void {
  const cols = state.cols;
  let row = from;
  ${USUAL_COLUMNS.map(
    (d) => `if (cols == ${d}) {
    row += (to - from) & ~7;
    arrange${d}(state, from, row, source, largest);
  }`,
  ).join("\n  ")}
  source += <usize>((row - from) * cols) << 3;
  for (; row < to; row++) {
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

/** Whether the rows of a block get their first labels, as all rows of a device do in one pass. */
const FIRST_LABELS =
  "const isNew = state.k <= GATHERED && !weights && load<u16>(state.labels + (<usize>from << 1)) == UNASSIGNED;";

/** The small engine for d columns: the eight points of a tile as twice four, which fit into the registers. */
function smallSourceOf(d) {
  const isUsual = USUAL_COLUMNS.includes(d);
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
  ${isUsual ? FIRST_LABELS : "const isNew = false;"}
  for (let row = from; row < to; row += 8, tile += ${64 * d}) {
    const left = to - row;
    let front: v128;
    let back: v128;
    ${half("tile", 0)}
    ${half("tile + 32", 4)}
    const found = i16x8.narrow_i32x4_u(front, back);
    const at = state.labels + (<usize>row << 1);
    if (isNew) {
      v128.store(at, found);
      continue;
    }
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
  ${isUsual ? `if (isNew) gather${d}(state, from, to);` : ""}
  return ${SUM_OF_LANES};
}
`;
}

/** Adds the rows of a block to the sums of the clusters they just got. Sums are exact, so their order is free. */
function gatherSourceOf(d) {
  const columns = columnsOf(d);
  const width = 8 * (d + 1);
  const add = (j, v) => `{
        const value = v128.load(tile, ${64 * j + 16 * v});
        const part = f64x2.sub(f64x2.add(value, coarse${j}), coarse${j});
        high${j} = f64x2.add(high${j}, v128.and(part, mask${v}));
        low${j} = f64x2.add(low${j}, v128.and(f64x2.sub(f64x2.add(f64x2.sub(value, part), fine${j}), fine${j}), mask${v}));
      }`;
  const total = (sum, at) =>
    `store<f64>(sums, load<f64>(sums, ${at}) + (f64x2.extract_lane(${sum}, 0) + f64x2.extract_lane(${sum}, 1)), ${at});`;
  return `
function gather${d}(state: State, from: i32, to: i32): void {
  ${columns.map((j) => `const coarse${j} = v128.load64_splat(state.grids, ${8 * j}); const fine${j} = v128.load64_splat(state.grids, ${width + 8 * j});`).join("\n  ")}
  const whole = from + ((to - from) & ~7);
  const end = state.labels + (<usize>whole << 1);
  let sums = state.sums;
  for (let c = 0; c < state.k; c++, sums += ${2 * width}) {
    const own = i16x8.splat(<i16>c);
    let count = i16x8.splat(0);
    ${columns.map((j) => `let high${j} = f64x2.splat(0); let low${j} = high${j};`).join(" ")}
    let tile = state.points + <usize>(from >> 3) * ${64 * d};
    for (let at = state.labels + (<usize>from << 1); at < end; at += 16, tile += ${64 * d}) {
      const isOwn = i16x8.eq(v128.load(at), own);
      count = i16x8.sub(count, isOwn);
      const front = i32x4.extend_low_i16x8_s(isOwn);
      const back = i32x4.extend_high_i16x8_s(isOwn);
      const mask0 = i64x2.extend_low_i32x4_s(front);
      const mask1 = i64x2.extend_high_i32x4_s(front);
      const mask2 = i64x2.extend_low_i32x4_s(back);
      const mask3 = i64x2.extend_high_i32x4_s(back);
      ${columns.flatMap((j) => [0, 1, 2, 3].map((v) => add(j, v))).join("\n      ")}
    }
    ${columns.map((j) => `${total(`high${j}`, 8 * j)} ${total(`low${j}`, width + 8 * j)}`).join("\n    ")}
    const pairs = i32x4.extadd_pairwise_i16x8_s(count);
    const counted = i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1) + (i32x4.extract_lane(pairs, 2) + i32x4.extract_lane(pairs, 3));
    store<f64>(sums, load<f64>(sums, ${8 * d}) + <f64>counted, ${8 * d});
  }
  for (let row = whole; row < to; row++) move(state, row, UNASSIGNED, load<u16>(state.labels + (<usize>row << 1)));
}
`;
}

/** Spreads whole tiles; the largest magnitudes stay in registers. */
function arrangeSourceOf(d) {
  const columns = columnsOf(d);
  const spread = (j, v) => `{
      const value = v128.load64_lane(source, v128.load64_zero(source, ${16 * v * d + 8 * j}), 1, ${(16 * v + 8) * d + 8 * j});
      v128.store(target, value, ${64 * j + 16 * v});
      top${j} = f64x2.pmax(top${j}, f64x2.abs(f64x2.mul(value, weight${v})));
      odd = v128.or(odd, f64x2.ne(value, value));
    }`;
  return `
function arrange${d}(state: State, from: i32, to: i32, source: usize, largest: usize): void {
  if (from == to) return;
  const one = f64x2.splat(1);
  ${columns.map((j) => `let top${j} = v128.load64_splat(largest, ${8 * j});`).join(" ")}
  let heaviest = v128.load64_splat(largest, ${8 * d});
  let odd = f64x2.splat(0);
  let target = state.points + <usize>(from >> 3) * ${64 * d};
  let weights = state.weights ? state.weights + (<usize>from << 3) : 0;
  for (let row = from; row < to; row += 8, source += ${64 * d}, target += ${64 * d}) {
    let weight0 = one, weight1 = one, weight2 = one, weight3 = one;
    if (weights) {
      weight0 = v128.load(weights); weight1 = v128.load(weights, 16); weight2 = v128.load(weights, 32); weight3 = v128.load(weights, 48);
      weights += 64;
    }
    heaviest = f64x2.pmax(f64x2.pmax(heaviest, f64x2.pmax(weight0, weight1)), f64x2.pmax(weight2, weight3));
    ${columns.flatMap((j) => [0, 1, 2, 3].map((v) => spread(j, v))).join("\n    ")}
  }
  ${columns.map((j) => `store<f64>(largest, max(f64x2.extract_lane(top${j}, 0), f64x2.extract_lane(top${j}, 1)), ${8 * j});`).join("\n  ")}
  store<f64>(largest, max(f64x2.extract_lane(heaviest, 0), f64x2.extract_lane(heaviest, 1)), ${8 * d});
  if (v128.any_true(odd)) store<f64>(largest, Infinity);
}
`;
}
