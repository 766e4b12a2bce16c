// Writes the AssemblyScript that assigns the points of a tiny device: one kernel per number of columns, four points at a
// time, all in registers. The distances stay at hand, so the loss comes with the labels.

import { nearestOfFour, SMALL_COLUMNS, SUM_OF_LANES } from "./four.mjs";

/** The text of assembly/groups.ts, which exists only while asc runs. */
export function groupsSource() {
  return `
import { transfer, transferOne } from "./exact";
import { square } from "./rows";
import { CENTROIDS, GRIDS, LABELS, OLD_LABELS, PARTS, POINTS } from "./tiny";
${SMALL_COLUMNS.map(assignSource).join("")}
/** Brings labels and sums up to date with the centroids and returns the loss, in the order that rows.ts describes. */
export function assign(rows: i32, cols: i32, k: i32): f64 {
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
  for (let left = rows; left > 0; left -= 4, group += ${32 * d}, at += 16) {
    let found: v128;
    ${nearestOfFour(d, { at: "group", stride: 32, found: "found", left: "left" })}
    const stored = v128.load(at);
    let lanes = i32x4.bitmask(i32x4.ne(found, stored));
    // What fills up the last group has no cluster.
    if (left < 4) lanes &= (1 << left) - 1;
    if (lanes) move${d}(group, at, lanes, stored, found, k);
  }
  return ${SUM_OF_LANES};
}
${moveSource(d)}`;
}

/** The rows of a group that change cluster: a weight of 1 is a whole number of units of any grid, so it needs no split. */
function moveSource(d) {
  const width = 8 * (d + 1);
  const transfers = [];
  const removed = (j) => `removed ? removed + ${8 * j} : 0`;
  for (let j = 0; j + 1 < d; j += 2) {
    const pair = `v128.load64_lane(x, v128.load64_zero(x, ${32 * j}), 1, ${32 * (j + 1)})`;
    transfers.push(`transfer(${pair}, GRIDS + ${8 * j}, added + ${8 * j}, ${removed(j)}, ${width});`);
  }
  if (d % 2 === 1) {
    const j = d - 1;
    transfers.push(
      `transferOne(load<f64>(x, ${32 * j}), GRIDS + ${8 * j}, added + ${8 * j}, ${removed(j)}, ${width});`,
    );
  }
  return `
function move${d}(group: usize, at: usize, lanes: i32, stored: v128, found: v128, k: i32): void {
  v128.store(OLD_LABELS, stored);
  v128.store(at, found);
  while (lanes) {
    const lane = <usize>ctz(lanes);
    lanes &= lanes - 1;
    const from = load<i32>(OLD_LABELS + (lane << 2));
    const x = group + (lane << 3);
    const added = PARTS + <usize>load<i32>(at + (lane << 2)) * ${2 * width};
    const removed = from < k ? PARTS + <usize>from * ${2 * width} : 0;
    ${transfers.join("\n    ")}
    store<f64>(added, load<f64>(added, ${8 * d}) + 1, ${8 * d});
    if (removed) store<f64>(removed, load<f64>(removed, ${8 * d}) - 1, ${8 * d});
  }
}
`;
}
