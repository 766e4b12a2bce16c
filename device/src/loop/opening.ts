// The opening: which sketches of the network a device knows, under which number, and the common start that they give.
// Whoever knows the same sketches finds the same start, to the last bit. A sketch is added when its device is heard of. Only a higher number takes sketches away: all begin to collect again.

import { kmeans, type Matrix, takeRows } from "@fedkm/core";
import { hashBytes, hashPair } from "../wire/hashes.ts";
import { LARGEST_SKETCHES_BYTES, MOST_SKETCHES, START_ATTEMPTS, START_QUIET_MILLISECONDS } from "../wire/limits.ts";
import { type DeviceSketch, type OpeningTag, sketchFrameBytes } from "../wire/studyFrames.ts";
import { numberedOpeningStart, sortedNumbering } from "./numbering.ts";
import type { SavedOpening } from "./savedState.ts";
import { openingSketchCentroids, restoredSketch, savedSketch } from "./sketch.ts";

/** Where all begin, in the order of the numbers of clusters. */
export interface CommonStart {
  readonly start: Matrix;
  /** Another one than before, in whatever order. */
  readonly isNew: boolean;
}

export class Opening {
  readonly #k: number;
  readonly #resolution: Float64Array;
  readonly #most: number;
  readonly #sketches = new Map<number, DeviceSketch>();
  #number: number;
  #start: number;
  /** When sketches last changed, while a start of them is to be found. */
  #changedAt: number | undefined;
  #search: ReturnType<typeof openingStartSearch> | undefined;
  #table = 0;

  constructor(k: number, resolution: Float64Array, saved: SavedOpening | undefined) {
    this.#k = k;
    this.#resolution = resolution;
    this.#most = mostSketches(k, resolution.length);
    this.#number = saved?.number ?? 0;
    this.#start = saved?.start ?? 0;
    for (const sketch of saved?.sketches ?? []) this.#sketches.set(sketch.origin, restoredSketch(sketch));
    this.#table = this.#digest();
    // It was stopped before it had found the start.
    if (this.#start === 0 && this.#sketches.size > 0) this.#changedAt = Number.NEGATIVE_INFINITY;
  }

  get tag(): OpeningTag {
    return { number: this.#number, table: this.#table, start: this.#start };
  }

  get sketches(): Iterable<DeviceSketch> {
    return this.#sketches.values();
  }

  /** Whether a start is still to be found. */
  get isSeeking(): boolean {
    return this.#changedAt !== undefined;
  }

  /** Milliseconds until the sketches count as complete. */
  wait(now: number): number {
    return this.#changedAt === undefined ? 0 : Math.max(0, this.#changedAt + START_QUIET_MILLISECONDS - now);
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

  /** One step towards the start; returns it when it is found. */
  step(): (Pick<CommonStart, "isNew"> & { readonly start: Matrix | undefined }) | undefined {
    this.#search ??= openingStartSearch([...this.#sketches.values()], this.#k, this.#resolution);
    if (!this.#search.step()) return undefined;
    const start = this.#search.start();
    this.#search = undefined;
    this.#changedAt = undefined;
    const hash = start === undefined ? 0 : Math.max(1, hashBytes(new Uint8Array(start.data.buffer)));
    const isNew = hash !== this.#start;
    this.#start = hash;
    return { start: start && numberedOpeningStart(start, [...this.#sketches.values()]), isNew };
  }

  saved(): SavedOpening {
    const start = this.isSeeking ? 0 : this.#start;
    return { number: this.#number, start, sketches: Array.from(this.#sketches.values(), savedSketch) };
  }

  #changed(now: number): void {
    this.#table = this.#digest();
    this.#changedAt = now;
    this.#search = undefined;
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
    return hashPair(origin, this.#number);
  }

  #digest(): number {
    let digest = 0;
    for (const { origin, version } of this.#sketches.values()) digest ^= hashPair(origin, version);
    return digest >>> 0;
  }
}

function mostSketches(k: number, d: number): number {
  return Math.max(2, Math.min(MOST_SKETCHES, Math.floor(LARGEST_SKETCHES_BYTES / sketchFrameBytes({ k, d }))));
}

/** The search for the common start, one k-means after the other. `resolution`: what features are rounded to; see docs/protocol.md#the-opening. */
export function openingStartSearch(sketches: readonly DeviceSketch[], k: number, resolution: Float64Array) {
  const sorted = [...sketches].sort((a, b) => a.origin - b.origin);
  const cols = resolution.length;
  const data = Float64Array.from(sorted.flatMap((sketch) => Array.from(openingSketchCentroids(sketch).data)));
  const points = { data, rows: data.length / cols, cols };
  const weights = sorted.flatMap(({ shares }) => Array.from(shares).filter((share) => share > 0));
  let best: { centroids: Matrix; inertia: number } | undefined;
  let left = points.rows < k ? 0 : START_ATTEMPTS;
  return {
    /** One more k-means. Returns whether it was the last. */
    step() {
      if (left === 0) return true;
      left--;
      const found = kmeans(points, { k, weights, restarts: 1, seed: left });
      if (best === undefined || found.inertia < best.inertia) best = found;
      return left === 0;
    },
    /** The best so far; undefined where the sketches have fewer than k centroids. */
    start: () => best && rounded(best.centroids, resolution),
  };
}

/** In an order that does not depend on the k-means, so that equal starts have equal bytes. */
function rounded({ data, rows, cols }: Matrix, resolution: Float64Array): Matrix {
  const at = (i: number) => Math.round(data[i] / resolution[i % cols]) * resolution[i % cols] + 0;
  const centroids = { data: data.map((_, i) => at(i)), rows, cols };
  return takeRows(centroids, sortedNumbering(centroids));
}
