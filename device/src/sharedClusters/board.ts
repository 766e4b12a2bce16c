// The board of one generation: an entry of each device, and whether those that belong together are all there.

import { addInt64s, fromInt64s, type Int64s, toInt64s } from "../wire/int64.ts";
import { MOST_ENTRIES } from "../wire/limits.ts";
import type { Entry } from "./entry.ts";

export interface ClosedBoard {
  /** Who they are, as far as it is known: with sums over a tree nobody knows all. */
  readonly devices: readonly string[];
  readonly count: number;
  /** The sums over all devices, in which every pad has met its counterpart. */
  readonly totals: Float64Array;
}

/** Entries of one generation, as far as a device has them. */
export class Board {
  readonly #entries = new Map<string, Entry>();
  readonly #marks = new Set<string>();
  /** Pairs of devices that signed for different pads of their link, so that one of them lies. */
  readonly disputed = new Set<string>();

  get entries(): readonly Entry[] {
    return [...this.#entries.values()];
  }

  entryOf(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  has(mark: string): boolean {
    return this.#marks.has(mark);
  }

  clear(): void {
    this.#entries.clear();
    this.#marks.clear();
  }

  /** Takes an entry that is known to be well signed. Returns whether it was news. */
  add(entry: Entry): boolean {
    const before = this.#entries.get(entry.id);
    if (before === undefined && this.#entries.size >= MOST_ENTRIES) return false;
    if (before !== undefined && before.epoch >= entry.epoch) return false;
    if (before !== undefined) this.#marks.delete(before.mark);
    this.#entries.set(entry.id, entry);
    this.#marks.add(entry.mark);
    for (const other of entry.links.keys())
      if (this.disputed.size < MOST_ENTRIES && this.isDisputed(entry.id, other))
        this.disputed.add([entry.id, other].sort().join(" "));
    return true;
  }

  /** Whether two devices name each other and signed for different pads. */
  isDisputed(a: string, b: string): boolean {
    const [one, other] = [this.#entries.get(a), this.#entries.get(b)];
    return one !== undefined && other !== undefined && isNamedBoth(one, other) && !isOnePad(one, other);
  }

  /**
   * Whoever is linked to `self` over any number of links, if the entries of all of them are there and both ends of every
   * link name each other by the epochs under which they posted, and one pad. Only then every pad cancels.
   */
  closedAround(self: string): ClosedBoard | undefined {
    const found = new Set([self]);
    for (const id of found) {
      const entry = this.#entries.get(id);
      if (entry === undefined) return undefined;
      for (const other of entry.links.keys()) {
        const there = this.#entries.get(other);
        if (there === undefined || !isNamedBoth(entry, there) || !isOnePad(entry, there)) return undefined;
        found.add(other);
      }
    }
    const devices = [...found];
    const total = new Uint32Array(this.#entries.get(self)?.words.length ?? 0);
    for (const id of devices) addInt64s(total, this.#entries.get(id)?.words ?? total);
    return { devices, count: devices.length, totals: fromInt64s(total) };
  }
}

const isNamedBoth = (a: Entry, b: Entry) => a.links.get(b.id) === b.epoch && b.links.get(a.id) === a.epoch;

const isOnePad = (a: Entry, b: Entry) => a.seedMarks.get(b.id) === b.seedMarks.get(a.id);

// Sums over a tree, for networks too large for a board: every device adds up what came from those that learnt of the
// generation from it, and passes one sum on. The one that opened the generation has the sum of all.

/** After the integers of a stage: a zero, in which nothing is left only if all pads have met their counterparts; a one. */
export const TREE_INTEGERS = 2;

/** What a device adds, with these two. */
export function treeInt64s(integers: Float64Array): Int64s {
  return toInt64s([...integers, 0, 1]);
}

/** The sums over a device and all below it; undefined: a neighbour has not said where it is, or its sums are missing. */
export function sumsBelow(
  board: Board,
  own: Int64s,
  counted: readonly { readonly id: string; readonly isBelow: boolean | undefined }[],
  parent: string | undefined,
): Int64s | undefined {
  const total = own.slice();
  for (const { id, isBelow } of counted) {
    if (id === parent) continue;
    if (isBelow === undefined) return undefined;
    if (!isBelow) continue;
    const entry = board.entryOf(id);
    if (entry === undefined) return undefined;
    addInt64s(total, entry.words);
  }
  return total;
}

/** What the sums of the topmost device say; undefined: somebody is missing, or counts others. */
export function closedTree(words: Int64s): ClosedBoard | undefined {
  const integers = fromInt64s(words);
  const [check, count] = integers.subarray(-TREE_INTEGERS);
  return check === 0 ? { devices: [], count, totals: integers.slice(0, -TREE_INTEGERS) } : undefined;
}
