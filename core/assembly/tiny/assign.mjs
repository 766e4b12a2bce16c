// Writes the AssemblyScript that assigns the points of a tiny device, in two ways. groups: one kernel per number of columns,
// four points at a time in float64, all in registers; the distances stay at hand, so the loss comes with the labels.
// certain: labels by float32 scores, eight points at a time, and float64 for those that these leave in doubt; without a loss.
//
// Let z be the first row, y = x - z and v = w - z. Among the centroids the nearest one maximises y.v - |v|^2 / 2, so c beats
// the first centroid by g(c) = y.u + t with u = v(c) - v(0) and t = -u.(v(c) + v(0)) / 2. With Y, U, V and T the largest
// magnitudes of y, u, v and t in any column, the terms of g add up to at most M = d Y U + T. Rounding y, u and t to float32,
// d products and d additions makes each g wrong by less than (d + 3) 2^-24 M (1 + 2^-20), so the difference of two by less than
// twice that. The margin is twice as wide, and 2^-44 (Y + V)^2 more, which covers what is rounded in float64 here and in the
// reference (its squared distances are off by less than 2^-50 of themselves), and 2^-120 for what float32 cannot hold.

import { columnsOf, nearestOfFour, SMALL_COLUMNS, SUM_OF_LANES } from "../small.mjs";

/** The text of assembly/tiny/groups.ts, which exists only while asc runs. */
export function groupsSource() {
  return `
import { square } from "../rows";
import { CENTROIDS, clearParts, HIGH, LABELS, LOW, OLD_LABELS, PARTS, POINTS, UNASSIGNED } from "./enter";

/** Up to so many clusters it is faster to look at all points for each than to move them one by one. */
export const GATHERED: i32 = 12;
${SMALL_COLUMNS.map(assignSource).join("")}
/** Brings labels and sums up to date with the centroids and returns the loss, in the order that rows.ts describes. */
export function assign(rows: i32, cols: i32, k: i32): f64 {
  if (load<i32>(LABELS) == UNASSIGNED) clearParts(cols, k);
  ${SMALL_COLUMNS.map((d) => `if (cols == ${d}) return assign${d}(rows, k);`).join("\n  ")}
  return NaN;
}
`;
}

function assignSource(d) {
  return `
function assign${d}(rows: i32, k: i32): f64 {
  const centroids = CENTROIDS;
  const end = centroids + <usize>k * ${8 * d};
  const one = i32x4.splat(1);
  let low = f64x2.splat(0);
  let high = low;
  let group = POINTS;
  let at = LABELS;
  const isNew = k <= GATHERED && load<i32>(LABELS) == UNASSIGNED;
  for (let left = rows; left > 0; left -= 4, group += ${32 * d}, at += 16) {
    let found: v128;
    ${nearestOfFour(d, { at: "group", stride: 32, found: "found", left: "left" })}
    if (isNew) {
      v128.store(at, found);
      continue;
    }
    const stored = v128.load(at);
    let lanes = i32x4.bitmask(i32x4.ne(found, stored));
    // What fills up the last group has no cluster.
    if (left < 4) lanes &= (1 << left) - 1;
    if (!lanes) continue;
    v128.store(OLD_LABELS + (at - LABELS), stored);
    v128.store(at, found);
    for (; lanes; lanes &= lanes - 1) move${d}(rows - left + ctz(lanes), k);
  }
  if (isNew) gather${d}(rows, k);
  return ${SUM_OF_LANES};
}
${gatherSource(d)}${moveSource(d)}`;
}

/** The sums of all clusters, where every point has just got its first label. Sums are exact, so their order is free. */
function gatherSource(d) {
  const width = 8 * (d + 1);
  const columns = columnsOf(d);
  const add = (sum, base, j) =>
    [0, 1].map((v) => `${sum} = f64x2.add(${sum}, v128.and(v128.load(${base} + from, ${32 * j + 16 * v}), mask${v}));`);
  const total = (sum) => `f64x2.extract_lane(${sum}, 0) + f64x2.extract_lane(${sum}, 1)`;
  return `
export function gather${d}(rows: i32, k: i32): void {
  const end = LABELS + (<usize>((rows + 3) & ~3) << 2);
  let parts = PARTS;
  for (let c = 0; c < k; c++, parts += ${2 * width}) {
    const own = i32x4.splat(c);
    let count = i32x4.splat(0);
    ${columns.map((j) => `let high${j} = f64x2.splat(0); let low${j} = high${j};`).join(" ")}
    for (let at = LABELS, from: usize = 0; at < end; at += 16, from += ${32 * d}) {
      const mask = i32x4.eq(v128.load(at), own);
      const mask0 = i64x2.extend_low_i32x4_s(mask);
      const mask1 = i64x2.extend_high_i32x4_s(mask);
      count = i32x4.sub(count, mask);
      ${columns.flatMap((j) => [...add(`high${j}`, "HIGH", j), ...add(`low${j}`, "LOW", j)]).join("\n      ")}
    }
    ${columns.map((j) => `store<f64>(parts, ${total(`high${j}`)}, ${8 * j}); store<f64>(parts, ${total(`low${j}`)}, ${width + 8 * j});`).join("\n    ")}
    const pairs = i32x4.add(count, v128.shuffle<i32>(count, count, 2, 3, 0, 1));
    store<f64>(parts, <f64>(i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1)), ${8 * d});
  }
  // What fills up the last group moves no sum, but was counted: with the first row, where it lies.
  const filling = -rows & 3;
  if (filling) {
    const counted = PARTS + <usize>load<i32>(end - 4) * ${2 * width} + ${8 * d};
    store<f64>(counted, load<f64>(counted) - <f64>filling);
  }
}
`;
}

/** One row into the sums of its cluster, and out of those of the one it was in. */
function moveSource(d) {
  const width = 8 * (d + 1);
  const steps = [];
  for (let j = 0; j < d; j += 2) {
    const isPair = j + 1 < d;
    for (const [name, offset] of [
      ["high", 8 * j],
      ["low", width + 8 * j],
    ]) {
      const value = isPair
        ? `v128.load64_lane(${name}, v128.load64_zero(${name}, ${32 * j}), 1, ${32 * (j + 1)})`
        : `load<f64>(${name}, ${32 * j})`;
      steps.push({ isPair, offset, name: `${name}${j}`, value });
    }
  }
  const change = (sign, to) =>
    steps.map(({ isPair, offset, name }) =>
      isPair
        ? `v128.store(${to}, f64x2.${sign}(v128.load(${to}, ${offset}), ${name}), ${offset});`
        : `store<f64>(${to}, load<f64>(${to}, ${offset}) ${sign === "add" ? "+" : "-"} ${name}, ${offset});`,
    );
  return `
@inline
export function move${d}(row: i32, k: i32): void {
  const part = <usize>(row >> 2) * ${32 * d} + (<usize>(row & 3) << 3);
  const high = HIGH + part;
  const low = LOW + part;
  ${steps.map(({ name, value }) => `const ${name} = ${value};`).join("\n  ")}
  const added = PARTS + <usize>load<i32>(LABELS + (<usize>row << 2)) * ${2 * width};
  ${change("add", "added").join("\n  ")}
  store<f64>(added, load<f64>(added, ${8 * d}) + 1, ${8 * d});
  const from = load<i32>(OLD_LABELS + (<usize>row << 2));
  if (from >= k) return;
  const removed = PARTS + <usize>from * ${2 * width};
  ${change("sub", "removed").join("\n  ")}
  store<f64>(removed, load<f64>(removed, ${8 * d}) - 1, ${8 * d});
}
`;
}

/** The text of assembly/tiny/certain.ts, which exists only while asc runs. */
export function certainSource() {
  const names = (prefix) => SMALL_COLUMNS.map((d) => `${prefix}${d}`).join(", ");
  return `
import {
  CENTROIDS, CHANGED, clearParts, LABELS, MARGIN, OLD_LABELS, POINTS, REACH, ROWS, SCORES, SINGLES, SURE, UNASSIGNED
} from "./enter";
import { GATHERED, ${names("gather")}, ${names("move")} } from "./groups";

/** The points as seen from the first row, in float32. What fills up the last eight lies on that row. */
export function makeSingles(rows: i32, cols: i32): void {
  ${SMALL_COLUMNS.map((d) => `if (cols == ${d}) return singles${d}(rows);`).join("\n  ")}
}

/**
 * Brings labels and sums up to date with the centroids. Returns false if so many rows were in doubt that it is faster to
 * measure them all.
 */
export function assignCertain(rows: i32, cols: i32, k: i32): bool {
  ${SMALL_COLUMNS.map((d) => `if (cols == ${d}) return certain${d}(rows, k);`).join("\n  ")}
  return false;
}

@inline
function largest(value: f64, most: f64): f64 {
  return max(most, abs(value));
}
${SMALL_COLUMNS.map((d) => singlesSource(d) + scoresSource(d) + certainOf(d) + settleSource(d)).join("")}`;
}

function singlesSource(d) {
  const column = (j) => `
    const a${j} = f32x4.demote_f64x2_zero(f64x2.sub(v128.load(from, ${32 * j}), z${j}));
    const b${j} = f32x4.demote_f64x2_zero(f64x2.sub(v128.load(from, ${32 * j + 16}), z${j}));
    const y${j} = v128.shuffle<i32>(a${j}, b${j}, 0, 1, 4, 5);
    v128.store(to, y${j}, ${32 * j});
    most = f32x4.pmax(most, f32x4.abs(y${j}));`;
  const filling = columnsOf(d).map((j) => `v128.store(to, i32x4.splat(0), ${32 * j + 16});`);
  return `
function singles${d}(rows: i32): void {
  ${columnsOf(d)
    .map((j) => `const z${j} = v128.load64_splat(ROWS, ${8 * j});`)
    .join(" ")}
  let most = f32x4.splat(0);
  let from = POINTS;
  let to = SINGLES;
  for (let left = rows; left > 0; left -= 4, from += ${32 * d}) {${columnsOf(d).map(column).join("")}
    if (to & 16) {
      to += ${32 * d - 16};
      continue;
    }
    ${filling.join(" ")}
    to += 16;
  }
  const pairs = f32x4.pmax(most, v128.shuffle<f32>(most, most, 2, 3, 0, 1));
  store<f64>(REACH, <f64>max(f32x4.extract_lane(pairs, 0), f32x4.extract_lane(pairs, 1)));
}
`;
}

/** What the points of d columns are scored with, and by how much the best score must lead: [u, t] for all centroids but the first. */
function scoresSource(d) {
  const each = (text) => columnsOf(d).map(text).join(" ");
  return `
function scores${d}(k: i32): void {
  ${each((j) => `const z${j} = load<f64>(ROWS, ${8 * j}); const first${j} = load<f64>(CENTROIDS, ${8 * j}) - z${j};`)}
  let far: f64 = 0;
  let apart: f64 = 0;
  let start: f64 = 0;
  ${each((j) => `far = largest(first${j}, far);`)}
  const end = CENTROIDS + <usize>k * ${8 * d};
  // Where there is no other, one that never wins.
  ${each((j) => `store<f32>(SCORES, 0, ${4 * j});`)} store<f32>(SCORES, -1e38, ${4 * d});
  for (let w = CENTROIDS + ${8 * d}, to = SCORES; w < end; w += ${8 * d}, to += ${4 * (d + 1)}) {
    let t: f64 = 0;
    ${each(
      (j) => `
    const v${j} = load<f64>(w, ${8 * j}) - z${j};
    const u${j} = v${j} - first${j};
    store<f32>(to, <f32>u${j}, ${4 * j});
    far = largest(v${j}, far);
    apart = largest(u${j}, apart);
    t -= u${j} * (v${j} + first${j});`,
    )}
    t *= 0.5;
    store<f32>(to, <f32>t, ${4 * d});
    start = largest(t, start);
  }
  const reach = load<f64>(REACH);
  const size = reach + far;
  const margin = ${d + 3} * 2.384185791015625e-7 * (${d} * reach * apart + start) + 5.684341886080802e-14 * size * size;
  // Beyond, float32 could overflow.
  store<f32>(MARGIN, size < 1e18 ? <f32>(margin + 1e-36) : Infinity);
}
`;
}

function certainOf(d) {
  const both = (text) => [0, 1].map(text).join("\n      ");
  const score = (v) => columnsOf(d).reduce((sum, j) => `f32x4.add(${sum}, f32x4.mul(y${v}${j}, u${j}))`, "t");
  // As in small.mjs: labels only grow along the centroids.
  const splats = (at) =>
    `${columnsOf(d)
      .map((j) => `const u${j} = v128.load32_splat(${at}, ${4 * j});`)
      .join(" ")} const t = v128.load32_splat(${at}, ${4 * d});`;
  const begin = (v) => `const g${v} = ${score(v)};
      best${v} = f32x4.pmax(zero, g${v}); second${v} = f32x4.pmin(zero, g${v}); label${v} = v128.and(f32x4.gt(g${v}, zero), one);`;
  const keep = (v) => `const g${v} = ${score(v)};
      label${v} = i32x4.max_s(label${v}, v128.and(f32x4.gt(g${v}, best${v}), index));
      second${v} = f32x4.pmax(second${v}, f32x4.pmin(best${v}, g${v}));
      best${v} = f32x4.pmax(best${v}, g${v});`;
  return `
function certain${d}(rows: i32, k: i32): bool {
  scores${d}(k);
  const isNew = load<i32>(LABELS) == UNASSIGNED;
  const end = SCORES + <usize>(k - 1) * ${4 * (d + 1)};
  const zero = f32x4.splat(0);
  const one = i32x4.splat(1);
  const margin = v128.load32_splat(MARGIN);
  v128.store(CHANGED, i32x4.splat(0));
  v128.store(CHANGED, i32x4.splat(0), 16);
  let certain = 0xffff;
  let from = SINGLES;
  // No branch depends on a label: which ones change is noted, a bit for each row.
  for (let group: usize = 0; group < <usize>((rows + 7) >> 3); group++, from += ${32 * d}) {
    ${columnsOf(d)
      .map((j) => both((v) => `const y${v}${j} = v128.load(from, ${32 * j + 16 * v});`))
      .join("\n    ")}
    ${both((v) => `let best${v}: v128; let second${v}: v128; let label${v}: v128;`)}
    {
      ${splats("SCORES")}
      ${both(begin)}
    }
    let index = one;
    for (let s = SCORES + ${4 * (d + 1)}; s < end; s += ${4 * (d + 1)}) {
      ${splats("s")}
      index = i32x4.add(index, one);
      ${both(keep)}
    }
    const at = group << 5;
    // Written so that NaN is in doubt.
    ${both((v) => `const sure${v} = f32x4.gt(f32x4.sub(best${v}, second${v}), margin);`)}
    ${both((v) => `const old${v} = v128.load(LABELS + at, ${16 * v}); const same${v} = i32x4.eq(label${v}, old${v});`)}
    ${both((v) => `v128.store(LABELS + at, label${v}, ${16 * v}); v128.store(OLD_LABELS + at, old${v}, ${16 * v});`)}
    const sure = i16x8.narrow_i32x4_s(sure0, sure1);
    const bits = i8x16.bitmask(i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(same0, same1), sure));
    store<u8>(CHANGED + group, ~bits);
    store<u8>(SURE + group, bits >> 8);
    certain &= bits;
  }
  const doubts = certain >> 8 == 255 ? 0 : settle${d}(rows, k);
  if (isNew && k <= GATHERED) gather${d}(rows, k);
  else {
    if (isNew) clearParts(${d}, k);
    change${d}(rows, k);
  }
  return doubts <= rows >> 3;
}

/** Moves the rows whose labels changed. */
function change${d}(rows: i32, k: i32): void {
  // What fills up the last eight is no row.
  if (rows & 7) {
    const last = CHANGED + (<usize>rows >> 3);
    store<u8>(last, <i32>load<u8>(last) & ((1 << (rows & 7)) - 1));
  }
  for (let row = 0; row < rows; row += 64) {
    for (let bits = load<u64>(CHANGED + (<usize>row >> 3)); bits; bits &= bits - 1) move${d}(row + <i32>ctz(bits), k);
  }
}
`;
}

/** Measures the rows that are in doubt, and returns how many. */
function settleSource(d) {
  const square = (w) =>
    columnsOf(d)
      .map((j) => `(x${j} - load<f64>(${w}, ${8 * j})) * (x${j} - load<f64>(${w}, ${8 * j}))`)
      .join(" + ");
  return `
function settle${d}(rows: i32, k: i32): i32 {
  let doubts = 0;
  for (let row = 0; row < rows; row++) {
    const bit = 1 << (row & 7);
    const byte = <usize>row >> 3;
    if (<i32>load<u8>(SURE + byte) & bit) continue;
    doubts++;
    const label = nearest${d}(row, k);
    const at = <usize>row << 2;
    store<i32>(LABELS + at, label);
    const others = <i32>load<u8>(CHANGED + byte) & ~bit;
    store<u8>(CHANGED + byte, label == load<i32>(OLD_LABELS + at) ? others : others | bit);
  }
  return doubts;
}

function nearest${d}(row: i32, k: i32): i32 {
  const x = ROWS + <usize>row * ${8 * d};
  ${columnsOf(d)
    .map((j) => `const x${j} = load<f64>(x, ${8 * j});`)
    .join(" ")}
  let best: f64 = Infinity;
  let label = 0;
  for (let c = 0, w = CENTROIDS; c < k; c++, w += ${8 * d}) {
    const square = ${square("w")};
    if (square < best) {
      best = square;
      label = c;
    }
  }
  return label;
}
`;
}
