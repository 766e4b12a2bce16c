// What the kernel keeps in its memory for placed points and a number of clusters: centroids, sums, scores.

import type { Block } from "./arena.ts";
import { CHUNK } from "./passes.ts";
import { FIELD, type PlacedPoints, reserveArrays } from "./placedPoints.ts";

export interface Clusters {
  readonly k: number;
  readonly block: Block;
  /** Addresses; those after `scores` are undefined for the small engine. */
  readonly at: Readonly<Record<"sums" | "centroids" | "scores" | "lanes" | "codes" | "starts" | "decrease", number>>;
  /** Labels and sums belong to the centroids in memory: there has been a call. */
  isAssigned: boolean;
  /** Their loss, where it is known. */
  loss: number | undefined;
  /** So does the slack of every row. */
  hasSlack: boolean;
  /** Centroids that move this far leave too few rows with slack. */
  hopelessWay: number;
  /** Calls that are left to the plain engine after the screen was found useless. */
  rest: number;
}

/** Clusters without rows, for points that are in none. Undefined when memory is full. */
export function createClusters(placed: PlacedPoints, k: number): Clusters | undefined {
  const { machine, points, layout, state } = placed;
  const { cols } = points;
  const pairs = (cols + 1) >> 1;
  // The small engine keeps eight labels where others have scores.
  const sizes = [16 * k * (cols + 1), 8 * k * cols, layout === "rows" ? scoreBytes(k) : 32];
  if (layout === "rows") sizes.push(64 * cols * ((k + 7) >> 3), 4 * pairs * k, 4 * k, 4 * k, listBytes(k), 32 * pairs);
  const reserved = reserveArrays(machine, sizes);
  if (reserved === undefined) return undefined;
  const { block, addresses } = reserved;
  machine.f64().fill(0, addresses[0] / 8, addresses[0] / 8 + 2 * k * (cols + 1));
  const words = machine.i32();
  const first = state / 4;
  words[first + FIELD.k] = k;
  for (let i = 0; i < addresses.length; i++) words[first + ORDER[i]] = addresses[i];
  const [sums, centroids, scores, lanes, codes, starts, decrease] = addresses;
  const at = { sums, centroids, scores, lanes, codes, starts, decrease };
  return {
    k,
    block,
    at,
    isAssigned: false,
    loss: undefined,
    hasSlack: false,
    hopelessWay: Number.POSITIVE_INFINITY,
    rest: 0,
  };
}

/** The scores of eight points, what is found from them, and the rows in doubt: see assembly/state.ts. */
export function scoreBytes(k: number): number {
  return 32 * k + 192;
}

/** Two lists of the rows of a chunk, and the places of a counting sort by clusters: see assembly/moves.ts. */
export function listBytes(k: number): number {
  return 8 * CHUNK + 4 * (k + 2);
}

/** The fields for the addresses above, in their order. */
const ORDER = [
  FIELD.sums,
  FIELD.centroids,
  FIELD.scores,
  FIELD.lanes,
  FIELD.codes,
  FIELD.starts,
  FIELD.decrease,
  FIELD.active,
  FIELD.packed,
];
