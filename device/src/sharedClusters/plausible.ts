// Which sums rows can have: none below 0, no more rows than a device may hold, and means within the bounds. What holds
// for each device holds for the sums of all, so where these are implausible the sums of at least one device are.

import { choiceCounts, choiceFault } from "./choice.ts";
import { descriptionFault } from "./description.ts";
import { type Content, stages } from "./generation.ts";
import { fractionBits } from "./lloyd.ts";
import { allCells, codebookCells, MOMENT_BITS, mixturesIn } from "./seed.ts";
import type { SumsShape } from "./shape.ts";
import { validationFault } from "./validation.ts";

/** Without a limit in the study: what whole numbers of these sums can count. */
const MOST_ROWS = { moments: 2 ** 33, others: 2 ** 50 };
/** Rows are within half a range of its middle. A little is left for rounding. */
const HALF_RANGE = 0.5 + 1e-9;

/** How many rows these sums are of; of private rows nobody knows. */
export function rowsInSums(shape: SumsShape, content: SumsHead, integers: Float64Array): number {
  return countsIn(shape, content, integers).reduce((sum, count) => sum + count, 0);
}

type SumsHead = Pick<Content, "stage" | "steps" | "rows">;

function countsIn(shape: SumsShape, content: SumsHead, integers: Float64Array): Float64Array {
  if (content.stage === stages.grid) return integers;
  if (content.stage === stages.validate) return integers.subarray(0, content.steps === 0 ? shape.k : 0);
  if (content.stage >= stages.choose) return choiceCounts(shape, content, integers);
  if (content.stage >= stages.describe) return integers.subarray(0, content.stage === stages.describe ? 1 : 0);
  return integers.subarray(0, content.stage === stages.moments ? 1 : clustersIn(shape, content));
}

/** Of how many clusters, or cells of the codebook, these are the sums. */
function clustersIn(shape: SumsShape, { stage, rows }: Pick<Content, "stage" | "rows">): number {
  if (stage === stages.codebook) return allCells(shape, rows);
  return stage === stages.means ? codebookCells(shape, rows) : shape.k;
}

/**
 * Why no rows of this many devices have such sums, as a phrase that follows "claims"; undefined: some may. `mostRows`: that
 * all of them together may hold.
 */
export function sumsFault(
  shape: SumsShape,
  content: Content,
  integers: Float64Array,
  devices: number,
  mostRows: number,
): string | undefined {
  const { stage } = content;
  if (stage === stages.describe && shape.describing !== undefined)
    return descriptionFault(shape.describing, content, integers, mostRows);
  if (stage === stages.validate) return validationFault(shape, content, integers, mostRows);
  if (stage >= stages.choose) return choiceFault(shape, content, integers, devices, mostRows);
  if (stage > stages.rows && stage !== stages.codebook) return undefined;
  const rows = rowsInSums(shape, content, integers);
  const most = stage === stages.moments ? MOST_ROWS.moments : MOST_ROWS.others;
  const limit = Math.min(most, mostRows);
  if (!countsIn(shape, content, integers).every((count) => count >= 0)) return "a negative number of rows";
  if (rows > limit) return `${rows} rows where ${limit} are allowed`;
  return areInside(shape, content, integers, devices) ? undefined : "rows outside of the study's bounds";
}

function areInside(shape: SumsShape, content: Content, integers: Float64Array, devices: number): boolean {
  const { d, ranges } = shape;
  const { stage, numbers } = content;
  const k = clustersIn(shape, content);
  if (stage === stages.grid) return true;
  if (stage === stages.moments) {
    const unit = integers[0] * 2 ** MOMENT_BITS;
    const sums = mixturesIn(shape);
    // Sums, then products of two. Each device rounds once.
    const isInside = (total: number, i: number) => Math.abs(total) <= HALF_RANGE ** (i < sums ? 1 : 2) * unit + devices;
    return integers.subarray(1).every(isInside);
  }
  const bits = fractionBits(content.rows);
  // So many rows that their sums may have run over: they are asked again with fewer bits after the point.
  if (fractionBits(rowsInSums(shape, content, integers)) < bits) return stage === stages.rows || stage === stages.cores;
  for (let i = 0; i < k * d; i++) {
    const count = integers[Math.floor(i / d)];
    // Sums of rows, or of how far they are from their centroid.
    const from = stage === stages.means ? 0 : numbers[i] / ranges[i % d];
    const off = Math.abs(integers[k + i] + count * from * 2 ** bits);
    if (off > count * HALF_RANGE * 2 ** bits + devices) return false;
  }
  return true;
}
