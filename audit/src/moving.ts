// One row that moves alone: what anybody can read from the totals of shared clusters, one generation after the other.

import { type Content, stages } from "../../device/src/sharedClusters/generation.ts";
import { fractionBits } from "../../device/src/sharedClusters/lloyd.ts";
import { offsetsOf } from "../../device/src/sharedClusters/release.ts";
import { sumsShape } from "../../device/src/sharedClusters/shape.ts";
import type { Study } from "../../device/src/study/study.ts";

/** Sums of a generation, of all devices or of some. */
export interface GenerationTotals {
  readonly content: Content;
  readonly totals: Float64Array;
}

/** Points, in the features' units, that differences of totals give. Whether they are rows is a judge's to say. */
export function rowsMovedAlone(study: Study, all: readonly GenerationTotals[]): number[][] {
  const shape = sumsShape(study);
  const { k, d, ranges, middle, releasing } = shape;
  const known = all.flatMap(({ content, totals }) => {
    if (releasing !== undefined && content.stage === stages.offsets) {
      const { counts, offsets } = offsetsOf(releasing, shape, totals);
      const whole = counts.map(Math.round);
      return [
        {
          counts: whole,
          sums: offsets.map((sum, i) => sum + whole[Math.floor(i / d)] * (content.numbers[i] + middle[i % d])),
        },
      ];
    }
    if (content.stage !== stages.rows) return [];
    const unit = 2 ** fractionBits(content.rows);
    const counts = Array.from(totals.subarray(0, k));
    const sums = Array.from({ length: k * d }, (_, i) => {
      const count = counts[Math.floor(i / d)];
      return count * (content.numbers[i] + middle[i % d]) + (totals[k + i] / unit) * ranges[i % d];
    });
    return [{ counts, sums }];
  });
  const found: number[][] = [];
  const note = (count: number, sum: (f: number) => number) => {
    if (Math.abs(count) === 1) found.push(study.features.map(({ scale }, f) => (sum(f) / count) * scale));
  };
  known.forEach(({ counts, sums }, n) => {
    for (let c = 0; c < k; c++) {
      note(counts[c], (f) => sums[c * d + f]);
      // Against everything that was known before: numbers of clusters stay the same.
      for (const before of known.slice(0, n)) {
        note(counts[c] - before.counts[c], (f) => sums[c * d + f] - before.sums[c * d + f]);
      }
    }
  });
  return found;
}
