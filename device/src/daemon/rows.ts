// Rows that do not count, in words: a device whose data lie outside the study's bounds runs, and does nothing.

import type { Matrix } from "@fedkm/core";
import type { Study } from "../study/study.ts";

/** A few odd values are ordinary. More than this share out of bounds is a wrong unit, column or study. */
const LARGEST_SHARE_OUTSIDE = 0.05;

/** Rows of which some are out of the study's bounds. */
export interface RowCounts {
  readonly rows: number;
  /** Out of the bounds of any feature, and of each. */
  readonly left: number;
  readonly outside: readonly number[];
}

export function countRows({ features }: Study, { data, rows }: Matrix): RowCounts {
  const outside = features.map(() => 0);
  let left = 0;
  for (let r = 0; r < rows; r++) {
    let isOutside = false;
    for (const [f, { min, max }] of features.entries()) {
      const value = data[r * features.length + f];
      if (value >= min && value <= max) continue;
      outside[f] += 1;
      isOutside = true;
    }
    if (isOutside) left += 1;
  }
  return { rows, left, outside };
}

/** Why none or too few of the rows count, in one line of counts and names; undefined: nearly all do. */
export function rowsFault({ features, k, minimum }: Study, { rows, left, outside }: RowCounts): string | undefined {
  const where = features.flatMap(({ name, min, max }, f) => {
    return outside[f] > 0 ? [`${name} is not within ${min} and ${max} in ${outside[f]}`] : [];
  });
  const because = left === 0 ? "" : `: ${left} are out of the study's bounds (${where.slice(0, 3).join(", ")})`;
  if (rows > 0 && rows - left < k * minimum) {
    return `none of ${rows} rows counts, ${k * minimum} are needed (k ${k} x minimum ${minimum})${because}`;
  }
  return left > LARGEST_SHARE_OUTSIDE * rows ? `${left} of ${rows} rows do not count${because}` : undefined;
}
