// What a device has published of its rows, and its bytes on disk: which rows count, which classes of them were told apart,
// which rows left, and which wait.

import type { Matrix } from "@fedkm/core";
import { type Classes, oneClass, smallestClass } from "@fedkm/core/privacy";
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
  /** 1 for a row that has counted again since, as a guest of a later class. */
  readonly isBack: Uint8Array;
}

/** Rows of the data that never counted. */
interface FreshRows {
  readonly keys: Float64Array;
  /** When each was seen first, in milliseconds since 1970. */
  readonly since: Float64Array;
  /** 1 for a row that was there when a round was held. */
  readonly isSeen: Uint8Array;
}

export interface PublishedHistory {
  /** The study's features by name: the same numbers of other columns are other rows. */
  readonly features: readonly string[];
  /** So many own rows has every class, at least. */
  readonly minimum: number;
  /** The centroids at which labels were last published, scaled; null: nothing was published yet. */
  readonly at: Float64Array | null;
  /** Of the rows around their own k-means, in coarse steps. */
  readonly deviation: number;
  readonly counted: CountedRows;
  /** Since when each counted row is not among the data any more, in milliseconds since 1970; 0: it is. */
  readonly missingSince: Float64Array;
  readonly departed: DepartedRows;
  readonly waiting: FreshRows;
}

export function emptyHistory(features: readonly string[], minimum: number): PublishedHistory {
  return {
    features,
    minimum,
    at: null,
    deviation: 0,
    counted: { rows: { data: new Float64Array(0), rows: 0, cols: features.length }, classes: oneClass(0) },
    missingSince: new Float64Array(0),
    departed: { keys: new Float64Array(0), classes: oneClass(0), isBack: new Uint8Array(0) },
    waiting: { keys: new Float64Array(0), since: new Float64Array(0), isSeen: new Uint8Array(0) },
  };
}

/** Classes of rows that name theirs, numbered in the order of their first rows. */
export function classesWith(
  rows: readonly { readonly id: number; readonly guest: number }[],
  isLeft?: (id: number) => number,
): Classes {
  const numbers = new Map<number, number>();
  const sizes: number[] = [];
  const ids = Uint32Array.from(rows, ({ id }) => {
    const number = numbers.get(id) ?? numbers.size;
    numbers.set(id, number);
    sizes[number] = (sizes[number] ?? 0) + 1;
    return number;
  });
  const guests = Uint8Array.from(rows, ({ guest }) => guest);
  return {
    ids,
    sizes: Uint32Array.from(sizes),
    ...(guests.includes(1) && { guests }),
    ...(isLeft && { left: Uint8Array.from(numbers.keys(), isLeft) }),
  };
}

/** Equal rows have equal numbers, of 53 bits. */
export function keysOf({ data, rows, cols }: Matrix): Float64Array {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return Float64Array.from({ length: rows }, (_, r) => {
    const own = bytes.subarray(8 * r * cols, 8 * (r + 1) * cols);
    return (hashBytes(own, 1) & 0x1fffff) * 2 ** 32 + hashBytes(own, 2);
  });
}

// The history of guarded rows as bytes: a line of JSON, then the arrays that it gives the lengths of.

interface Header {
  readonly features: readonly string[];
  readonly minimum: number;
  readonly deviation: number;
  readonly counted: number;
  readonly departed: number;
  readonly waiting: number;
  /** Centroids at which labels were published. */
  readonly clusters: number;
  /** Classes of counted rows that count in no sum. */
  readonly left?: readonly number[];
}

/** Why a history must not be: what rests on it would tell apart fewer rows than the minimum. */
export function historyFault({ minimum, counted, departed }: PublishedHistory): string | undefined {
  const smallest = [counted.classes, departed.classes].filter(({ sizes }) => sizes.length > 0).map(smallestClass);
  const least = Math.min(...smallest);
  return least < minimum ? `every class must have ${minimum} own rows, got one of ${least}` : undefined;
}

/** Throws where a class has too few own rows: then nothing that rests on it may be sent. */
export function encodeHistory(history: PublishedHistory): Uint8Array {
  const fault = historyFault(history);
  if (fault !== undefined) throw new RangeError(fault);
  const { features, minimum, deviation, at, counted, missingSince, departed, waiting } = history;
  const left = Array.from(counted.classes.left ?? []).flatMap((is, id) => (is === 1 ? [id] : []));
  const header: Header = {
    features,
    minimum,
    deviation,
    counted: counted.rows.rows,
    departed: departed.keys.length,
    waiting: waiting.keys.length,
    clusters: (at?.length ?? 0) / features.length,
    ...(left.length > 0 && { left }),
  };
  const arrays = [
    counted.classes.ids,
    counted.classes.guests ?? new Uint8Array(counted.rows.rows),
    missingSince,
    counted.rows.data,
    departed.classes.ids,
    departed.classes.guests ?? new Uint8Array(departed.keys.length),
    departed.isBack,
    departed.keys,
    waiting.keys,
    waiting.since,
    waiting.isSeen,
    at ?? new Float64Array(0),
  ];
  return concatBytes(new TextEncoder().encode(`${JSON.stringify(header)}\n`), ...arrays.map(bytesOf));
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array | Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Undefined: not the history of these features. Its sum was checked before, so what it holds is what was written. */
export function decodeHistory(bytes: Uint8Array, features: readonly string[]): PublishedHistory | undefined {
  const end = bytes.indexOf("\n".charCodeAt(0));
  if (end < 0) return undefined;
  const header: Header = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  if (header.features.join("\n") !== features.join("\n")) return undefined;
  const { minimum, deviation, counted: rows, departed: away, waiting, clusters } = header;
  const cols = features.length;
  let from = end + 1;
  // A copy: numbers may begin anywhere in a file, but not in memory. A Buffer's own slice would be none.
  const next = (size: number) => {
    from += size;
    return new Uint8Array(bytes.subarray(from - size, from)).buffer;
  };
  const classes = (many: number) => {
    const ids = new Uint32Array(next(4 * many));
    return classesOf(ids, new Uint8Array(next(many)));
  };
  const countedClasses = withLeft(classes(rows), header.left);
  const missingSince = new Float64Array(next(8 * rows));
  const data = new Float64Array(next(8 * cols * rows));
  const departedClasses = classes(away);
  const isBack = new Uint8Array(next(away));
  const history = {
    features,
    minimum,
    deviation,
    counted: { rows: { data, rows, cols }, classes: countedClasses },
    missingSince,
    departed: { classes: departedClasses, isBack, keys: new Float64Array(next(8 * away)) },
    waiting: {
      keys: new Float64Array(next(8 * waiting)),
      since: new Float64Array(next(8 * waiting)),
      isSeen: new Uint8Array(next(waiting)),
    },
    at: clusters === 0 ? null : new Float64Array(next(8 * cols * clusters)),
  };
  return historyFault(history) === undefined ? history : undefined;
}

function classesOf(ids: Uint32Array, guests: Uint8Array): Classes {
  if (ids.length === 0) return oneClass(0);
  const sizes = new Uint32Array(ids.reduce((most, id) => Math.max(most, id), 0) + 1);
  for (const id of ids) sizes[id]++;
  return { ids, sizes, ...(guests.includes(1) && { guests }) };
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
