// Sums over a tree, for networks too large for a board: every device adds up what came from those that learnt of the
// generation from it, and passes one sum on. The one that opened the generation has the sum of all.

import type { Board, Closed } from "./board.ts";
import { addWords, integersOf, type Words, wordsOf } from "./words.ts";

/** After the integers of a stage: a zero, in which nothing is left only if all pads have met their counterparts; a one. */
export const TREE_INTEGERS = 2;

/** What a device adds, with these two. */
export function treeWords(integers: Float64Array): Words {
  return wordsOf([...integers, 0, 1]);
}

/**
 * The sums over a device and all below it; undefined: a neighbour has not said whether it is below, or its sums are
 * missing.
 */
export function sumsBelow(
  board: Board,
  own: Words,
  counted: readonly { readonly id: string; readonly isBelow: boolean | undefined }[],
  parent: string | undefined,
): Words | undefined {
  const total = own.slice();
  for (const { id, isBelow } of counted) {
    if (id === parent) continue;
    if (isBelow === undefined) return undefined;
    if (!isBelow) continue;
    const entry = board.entryOf(id);
    if (entry === undefined) return undefined;
    addWords(total, entry.words);
  }
  return total;
}

/** What the sums of the topmost device say; undefined: somebody is missing, or counts others. */
export function wholeOf(words: Words): Closed | undefined {
  const integers = integersOf(words);
  const [check, count] = integers.subarray(-TREE_INTEGERS);
  return check === 0 ? { devices: [], count, totals: integers.slice(0, -TREE_INTEGERS) } : undefined;
}
