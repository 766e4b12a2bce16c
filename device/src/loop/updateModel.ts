// What one device computes: its own k-means, then one update after the other. It knows no network and no clock.

import { type DeviceUpdate, type Matrix, matrix, takeRows, toRows } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { type GuardedRows, type HistoryOptions, isSameRow } from "../privacy/guardedRows.ts";
import type { PrivateRows } from "../privacy/privateRows.ts";
import type { DeviceRows, RemoteRows } from "../study/remoteRows.ts";
import type { Study } from "../study/study.ts";
import { LARGEST_CONTRACTION, OPENING_UPDATES, PRECISION } from "../wire/limits.ts";
import type { DeviceSketch } from "../wire/studyFrames.ts";
import { Damping } from "./damping.ts";
import { LocalData } from "./localData.ts";
import { isNumberedInOrder, numberedSketch, orderLike, sortedNumbering } from "./numbering.ts";
import type { CommonStart } from "./opening.ts";
import type { SavedState } from "./savedState.ts";
import { isOpeningSketchAsGood } from "./sketch.ts";
import {
  bestUpdate,
  betterLocalKmeans,
  type LocalKmeans,
  localKmeansOfRemoteRows,
  type UpdatePlan,
  updateStartsInMemory,
  updateStartsOfRemoteRows,
} from "./updateStarts.ts";

export class UpdateModel {
  readonly #study: Study;
  readonly #seed: number;
  /** Of the features, in the units of the centroids. */
  readonly ranges: Float64Array;
  readonly localData: LocalData;
  /** The best k-means of the own rows so far, until there is a sketch of it. */
  #best: LocalKmeans | undefined;
  #restartsLeft = 0;
  #openingLeft = OPENING_UPDATES;
  /** Where the next update begins as well, or only. */
  #starts: readonly Matrix[] = [];
  /** Whose numbers the clusters take until the opening is over; undefined: those that they have. */
  #numbers: Matrix | undefined;
  /** The finished k-means of the own rows. */
  #own: Matrix | undefined;
  readonly damping = new Damping((a, b) => this.distance(a, b));
  /** Guarded, a device sends the cores of its own k-means until it knows a common start: labels that few rows change later. */
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
    rows: DeviceRows,
    seed: number,
    saved: SavedState | undefined,
    history: HistoryOptions = { memory: undefined, onKept: () => {}, wallClock: () => 0 },
  ) {
    this.#study = study;
    this.#seed = seed;
    this.ranges = Float64Array.from(study.features, ({ min, max, scale }) => (max - min) / scale);
    // Without a pull there is no common start to wait for.
    this.#isOpened = saved !== undefined || study.alpha === 0;
    this.present = saved?.present ?? new Array<boolean>(study.k).fill(false);
    this.localData = new LocalData(study, rows, history);
    if (saved !== undefined) {
      this.centroids = matrix(saved.centroids);
      this.round = saved.round;
    }
    // Rows that changed while the device was not running are new rows.
    if (saved?.own?.fingerprint === this.localData.fingerprint) {
      this.#own = matrix(saved.own.centroids);
      // It goes on where it was: to jump from there would take its neighbours along, and a restart is no reason to.
      this.#openingLeft = 0;
    } else this.#beginRestarts();
  }

  get guarded(): GuardedRows | undefined {
    return this.localData.guarded;
  }

  get private(): PrivateRows | undefined {
    return this.localData.private;
  }

  get remoteRows(): RemoteRows | undefined {
    return this.localData.remoteRows;
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
  setRows(rows: DeviceRows): boolean {
    return this.#restartIf(this.localData.take(rows));
  }

  /** Deleted guarded rows may have to go by now. Returns whether others count than before. */
  followDeletions(): boolean {
    const rows = this.guarded?.overdue;
    return rows !== undefined && this.setRows(rows);
  }

  /** What was released of private rows may count by now. */
  followReleases(): void {
    this.#restartIf(this.localData.follow());
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
   * The next update begins at the common start, at the own k-means and where it is; the best is kept. A start
   * that is not new only brings other numbers.
   */
  openAt({ start, isNew }: CommonStart): void {
    this.#isOpened = true;
    if (isNew) {
      this.#starts = [start, this.#own, this.centroids].filter((one) => one !== undefined);
      this.#numbers = start;
      this.openAgain();
    } else this.#numberLike(start);
  }

  /** Forgets what came from neighbours, but for the numbers. With rows also what a person consents to. */
  reset(rows?: DeviceRows): void {
    if (rows !== undefined) {
      this.guarded?.consent();
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

  /** What was published of the rows is not known any more. */
  loseHistory(rows: DeviceRows): void {
    this.guarded?.lose();
    this.private?.lose();
    this.setRows(rows);
  }

  #beginRestarts(): void {
    this.#best = undefined;
    this.#own = undefined;
    // What a k-means begins with are rows, which never leave the device.
    this.#restartsLeft = this.localData.size === 0 ? 0 : this.remoteRows === undefined ? defaults.restarts : 1;
  }

  /**
   * One start of k-means on new data, if any is left: between two of them the process can do something else. Rows that are
   * elsewhere answer later, and all at once. `known` is the sketch that the network has.
   */
  restart(known?: DeviceSketch): undefined | Promise<void> {
    const { remoteRows } = this;
    if (this.#restartsLeft === 0) return undefined;
    if (remoteRows !== undefined) {
      return localKmeansOfRemoteRows(remoteRows, this.#study.k, this.#seed, known).then((found) => {
        if (remoteRows === this.remoteRows) this.#endRestarts(found);
      });
    }
    this.#restartsLeft--;
    this.#best = betterLocalKmeans(this.localData, this.#study.k, this.#seed + this.#restartsLeft, this.#best);
    return this.#restartsLeft === 0 ? this.#endRestarts(this.#best) : undefined;
  }

  #endRestarts(best: LocalKmeans): undefined {
    this.#restartsLeft = 0;
    this.#best = best;
    this.#own = takeRows(best.centroids, sortedNumbering(best.centroids));
    this.guarded?.publishCores(this.#own);
    // New data may be in another basin than the centroids that came from the old.
    this.#starts = this.centroids === undefined ? [this.#own] : [this.centroids, this.#own];
  }

  /** What the network should know of the own rows: `known`, while it is nearly as good as a new sketch. */
  sketch(known: DeviceSketch | undefined): Omit<DeviceSketch, "origin" | "version"> | undefined {
    if (this.localData.size === 0) return undefined;
    const best = this.#best;
    if (best === undefined || this.guarded?.isKept() === false) return known;
    const found = numberedSketch(this.guarded?.cores ?? best, this.#numbers ?? this.centroids, this.#study.minimum);
    this.#best = undefined;
    return known !== undefined && isOpeningSketchAsGood(known, found, best) ? known : found;
  }

  /** One device update against the neighbours' centroids. False: nothing to begin with, or meanwhile all began again. */
  update(neighbours: readonly Matrix[]): boolean | Promise<boolean> {
    const { remoteRows } = this;
    // A device without rows of its own begins where a neighbour is.
    const given = this.centroids ?? neighbours.find(({ rows }) => rows === this.#study.k);
    const starts = this.#starts.length > 0 ? this.#starts : given === undefined ? [] : [given];
    if (starts.length === 0) return false;
    const turn = { before: this.centroids, starts, neighbours, isOpening: this.#openingLeft > 0 };
    if (remoteRows === undefined) return this.#conclude(turn, updateStartsInMemory(this.localData, this.#study, turn));
    return updateStartsOfRemoteRows(remoteRows, this.localData.weight, this.#study, turn).then((ends) => {
      return remoteRows === this.remoteRows && turn.before === this.centroids && this.#conclude(turn, ends);
    });
  }

  #conclude(turn: UpdatePlan, ends: readonly DeviceUpdate[]): true {
    const { before, starts, neighbours } = turn;
    const [first] = starts;
    // Only then an update can jump, and end with its centroids in another order.
    const isChoosing = turn.isOpening || starts.length > 1;
    if (this.#starts === starts) this.#starts = [];
    const { end, isFresh } = bestUpdate(turn, ends, this.#study);
    const damped = isChoosing ? end.centroids : this.damping.apply(first, end.centroids, neighbours);
    const result = { ...end, centroids: damped };
    this.#openingLeft = Math.max(0, this.#openingLeft - 1);
    this.round++;
    this.centroids = result.centroids;
    this.last = result;
    const isPulled = neighbours.length > 0 && this.#study.alpha > 0;
    const counts = this.guarded === undefined ? result.counts : this.guarded.countsAt(result.basis);
    // A centroid that was sent before stays if it has not moved. A fresh one without rows may be a row still, and one
    // that has moved without neighbours may stand on few rows.
    const stays = (c: number) => this.present[c] && !isFresh && isSameRow(before, result.centroids, c);
    this.present = this.present.map((_, c) => isPulled || counts[c] >= this.#study.minimum || stays(c));
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
    const { guarded, centroids } = this;
    if (guarded === undefined || centroids === undefined) return true;
    if (!guarded.isKept()) return false;
    const { cores } = guarded;
    const hasRows = (count: number) => count > 0;
    if (this.#isOpened || cores === undefined) guarded.release(centroids, this.present);
    else guarded.release(cores.centroids, Array.from(cores.counts, hasRows));
    return true;
  }

  /** Gives the clusters the numbers of their counterparts. */
  #numberLike(reference: Matrix): void {
    if (this.centroids === undefined) return;
    const order = orderLike(this.centroids, reference);
    if (isNumberedInOrder(order)) return;
    const centroids = takeRows(this.centroids, order);
    this.centroids = centroids;
    this.present = order.map((c) => this.present[c]);
    if (this.last === undefined) return;
    const { counts } = this.last;
    this.last = { ...this.last, centroids, counts: counts.map((_, place) => counts[order[place]]) };
  }

  /** The own k-means, to be kept. */
  savedOwn(): SavedState["own"] {
    return this.#own === undefined ? null : { fingerprint: this.localData.fingerprint, centroids: toRows(this.#own) };
  }

  /** The largest difference of a coordinate, as a share of its feature's range. */
  distance(a: Float64Array, b: Float64Array): number {
    const d = this.ranges.length;
    let largest = 0;
    for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs(a[i] - b[i]) / this.ranges[i % d]);
    return largest;
  }
}
