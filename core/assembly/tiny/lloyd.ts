// Lloyd's iteration on the tiny device at hand, from given centroids or from the best of several seeds, in one call.

import { assignCertain, makeSingles } from "./certain";
import { assign } from "./groups";
import { BEST, CENTROIDS, forget, LABELS, LOSS, PARTS, ROWS } from "./enter";
import { seed } from "./seeds";

/**
 * Lloyd's iteration: runUpdate of src/update/update.ts without neighbours, to the bit. Leaves centroids, labels, sums and loss
 * behind and returns the number of passes, at most `most`.
 */
export function lloyd(rows: i32, cols: i32, k: i32, most: i32, tol: f64): i32 {
  makeSingles(rows, cols);
  return run(rows, cols, k, most, tol);
}

/**
 * The best of several starts from seeds, the first among equals: bestOf of src/start/kmeans.ts for few rows, to the bit. The
 * stream of the starts is at STREAM. Leaves the centroids and the loss of the best behind and returns its passes; labels
 * and sums are those of the last.
 */
export function best(rows: i32, cols: i32, k: i32, trials: i32, starts: i32, most: i32, tol: f64): i32 {
  makeSingles(rows, cols);
  const bytes = <usize>(k * cols) << 3;
  let lowest: f64 = Infinity;
  let passesOfBest = 0;
  for (let start = 0; start < starts; start++) {
    seed(rows, cols, k, trials, start);
    forget(rows);
    const passes = run(rows, cols, k, most, tol);
    const loss = load<f64>(LOSS);
    if (start > 0 && !(loss < lowest)) continue;
    lowest = loss;
    passesOfBest = passes;
    copy(CENTROIDS, BEST, bytes);
  }
  copy(BEST, CENTROIDS, bytes);
  store<f64>(LOSS, lowest);
  return passesOfBest;
}

@inline
function copy(from: usize, to: usize, bytes: usize): void {
  for (const end = from + bytes; from < end; from += 8, to += 8) store<f64>(to, load<f64>(from));
}

/** The loss costs exact distances. Where nothing asks how far it fell, it is computed at the end only. */
function run(rows: i32, cols: i32, k: i32, most: i32, tol: f64): i32 {
  let isCertain = tol == 0 && assignCertain(rows, cols, k);
  let loss: f64 = tol == 0 ? NaN : assign(rows, cols, k);
  let passes = 0;
  while (moveToMeans(cols, k)) {
    const before = loss;
    if (isCertain) isCertain = assignCertain(rows, cols, k);
    loss = isCertain ? NaN : assign(rows, cols, k);
    if (++passes == most || (tol > 0 && before - loss <= tol * max(1, abs(before)))) break;
  }
  if (isNaN(loss)) loss = cols == 2 ? lossInPlane(rows) : assign(rows, cols, k);
  store<f64>(LOSS, loss);
  return passes;
}

/** The loss of rows whose labels are known, to the bits of `assign`. */
function lossInPlane(rows: i32): f64 {
  let low = f64x2.splat(0);
  let high = low;
  let x = ROWS;
  let at = LABELS;
  for (let left = rows; left > 0; left -= 4, x += 64, at += 16) {
    let first = twoSquares(x, at);
    let second = twoSquares(x + 32, at + 8);
    if (left < 4) {
      first = v128.and(first, i64x2.gt_s(i64x2.splat(left), i64x2(0, 1)));
      second = v128.and(second, i64x2.gt_s(i64x2.splat(left), i64x2(2, 3)));
    }
    low = f64x2.add(low, first);
    high = f64x2.add(high, second);
  }
  const lanes = f64x2.extract_lane(low, 0) + f64x2.extract_lane(low, 1);
  return lanes + (f64x2.extract_lane(high, 0) + f64x2.extract_lane(high, 1));
}

/** Squared distances of two rows to their centroids. */
@inline
function twoSquares(x: usize, at: usize): v128 {
  const a = f64x2.sub(v128.load(x), v128.load(CENTROIDS + (<usize>load<i32>(at) << 4)));
  const b = f64x2.sub(v128.load(x, 16), v128.load(CENTROIDS + (<usize>load<i32>(at, 4) << 4)));
  const squaresA = f64x2.mul(a, a);
  const squaresB = f64x2.mul(b, b);
  return f64x2.add(v128.shuffle<f64>(squaresA, squaresB, 0, 2), v128.shuffle<f64>(squaresA, squaresB, 1, 3));
}

/** (M) without neighbours; false if nothing moved. */
function moveToMeans(cols: i32, k: i32): bool {
  if (cols == 2) return moveInPlane(k);
  const width = <usize>(cols + 1) << 3;
  let moved = false;
  let w = CENTROIDS;
  for (let c = 0, parts = PARTS; c < k; c++, parts += 2 * width) {
    const count = load<f64>(parts + width - 8);
    if (count == 0) {
      w += width - 8;
      continue;
    }
    for (let at: usize = 0; at < width - 8; at += 8, w += 8) {
      const target = (load<f64>(parts + at) + load<f64>(parts + at + width)) / count;
      if (target != load<f64>(w)) moved = true;
      store<f64>(w, target);
    }
  }
  return moved;
}

/** The same bits, two columns at a time: planar points are the usual ones. */
function moveInPlane(k: i32): bool {
  let moved = i64x2.splat(0);
  for (let w = CENTROIDS, parts = PARTS, end = CENTROIDS + (<usize>k << 4); w < end; w += 16, parts += 48) {
    const count = v128.load64_splat(parts, 16);
    if (f64x2.extract_lane(count, 0) == 0) continue;
    const target = f64x2.div(f64x2.add(v128.load(parts), v128.load(parts, 24)), count);
    moved = v128.or(moved, f64x2.ne(target, v128.load(w)));
    v128.store(w, target);
  }
  return v128.any_true(moved);
}
