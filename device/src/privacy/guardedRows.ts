// Guarded rows of one device: which of them count, how they enter updates, and what may be sent after it is written down.

import { fastKernel, type Kernel, type Matrix } from "@fedkm/core";
import {
  type GuardedPoints,
  guardPoints,
  RESOLUTION_SHARE,
  roundGuarded,
  roundGuardedMoves,
  smallestClass,
} from "@fedkm/core/privacy";
import type { Study } from "../study/study.ts";
import { dividedByScale, rowsInside } from "../study/units.ts";
import { DELETION_MILLISECONDS, followRows, type WaitingRows } from "./admission.ts";
import {
  decodeHistory,
  emptyHistory,
  encodeHistory,
  type HistoryMemory,
  historyFault,
  type PublishedHistory,
} from "./history.ts";

/** What a device says of its guard; it stays on the device. */
export interface GuardedStatus {
  /** Rows that nothing sent tells apart, at least; null: no rows count. */
  readonly smallestClass: number | null;
  /** Rows that count for another cluster than their nearest, or for none, because too few of their class moved. */
  readonly rowsHeldBack: number;
  /** Since when more than a twentieth of the rows are, in milliseconds since 1970; null: they are not. */
  readonly heldBackSince: number | null;
  readonly rowsWaiting: WaitingRows;
  /** It is not known what was published before, and nothing of the rows is sent until a person consents. */
  readonly isHistoryLost: boolean;
  /** Why the history cannot be written, if so: nothing new is sent until it can. */
  readonly failure: string | null;
}

/** Where it is written what was published, who learns that it is, and what o'clock it is, in milliseconds since 1970. */
export interface HistoryOptions {
  readonly memory: HistoryMemory | undefined;
  readonly onKept: () => void;
  readonly wallClock: () => number;
}

/** Shares of a feature's range: centroids that have moved by more are written down, for the next round to be held at. */
const WORTH_WRITING = 0.02;

/** More of the counted rows than this share held back is worth knowing. */
const MUCH_HELD_BACK = 0.05;

/** Rows of a guarded device, with the history of what they have shown. */
export class GuardedRows {
  readonly #study: Study;
  readonly #memory: HistoryMemory | undefined;
  readonly #onKept: () => void;
  readonly #wallClock: () => number;
  readonly #resolution: Float64Array;
  #history: PublishedHistory;
  #guard: GuardedPoints | undefined;
  #counted: Matrix;
  /** As they were given last. */
  #given: Matrix;
  #deletesNow = false;
  #overdueAt = Number.POSITIVE_INFINITY;
  #heldBackSince: number | undefined;
  #waiting: WaitingRows = { fresh: 0, guests: 0, since: null, deleted: 0, deletedUntil: null };
  /** Of the history, and of what is on the disk. */
  #version = 0;
  #kept = 0;
  #isWriting = false;
  #failure: string | undefined;
  #isLost: boolean;
  /** Of the own k-means: what a device says before it knows where its neighbours begin. */
  cores: { readonly counts: Float64Array; readonly centroids: Matrix } | undefined;
  /** As neighbours may have it. */
  outgoing: { readonly data: Float64Array; readonly present: readonly boolean[] } | undefined;

  constructor(study: Study, { memory, onKept, wallClock }: HistoryOptions) {
    this.#study = study;
    this.#memory = memory;
    this.#onKept = onKept;
    this.#wallClock = wallClock;
    const ranges = Float64Array.from(study.features, ({ min, max, scale }) => (max - min) / scale);
    this.#resolution = ranges.map((range) => range * RESOLUTION_SHARE);
    const features = study.features.map(({ name }) => name);
    const saved = memory?.saved && decodeHistory(memory.saved, features);
    this.#isLost = memory !== undefined && (memory.isLost || (memory.saved !== undefined && saved === undefined));
    this.#history = saved ?? emptyHistory(features, study.minimum);
    this.#given = { data: new Float64Array(0), rows: 0, cols: features.length };
    this.#counted = this.#given;
  }

  /** The rows that count, scaled, after the data became these; none where they are too few, or the history is lost. */
  take(rows: Matrix): Matrix {
    const before = this.#history;
    this.#given = rows;
    if (!this.#isLost) {
      const change = { study: this.#study, now: this.#wallClock(), deletesNow: this.#deletesNow };
      const { history, waiting } = followRows(before, rowsInside(this.#study, rows), change);
      this.#deletesNow = false;
      if (history !== before) this.#version++;
      this.#history = history;
      this.#waiting = waiting;
      const first = history.missingSince.reduce(
        (least, since) => (since > 0 && since < least ? since : least),
        Number.POSITIVE_INFINITY,
      );
      this.#overdueAt = first + DELETION_MILLISECONDS;
    }
    // A guard that is made anew knows nothing of what is held back until something is published.
    if (this.#guard === undefined || this.#history.counted !== before.counted) this.#guardRows();
    return this.#counted;
  }

  #guardRows(): void {
    const { minimum, k, clusters } = this.#study;
    const { counted, at, deviation } = this.#history;
    const isUsed = !this.#isLost && counted.rows.rows >= k * minimum;
    const none = { data: new Float64Array(0), rows: 0, cols: this.#study.features.length };
    this.#counted = isUsed ? dividedByScale(this.#study, counted.rows) : none;
    this.cores = undefined;
    this.#guard = guardPoints(this.#counted, fastKernel.prepare(this.#counted), minimum, {
      ...(isUsed && { classes: counted.classes }),
      at: at?.length === k * none.cols ? at : undefined,
      deviation,
      // All devices together still have enough rows of a cluster of which one has few.
      mayLeaveOut: clusters === "shared",
    });
    this.#noteHeldBack();
  }

  #noteHeldBack(): void {
    const isMuch = this.#points.heldBack > MUCH_HELD_BACK * this.#counted.rows;
    this.#heldBackSince = isMuch ? (this.#heldBackSince ?? this.#wallClock()) : undefined;
  }

  /** Whether deleted rows must go although the data are the same: `take` the rows as they were given again. */
  get overdue(): Matrix | undefined {
    return this.#wallClock() >= this.#overdueAt ? this.#given : undefined;
  }

  /** Counted rows that are not among the data any more. */
  get deleted(): number {
    return this.#waiting.deleted;
  }

  /** Of the rows that `take` returned last. */
  get kernel(): Kernel {
    const guard = this.#points;
    return { name: "guarded", prepare: () => guard };
  }

  get #points(): GuardedPoints {
    if (this.#guard === undefined) throw new Error("rows must be taken before they are asked");
    return this.#guard;
  }

  /** Rows that count for each cluster at these centroids. */
  countsAt({ data, rows, cols }: Matrix): Float64Array {
    const statistics = { counts: new Float64Array(rows), sums: new Float64Array(rows * cols), loss: 0 };
    this.#points.statistics(data, statistics, false);
    return statistics.counts;
  }

  /** The cores of the own k-means may be sent once they are kept: their means, and zeros for a cluster without one. */
  publishCores({ data, rows, cols }: Matrix): void {
    const { counts, sums } = this.#points.publishCores(data);
    const means = sums.map((sum, i) => (counts[Math.floor(i / cols)] > 0 ? sum / counts[Math.floor(i / cols)] : 0));
    roundGuarded(this.#resolution, means);
    this.cores = { counts, centroids: { data: means, rows, cols } };
    this.#noteClasses(this.#history.at ?? data);
  }

  /** What rests on the labels at these centroids may be sent once it is kept. */
  publish({ data }: Matrix): void {
    this.#points.publish(data);
    this.#noteHeldBack();
    this.#noteClasses(data);
  }

  #noteClasses(at: Float64Array): void {
    const { counted, at: before, deviation } = this.#history;
    const { classes, deviation: found } = this.#points;
    if (classes.ids.length === 0) return;
    const isMoved = before?.length !== at.length || at.some((x, i) => Math.abs(x - before[i]) > this.#worthWriting(i));
    if (classes === counted.classes && found === deviation && !isMoved) return;
    const now = isMoved ? at.slice() : before;
    this.#history = { ...this.#history, at: now, deviation: found, counted: { rows: counted.rows, classes } };
    this.#version++;
  }

  #worthWriting(coordinate: number): number {
    return (this.#resolution[coordinate % this.#resolution.length] * WORTH_WRITING) / RESOLUTION_SHARE;
  }

  /** Whether all that was published is written down. Else it is being written, and `onKept` follows. */
  isKept(): boolean {
    if (this.#memory === undefined) return true;
    if (this.#kept !== this.#version && !this.#isWriting) this.#write(this.#memory);
    return this.#kept === this.#version;
  }

  #write(memory: HistoryMemory): void {
    const version = this.#version;
    const fault = historyFault(this.#history);
    if (fault !== undefined) {
      this.#failure = fault;
      return;
    }
    this.#isWriting = true;
    memory.keep(encodeHistory(this.#history), (failure) => {
      this.#isWriting = false;
      this.#failure = failure;
      if (failure !== undefined) return;
      this.#kept = version;
      this.#onKept();
    });
  }

  /** These centroids are what neighbours may have from now on, on the grid. */
  release({ data }: Matrix, present: readonly boolean[]): void {
    const rounded = data.slice();
    if (this.outgoing === undefined) roundGuarded(this.#resolution, rounded);
    else roundGuardedMoves(this.outgoing.data, this.#resolution, rounded);
    this.outgoing = { data: rounded, present };
  }

  /** What was published is not known any more. To be followed by `take`. */
  lose(): void {
    this.#isLost = true;
    this.#guard = undefined;
  }

  /**
   * A person consents: deleted rows are to go with the next rows that are taken, or, where it is not known what was published
   * before, that is not taken into account any more.
   */
  consent(): void {
    this.#deletesNow = true;
    if (!this.#isLost) return;
    this.#history = emptyHistory(this.#history.features, this.#study.minimum);
    this.#isLost = false;
    this.#guard = undefined;
    this.#version++;
  }

  status(): GuardedStatus {
    const { classes, heldBack } = this.#points;
    return {
      smallestClass: classes.sizes.length === 0 ? null : smallestClass(classes),
      rowsHeldBack: heldBack,
      heldBackSince: this.#heldBackSince ?? null,
      rowsWaiting: this.#waiting,
      isHistoryLost: this.#isLost,
      failure: this.#failure ?? null,
    };
  }
}

/** Whether a centroid stays where it was. */
export function isSameRow(before: Matrix | undefined, { data, cols }: Matrix, c: number): boolean {
  return data.subarray(c * cols, (c + 1) * cols).every((value, i) => value === before?.data[c * cols + i]);
}
