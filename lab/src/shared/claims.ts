// Claims: a member that keeps to the protocol of shared clusters and adds sums of rows that it does not have.

import { type Content, fractionBits, SharedRows, type SumsShape, stages } from "@fedkm/device/shared";

/** More than a member may hold, or none that anybody can. */
export const claimKinds = ["many rows", "rows outside", "fewer than none", "wrong pads"] as const;
/** As many rows as it may hold in a corner, of every cluster or of the first. */
export const claimsWithin = ["every cluster", "one cluster"] as const;
/** Kinds of false claims. */
export type ClaimKind = (typeof claimKinds)[number] | (typeof claimsWithin)[number];

/** How many rows a liar may hold. */
type Claim = (shape: SumsShape, content: Content, mostRows: number) => Float64Array | undefined;

/** So many rows of each cluster in one corner of the bounds, or as many ranges beyond it as `reach`. */
function rowsFarAway(shape: SumsShape, { numbers, rows }: Content, counts: readonly number[], reach = 0): Float64Array {
  const { k, d, ranges } = shape;
  const unit = 2 ** fractionBits(rows);
  const integers = new Float64Array(k * (d + 1));
  integers.set(counts);
  for (let i = 0; i < k * d; i++) {
    const away = 0.5 + reach - numbers[i] / ranges[i % d];
    integers[k + i] = Math.round(counts[Math.floor(i / d)] * away * unit);
  }
  return integers;
}

// A liar that goes from corner to corner keeps the network moving, until it rests after so many steps as the plan allows.
const each = (k: number, rows: number) => new Array<number>(k).fill(Math.floor(rows / k));
const isOfClusters = ({ stage }: Content) => stage === stages.rows || stage === stages.cores;

const claims: Record<ClaimKind, Claim> = {
  "every cluster": (shape, content, mostRows) =>
    isOfClusters(content) ? rowsFarAway(shape, content, each(shape.k, mostRows)) : undefined,
  "one cluster": (shape, content, mostRows) =>
    isOfClusters(content) ? rowsFarAway(shape, content, [mostRows, ...each(shape.k - 1, 0)]) : undefined,
  "many rows": (shape, content, mostRows) =>
    isOfClusters(content) ? rowsFarAway(shape, content, each(shape.k, 4 * mostRows + shape.k)) : undefined,
  "rows outside": (shape, content, mostRows) =>
    isOfClusters(content) ? rowsFarAway(shape, content, each(shape.k, mostRows), 4) : undefined,
  "fewer than none": (shape, content, mostRows) =>
    isOfClusters(content)
      ? rowsFarAway(shape, content, [-mostRows / 4, ...each(shape.k, mostRows / 4).slice(1)])
      : undefined,
  // Whatever a wrong pad is off by.
  "wrong pads": (shape, content) =>
    isOfClusters(content)
      ? Float64Array.from({ length: shape.k * (shape.d + 1) }, (_, i) => (i % 2 === 0 ? 1 : -1) * 2 ** 62)
      : undefined,
};

/** What a device last added to sums over clusters. */
export interface AddedSums {
  readonly shape: SumsShape;
  readonly content: Content;
  readonly integers: Float64Array;
}

/**
 * While `run` runs, whichever device has as many rows as `liarRows` claims others. Returns what honest devices added last,
 * by their numbers of rows.
 */
export async function withClaims(
  shape: SumsShape,
  { kind, liarRows, mostRows }: { kind: ClaimKind; liarRows: number; mostRows: number },
  run: () => Promise<void>,
): Promise<AddedSums[]> {
  const honest = new Map<SharedRows, AddedSums>();
  const { integersFor } = SharedRows.prototype;
  SharedRows.prototype.integersFor = function (this: SharedRows, content) {
    const integers = integersFor.call(this, content);
    const isLiar = this.count + this.rowsLeftOut === liarRows;
    if (isLiar) return integers && (claims[kind](shape, content, mostRows) ?? integers);
    if (integers !== undefined && integers !== "stale" && isOfClusters(content))
      honest.set(this, { shape, content, integers });
    return integers;
  };
  try {
    await run();
  } finally {
    SharedRows.prototype.integersFor = integersFor;
  }
  return [...honest.values()];
}

/**
 * By how much a liar moved a coordinate at most, as a share of what its rows would if they all lay at the worst place: at
 * the end a centroid is the mean of honest rows and its own. Where a cluster has none but its own, it has them for itself.
 */
export function movementOfBound(added: readonly AddedSums[], centroids: Float64Array, mostRows: number): number {
  const [{ shape, content }] = added;
  const { k, d, ranges, middle } = shape;
  const totals = new Float64Array(k * (d + 1));
  for (const { integers } of added) for (let i = 0; i < totals.length; i++) totals[i] += integers[i];
  const unit = 2 ** fractionBits(content.rows);
  let most = 0;
  for (let i = 0; i < k * d; i++) {
    const count = totals[Math.floor(i / d)];
    if (count === 0) continue;
    const range = ranges[i % d];
    const mean = content.numbers[i] + range * (totals[k + i] / unit / count);
    const bound = (mostRows / (count + mostRows)) * (range / 2 + Math.abs(mean));
    most = Math.max(most, Math.abs(centroids[i] - middle[i % d] - mean) / bound);
  }
  return most;
}
