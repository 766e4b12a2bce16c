// The points of one device in the kernel's memory: the fields of assembly/state.ts, what lies where, and how points get there.

import { exactSumGrids } from "../data/exactSums.ts";
import type { Matrix } from "../data/matrix.ts";
import { type Ball, codeBall, codeStep, type PointCodes } from "./codes.ts";
import { CHUNK, type MemoryBlock, type WasmMachine } from "./module.ts";
import { SMALL_COLUMNS } from "./pick.ts";

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
  isByRows: 31,
  bounds: 32,
  isBounded: 33,
  ways: 34,
  scale: 35,
  scored: 36,
} as const;

export const STATE_BYTES = 160;
/** Label of a row that is in no cluster yet; the bit above it is IRREGULAR of assembly/state.ts. */
export const UNASSIGNED = 0x7fff;
/** Indices of centroids, padding included, stay below UNASSIGNED. */
export const LARGEST_K = UNASSIGNED - 8;

export interface PlacedPoints {
  readonly machine: WasmMachine;
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
  readonly block: MemoryBlock;
}

/** The int16 codes of the points and the address of their slack. */
export interface Screen {
  readonly codes: PointCodes;
  readonly slack: number;
}

/** Bytes that are read behind the codes of the last row, where vectors are longer than what is left of it. */
const BEHIND = 16;

/** Lays the codes of every row together, or side by side in tiles, as an engine needs them. There must be clusters. */
export function layCodes({ machine, points, state }: PlacedPoints, isByRows: boolean): void {
  const field = state / 4 + FIELD.isByRows;
  if (machine.i32()[field] === Number(isByRows)) return;
  for (let from = 0; from < points.rows; from += CHUNK)
    machine.turn(state, from, Math.min(points.rows, from + CHUNK), Number(isByRows));
  machine.i32()[field] = Number(isByRows);
}

/** One block for arrays of the given numbers of bytes, and their addresses. Undefined when memory is full. */
export function reserveArrays(
  machine: WasmMachine,
  sizes: readonly number[],
): { block: MemoryBlock; addresses: number[] } | undefined {
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
export function placedLabels({ machine, points, labels }: PlacedPoints): Uint16Array {
  return new Uint16Array(machine.f64().buffer, labels, (points.rows + 7) & ~7);
}

/** Bytes of a chunk that stay in the cache from copying to coding. */
const CACHED = 2 ** 16;

/**
 * Points without clusters; undefined when memory is full. Rows get codes if `wantsScreen` and if they can have them. Grids
 * are those of the points unless they are given.
 */
export function placePoints(
  machine: WasmMachine,
  points: Matrix,
  weights: Float64Array | undefined,
  wantsScreen: boolean,
  given?: Float64Array,
): PlacedPoints | undefined {
  const { rows, cols } = points;
  const layout = cols <= SMALL_COLUMNS ? "tiles" : "rows";
  const ball = layout === "rows" && wantsScreen && rows > 0 ? codeBall(points) : undefined;
  const padded = (rows + 7) & ~7;
  const chunk = Math.max(8, Math.min(padded, (CACHED / (8 * cols)) & ~7));
  const pairs = (cols + 1) >> 1;
  // Points come first: where a large block begins, rows lie in as few cache lines as they can.
  const reserved = reserveArrays(machine, [
    8 * cols * (layout === "tiles" ? padded : rows),
    STATE_BYTES,
    2 * padded,
    8 * (cols + 1),
    16 * (cols + 1),
    weights === undefined ? 0 : 8 * rows,
    ...(ball === undefined ? [8 * cols * chunk] : [8 * cols, 4 * padded, 4 * pairs * padded + BEHIND, 4 * padded]),
  ]);
  if (reserved === undefined) return undefined;
  const [copied, state, labels, largest, grids, weighing, extra, slack = 0, tiles = 0, norms = 0] = reserved.addresses;
  const words = machine.i32().subarray(state / 4);
  words.fill(0, 0, (grids - state) / 4);
  new Uint16Array(machine.f64().buffer, labels, padded).fill(UNASSIGNED);
  words[FIELD.rows] = rows;
  words[FIELD.cols] = cols;
  words[FIELD.pairs] = pairs;
  words[FIELD.labels] = labels;
  words[FIELD.grids] = grids;
  words[FIELD.points] = copied;
  words[FIELD.tiles] = tiles;
  words[FIELD.norms] = norms;
  if (weights !== undefined) {
    machine.f64().set(weights, weighing / 8);
    words[FIELD.weights] = weighing;
  }
  const rest = copyPoints(machine, points, { ball, layout, chunk }, { state, copied, largest, extra });
  const magnitudes = machine.f64().subarray(largest / 8, largest / 8 + cols + 1);
  machine.f64().set(given ?? exactSumGrids(magnitudes, rows), grids / 8);
  const screen = ball && { codes: { ...ball, rest }, slack };
  // A survey of rows without codes does not see NaN, and what weighs nothing could be anything.
  const isSeen = (layout === "tiles" || ball !== undefined) && weights === undefined;
  const most = isSeen ? magnitudes.subarray(0, cols).reduce((a, b) => Math.max(a, b), 0) : undefined;
  return { machine, points, layout, state, labels, largest: most, block: reserved.block, screen };
}

/**
 * Copies, surveys and codes chunk by chunk, while a chunk is in the cache. Returns how far codes are from their points.
 * `extra` is where the origin of the ball lies or, for tiles, where rows arrive.
 */
function copyPoints(
  machine: WasmMachine,
  { data, rows, cols }: Matrix,
  { ball, layout, chunk }: { ball: Ball | undefined; layout: PlacedPoints["layout"]; chunk: number },
  at: Readonly<Record<"state" | "copied" | "largest" | "extra", number>>,
): number {
  const f64 = machine.f64();
  const copyTo = (address: number, from: number, to: number) =>
    f64.set(chunk >= rows ? data : data.subarray(from * cols, to * cols), address / 8);
  const copyRows = (from: number, to: number) => copyTo(at.copied + 8 * from * cols, from, to);
  if (ball !== undefined) {
    const { origin, radius } = ball;
    f64.set(origin, at.extra / 8);
    const coding = {
      cols,
      largest: at.largest,
      origin: at.extra,
      step: codeStep(radius),
      radius,
      chunk,
      copy: copyRows,
    };
    const worst = machine.encodeRows(at.state, rows, coding);
    // The second term covers the rounding of the differences whose lengths were measured.
    return Math.sqrt(worst) * (1 + 1e-9) + 2 ** -48 * radius;
  }
  const copy = (from: number, to: number) => {
    if (layout === "tiles") {
      copyTo(at.extra, from, to);
      machine.arrange(at.state, from, to, at.extra, at.largest);
    } else {
      copyRows(from, to);
      machine.survey(at.state, from, to, at.largest);
    }
  };
  for (let from = 0; from < rows; from += chunk) copy(from, Math.min(rows, from + chunk));
  return 0;
}
