// Where the numbers of the tiny device at hand lie: fixed places in the one page of memory that its module has.
// src/kernel/tinyMachine.ts knows some of them. There is room for TINY_NUMBERS (src/kernel/pick.ts).

/** f64 rows as the caller has them. */
export const ROWS: usize = 1024;
/** f64 points split onto the grids, see src/kernel/grid.ts: the coarse and the fine part of each, in groups as POINTS. */
export const HIGH: usize = 3072;
export const LOW: usize = 5120;
/** f64 points in groups [rows / 4][cols][4]. */
export const POINTS: usize = 7168;
/** f64 centroids, row by row. */
export const CENTROIDS: usize = 9216;
/** f32 points as seen from the first row, [rows / 8][cols][8], and what they are scored with: see certain.mjs. */
export const SINGLES: usize = 11264;
export const SCORES: usize = 12800;
/** i32 labels of the last call. */
export const LABELS: usize = 14848;
/** f64 [k][2][cols + 1]: coarse, then fine sums of every column and, last, of the weights, which are 1. */
export const PARTS: usize = 16384;
/** f64 [2][cols + 1]: the magic numbers of the columns, see src/kernel/grid.ts; those of the weights are not used. */
export const GRIDS: usize = 24704;
/** A bit for each row: whether its label changed, and whether it is certain. */
export const CHANGED: usize = 24832;
export const SURE: usize = 24864;
/** f64, the loss of the last call. */
export const LOSS: usize = 24960;
/** f64, the largest coordinate of SINGLES; f32, by how much the best score must lead. */
export const REACH: usize = 24968;
export const MARGIN: usize = 24976;
/** i32 [4], the state of the random stream: src/random.ts. */
export const STREAM: usize = 24992;
/** f64 squared distances to the nearest seed so far. */
export const CLOSEST: usize = 25088;
/** f64 centroids of the best start so far. */
export const BEST: usize = 27136;
/** i32 labels before the call, where they changed. */
export const OLD_LABELS: usize = 29184;

/** A label that no cluster has. */
export const UNASSIGNED: i32 = 0x7fff;
