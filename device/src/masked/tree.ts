// Sums over a tree, for networks too large for a board: every device adds up what came from those that learnt of the
// generation from it, and passes one sum on. The one that opened the generation has the sum of all.

import type { Board, ClosedBoard } from "../sharedClusters/board.ts";
import { addInt64s, fromInt64s, type Int64s, toInt64s } from "../wire/int64.ts";

/** After the integers of a stage: a zero, in which nothing is left only if all pads have met their counterparts; a one. */
export const TREE_INTEGERS = 2;

/** What a device adds, with these two. */
export function treeInt64s(integers: Float64Array): Int64s {
  return toInt64s([...integers, 0, 1]);
}

/**
 * The sums over a device and all below it; undefined: a neighbour has not said whether it is below, or its sums are
 * missing.
 */
export function sumsBelow(
  board: Board,
  own: Int64s,
  counted: readonly { readonly id: string; readonly isBelow: boolean | undefined }[],
  parent: string | undefined,
): Int64s | undefined {
  const total = own.slice();
  for (const { id, isBelow } of counted) {
    if (id === parent) continue;
    if (isBelow === undefined) return undefined;
    if (!isBelow) continue;
    const entry = board.entryOf(id);
    if (entry === undefined) return undefined;
    addInt64s(total, entry.words);
  }
  return total;
}

/** What the sums of the topmost device say; undefined: somebody is missing, or counts others. */
export function closedTree(words: Int64s): ClosedBoard | undefined {
  const integers = fromInt64s(words);
  const [check, count] = integers.subarray(-TREE_INTEGERS);
  return check === 0 ? { devices: [], count, totals: integers.slice(0, -TREE_INTEGERS) } : undefined;
}
