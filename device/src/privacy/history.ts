// What a device has published of its rows, and its bytes on disk: which rows count, which classes of them were told apart, and
// which rows left. Rows come and go in groups of at least the study's minimum, by the same rule as labels: being there is a label too.

import type { Matrix } from "@fedkm/core";
import { type Classes, mergeSmallParts, oneClass, splitClasses } from "@fedkm/core/privacy";
import { concatBytes } from "@noble/hashes/utils.js";
import { hashBytes } from "../wire/hashes.ts";
import type { HeadsMemory } from "./historyHeads.ts";

/** Rows that count now, in the features' units, with their classes. */
interface CountedRows {
  readonly rows: Matrix;
  readonly classes: Classes;
}

/** Rows that counted once: only a number for each is kept, so that one that comes back is known. */
interface DepartedRows {
  readonly keys: Float64Array;
  readonly classes: Classes;
}

export interface PublishedHistory {
  /** The study's features by name: the same numbers of other columns are other rows. */
  readonly features: readonly string[];
  readonly counted: CountedRows;
  readonly departed: DepartedRows;
}

/** Rows of the data that do not count yet, and rows that count although they are not among the data any more. */
export interface WaitingRows {
  readonly added: number;
  readonly deleted: number;
}

export function emptyHistory(features: readonly string[]): PublishedHistory {
  return {
    features,
    counted: { rows: { data: new Float64Array(0), rows: 0, cols: features.length }, classes: oneClass(0) },
    departed: { keys: new Float64Array(0), classes: oneClass(0) },
  };
}

/** The history after the data became `rows`; the same object where nothing can change yet. */
export function followRows(
  history: PublishedHistory,
  rows: Matrix,
  minimum: number,
): { history: PublishedHistory; waiting: WaitingRows } {
  const { counted, departed } = history;
  const left = keyCounts(keysOf(rows));
  const take = (key: number) => Number(takeOne(left, key));
  const own = keysOf(counted.rows);
  const isThere = Uint32Array.from(own, take);
  const wantsBack = Uint32Array.from(departed.keys, take);
  const stays = isThere.slice();
  mergeSmallParts(counted.classes, stays, 2, minimum);
  const returns = wholeGroups(departed.classes, wantsBack, minimum);
  const freshCount = [...left.values()].reduce((sum, many) => sum + many, 0);
  const enters = freshCount >= minimum ? freshCount : 0;
  const isChanged = stays.includes(0) || returns.includes(1) || enters > 0;
  const changed = isChanged ? movedRows(history, rows, { own, stays, returns, enters }) : history;
  const countedNow = keyCounts(keysOf(changed.counted.rows));
  const there = keyCounts(keysOf(rows));
  let common = 0;
  for (const [key, many] of there) common += Math.min(many, countedNow.get(key) ?? 0);
  return { history: changed, waiting: { added: rows.rows - common, deleted: changed.counted.rows.rows - common } };
}

/** Nothing can be forced to come back: a class returns what it can only if both parts are enough to hide in. */
function wholeGroups({ ids, sizes }: Classes, wanted: Uint32Array, minimum: number): Uint32Array {
  const back = new Uint32Array(sizes.length);
  wanted.forEach((is, r) => {
    back[ids[r]] += is;
  });
  const mayReturn = back.map((many, id) =>
    many >= minimum && (many === sizes[id] || sizes[id] - many >= minimum) ? 1 : 0,
  );
  return wanted.map((is, r) => is * mayReturn[ids[r]]);
}

interface Moves {
  readonly own: Float64Array;
  /** For each counted row whether it stays, for each departed one whether it comes back. */
  readonly stays: Uint32Array;
  readonly returns: Uint32Array;
  /** How many rows enter for the first time. */
  readonly enters: number;
}

function movedRows(history: PublishedHistory, rows: Matrix, { own, stays, returns, enters }: Moves): PublishedHistory {
  const { counted, departed, features } = history;
  const { cols } = counted.rows;
  const kept = splitClasses(counted.classes, stays, 2);
  const away = splitClasses(departed.classes, returns, 2);
  const [staying, leaving] = [1, 0].map((is) => indices(stays, is));
  const [returning, remaining] = [1, 0].map((is) => indices(returns, is));
  // Rows of the data that are not counted already: those that return by their keys, the others as a class of their own.
  const back = keyCounts(Float64Array.from(returning, (r) => departed.keys[r]));
  const idsBack = new Map<number, number[]>();
  for (const r of returning) idsBack.set(departed.keys[r], [...(idsBack.get(departed.keys[r]) ?? []), away.ids[r]]);
  const known = keyCounts(own);
  const gone = keyCounts(departed.keys);
  const takenRows: number[] = [];
  const takenIds: number[] = [];
  const FIRST_TIME = -1;
  keysOf(rows).forEach((key, r) => {
    if (takeOne(known, key)) return;
    if (takeOne(back, key)) {
      takeOne(gone, key);
      takenRows.push(r);
      takenIds.push(idsBack.get(key)?.pop() ?? 0);
      return;
    }
    if (takeOne(gone, key) || enters === 0) return;
    takenRows.push(r);
    takenIds.push(FIRST_TIME);
  });
  const ids = [
    ...staying.map((r) => `counted ${kept.ids[r]}`),
    ...takenIds.map((id) => (id === FIRST_TIME ? "new" : `back ${id}`)),
  ];
  const data = new Float64Array((staying.length + takenRows.length) * cols);
  staying.forEach((r, at) => {
    data.set(counted.rows.data.subarray(r * cols, (r + 1) * cols), at * cols);
  });
  takenRows.forEach((r, at) => {
    data.set(rows.data.subarray(r * cols, (r + 1) * cols), (staying.length + at) * cols);
  });
  const keys = [...remaining.map((r) => departed.keys[r]), ...leaving.map((r) => own[r])];
  const awayIds = [...remaining.map((r) => `away ${away.ids[r]}`), ...leaving.map((r) => `left ${kept.ids[r]}`)];
  const found = numbered(ids);
  const left = new Uint8Array(found.sizes.length);
  staying.forEach((r, at) => {
    left[found.ids[at]] = counted.classes.left?.[counted.classes.ids[r]] ?? 0;
  });
  const classes = counted.classes.left === undefined ? found : { ...found, left };
  return {
    features,
    counted: { rows: { data, rows: ids.length, cols }, classes },
    departed: { keys: Float64Array.from(keys), classes: numbered(awayIds) },
  };
}

function takeOne(counts: Map<number, number>, key: number): boolean {
  const many = counts.get(key) ?? 0;
  if (many === 0) return false;
  counts.set(key, many - 1);
  return true;
}

function indices(flags: Uint32Array, wanted: number): number[] {
  return Array.from(flags.keys()).filter((r) => flags[r] === wanted);
}

/** Classes by name. */
function numbered(names: readonly string[]): Classes {
  const numbers = new Map<string, number>();
  const sizes: number[] = [];
  const ids = Uint32Array.from(names, (name) => {
    const id = numbers.get(name) ?? numbers.size;
    numbers.set(name, id);
    sizes[id] = (sizes[id] ?? 0) + 1;
    return id;
  });
  return { ids, sizes: Uint32Array.from(sizes) };
}

/** Equal rows have equal numbers, of 53 bits. */
function keysOf({ data, rows, cols }: Matrix): Float64Array {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return Float64Array.from({ length: rows }, (_, r) => {
    const own = bytes.subarray(8 * r * cols, 8 * (r + 1) * cols);
    return (hashBytes(own, 1) & 0x1fffff) * 2 ** 32 + hashBytes(own, 2);
  });
}

function keyCounts(keys: Float64Array): Map<number, number> {
  const counts = new Map<number, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

// The history of guarded rows as bytes: a line of JSON, then class ids, numbers of departed rows and the rows that count.

interface Header {
  readonly features: readonly string[];
  readonly counted: number;
  readonly departed: number;
  /** Classes of counted rows that count in no sum. */
  readonly left?: readonly number[];
}

export function encodeHistory({ features, counted, departed }: PublishedHistory): Uint8Array {
  const sizes = { counted: counted.classes.ids.length, departed: departed.classes.ids.length };
  const left = Array.from(counted.classes.left ?? []).flatMap((is, id) => (is === 1 ? [id] : []));
  const header: Header = { features, ...sizes, ...(left.length > 0 && { left }) };
  const parts = [
    new TextEncoder().encode(`${JSON.stringify(header)}\n`),
    ...[counted.classes.ids, departed.classes.ids, departed.keys, counted.rows.data].map(bytesOf),
  ];
  return concatBytes(...parts);
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Undefined: not the history of these features. Its sum was checked before, so what it holds is what was written. */
export function decodeHistory(bytes: Uint8Array, features: readonly string[]): PublishedHistory | undefined {
  const end = bytes.indexOf("\n".charCodeAt(0));
  if (end < 0) return undefined;
  const header: Header = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  if (header.features.join("\n") !== features.join("\n")) return undefined;
  const cols = features.length;
  let at = end + 1;
  // A copy: numbers may begin anywhere in a file, but not in memory. A Buffer's own slice would be none.
  const next = (size: number) => {
    at += size;
    return new Uint8Array(bytes.subarray(at - size, at)).buffer;
  };
  const ids = new Uint32Array(next(4 * header.counted));
  const awayIds = new Uint32Array(next(4 * header.departed));
  const keys = new Float64Array(next(8 * header.departed));
  const data = new Float64Array(next(8 * cols * header.counted));
  return {
    features,
    counted: { rows: { data, rows: header.counted, cols }, classes: withLeft(classesOf(ids), header.left) },
    departed: { keys, classes: classesOf(awayIds) },
  };
}

function classesOf(ids: Uint32Array): Classes {
  if (ids.length === 0) return oneClass(0);
  const sizes = new Uint32Array(ids.reduce((most, id) => Math.max(most, id), 0) + 1);
  for (const id of ids) sizes[id]++;
  return { ids, sizes };
}

function withLeft(classes: Classes, left: readonly number[] | undefined): Classes {
  if (left === undefined) return classes;
  return { ...classes, left: Uint8Array.from(classes.sizes, (_, id) => (left.includes(id) ? 1 : 0)) };
}

/** What a device has published of its rows, as bytes. It is written before it counts, unlike the state. */
export interface HistoryMemory {
  /** As last kept; undefined: nothing was published yet, or it is lost. */
  readonly saved: Uint8Array | undefined;
  /** This device has run before, and what it published is not known. */
  readonly isLost: boolean;
  /** `done` learns why it could not be written, or nothing. One at a time. */
  keep(history: Uint8Array, done: (failure: string | undefined) => void): void;
  /** What neighbours are told of it. Absent where nothing outlives the process. */
  readonly heads?: Pick<HeadsMemory, "latest" | "lose" | "begin">;
}
