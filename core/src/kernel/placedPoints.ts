// The points of one device as they lie in the kernel's memory: what lies where, and the fields of assembly/state.ts.

import type { Matrix } from "../data/matrix.ts";
import type { Block } from "./arena.ts";
import type { PointCodes } from "./codes.ts";
import type { Machine } from "./module.ts";
import { CHUNK } from "./passes.ts";

/** The fields of State (assembly/state.ts): the number of their 32-bit word. */
export const FIELD = {
  rows: 0,
  cols: 1,
  k: 2,
  points: 3,
  weights: 4,
  labels: 5,
  sums: 6,
  grids: 7,
  centroids: 8,
  lanes: 9,
  tiles: 10,
  pairs: 11,
  codes: 12,
  starts: 13,
  mask: 14,
  threshold: 15,
  scores: 16,
  norms: 17,
  slack: 18,
  decrease: 19,
  active: 20,
  packed: 21,
  unit: 22,
  squareError: 23,
  lengthError: 24,
  looked: 25,
  verified: 26,
} as const;

export const STATE_BYTES = 128;
/** Label of a row that is in no cluster yet; the bit above it is IRREGULAR of assembly/state.ts. */
export const UNASSIGNED = 0x7fff;
/** Indices of centroids, padding included, stay below UNASSIGNED. */
export const LARGEST_K = UNASSIGNED - 8;

export interface PlacedPoints {
  readonly machine: Machine;
  readonly points: Matrix;
  /** Points of few columns lie in tiles [rows / 8][cols][8], others row by row. */
  readonly layout: "tiles" | "rows";
  /** Address of the State. */
  readonly state: number;
  /** Address of the labels. */
  readonly labels: number;
  /** See PreparedPoints. */
  readonly largest: number | undefined;
  /** Undefined if the points have no codes. */
  readonly screen: Screen | undefined;
  /** What to give back in the end. */
  readonly block: Block;
}

/** The int16 codes of the points and the address of their slack. */
export interface Screen {
  readonly codes: PointCodes;
  readonly slack: number;
}

/** One block for arrays of the given numbers of bytes, and their addresses. Undefined when memory is full. */
export function reserveArrays(
  machine: Machine,
  sizes: readonly number[],
): { block: Block; addresses: number[] } | undefined {
  let total = 0;
  for (const bytes of sizes) total += Math.ceil(bytes / 16) * 16;
  const block = machine.allocate(total);
  if (block === undefined) return undefined;
  let next = block.at;
  const addresses = sizes.map((bytes) => {
    const address = next;
    next += Math.ceil(bytes / 16) * 16;
    return address;
  });
  return { block, addresses };
}

/** The labels of the points, padded to whole tiles, with their flags. */
export function labelsOf({ machine, points, labels }: PlacedPoints): Uint16Array {
  return new Uint16Array(machine.f64().buffer, labels, (points.rows + 7) & ~7);
}

/** Calls `pass` for ranges of rows that cover all; `size` is a multiple of 8. */
export function inChunks(rows: number, pass: (from: number, to: number) => void, size = CHUNK): void {
  for (let from = 0; from < rows; from += size) pass(from, Math.min(rows, from + size));
}
