// What a device computes with: its rows as they are or where they are, guarded, or the little that was released of
// private ones.

import { distortion, type Kernel, type Matrix } from "@fedkm/core";
import { type RowSummary, releasedLoss, releasedRows, releaseKernel } from "@fedkm/core/privacy";
import { GuardedRows, type HistoryOptions } from "../privacy/guardedRows.ts";
import { PrivateRows } from "../privacy/privateRows.ts";
import { type DeviceRows, isRemote, type RemoteRows, rowsInMemory } from "../study/remoteRows.ts";
import type { Study } from "../study/study.ts";
import { scaleRows } from "../study/units.ts";
import { rowsHash } from "../wire/hashes.ts";

export class LocalData {
  readonly #study: Study;
  /** Where the study is guarded. */
  readonly guarded: GuardedRows | undefined;
  /** Where it is private. */
  readonly private: PrivateRows | undefined;
  /** What stands for private rows; the points are its points. */
  #summary: RowSummary | undefined;
  /** Rows that answer by statistics; then there are no points. */
  remoteRows: RemoteRows | undefined;
  /** Scaled. */
  points: Matrix;
  fingerprint: number;
  leftOut = 0;

  constructor(study: Study, rows: DeviceRows, history: HistoryOptions) {
    const { memory, onKept } = history;
    this.#study = study;
    if (study.privacy === "guarded") this.guarded = new GuardedRows(study, history);
    if (study.privacy === "private") this.private = new PrivateRows(study, memory, onKept);
    this.points = this.#taken(rows);
    this.fingerprint = this.#fingerprintNow();
  }

  /** How much each point counts; undefined: 1. */
  get weights(): Float64Array | undefined {
    return this.#summary?.weights;
  }

  get rows(): number {
    return this.private?.usable ?? this.size;
  }

  /** What updates count over: rows, or points that stand for them. */
  get size(): number {
    return this.remoteRows?.source.rows ?? this.points.rows;
  }

  /** Of an update. */
  get kernel(): Kernel | undefined {
    return this.#summary === undefined ? this.guarded?.kernel : releaseKernel(this.#summary);
  }

  /** u_i of an update. A point of a summary stands for many rows, whose number is taken out again. */
  get weight(): number {
    const { weighting, typicalRows } = this.#study;
    const points = Math.max(1, this.size);
    if (this.#summary !== undefined) return points / releasedRows(this.#summary);
    return weighting === "sample" && typicalRows !== null ? points / typicalRows : 1;
  }

  /** The data became these. Returns whether others count than before. */
  take(rows: DeviceRows): boolean {
    return this.#changed(this.#taken(rows));
  }

  /** What was released of private rows counts once it is written down. Returns whether it does now, and did not before. */
  follow(): boolean {
    if (this.private === undefined) return false;
    this.private.keep();
    return this.#changed(this.#summarised(this.private));
  }

  #changed(points: Matrix): boolean {
    this.points = points;
    const before = this.fingerprint;
    this.fingerprint = this.#fingerprintNow();
    return this.fingerprint !== before;
  }

  #fingerprintNow(): number {
    return this.remoteRows?.fingerprint ?? rowsHash(this.points);
  }

  /** Rows within the study's bounds, if they are enough to hide in. */
  #taken(given: DeviceRows): Matrix {
    const { k, minimum } = this.#study;
    this.remoteRows = undefined;
    if (isRemote(given) && this.#study.privacy === "open") {
      const { source, leftOut } = given;
      const isUsed = source.rows >= k * minimum;
      this.leftOut = leftOut + (isUsed ? 0 : source.rows);
      if (isUsed) this.remoteRows = given;
      return this.#none;
    }
    const rows = rowsInMemory(given);
    if (this.guarded !== undefined) {
      const counted = this.guarded.take(rows);
      this.leftOut = rows.rows - Math.max(0, counted.rows - this.guarded.deleted);
      return counted;
    }
    if (this.private !== undefined) {
      this.private.take(rows);
      this.leftOut = rows.rows - this.private.usable;
      return this.#summarised(this.private);
    }
    const scaled = scaleRows(this.#study, rows);
    const isEnough = scaled.rows >= k * minimum;
    this.leftOut = rows.rows - (isEnough ? scaled.rows : 0);
    return isEnough ? scaled : this.#none;
  }

  /** None before they are released, or where too few of them stand out of the noise. */
  #summarised({ summary }: PrivateRows): Matrix {
    this.#summary = summary !== undefined && summary.points.rows >= this.#study.k ? summary : undefined;
    return this.#summary?.points ?? this.#none;
  }

  get #none(): Matrix {
    return { data: new Float64Array(0), rows: 0, cols: this.#study.features.length };
  }

  countsOf(labels: ArrayLike<number>): Float64Array {
    const counts = new Float64Array(this.#study.k);
    for (let r = 0; r < this.points.rows; r++) counts[labels[r]] += this.weights?.[r] ?? 1;
    return counts;
  }

  /** The sum of squared distances of the points to the nearest of these centroids. */
  inertiaAt(centroids: Matrix): number {
    if (this.#summary === undefined) return 2 * distortion([this.points], [centroids]);
    return releasedLoss(this.#summary, centroids) - this.#summary.within;
  }
}
