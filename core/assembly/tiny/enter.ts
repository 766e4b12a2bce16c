// The tiny device at hand: the fixed places of its numbers in the one page of memory that its module has, and how rows get
// there, in groups of four and split into the parts of sums. src/kernel/tiny.ts knows some of these places; there is room
// for TINY_NUMBERS (src/kernel/pick.ts).

/** f64 rows as the caller has them. */
export const ROWS: usize = 1024;
/** f64 points split onto the grids, see src/data/exactSums.ts: the coarse and the fine part of each, in groups as POINTS. */
export const HIGH: usize = 3072;
export const LOW: usize = 5120;
/** f64 points in groups [rows / 4][cols][4]. */
export const POINTS: usize = 7168;
/** f64 centroids, row by row. */
export const CENTROIDS: usize = 9216;
/** f32 points as seen from the first row, [rows / 8][cols][8], and what they are scored with: see assign.mjs. */
export const SINGLES: usize = 11264;
export const SCORES: usize = 12800;
/** i32 labels of the last call. */
export const LABELS: usize = 14848;
/** f64 [k][2][cols + 1]: coarse, then fine sums of every column and, last, of the weights, which are 1. */
export const PARTS: usize = 16384;
/** f64 [2][cols + 1]: the magic numbers of the columns, see src/data/exactSums.ts; those of the weights are not used. */
export const GRIDS: usize = 24704;
/** A bit for each row: whether its label changed, and whether it is certain. */
export const CHANGED: usize = 24832;
export const SURE: usize = 24864;
/** f64, the loss of the last call. */
export const LOSS: usize = 24960;
/** f64, the largest coordinate of SINGLES; f32, by how much the best score must lead. */
export const REACH: usize = 24968;
export const MARGIN: usize = 24976;
/** i32 [4], the state of the random stream: src/data/random.ts. */
export const STREAM: usize = 24992;
/** f64 squared distances to the nearest seed so far. */
export const CLOSEST: usize = 25088;
/** f64 centroids of the best start so far. */
export const BEST: usize = 27136;
/** i32 labels before the call, where they changed. */
export const OLD_LABELS: usize = 29184;

/** A label that no cluster has. */
export const UNASSIGNED: i32 = 0x7fff;

/** The unit in the last place of this number is the smallest positive float64. */
const SMALLEST: f64 = 3.337610787760802e-308;

/**
 * Makes the rows at ROWS the device at hand, with none of them in any cluster. Returns a bound of their largest magnitude,
 * which is at most 2^-20 too large, and NaN or infinite if one of them is.
 */
export function enter(rows: i32, cols: i32): f64 {
  const groups = <usize>((rows + 3) >> 2);
  forget(rows);
  arrange(rows, cols);
  const largest = makeGrids(rows, cols, groups);
  split(rows, cols, groups);
  return largest;
}

/** Takes all rows out of their clusters. */
export function forget(rows: i32): void {
  fill(LABELS, <usize>((rows + 3) >> 2), i32x4.splat(UNASSIGNED));
}

/** Makes the sums of k clusters 0. */
export function clearParts(cols: i32, k: i32): void {
  fill(PARTS, <usize>(k * (cols + 1)), i32x4.splat(0));
}

/** Not memory.fill, which leaves the module: for a few numbers that takes longer than writing them. */
@inline
function fill(at: usize, vectors: usize, value: v128): void {
  for (const end = at + (vectors << 4); at < end; at += 16) v128.store(at, value);
}

/** Rows into groups, the last of which is filled up with the first row. */
function arrange(rows: i32, cols: i32): void {
  const padded = (rows + 3) & ~3;
  const bytes = <usize>cols << 3;
  const end = ROWS + <usize>padded * bytes;
  for (let at = ROWS + <usize>rows * bytes, from = ROWS; at < end; at += 8, from += 8) {
    if (from == ROWS + bytes) from = ROWS;
    store<f64>(at, load<f64>(from));
  }
  let target = POINTS;
  if (cols == 2) {
    for (let source = ROWS; source < end; source += 64, target += 64) pair(source, target);
    return;
  }
  for (let source = ROWS; source < end; target += bytes << 2) {
    for (let lane: usize = 0; lane < 32; lane += 8) {
      for (let at: usize = 0; at < bytes; at += 8, source += 8) {
        store<f64>(target + (at << 2) + lane, load<f64>(source));
      }
    }
  }
}

/** A group of two columns in registers: planar points are the usual ones. */
@inline
function pair(source: usize, target: usize): void {
  const a = v128.load(source);
  const b = v128.load(source, 16);
  const c = v128.load(source, 32);
  const d = v128.load(source, 48);
  v128.store(target, v128.shuffle<f64>(a, b, 0, 2));
  v128.store(target, v128.shuffle<f64>(c, d, 0, 2), 16);
  v128.store(target, v128.shuffle<f64>(a, b, 1, 3), 32);
  v128.store(target, v128.shuffle<f64>(c, d, 1, 3), 48);
}

/**
 * The grids of the sums, from the largest magnitude of every column: gridsFor in src/data/exactSums.ts. They depend on its
 * exponent only, so the upper halves of the numbers are compared, as integers, for which NaN is just another large one.
 */
function makeGrids(rows: i32, cols: i32, groups: usize): f64 {
  const bits = 18 + clz(max(0, rows - 1));
  const width = <usize>(cols + 1) << 3;
  const group = <usize>cols << 5;
  const upper = i64x2.splat(0x7fffffff00000000);
  let most = 0;
  for (let c: usize = 0; c < <usize>cols; c++) {
    let largest = i32x4.splat(0);
    const end = POINTS + groups * group;
    for (let at = POINTS + (c << 5); at < end; at += group) {
      largest = i32x4.max_s(largest, v128.and(v128.load(at), upper));
      largest = i32x4.max_s(largest, v128.and(v128.load(at, 16), upper));
    }
    const word = max(i32x4.extract_lane(largest, 1), i32x4.extract_lane(largest, 3));
    most = max(most, word);
    // The smallest power of two above it.
    const above = reinterpret<f64>((<u64>(word >> 20) + 1) << 52);
    const coarse = max(SMALLEST, 1.5 * above * powerOfTwo(52 - bits));
    store<f64>(GRIDS + (c << 3), coarse);
    store<f64>(GRIDS + width + (c << 3), max(SMALLEST, coarse * powerOfTwo(-bits)));
  }
  return reinterpret<f64>((<u64>most << 32) | 0xffffffff);
}

/** The parts that sums are made of. What fills up the last group must not move any. */
function split(rows: i32, cols: i32, groups: usize): void {
  const width = <usize>(cols + 1) << 3;
  const group = <usize>cols << 5;
  for (let c: usize = 0; c < <usize>cols; c++) {
    const coarse = v128.load64_splat(GRIDS + (c << 3));
    const fine = v128.load64_splat(GRIDS + width + (c << 3));
    const end = groups * group;
    for (let at = c << 5; at < end; at += group) {
      splitTwo(at, coarse, fine);
      splitTwo(at + 16, coarse, fine);
    }
    if (rows & 3) {
      for (let at = end - group + (c << 5) + (<usize>(rows & 3) << 3); at & 31; at += 8) {
        store<f64>(HIGH + at, 0);
        store<f64>(LOW + at, 0);
      }
    }
  }
}

@inline
function splitTwo(at: usize, coarse: v128, fine: v128): void {
  const value = v128.load(POINTS + at);
  const high = f64x2.sub(f64x2.add(value, coarse), coarse);
  v128.store(HIGH + at, high);
  v128.store(LOW + at, f64x2.sub(f64x2.add(f64x2.sub(value, high), fine), fine));
}

@inline
function powerOfTwo(exponent: i32): f64 {
  return reinterpret<f64>(<i64>(1023 + exponent) << 52);
}
