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
import {
  decodeHistory,
  emptyHistory,
  encodeHistory,
  followRows,
  type HistoryMemory,
  type PublishedHistory,
  type WaitingRows,
} from "./history.ts";

/** What a device says of its guard; it stays on the device. */
export interface GuardedStatus {
  /** Rows that nothing sent tells apart, at least; null: no rows count. */
  readonly smallestClass: number | null;
  /** Rows that count for another cluster than their nearest, or for none, because too few of their class moved. */
  readonly rowsHeldBack: number;
  readonly rowsWaiting: WaitingRows;
  /** It is not known what was published before, and nothing of the rows is sent until a person consents. */
  readonly isHistoryLost: boolean;
  /** Why the history cannot be written, if so: nothing new is sent until it can. */
  readonly failure: string | null;
}

export class GuardedRows {
  readonly #study: Study;
  readonly #memory: HistoryMemory | undefined;
  readonly #onKept: () => void;
  readonly #resolution: Float64Array;
  #history: PublishedHistory;
  #guard: GuardedPoints | undefined;
  #waiting: WaitingRows = { added: 0, deleted: 0 };
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

  constructor(study: Study, memory: HistoryMemory | undefined, onKept: () => void) {
    this.#study = study;
    this.#memory = memory;
    this.#onKept = onKept;
    this.#resolution = Float64Array.from(
      study.features,
      ({ min, max, scale }) => ((max - min) / scale) * RESOLUTION_SHARE,
    );
    const features = study.features.map(({ name }) => name);
    const saved = memory?.saved && decodeHistory(memory.saved, features);
    this.#isLost = memory !== undefined && (memory.isLost || (memory.saved !== undefined && saved === undefined));
    this.#history = saved ?? emptyHistory(features);
  }

  /** The rows that count, scaled, after the data became these; none where they are too few, or the history is lost. */
  take(rows: Matrix): Matrix {
    const { minimum, k } = this.#study;
    const none = { data: new Float64Array(0), rows: 0, cols: rows.cols };
    if (!this.#isLost) {
      const { history, waiting } = followRows(this.#history, rowsInside(this.#study, rows), minimum);
      if (history !== this.#history) this.#version++;
      this.#history = history;
      this.#waiting = waiting;
    }
    const { counted } = this.#history;
    const isUsed = !this.#isLost && counted.rows.rows >= k * minimum;
    const points = isUsed ? dividedByScale(this.#study, counted.rows) : none;
    this.cores = undefined;
    const classes = isUsed ? counted.classes : undefined;
    // All devices together still have enough rows of a cluster of which one has few.
    const mayLeaveOut = this.#study.clusters === "shared";
    this.#guard = guardPoints(points, fastKernel.prepare(points), minimum, classes, mayLeaveOut);
    return points;
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
    this.#noteClasses();
  }

  /** What rests on the labels at these centroids may be sent once it is kept. */
  publish({ data }: Matrix): void {
    this.#points.publish(data);
    this.#noteClasses();
  }

  #noteClasses(): void {
    const { counted } = this.#history;
    if (this.#points.classes === counted.classes || this.#points.classes.ids.length === 0) return;
    this.#history = { ...this.#history, counted: { rows: counted.rows, classes: this.#points.classes } };
    this.#version++;
  }

  /** Whether all that was published is written down. Else it is being written, and `onKept` follows. */
  isKept(): boolean {
    if (this.#memory === undefined) return true;
    if (this.#kept !== this.#version && !this.#isWriting) this.#write(this.#memory);
    return this.#kept === this.#version;
  }

  #write(memory: HistoryMemory): void {
    const version = this.#version;
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
  }

  /** A person consents: whatever was published before is not taken into account any more. */
  forget(): void {
    this.#history = emptyHistory(this.#history.features);
    this.#isLost = false;
    this.#version++;
  }

  status(): GuardedStatus {
    const guard = this.#points;
    return {
      smallestClass: guard.classes.sizes.length === 0 ? null : smallestClass(guard.classes),
      rowsHeldBack: guard.heldBack,
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
