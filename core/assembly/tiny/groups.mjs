// Writes the AssemblyScript that assigns the points of a tiny device: one kernel per number of columns, four points at a
// time, all in registers. The distances stay at hand, so the loss comes with the labels.

import { nearestOfFour, SMALL_COLUMNS, SUM_OF_LANES } from "../four.mjs";

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
  const columns = Array.from({ length: d }, (_, j) => j);
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
// @ts-expect-error: decorator
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
