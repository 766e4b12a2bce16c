// The opening: which sketches of the network a device knows, under which number, and the seed that they give.
// A sketch is added when its device is heard of. Only a higher number takes sketches away: all begin to collect again.

import type { Matrix } from "@fedkm/core";
import { hashBytes, mixPair } from "../wire/hashes.ts";
import { LARGEST_SKETCHES_BYTES, MOST_SKETCHES, SEED_QUIET_MILLISECONDS } from "../wire/limits.ts";
import { type DeviceSketch, type OpeningTag, sketchBytes } from "../wire/studyFrames.ts";
import { numberedSeed } from "./numbering.ts";
import type { SavedOpening } from "./savedState.ts";
import { restoredSketch, type Seeding, savedSketch, seeding } from "./sketch.ts";

/** Where all begin, in the order of the numbers of clusters. */
export interface Seed {
  readonly seed: Matrix;
  /** Another one than before, in whatever order. */
  readonly isNew: boolean;
}

export class Opening {
  readonly #k: number;
  readonly #resolution: Float64Array;
  readonly #most: number;
  readonly #sketches = new Map<number, DeviceSketch>();
  #number: number;
  #seed: number;
  /** When sketches last changed, while a seed of them is to be found. */
  #changedAt: number | undefined;
  #seeding: Seeding | undefined;
  #table = 0;

  constructor(k: number, resolution: Float64Array, saved: SavedOpening | undefined) {
    this.#k = k;
    this.#resolution = resolution;
    this.#most = mostSketches(k, resolution.length);
    this.#number = saved?.number ?? 0;
    this.#seed = saved?.seed ?? 0;
    for (const sketch of saved?.sketches ?? []) this.#sketches.set(sketch.origin, restoredSketch(sketch));
    this.#table = this.#digest();
    // It was stopped before it had found the seed.
    if (this.#seed === 0 && this.#sketches.size > 0) this.#changedAt = Number.NEGATIVE_INFINITY;
  }

  get tag(): OpeningTag {
    return { number: this.#number, table: this.#table, seed: this.#seed };
  }

  get sketches(): Iterable<DeviceSketch> {
    return this.#sketches.values();
  }

  /** Whether a seed is still to be found. */
  get isSeeking(): boolean {
    return this.#changedAt !== undefined;
  }

  /** Milliseconds until the sketches count as complete. */
  wait(now: number): number {
    return this.#changedAt === undefined ? 0 : Math.max(0, this.#changedAt + SEED_QUIET_MILLISECONDS - now);
  }

  /** All begin to collect again under a higher number; own is what this device adds itself. */
  raise(number: number, own: DeviceSketch | undefined, now: number): void {
    this.#number = number;
    this.#sketches.clear();
    if (own !== undefined) this.#sketches.set(own.origin, own);
    this.#changed(now);
  }

  /** Whether some of these would be new here. */
  lacks(sketches: readonly DeviceSketch[]): boolean {
    const last = this.#sketches.size < this.#most ? undefined : Math.max(...this.#ranks());
    return sketches.some(({ origin, version }) => {
      const known = this.#sketches.get(origin);
      if (known !== undefined) return known.version < version;
      return last === undefined || this.#rank(origin) < last;
    });
  }

  add(sketches: readonly DeviceSketch[], now: number): void {
    if (!this.lacks(sketches)) return;
    for (const sketch of sketches) {
      const known = this.#sketches.get(sketch.origin);
      if (known === undefined || known.version < sketch.version) this.#sketches.set(sketch.origin, sketch);
    }
    this.#dropBeyondMost();
    this.#changed(now);
  }

  /** One step towards the seed; returns it when it is found. */
  step(): (Pick<Seed, "isNew"> & { readonly seed: Matrix | undefined }) | undefined {
    this.#seeding ??= seeding([...this.#sketches.values()], this.#k, this.#resolution);
    if (!this.#seeding.step()) return undefined;
    const seed = this.#seeding.seed();
    this.#seeding = undefined;
    this.#changedAt = undefined;
    const hash = seed === undefined ? 0 : Math.max(1, hashBytes(new Uint8Array(seed.data.buffer)));
    const isNew = hash !== this.#seed;
    this.#seed = hash;
    return { seed: seed && numberedSeed(seed, [...this.#sketches.values()]), isNew };
  }

  saved(): SavedOpening {
    const seed = this.isSeeking ? 0 : this.#seed;
    return { number: this.#number, seed, sketches: Array.from(this.#sketches.values(), savedSketch) };
  }

  #changed(now: number): void {
    this.#table = this.#digest();
    this.#changedAt = now;
    this.#seeding = undefined;
  }

  /** Of a large network everybody keeps the same sample: the lowest by a hash that differs from opening to opening. */
  #dropBeyondMost(): void {
    if (this.#sketches.size <= this.#most) return;
    const last = [...this.#ranks()].sort((a, b) => a - b)[this.#most - 1];
    for (const origin of [...this.#sketches.keys()]) if (this.#rank(origin) > last) this.#sketches.delete(origin);
  }

  #ranks(): number[] {
    return Array.from(this.#sketches.keys(), (origin) => this.#rank(origin));
  }

  /** Two origins of one rank are both kept or both dropped. */
  #rank(origin: number): number {
    return mixPair(origin, this.#number);
  }

  #digest(): number {
    let digest = 0;
    for (const { origin, version } of this.#sketches.values()) digest ^= mixPair(origin, version);
    return digest >>> 0;
  }
}

function mostSketches(k: number, d: number): number {
  return Math.max(2, Math.min(MOST_SKETCHES, Math.floor(LARGEST_SKETCHES_BYTES / sketchBytes({ k, d }))));
}
