// The rows of a device with shared clusters: what they add to each generation, as whole numbers, before it is masked.

import { distortion, fastKernel, kmeans, type Matrix, type PreparedPoints, predict, takeRows } from "@fedkm/core";
import { spreadOverGrids } from "@fedkm/core/choose";
import { defaults } from "@fedkm/core/defaults";
import type { WeighedRows } from "@fedkm/core/release";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { Secrets } from "../keys/secrets.ts";
import { GuardedRows, type HistoryOptions } from "../privacy/guardedRows.ts";
import { SharedPrivateRows } from "../privacy/privateRows.ts";
import type { MemoryRows } from "../study/remoteRows.ts";
import type { Study } from "../study/study.ts";
import { studyColumns, type TableRows } from "../study/tableRows.ts";
import { rowsThatCount, scaleRows } from "../study/units.ts";
import { rowsHash } from "../wire/hashes.ts";
import { descriptionPlan, type LocalTable, localTable } from "./description.ts";
import { type Base, type Content, stages } from "./generation.ts";
import type { ReleaseKeeper } from "./member.ts";
import { ownIntegers } from "./plan.ts";
import { releaseRequest, sharedReleaseIntegers } from "./release.ts";
import type { CountsAndSums, LocalSums, SumsShape, Weighted } from "./shape.ts";
import { replicateWeights } from "./validation.ts";

/** An answer that costs a device's rows so many times what its own clusters would is doubted. */
const MISFIT = 4;
/** Of each cluster, in the mean: fewer rows say nothing. */
const ROWS_TO_JUDGE = 10;
/** So many rows are enough to judge by. */
const SAMPLE_ROWS = 2_048;

export interface SharedRowsOptions {
  /** As this device treats its rows, see `limitedStudy`. */
  readonly study: Study;
  readonly shape: SumsShape;
  /** As they stand in files where the study leaves something open, else in the features' units. */
  readonly rows: MemoryRows;
  /** What was told of guarded rows before this start, where the study leaves something open. */
  readonly table?: LocalTable | undefined;
  /** Of the own k-means. */
  readonly seed: number;
  readonly sign: Secrets["sign"];
  readonly history: HistoryOptions;
}

/** Rows of a device that answer the sums of shared clusters. */
export class SharedRows implements LocalSums {
  readonly #options: SharedRowsOptions;
  readonly guarded: GuardedRows | undefined;
  readonly private: SharedPrivateRows | undefined;
  /** Scaled; counted from the middle of the bounds where they are not guarded. */
  #points: WeighedRows;
  #prepared: PreparedPoints | undefined;
  #fingerprint: number;
  #best: { readonly centroids: Matrix; readonly inertia: number } | undefined;
  #restartsLeft = 0;
  #weightsKey: Uint8Array | undefined;
  #table: LocalTable | undefined;
  #tableRows = 0;
  rowsLeftOut = 0;

  constructor(options: SharedRowsOptions) {
    const { study, history, rows } = options;
    this.#options = options;
    if (study.privacy === "guarded" && options.shape.describing === undefined)
      this.guarded = new GuardedRows(study, history);
    if (study.privacy === "private") this.private = new SharedPrivateRows(study, history.memory, history.onKept);
    this.#points = this.#take(rows);
    this.#fingerprint = rowsHash(this.#points);
  }

  get count(): number {
    return this.#table === undefined ? this.#points.rows : this.#tableRows;
  }

  table(): LocalTable {
    return this.#table ?? { rows: 0, columns: [] };
  }

  /** Returns whether what it adds is different now. Private rows that were released are not asked again. */
  setRows(rows: MemoryRows): boolean {
    this.#points = this.#take(rows);
    const fingerprint = rowsHash(this.#points);
    const isChanged = fingerprint !== this.#fingerprint;
    this.#fingerprint = fingerprint;
    return isChanged && this.private === undefined;
  }

  #take(rows: MemoryRows): WeighedRows {
    const { study, shape } = this.#options;
    if (shape.describing !== undefined) {
      // Other groups would tell rows apart by their differences: guarded rows are described once, as they were.
      const plan = descriptionPlan(study) ?? shape.describing;
      const told = plan.minimum === 1 ? undefined : (this.#table ?? this.#options.table);
      this.#table = told ?? localTable(plan, openColumns(study, rows));
      this.#tableRows = rows.rows;
      return rows;
    }
    this.#prepared = undefined;
    this.#best = undefined;
    this.#restartsLeft = 0;
    const scaled = () => this.private?.take(rows) ?? scaleRows(study, takeRows(rows, rowsThatCount(study, rows)));
    const points = this.guarded?.take(rows) ?? spread(shifted(scaled(), shape), shape);
    this.rowsLeftOut = rows.rows - points.rows + (this.guarded?.deleted ?? 0);
    return points;
  }

  /** What this device adds, before it is masked; undefined: something must come first, see `work`. */
  integersFor(content: Content & Pick<Base, "number">): Float64Array | "stale" | undefined {
    const { shape } = this.#options;
    if (this.private !== undefined) return this.#released(content, this.private);
    if (this.#points.rows > 0 && this.guarded !== undefined) {
      if (content.stage === stages.rows) this.guarded.publish(this.#absolute(content.numbers));
      else if (this.guarded.cores === undefined) {
        if (this.#restartsLeft === 0) this.#restartsLeft = defaults.restarts;
        return undefined;
      }
      // Written before it is sent.
      if (!this.guarded.isKept()) return undefined;
    }
    return ownIntegers(shape, content, this);
  }

  #released(content: Content & Pick<Base, "number">, own: SharedPrivateRows): Float64Array | "stale" | undefined {
    const { shape } = this.#options;
    const { releasing } = shape;
    if (content.stage === stages.census || releasing === undefined) return new Float64Array(0);
    return own.integersFor(releaseRequest(content), (noise) =>
      sharedReleaseIntegers(releasing, content, this.#points, noise),
    );
  }

  /** Of private rows: what their seals are made from, and what is written down before sums are read. */
  get release(): ReleaseKeeper | undefined {
    const own = this.private;
    return (
      own && {
        sealSeed: (generation) => own.sealSeed(generation),
        mayTally: (keys) => own.mayTally(releaseRequest(keys)),
        pay: (keys) => own.pay(releaseRequest(keys)),
        noteRead: ({ roster, steps, seeded }) => own.noteRead({ version: roster?.version ?? 0, steps, last: seeded }),
      }
    );
  }

  get isWorking(): boolean {
    return this.#restartsLeft > 0;
  }

  /** One start of the own k-means, whose cores a guarded device shows first. */
  work(): void {
    const { study, seed } = this.#options;
    if (this.#restartsLeft === 0) return;
    this.#restartsLeft--;
    const found = kmeans(this.#points, { k: study.k, restarts: 1, seed: seed + this.#restartsLeft });
    if (this.#best === undefined || found.inertia < this.#best.inertia) this.#best = found;
    if (this.#restartsLeft === 0) this.guarded?.publishCores(this.#best.centroids);
  }

  mark(): number {
    return rowsMark(this.#options.sign, this.#fingerprint);
  }

  seed(): Weighted {
    if (this.guarded === undefined) return { points: this.#points, weights: undefined };
    const { cores } = this.guarded;
    if (cores === undefined)
      return { points: { ...this.#points, data: new Float64Array(0), rows: 0 }, weights: undefined };
    const given = Array.from(cores.counts.keys()).filter((c) => cores.counts[c] > 0);
    const weights = Float64Array.from(given, (c) => cores.counts[c]);
    return { points: shifted(takeRows(cores.centroids, given), this.#options.shape), weights };
  }

  rows(): Matrix {
    return this.#points;
  }

  weights(replicates: number): Uint8Array {
    this.#weightsKey ??= sha256(this.#options.sign(utf8ToBytes("fedkm replicates")));
    return replicateWeights(this.#weightsKey, this.#points.rows, replicates);
  }

  at(centroids: Float64Array): CountsAndSums {
    const { k, d, middle } = this.#options.shape;
    const statistics = { counts: new Float64Array(k), sums: new Float64Array(k * d), loss: 0 };
    if (this.#points.rows === 0) return statistics;
    this.#prepared ??= (this.guarded?.kernel ?? fastKernel).prepare(this.#points);
    const at = this.guarded === undefined ? centroids : this.#absolute(centroids).data;
    this.#prepared.statistics(at, statistics, false);
    if (this.guarded === undefined) return statistics;
    const { counts, sums } = statistics;
    return { counts, sums: sums.map((sum, i) => sum - counts[Math.floor(i / d)] * middle[i % d]) };
  }

  /**
   * Whether centroids cost these rows far more than as many of their own would. Clusters that the device has no rows of do
   * not count, so that whoever has rows of a few only does not doubt.
   */
  isMisfit(numbers: Float64Array): boolean {
    const { rows } = this.#points;
    const step = Math.ceil(rows / SAMPLE_ROWS);
    const sample = takeRows(
      this.#points,
      Array.from({ length: Math.floor(rows / Math.max(1, step)) }, (_, i) => i * step),
    );
    const { k, d } = this.#options.shape;
    const answer = numbers.subarray(0, k * d);
    const centroids = this.guarded === undefined ? { data: answer, rows: k, cols: d } : this.#absolute(answer);
    const used = new Set(sample.rows === 0 ? [] : predict(centroids, sample)).size;
    if (sample.rows < ROWS_TO_JUDGE * Math.max(1, used)) return false;
    const own = kmeans(sample, { k: used, restarts: 3, seed: 0 });
    return 2 * distortion([sample], [centroids]) > MISFIT * own.inertia;
  }

  /** Guarded rows and what was published of them are counted from 0. */
  #absolute(numbers: Float64Array): Matrix {
    const { k, d, middle } = this.#options.shape;
    return { data: numbers.map((value, i) => value + middle[i % d]), rows: k, cols: d };
  }
}

/** The columns that the study leaves open. Rows without words have numbers only. */
function openColumns({ features }: Study, rows: Matrix): TableRows {
  const { columns } = studyColumns({ features });
  const { words = [] } = rows as Partial<TableRows>;
  const open = features.flatMap(({ name, open: kind }) => (kind === undefined ? [] : [columns.indexOf(name)]));
  const data = new Float64Array(rows.rows * open.length);
  for (const [i] of data.entries())
    data[i] = rows.data[Math.floor(i / open.length) * rows.cols + open[i % open.length]];
  return { data, rows: rows.rows, cols: open.length, words: open.map((c) => words[c]) };
}

/** Whole numbers of so many bits can be added up for all devices of a board. */
const MARK_BITS = 44;

/** A number that only this device can compute, always the same for the same rows. */
function rowsMark(sign: Secrets["sign"], fingerprint: number): number {
  const signed = sha256(sign(utf8ToBytes(`fedkm rows\n${fingerprint}`)));
  const view = new DataView(signed.buffer, signed.byteOffset);
  return view.getUint32(0, true) * 2 ** (MARK_BITS - 32) + (view.getUint32(4, true) >>> (64 - MARK_BITS));
}

/** Where k is looked for, rows on a grid are spread over it as far as the device can see one, within the bounds. */
function spread(rows: WeighedRows, { choosing, ranges }: SumsShape): WeighedRows {
  if (choosing === undefined || rows.rows === 0) return rows;
  const [{ data }] = spreadOverGrids([rows], 0);
  const inside = (value: number, half: number) => Math.min(half, Math.max(-half, value));
  return { ...rows, data: data.map((value, i) => inside(value, ranges[i % rows.cols] / 2)) };
}

function shifted({ data, ...rest }: WeighedRows, { middle }: SumsShape): WeighedRows {
  return { ...rest, data: data.map((value, i) => value - middle[i % rest.cols]) };
}
