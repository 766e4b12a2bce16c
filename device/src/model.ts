// What one device computes: its first k-means, then one update after the other. It knows no network and no clock.

import { type DeviceUpdate, kmeans, type Matrix, matrix, updateDevice } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import type { SavedState } from "./memory.ts";
import { LARGEST_CONTRACTION, OPENING_UPDATES, PRECISION } from "./pace.ts";
import type { Study } from "./study.ts";
import { scaleRows } from "./units.ts";

export class Model {
  readonly #study: Study;
  readonly #seed: number;
  readonly #ranges: Float64Array;
  #points: Matrix;
  #best: { centroids: Matrix; inertia: number } | undefined;
  #restartsLeft = 0;
  #openingLeft = OPENING_UPDATES;
  rowsLeftOut = 0;
  centroids: Matrix | undefined;
  /** Which centroids may be sent: those on enough own rows, and those that neighbours have moved. */
  present: readonly boolean[];
  round = 0;
  /** Largest move of a coordinate in the last update, as a share of its range. */
  move = Number.POSITIVE_INFINITY;
  last: DeviceUpdate | undefined;

  constructor(study: Study, rows: Matrix, seed: number, saved: SavedState | undefined) {
    this.#study = study;
    this.#seed = seed;
    this.#ranges = Float64Array.from(study.features, ({ min, max, scale }) => (max - min) / scale);
    this.present = saved?.present ?? new Array<boolean>(study.k).fill(false);
    this.#points = this.#taken(rows);
    if (saved === undefined) this.#beginRestarts();
    else {
      this.centroids = matrix(saved.centroids);
      this.round = saved.round;
    }
  }

  get rows(): number {
    return this.#points.rows;
  }

  /** The first k-means is not finished: there is nothing to update, and nothing that may be sent. */
  get isStarting(): boolean {
    return this.centroids === undefined && this.#restartsLeft > 0;
  }

  /** There is something to do even if nobody says anything. */
  get isMoving(): boolean {
    if (this.#restartsLeft > 0 || this.#best !== undefined) return true;
    return this.centroids !== undefined && (this.#openingLeft > 0 || this.move > this.threshold);
  }

  /** A smaller move is not worth sending. */
  get threshold(): number {
    return PRECISION * (1 - Math.min(this.last?.contraction ?? 0, LARGEST_CONTRACTION));
  }

  setRows(rows: Matrix): void {
    this.#points = this.#taken(rows);
    this.#beginRestarts();
    this.openAgain();
  }

  /** Somebody new is there to learn from. */
  openAgain(): void {
    this.#openingLeft = OPENING_UPDATES;
  }

  /** Rows within the study's bounds, if they are enough to hide in. */
  #taken(rows: Matrix): Matrix {
    const { k, minimum } = this.#study;
    const scaled = scaleRows(this.#study, rows);
    const isEnough = scaled.rows >= k * minimum;
    this.rowsLeftOut = rows.rows - (isEnough ? scaled.rows : 0);
    return isEnough ? scaled : { data: new Float64Array(0), rows: 0, cols: scaled.cols };
  }

  #beginRestarts(): void {
    this.#best = undefined;
    // The seeds of the first k-means are records and never leave the device.
    this.#restartsLeft = this.#points.rows > 0 ? defaults.restarts : 0;
  }

  /** One start of k-means on new data, if any is left: between two of them the process can do something else. */
  restart(): void {
    if (this.#restartsLeft === 0) return;
    this.#restartsLeft--;
    const { k } = this.#study;
    const found = kmeans(this.#points, { k, restarts: 1, seed: this.#seed + this.#restartsLeft });
    if (this.#best === undefined || found.inertia < this.#best.inertia) this.#best = found;
  }

  /** One device update against the neighbours' centroids. False: there is nothing to begin with yet. */
  update(neighbours: readonly Matrix[]): boolean {
    const { k, minimum } = this.#study;
    // New data may be in another basin than the centroids that came from the old.
    const own = this.#restartsLeft === 0 ? this.#best?.centroids : undefined;
    if (own !== undefined) this.#best = undefined;
    // A device without rows of its own begins where a neighbour is.
    const from = this.centroids ?? own ?? neighbours.find(({ rows }) => rows === k);
    if (from === undefined) return false;
    const warm = this.#updated(from, neighbours);
    const fresh = own === undefined || own === from ? undefined : this.#updated(own, neighbours);
    const isFresh = fresh !== undefined && fresh.objective < warm.objective;
    const result = isFresh ? fresh : warm;
    this.#openingLeft = Math.max(0, this.#openingLeft - 1);
    this.round++;
    this.move = this.distance(from.data, result.centroids.data);
    this.centroids = result.centroids;
    this.last = result;
    const isPulled = neighbours.length > 0 && this.#study.alpha > 0;
    // A fresh centroid without rows may be a seed still, whatever stood in its place before.
    this.present = this.present.map((was, c) => isPulled || result.counts[c] >= minimum || (was && !isFresh));
    return true;
  }

  #updated(from: Matrix, neighbours: readonly Matrix[]): DeviceUpdate {
    const { k, alpha, coupling, typicalRows } = this.#study;
    const weight = typicalRows === null ? 1 : Math.max(1, this.#points.rows) / typicalRows;
    const candidates = alpha > 0 && neighbours.every(({ rows }) => rows === k);
    // After the opening one pass, which is all that neighbours who move at the same time allow: several would want half
    // of the move only (damping), else they can end in a cycle. See docs/paper.md#gauss-seidel-not-jacobi.
    const manner = this.#openingLeft > 0 ? { candidates } : { passes: 1 };
    return updateDevice(this.#points, from, neighbours, { alpha, coupling, weight, ...manner });
  }

  /** The largest difference of a coordinate, as a share of its feature's range. */
  distance(a: Float64Array, b: Float64Array): number {
    const d = this.#ranges.length;
    let largest = 0;
    for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs(a[i] - b[i]) / this.#ranges[i % d]);
    return largest;
  }
}
