// The points of one device in the kernel's memory: the fields of assembly/state.ts, what lies where, and how points get
// there, all at once or, where they are too many, block after block.

import { exactSumGrids } from "../data/exactSums.ts";
import type { Points } from "../data/matrix.ts";
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
  widened: 37,
  isShared: 38,
  projection: 39,
  rowScale: 40,
  projected: 44,
  helped: 45,
} as const;

/** What a pass counts, from 0 on. */
export const COUNTERS = [FIELD.looked, FIELD.verified, FIELD.scored, FIELD.projected, FIELD.helped] as const;

export const STATE_BYTES = 192;
/** Label of a row that is in no cluster yet; the bit above it is IRREGULAR of assembly/state.ts. */
export const UNASSIGNED = 0x7fff;
/** Indices of centroids, padding included, stay below UNASSIGNED. */
export const LARGEST_K = UNASSIGNED - 8;

export interface PlacedPoints {
  readonly machine: WasmMachine;
  readonly points: Points;
  /** Points of few columns lie in tiles [rows / 8][cols][8], others row by row. */
  readonly layout: "tiles" | "rows";
  /** Address of the State. */
  readonly state: number;
  /** See PreparedPoints. */
  readonly largest: number | undefined;
  /** Undefined if the points have no codes. */
  readonly screen: Screen | undefined;
  readonly labels: RowArray;
  /** What to give back in the end. */
  readonly block: MemoryBlock;
  /** How rows come to the kernel block by block; undefined if all are there. */
  readonly blocks: RowBlocks | undefined;
}

/** The int16 codes of the points and their slack. */
export interface Screen {
  readonly codes: PointCodes;
  readonly slack: RowArray;
}

/** So many bytes for each row, from an address on. */
export interface RowArray {
  readonly at: number;
  readonly bytes: number;
  /** What all rows have, where the kernel's memory holds those of one block. */
  readonly outside: Uint8Array | undefined;
}

/** What a pass needs of the rows. The first one also surveys them. */
type Need = "survey" | "codes" | "points";

interface RowBlocks {
  /** Rows of a block. */
  readonly size: number;
  /** What comes and goes with the rows. */
  readonly arrays: Set<RowArray>;
  /** Brings points, and their codes if wanted, into memory. */
  enter(first: number, count: number, need: Need): void;
}

/** Bytes that are read behind the codes of the last row, where vectors are longer than what is left of it. */
const BEHIND = 16;

/** Runs `work` on all rows, so many at a time as are in the kernel's memory; there the first of them is row 0. */
export function overRows(
  { machine, points, state, blocks }: PlacedPoints,
  need: Need,
  work: (count: number, first: number) => void,
): void {
  const { rows } = points;
  if (blocks === undefined) {
    work(rows, 0);
    return;
  }
  const memory = () => new Uint8Array(machine.f64().buffer);
  for (let first = 0; first < rows; first += blocks.size) {
    const count = Math.min(blocks.size, rows - first);
    for (const { at, bytes, outside } of blocks.arrays)
      if (outside) memory().set(outside.subarray(first * bytes, (first + count) * bytes), at);
    machine.i32()[state / 4 + FIELD.rows] = count;
    blocks.enter(first, count, need);
    work(count, first);
    for (const { at, bytes, outside } of blocks.arrays)
      outside?.set(memory().subarray(at, at + count * bytes), first * bytes);
  }
}

/** What rows that come in blocks may keep outside the kernel's memory, beside themselves. */
const OUTSIDE_SHARE = 0.2;

/** Whether there may be so many bytes for each row. */
export function mayKeep({ points, blocks }: PlacedPoints, bytes: number): boolean {
  return blocks === undefined || bytes <= (OUTSIDE_SHARE * points.data.byteLength) / points.rows;
}

/** So many bytes for each row, in a block of their own. Undefined when memory is full. */
export function reserveRows(placed: PlacedPoints, bytes: number): (RowArray & { block: MemoryBlock }) | undefined {
  const { machine, points, blocks } = placed;
  const block = mayKeep(placed, bytes) ? machine.allocate(bytes * (blocks?.size ?? points.rows)) : undefined;
  if (block === undefined) return undefined;
  const kept = { block, at: block.at, bytes, outside: blocks && new Uint8Array(bytes * points.rows) };
  blocks?.arrays.add(kept);
  return kept;
}

/** Gives it back. */
export function freeRows({ machine, blocks }: PlacedPoints, kept: RowArray & { block: MemoryBlock }): void {
  machine.free(kept.block);
  blocks?.arrays.delete(kept);
}

/** Lays the codes of rows together, or side by side in tiles, as an engine needs them; blocks come in that way. There must be clusters. */
export function layCodes({ machine, points, state, blocks }: PlacedPoints, isByRows: boolean): void {
  const field = state / 4 + FIELD.isByRows;
  if (machine.i32()[field] === Number(isByRows)) return;
  const rows = blocks === undefined ? points.rows : 0;
  for (let from = 0; from < rows; from += CHUNK)
    machine.turn(state, from, Math.min(rows, from + CHUNK), Number(isByRows));
  machine.i32()[field] = Number(isByRows);
}

/** One block for arrays of the given numbers of bytes, and their addresses. Undefined when memory is full. */
export function reserveArrays(
  machine: WasmMachine,
  sizes: readonly number[],
  spare = 0,
): { block: MemoryBlock; addresses: number[] } | undefined {
  let total = 0;
  for (const bytes of sizes) total += Math.ceil(bytes / 16) * 16;
  const block = machine.allocate(total, spare);
  if (block === undefined) return undefined;
  let next = block.at;
  const addresses = sizes.map((bytes) => {
    const address = next;
    next += Math.ceil(bytes / 16) * 16;
    return address;
  });
  return { block, addresses };
}

/** The labels of all points, perhaps with padding behind them, with their flags. */
export function placedLabels({ machine, points, labels, blocks }: PlacedPoints): Uint16Array {
  if (labels.outside) return new Uint16Array(labels.outside.buffer);
  return new Uint16Array(machine.f64().buffer, labels.at, paddedRows(blocks?.size ?? points.rows));
}

function paddedRows(rows: number): number {
  return (rows + 7) & ~7;
}

/** Bytes of a chunk that stay in the cache from copying to coding. */
const CACHED = 2 ** 16;
/** Bytes of a block of rows at most, and its share of the memory; what points leave free for clusters. */
const BLOCK = { bytes: 2 ** 27, share: 1 / 4 };
const SPARE_SHARE = 1 / 8;

/**
 * Points without clusters; undefined when memory is full. Rows get codes if `wantsScreen` and if they can have them. Grids
 * are those of the points unless they are given. Points that memory has no room for come in blocks.
 */
export function placePoints(
  machine: WasmMachine,
  points: Points,
  weights: Float64Array | undefined,
  wantsScreen: boolean,
  given?: Float64Array,
): PlacedPoints | undefined {
  const { rows, cols, data } = points;
  const layout: PlacedPoints["layout"] = cols <= SMALL_COLUMNS ? "tiles" : "rows";
  const isNarrow = data instanceof Float32Array && layout === "rows";
  const ball = layout === "rows" && wantsScreen && rows > 0 ? codeBall(points) : undefined;
  const pairs = (cols + 1) >> 1;
  const perRow = {
    points: (isNarrow ? 4 : 8) * cols,
    labels: 2,
    weights: weights === undefined ? 0 : 8,
    slack: ball === undefined ? 0 : 4,
    codes: ball === undefined ? 0 : 4 * pairs,
    norms: ball === undefined ? 0 : 4,
  };
  const chunk = Math.max(8, Math.min(paddedRows(rows), (CACHED / (8 * cols)) & ~7));
  const reserve = (size: number, spare: number) => {
    const padded = paddedRows(size);
    // Points come first: where a large block begins, rows lie in as few cache lines as they can.
    const sizes = [
      perRow.points * (layout === "tiles" ? padded : size),
      STATE_BYTES,
      perRow.labels * padded,
      8 * (cols + 1),
      16 * (cols + 1),
      perRow.weights * size,
      isNarrow ? 32 * cols : 0,
      ball === undefined ? 8 * cols * chunk : 8 * cols,
      perRow.slack * padded,
      ball === undefined ? 0 : perRow.codes * padded + BEHIND,
      perRow.norms * padded,
    ];
    const reserved = reserveArrays(machine, sizes, spare);
    return reserved && { ...reserved, size };
  };
  const rowBytes = Object.values(perRow).reduce((sum, bytes) => sum + bytes, 0);
  const most = Math.min(BLOCK.bytes, BLOCK.share * machine.most);
  const blockRows = CHUNK * Math.max(1, Math.floor(most / rowBytes / CHUNK));
  const reserved = reserve(rows, SPARE_SHARE * machine.most) ?? (blockRows < rows ? reserve(blockRows, 0) : undefined);
  if (reserved === undefined) return undefined;
  const { size, addresses } = reserved;
  const [copied, state, labels, largest, grids, weighing, widened, extra, slack, tiles, norms] = addresses;
  const words = machine.i32().subarray(state / 4);
  words.fill(0, 0, (grids - state) / 4);
  words[FIELD.rows] = size;
  words[FIELD.cols] = cols;
  words[FIELD.pairs] = pairs;
  words[FIELD.labels] = labels;
  words[FIELD.grids] = grids;
  words[FIELD.points] = copied;
  words[FIELD.tiles] = ball === undefined ? 0 : tiles;
  words[FIELD.norms] = ball === undefined ? 0 : norms;
  words[FIELD.weights] = weights === undefined ? 0 : weighing;
  words[FIELD.widened] = isNarrow ? widened : 0;
  const at = { state, copied, largest, extra, weighing };
  const isWhole = size === rows;
  const arrayOf = (address: number, bytes: number): RowArray => {
    return { at: address, bytes, outside: isWhole ? undefined : new Uint8Array(bytes * rows) };
  };
  const arrays = { labels: arrayOf(labels, perRow.labels), slack: arrayOf(slack, perRow.slack) };
  const enter = (first: number, count: number, need: Need) => {
    const manner = { ball: need === "points" ? undefined : ball, layout, chunk, need };
    return copyPoints(machine, { points, weights }, manner, at, first, count);
  };
  const blocks = isWhole ? undefined : { size, arrays: new Set(Object.values(arrays)), enter };
  const placed = { machine, points, layout, state, labels: arrays.labels, block: reserved.block, blocks };
  placedLabels({ ...placed, largest: undefined, screen: undefined }).fill(UNASSIGNED);
  let rest = 0;
  for (let first = 0; first < rows; first += size)
    rest = Math.max(rest, enter(first, Math.min(size, rows - first), "survey"));
  const magnitudes = machine.f64().subarray(largest / 8, largest / 8 + cols + 1);
  machine.f64().set(given ?? exactSumGrids(magnitudes, rows), grids / 8);
  const screen = ball && { codes: { ...ball, rest }, slack: arrays.slack };
  // A survey of rows without codes does not see NaN, and what weighs nothing could be anything.
  const isSeen = (layout === "tiles" || ball !== undefined) && weights === undefined;
  return {
    ...placed,
    largest: isSeen ? magnitudes.subarray(0, cols).reduce((a, b) => Math.max(a, b), 0) : undefined,
    screen,
  };
}

/**
 * Copies, surveys and codes rows chunk by chunk, while a chunk is in the cache. Returns how far codes are from their points.
 * `extra` is where the origin of the ball lies or, for tiles, where rows arrive.
 */
function copyPoints(
  machine: WasmMachine,
  { points, weights }: { points: Points; weights: Float64Array | undefined },
  manner: { ball: Ball | undefined; layout: PlacedPoints["layout"]; chunk: number; need: Need },
  at: Readonly<Record<"state" | "copied" | "largest" | "extra" | "weighing", number>>,
  first: number,
  count: number,
): number {
  const { data, cols } = points;
  const { ball, layout, chunk, need } = manner;
  const f64 = machine.f64();
  const isNarrow = data instanceof Float32Array && layout === "rows";
  const memory = isNarrow ? new Float32Array(f64.buffer) : f64;
  const { BYTES_PER_ELEMENT: bytes } = memory;
  if (weights !== undefined) f64.set(weights.subarray(first, first + count), at.weighing / 8);
  const copyTo = (address: number, from: number, to: number) =>
    memory.set(
      chunk >= points.rows ? data : data.subarray((first + from) * cols, (first + to) * cols),
      address / bytes,
    );
  const copyRows = (from: number, to: number) => copyTo(at.copied + bytes * from * cols, from, to);
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
    const worst = machine.encodeRows(at.state, count, coding);
    // The second term covers the rounding of the differences whose lengths were measured.
    return Math.sqrt(worst) * (1 + 1e-9) + 2 ** -48 * radius;
  }
  const copy = (from: number, to: number) => {
    if (layout === "tiles") {
      copyTo(at.extra, from, to);
      machine.arrange(at.state, from, to, at.extra, at.largest);
    } else {
      copyRows(from, to);
      if (need === "survey") machine.survey(at.state, from, to, at.largest);
    }
  };
  for (let from = 0; from < count; from += chunk) copy(from, Math.min(count, from + chunk));
  return 0;
}
