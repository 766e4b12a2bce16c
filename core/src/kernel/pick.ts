// Which engine answers for a device of a given shape. All give the same bits, so this is about time only.
//
// | rows       | cols  | k and cols                    | engine  | measured against the next best (12 calls, blobs)      |
// |------------|-------|-------------------------------|---------|-------------------------------------------------------|
// | 256 / cols | 1-4   | any, without weights          | tiny    | no memory per device; a k-means job in one call       |
// | below 4    | any   | otherwise                     | js      | not measured; no room for lanes                       |
// | 4 and more | 1-4   | otherwise                     | small   | 2-5 times as fast as js at 8-100 rows, 10 at 100,000  |
// | below 500  | 5 up  | any                           | plain   | up to 2 times as fast as screen: no codes to make     |
// | 500 up     | 5 up  | bounds cost more than a tenth | screen  | 1.2 (d = 8) to 4.5 (k = 128) times as fast as plain   |
// | 500 up     | 256+  | k cols >= 64,000, k <= 8 cols | pruned  | 0.44 (768 columns, k = 500) to 1.03 of bounded's time |
// | 500 up     | 256+  | the same, k <= 32 cols        | grouped | 0.60 to 0.65 of bounded's time (256 columns, 2,100)   |
// | 500 up     | 5 up  | otherwise                     | bounded | even with screen at first, 1.5-5 times near the end   |
//
// Where calls go round many devices, tiny loads and adds up all rows in every call and takes 1.0 (20 planar rows) to 1.4
// times (100) as long as small, but no memory; beyond, small wins by ever more. The number of iterations does not enter:
// bounds are kept only once the centroids move little enough for them to pay.

/**
 * `js` the reference; `tiny` registers, nothing kept; `small` registers; `plain` all distances in float64; `screen` int16;
 * `bounded` a bound per row and int16; `pruned` a bound per row and centroid and int16, `grouped` one per row and four centroids.
 */
export type KernelEngine = "js" | "tiny" | "small" | "plain" | "screen" | "bounded" | "pruned" | "grouped";

export function hasPairBounds(engine: KernelEngine): boolean {
  return engine === "pruned" || engine === "grouped";
}

/** Up to this many columns points lie in tiles, lanes across points, and the small engine takes them. */
export const SMALL_COLUMNS = 4;
/** Fewer rows are not worth their copy: the reference is best for them. */
export const WASM_ROWS = 4;
/** From so many rows on points get int16 codes. */
export const SCREEN_ROWS = 500;

/**
 * From so many columns, and products with the centroids, on bounds for pairs cost less than they save. More bounds for each
 * column would take more memory than points and codes.
 */
const WIDE_COLUMNS = 256;
const MANY_PRODUCTS = 64_000;
const MOST_BOUNDS = 8;

/** Tiny devices have at most this many numbers, and so have their centroids. */
export const TINY_NUMBERS = 256;

/** Whether the tiny engine can take a device without weights, which it does not know. */
export function isTiny(rows: number, cols: number): boolean {
  return rows > 0 && cols > 0 && cols <= SMALL_COLUMNS && ((rows + 3) & ~3) * cols <= TINY_NUMBERS;
}

export function pickEngine(rows: number, cols: number, k: number): KernelEngine {
  if (rows < WASM_ROWS) return "js";
  if (cols <= SMALL_COLUMNS) return "small";
  if (rows < SCREEN_ROWS) return "plain";
  if (cols >= WIDE_COLUMNS && cols * k >= MANY_PRODUCTS && k <= 4 * MOST_BOUNDS * cols) {
    return k <= MOST_BOUNDS * cols ? "pruned" : "grouped";
  }
  return kernelBoundShare(cols, k) > 0.1 ? "bounded" : "screen";
}

/**
 * The share of rows that may need a look in spite of their bounds before bounds cost more than they save. Per row and in
 * cycles, as measured: using bounds costs about 24, scoring all centroids k (1 + cols / 12), and packing a row that needs
 * a look 0.8 cols.
 */
export function kernelBoundShare(cols: number, k: number): number {
  const scoring = k * (1 + cols / 12);
  return (scoring - 24) / (scoring + 0.8 * cols);
}

/**
 * The share of pairs that may need a score in spite of their bounds before bounds cost more than they save, as measured on
 * rows without clusters: about half of them for 768 columns, a third for 256.
 */
export function kernelPairShare(cols: number, isShared: boolean): number {
  return isShared ? 0.9 : (0.75 * cols) / (cols + 256);
}
