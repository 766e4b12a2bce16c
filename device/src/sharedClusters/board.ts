// The board of one generation: an entry of each device, and whether those that belong together are all there.

import { MOST_ENTRIES } from "../masked/pace.ts";
import { addInt64s, fromInt64s } from "../wire/int64.ts";
import type { Entry } from "./entry.ts";

export interface ClosedBoard {
  /** Who they are, as far as it is known: with sums over a tree nobody knows all. */
  readonly devices: readonly string[];
  readonly count: number;
  /** The sums over all devices, in which every pad has met its counterpart. */
  readonly totals: Float64Array;
}

export class Board {
  readonly #entries = new Map<string, Entry>();
  readonly #marks = new Set<string>();
  /** Devices that signed two entries for the same generation and epoch. */
  readonly twofaced = new Set<string>();

  get entries(): Iterable<Entry> {
    return this.#entries.values();
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
    if (before !== undefined && before.epoch >= entry.epoch) {
      if (before.epoch === entry.epoch && before.mark !== entry.mark) this.twofaced.add(entry.id);
      return false;
    }
    if (before !== undefined) this.#marks.delete(before.mark);
    this.#entries.set(entry.id, entry);
    this.#marks.add(entry.mark);
    return true;
  }

  /**
   * Whoever is linked to `self` over any number of links, if the entries of all of them are there and both ends of every
   * link name each other by the epochs under which they posted. Only then every pad cancels.
   */
  closedAround(self: string): ClosedBoard | undefined {
    const found = new Set([self]);
    for (const id of found) {
      const entry = this.#entries.get(id);
      if (entry === undefined) return undefined;
      for (const [other, epoch] of entry.links) {
        const there = this.#entries.get(other);
        if (there === undefined || there.epoch !== epoch || there.links.get(id) !== entry.epoch) return undefined;
        found.add(other);
      }
    }
    const devices = [...found];
    const total = new Uint32Array(this.#entries.get(self)?.words.length ?? 0);
    for (const id of devices) addInt64s(total, this.#entries.get(id)?.words ?? total);
    return { devices, count: devices.length, totals: fromInt64s(total) };
  }
}
