// Lloyd's iteration on the tiny device at hand, from given centroids or from the best of several seeds, in one call.

import { assignCertain, makeSingles } from "./certain";
import { assign } from "./groups";
import { forget } from "./enter";
import { BEST, CENTROIDS, LOSS, PARTS } from "./places";
import { seed } from "./seeds";

/**
 * Lloyd's iteration: runUpdate of src/update.ts without neighbours, to the bit. Leaves centroids, labels, sums and loss
 * behind and returns the number of passes, at most `most`.
 */
export function lloyd(rows: i32, cols: i32, k: i32, most: i32, tol: f64): i32 {
  makeSingles(rows, cols);
  return run(rows, cols, k, most, tol);
}

/**
 * The best of several starts from seeds, the first among equals: bestOf of src/kmeans.ts for few rows, to the bit. The
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

// @ts-expect-error: decorator
@inline
function copy(from: usize, to: usize, bytes: usize): void {
  for (const end = from + bytes; from < end; from += 8, to += 8) store<f64>(to, load<f64>(from));
}

/** The loss costs exact distances. Where nothing asks how far it fell, it is computed at the end only. */
function run(rows: i32, cols: i32, k: i32, most: i32, tol: f64): i32 {
  let isCertain = tol == 0 && assignCertain(rows, cols, k);
  let loss: f64 = tol == 0 ? 0 : assign(rows, cols, k);
  let passes = 0;
  while (moveToMeans(cols, k)) {
    const before = loss;
    if (isCertain) isCertain = assignCertain(rows, cols, k);
    else loss = assign(rows, cols, k);
    if (++passes == most || (tol > 0 && before - loss <= tol * max(1, abs(before)))) break;
  }
  store<f64>(LOSS, tol == 0 ? assign(rows, cols, k) : loss);
  return passes;
}

/** (M) without neighbours; false if nothing moved. */
function moveToMeans(cols: i32, k: i32): bool {
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
