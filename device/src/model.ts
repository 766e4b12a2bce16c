// What one device computes: its own k-means, then one update after the other. It knows no network and no clock.

import { type DeviceUpdate, kmeans, type Matrix, matrix, toRows, updateDevice } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { isBetterEnd } from "./choice.ts";
import { Counted, type HistoryOptions } from "./counted.ts";
import { Damping } from "./damping.ts";
import { type Guarded, isSameRow } from "./guarded.ts";
import type { SavedState } from "./memory.ts";
import { inOrder, isInOrder, orderLike, sortedOrder } from "./numbering.ts";
import type { Seed } from "./opening.ts";
import { LARGEST_CONTRACTION, OPENING_UPDATES, PRECISION } from "./pace.ts";
import type { Private } from "./private/private.ts";
import { isNearlyAsGood, type Sketch, sketchOf } from "./sketch.ts";
import type { Study } from "./study.ts";

/** The best k-means of the own rows. */
interface Own {
  readonly centroids: Matrix;
  readonly inertia: number;
  readonly labels: ArrayLike<number>;
}

export class Model {
  readonly #study: Study;
  readonly #seed: number;
  readonly #ranges: Float64Array;
  readonly #counted: Counted;
  #best: Own | undefined;
  #restartsLeft = 0;
  #openingLeft = OPENING_UPDATES;
  /** Where the next update begins as well, or only. */
  #starts: readonly Matrix[] = [];
  /** Whose numbers the clusters take until the opening is over; undefined: those that they have. */
  #numbers: Matrix | undefined;
  /** The finished k-means of the own rows. */
  #own: Matrix | undefined;
  readonly damping = new Damping((a, b) => this.distance(a, b));
  /** Guarded, a device sends the cores of its own k-means until it knows a seed: labels that few rows change later. */
  #isOpened: boolean;
  centroids: Matrix | undefined;
  /** Which centroids may be sent: those on enough own rows, and those that neighbours have moved. */
  present: readonly boolean[];
  round = 0;
  /** Largest move of a coordinate in the last update, as a share of its range. */
  move = Number.POSITIVE_INFINITY;
  last: DeviceUpdate | undefined;

  constructor(
    study: Study,
    rows: Matrix,
    seed: number,
    saved: SavedState | undefined,
    history: HistoryOptions = { memory: undefined, onKept: () => {} },
  ) {
    this.#study = study;
    this.#seed = seed;
    this.#ranges = Float64Array.from(study.features, ({ min, max, scale }) => (max - min) / scale);
    // Without a pull there is no seed to wait for.
    this.#isOpened = saved !== undefined || study.alpha === 0;
    this.present = saved?.present ?? new Array<boolean>(study.k).fill(false);
    this.#counted = new Counted(study, rows, history);
    if (saved !== undefined) {
      this.centroids = matrix(saved.centroids);
      this.round = saved.round;
    }
    // Rows that changed while the device was not running are new rows.
    if (saved?.own?.fingerprint === this.#counted.fingerprint) this.#own = matrix(saved.own.centroids);
    else this.#beginRestarts();
  }

  get guarded(): Guarded | undefined {
    return this.#counted.guarded;
  }

  get private(): Private | undefined {
    return this.#counted.private;
  }

  get rows(): number {
    return this.#counted.rows;
  }

  get rowsLeftOut(): number {
    return this.#counted.leftOut;
  }

  get ranges(): Float64Array {
    return this.#ranges;
  }

  /** The own k-means is not finished. */
  get isRestarting(): boolean {
    return this.#restartsLeft > 0;
  }

  /** The first k-means is not finished: there is nothing to update, and nothing that may be sent. */
  get isStarting(): boolean {
    return this.centroids === undefined && this.#restartsLeft > 0;
  }

  /** There is something to do even if nobody says anything. */
  get isMoving(): boolean {
    if (this.#restartsLeft > 0 || this.#starts.length > 0) return true;
    return this.centroids !== undefined && (this.#openingLeft > 0 || this.move > this.threshold);
  }

  /** A smaller move is not worth sending. */
  get threshold(): number {
    return PRECISION * (1 - Math.min(this.last?.contraction ?? 0, LARGEST_CONTRACTION));
  }

  /** Returns whether they are others than before. */
  setRows(rows: Matrix): boolean {
    return this.#restartIf(this.#counted.take(rows));
  }

  /** What was released of private rows may count by now. */
  followReleases(): void {
    this.#restartIf(this.#counted.follow());
  }

  #restartIf(isChanged: boolean): boolean {
    if (!isChanged) return false;
    this.#beginRestarts();
    this.openAgain();
    return true;
  }

  /** Somebody new is there to learn from. */
  openAgain(): void {
    this.#openingLeft = OPENING_UPDATES;
    this.damping.reset();
  }

  /**
   * The next update begins at the seed, as in all devices, at the own k-means and where it is; the best is kept. A seed
   * that is not new only brings other numbers.
   */
  openAt({ seed, isNew }: Seed): void {
    this.#isOpened = true;
    if (isNew) {
      this.#starts = [seed, this.#own, this.centroids].filter((start) => start !== undefined);
      this.#numbers = seed;
      this.openAgain();
    } else this.#numberLike(seed);
  }

  /**
   * Forgets all that came from neighbours, but for the numbers. With rows it also forgets what was published of the rows
   * before.
   */
  reset(rows?: Matrix): void {
    if (rows !== undefined) {
      this.guarded?.forget();
      this.setRows(rows);
      this.private?.renew();
    }
    this.#numbers ??= this.centroids;
    this.centroids = undefined;
    if (this.guarded !== undefined) this.guarded.outgoing = undefined;
    this.present = this.present.map(() => false);
    this.#beginRestarts();
    this.openAgain();
  }

  #beginRestarts(): void {
    this.#best = undefined;
    this.#own = undefined;
    // The seeds of the first k-means are records and never leave the device.
    this.#restartsLeft = this.#counted.points.rows > 0 ? defaults.restarts : 0;
  }

  /** One start of k-means on new data, if any is left: between two of them the process can do something else. */
  restart(): void {
    if (this.#restartsLeft === 0) return;
    this.#restartsLeft--;
    const { k } = this.#study;
    const { points, weights } = this.#counted;
    const found = kmeans(points, { k, weights, restarts: 1, seed: this.#seed + this.#restartsLeft });
    if (this.#best === undefined || found.inertia < this.#best.inertia) this.#best = found;
    if (this.#restartsLeft > 0) return;
    this.#own = inOrder(this.#best.centroids, sortedOrder(this.#best.centroids));
    this.guarded?.publishCores(this.#own);
    // New data may be in another basin than the centroids that came from the old.
    this.#starts = this.centroids === undefined ? [this.#own] : [this.centroids, this.#own];
  }

  /** What the network should know of the own rows: `known`, while it is nearly as good as a new sketch. */
  sketch(known: Sketch | undefined): Omit<Sketch, "origin" | "version"> | undefined {
    if (this.#counted.points.rows === 0) return undefined;
    const best = this.#best;
    if (best === undefined || this.guarded?.isKept() === false) return known;
    const own = this.guarded?.cores ?? { centroids: best.centroids, counts: this.#counted.countsOf(best.labels) };
    const numbers = this.#numbers ?? this.centroids;
    const order = numbers === undefined ? sortedOrder(own.centroids) : orderLike(own.centroids, numbers);
    const found = sketchOf(
      inOrder(own.centroids, order),
      order.map((c) => own.counts[c]),
      this.#study.minimum,
    );
    this.#best = undefined;
    return known !== undefined && isNearlyAsGood(known, found, this.#counted, best.inertia) ? known : found;
  }

  /** One device update against the neighbours' centroids. False: there is nothing to begin with yet. */
  update(neighbours: readonly Matrix[]): boolean {
    const { k, minimum } = this.#study;
    const before = this.centroids;
    // A device without rows of its own begins where a neighbour is.
    const given = before ?? neighbours.find(({ rows }) => rows === k);
    const [first, ...others] = this.#starts.length > 0 ? this.#starts : given === undefined ? [] : [given];
    if (first === undefined) return false;
    // Only then an update can jump, and end with its centroids in another order.
    const isChoosing = this.#openingLeft > 0 || others.length > 0;
    this.#starts = [];
    let result = this.#updated(first, neighbours);
    let isFresh = first !== before;
    for (const other of others) {
      const found = this.#updated(other, neighbours);
      if (isBetterEnd(found, result, neighbours, this.#study)) [result, isFresh] = [found, true];
    }
    if (!isChoosing) result = { ...result, centroids: this.damping.apply(first, result.centroids, neighbours) };
    this.#openingLeft = Math.max(0, this.#openingLeft - 1);
    this.round++;
    this.centroids = result.centroids;
    this.last = result;
    const isPulled = neighbours.length > 0 && this.#study.alpha > 0;
    const counts = this.guarded === undefined ? result.counts : this.guarded.countsAt(result.basis);
    // A centroid that was sent before stays if it has not moved. A fresh one without rows may be a seed still, and one
    // that has moved without neighbours may stand on few rows.
    const stays = (c: number) => this.present[c] && !isFresh && isSameRow(before, result.centroids, c);
    this.present = this.present.map((_, c) => isPulled || counts[c] >= minimum || stays(c));
    if (this.#isOpened || this.guarded?.cores === undefined) this.guarded?.publish(result.basis);
    const numbers = this.#numbers ?? before;
    if (isChoosing && numbers !== undefined) this.#numberLike(numbers);
    if (this.#openingLeft === 0) this.#numbers = undefined;
    this.move = this.distance((before ?? first).data, this.centroids.data);
    return true;
  }

  /** What neighbours may have now. */
  get outgoing(): { readonly data: Float64Array; readonly present: readonly boolean[] } | undefined {
    if (this.guarded !== undefined) return this.guarded.outgoing;
    return this.centroids && { data: this.centroids.data, present: this.present };
  }

  /** Lets neighbours have what was computed last. False: it must be written down first, and is being written. */
  release(): boolean {
    if (this.guarded === undefined || this.centroids === undefined) return true;
    if (!this.guarded.isKept()) return false;
    const { cores } = this.guarded;
    if (this.#isOpened || cores === undefined) this.guarded.release(this.centroids, this.present);
    else
      this.guarded.release(
        cores.centroids,
        Array.from(cores.counts, (count) => count > 0),
      );
    return true;
  }

  /** Gives the clusters the numbers of their counterparts. */
  #numberLike(reference: Matrix): void {
    if (this.centroids === undefined) return;
    const order = orderLike(this.centroids, reference);
    if (isInOrder(order)) return;
    const centroids = inOrder(this.centroids, order);
    this.centroids = centroids;
    this.present = order.map((c) => this.present[c]);
    if (this.last === undefined) return;
    const { counts } = this.last;
    this.last = { ...this.last, centroids, counts: counts.map((_, place) => counts[order[place]]) };
  }

  /** The own k-means, to be kept. */
  savedOwn(): SavedState["own"] {
    return this.#own === undefined ? null : { fingerprint: this.#counted.fingerprint, centroids: toRows(this.#own) };
  }

  #updated(from: Matrix, neighbours: readonly Matrix[]): DeviceUpdate {
    const { k, alpha, coupling } = this.#study;
    const { points, weight, kernel } = this.#counted;
    const candidates = alpha > 0 && neighbours.every(({ rows }) => rows === k);
    // After the opening one pass, which is all that neighbours who move at the same time allow: several would want half
    // of the move only (damping), else they can end in a cycle. See docs/paper.md#gauss-seidel-not-jacobi.
    const manner = this.#openingLeft > 0 ? { candidates } : { passes: 1 };
    return updateDevice(points, from, neighbours, { alpha, coupling, weight, kernel, robust: true, ...manner });
  }

  /** The largest difference of a coordinate, as a share of its feature's range. */
  distance(a: Float64Array, b: Float64Array): number {
    const d = this.#ranges.length;
    let largest = 0;
    for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs(a[i] - b[i]) / this.#ranges[i % d]);
    return largest;
  }
}
