// What the generators of the tiny and the small engine share: the nearest centroids of four points, in registers.

/** One kernel each: loops over the columns would keep the coordinates in memory. */
export const SMALL_COLUMNS = [1, 2, 3, 4];

/**
 * Nearest centroids of four points whose columns lie `stride` bytes apart from address `at` on: leaves
 * `found`, their labels, and adds their squared distances to `low` and `high`, in which two points each have
 * a lane. `left` points exist. The first centroid is the nearest until another is strictly nearer.
 */
export function nearestOfFour(d, { at, stride, found, left, weigh = "" }) {
  const columns = Array.from({ length: d }, (_, j) => j);
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
