// The ledger of a private device, and the account kept in it: every release of its rows, what it cost, what may still be spent,
// and what was released last. It is written before anything that rests on it is sent, so that a crash can only count too much.

import { type Matrix, matrix, takeRows, toRows } from "@fedkm/core";
import type { RowSummary } from "@fedkm/core/privacy";
import type { WeighedRows } from "@fedkm/core/release";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import type { MemoryRows } from "../study/remoteRows.ts";
import { budgetOf, type Study } from "../study/study.ts";
import { dividedByScale, rowsWithin } from "../study/units.ts";
import type { HistoryMemory } from "./history.ts";

/** cells: how many rows lie where. means: the rows around given centroids. With shared clusters: which round, from 1 on. */
export type ReleaseStage = "cells" | "means" | `round ${number}`;

/** What stages cost, as rho of concentrated differential privacy or half the square of mu, and the most that may be spent. */
export interface Prices {
  of(stage: ReleaseStage): number;
  /** Of this stage and all that come after it for the same answer. */
  rest(stage: ReleaseStage): number;
  readonly lifetime: number;
  epsilonOf(spent: number): number;
}

interface Release {
  /** Which rows, as a number that nobody can find rows for. */
  readonly rows: string;
  readonly stage: ReleaseStage;
  readonly rho: number;
  /** What it was spent on; absent: rows. */
  readonly protects?: Study["protects"];
}

/**
 * What was added to sums over several devices, as it is repeated whenever the same sums are asked again. "reserved": it was
 * posted under a seal. "tallied": the device has said that it holds the sums, and says so for no other ones. "paid": they
 * may be read.
 */
export interface PostedIntegers {
  readonly stage: ReleaseStage;
  /** Which sums: with whom, for which answer, and where. */
  readonly of: string;
  /** For which answer, among which devices, and the number of the last board that they were posted on. */
  readonly version: number;
  readonly among: readonly string[];
  readonly at: number;
  readonly state: (typeof STATES)[number];
  /** Of which rows. */
  readonly rows: string;
  /** With noise, before they are masked. */
  readonly integers: readonly number[];
}

const STATES = ["reserved", "tallied", "paid"] as const;

export interface Ledger {
  /** What the noise is drawn from, in hex: whoever has it can take the noise away. */
  readonly secret: string;
  readonly releases: readonly Release[];
  /** What all computations use; undefined: nothing was released. */
  readonly summary: RowSummary | undefined;
  /** With shared clusters. */
  readonly posted: readonly PostedIntegers[];
  /** How often a person has agreed to releases after the first ones. */
  readonly consents: number;
}

const FORMAT = "fedkm-ledger 1";
const SECRET_BYTES = 32;

export function newLedger(secret: Uint8Array = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))): Ledger {
  return { secret: bytesToHex(secret), releases: [], summary: undefined, posted: [], consents: 0 };
}

export function encodeLedger({ secret, releases, summary, posted, consents }: Ledger): Uint8Array {
  const written = summary && {
    points: toRows(summary.points),
    weights: Array.from(summary.weights),
    within: summary.within,
  };
  const shared = posted.length > 0 || consents > 0 ? { posted, consents } : {};
  const whole = { format: FORMAT, secret, releases, summary: written ?? null, ...shared };
  return new TextEncoder().encode(JSON.stringify(whole));
}

/** Undefined: these bytes are no ledger for so many features. */
export function decodeLedger(bytes: Uint8Array, features: number): Ledger | undefined {
  try {
    const parsed = JSON.parse(new TextDecoder().decode(bytes));
    const { format, secret, releases, summary, posted = [], consents = 0 } = parsed;
    if (format !== FORMAT || !/^[0-9a-f]{64}$/.test(secret)) return undefined;
    if (!Array.isArray(releases) || !releases.every(isRelease)) return undefined;
    if (!Array.isArray(posted) || !posted.every(isPosted) || !(consents >= 0)) return undefined;
    if (summary === null) return { secret, releases, summary: undefined, posted, consents };
    const points = pointsOf(summary.points, features);
    const weights = Float64Array.from(summary.weights as number[]);
    const isWhole = weights.length === points.rows && weights.every((weight) => weight > 0) && summary.within >= 0;
    if (!isWhole) return undefined;
    return { secret, releases, summary: { points, weights, within: summary.within }, posted, consents };
  } catch {
    return undefined;
  }
}

function pointsOf(rows: number[][], cols: number): Matrix {
  const points = rows.length === 0 ? { data: new Float64Array(0), rows: 0, cols } : matrix(rows);
  if (points.cols !== cols) throw new RangeError(`points must have ${cols} columns, got ${points.cols}`);
  return points;
}

function isRelease(value: unknown): value is Release {
  const { rows, stage, rho, protects = "persons" } = (value ?? {}) as Partial<Release>;
  const isKnown = protects === "persons" || protects === "devices";
  return typeof rows === "string" && isStage(stage) && typeof rho === "number" && rho > 0 && isKnown;
}

function isPosted(value: unknown): value is PostedIntegers {
  const { stage, of, version, among, at, state, rows, integers } = (value ?? {}) as Partial<PostedIntegers>;
  const isNamed = isStage(stage) && [of, rows].every((text) => typeof text === "string");
  const isPlaced = [version, at].every(Number.isSafeInteger) && STATES.some((one) => one === state);
  const isWhole = [among, integers].every(Array.isArray) && integers?.every(Number.isSafeInteger);
  return isNamed && isPlaced && isWhole === true;
}

const isStage = (stage: unknown): stage is ReleaseStage => /^(cells|means|round [1-9][0-9]?)$/.test(String(stage));

/** What a device says of its releases; it stays on the device. */
export interface PrivateStatus {
  /** Of everything that was released so far, and the most that ever may be. */
  readonly epsilonSpent: number;
  readonly epsilonLifetime: number;
  readonly delta: number;
  /** What that is spent on. */
  readonly protects: "rows" | NonNullable<Study["protects"]>;
  readonly releases: number;
  /** What the device computes with; null: nothing was released yet. */
  readonly stage: ReleaseStage | null;
  /** The data are others than those that were released, which still count until a person consents to a release. */
  readonly isOutdated: boolean;
  /** It is not known what was released before, and nothing is until a person consents. */
  readonly isHistoryLost: boolean;
  /** Why there is no release, or why it does not count yet, if so. */
  readonly failure: string | null;
}

/**
 * A name for rows that tells nothing about them to whoever does not know the secret. Rows of other weights have another one:
 * noise that was drawn for it twice would cancel in the difference of what they add.
 */
function nameOfRows(secret: string, { data, weights = new Float64Array(0) }: WeighedRows): string {
  const numbers = new Float64Array(data.length + weights.length);
  numbers.set(data);
  numbers.set(weights, data.length);
  return bytesToHex(hmac(sha256, hexToBytes(secret), new Uint8Array(numbers.buffer)));
}

/** In whatever order they are read, they are the same rows. */
function inOrderOfValues(rows: WeighedRows): WeighedRows {
  const { data, cols, weights } = rows;
  const order = Array.from({ length: rows.rows }, (_, r) => r);
  order.sort((a, b) => {
    for (let c = 0; c < cols; c++) {
      const difference = data[a * cols + c] - data[b * cols + c];
      if (difference !== 0) return difference;
    }
    return weights === undefined ? 0 : weights[a] - weights[b];
  });
  return { ...takeRows(rows, order), ...(weights && { weights: weights.map((_, i) => weights[order[i]]) }) };
}

/** The rows within the bounds, scaled. All rows of what the study protects weigh 1 together, so that it counts as a row. */
export function protectedRows(study: Study, rows: MemoryRows): WeighedRows {
  const within = rowsWithin(study, rows);
  const scaled = dividedByScale(study, takeRows(rows, within));
  const { protects } = study;
  if (protects === undefined) return scaled;
  if (protects === "devices") return { ...scaled, weights: new Float64Array(scaled.rows).fill(1 / scaled.rows) };
  const { persons } = rows;
  if (persons === undefined) {
    if (rows.rows > 0) throw new TypeError("rows must say whose they are, because the study protects persons");
    return scaled;
  }
  const many = new Map<number, number>();
  for (const r of within) many.set(persons[r], (many.get(persons[r]) ?? 0) + 1);
  return { ...scaled, weights: Float64Array.from(within, (r) => 1 / (many.get(persons[r]) ?? 1)) };
}

/** The rows of a private device and what was paid for them. */
export class Account {
  readonly #study: Study;
  readonly #memory: HistoryMemory | undefined;
  readonly #onKept: () => void;
  readonly #prices: Prices;
  #isWriting = false;
  #failure: string | undefined;
  ledger: Ledger;
  /** As it is written down. Nothing else counts. */
  kept: Ledger;
  isLost: boolean;
  /** Within the study's bounds, scaled. */
  rows: WeighedRows;
  #name = "";

  constructor(study: Study, prices: Prices, memory: HistoryMemory | undefined, onKept: () => void) {
    this.#study = study;
    this.#prices = prices;
    this.#memory = memory;
    this.#onKept = onKept;
    const saved = memory?.saved && decodeLedger(memory.saved, study.features.length);
    // What a former study paid for rows says little about persons, of whom one may have many.
    const isOfOthers = saved?.releases.some(({ protects }) => protects !== study.protects) ?? false;
    const isUnread = memory?.saved !== undefined && saved === undefined;
    this.isLost = memory !== undefined && (memory.isLost || isUnread || isOfOthers);
    this.ledger = saved ?? newLedger();
    this.kept = this.ledger;
    this.rows = { data: new Float64Array(0), rows: 0, cols: study.features.length };
  }

  /** The data became these. */
  take(rows: MemoryRows): void {
    this.rows = inOrderOfValues(protectedRows(this.#study, rows));
    this.#name = nameOfRows(this.ledger.secret, this.rows);
  }

  /** Whether the rows are others than those that were released last. */
  get isOutdated(): boolean {
    const last = this.ledger.releases.at(-1);
    return last !== undefined && last.rows !== this.#name;
  }

  get isKept(): boolean {
    return this.kept === this.ledger;
  }

  /** This ledger is not all that was paid; what is not written down was not released either. */
  lose(): void {
    this.ledger = this.kept;
    this.isLost = true;
  }

  /** Of a ledger that is lost nobody knows what was paid. */
  beginAgainIfLost(): void {
    if (this.isLost) this.ledger = newLedger();
    this.isLost = false;
    this.#name = nameOfRows(this.ledger.secret, this.rows);
  }

  /** Pays for a release, and writes down what it bought with it. Nothing where the lifetime forbids it. */
  pay(stage: ReleaseStage, buy: (release: Release, ledger: Ledger) => Partial<Ledger>): void {
    this.reserve(stage, (release, ledger) => ({ releases: [...ledger.releases, release], ...buy(release, ledger) }));
  }

  /** Writes down what a release would buy, and pays nothing yet. Nothing where the lifetime forbids it, or what follows. */
  reserve(stage: ReleaseStage, buy: (release: Release, ledger: Ledger) => Partial<Ledger>, version?: number): void {
    const { lifetime } = budgetOf(this.#study);
    const prices = this.#prices;
    const release = this.releaseOf(this.#name, stage);
    const open = this.ledger.posted.filter(
      (one) => one.state !== "paid" && !(one.stage === stage && one.version === version),
    );
    // Of all that was posted for one stage of one answer, one may still be read.
    const answers = new Map(open.map((one) => [`${one.stage} ${one.version}`, prices.of(one.stage)]));
    const reserved = [...answers.values()].reduce((sum, price) => sum + price, prices.rest(stage));
    if (spentOn(this.ledger.releases) + reserved > prices.lifetime * (1 + ROUNDING)) {
      this.#failure = `a further release would cost more than the study's lifetimeEpsilon of ${lifetime}`;
      return;
    }
    this.change(buy(release, this.ledger));
  }

  releaseOf(rows: string, stage: ReleaseStage): Release {
    const { protects } = this.#study;
    return { rows, stage, rho: this.#prices.of(stage), ...(protects && { protects }) };
  }

  change(changes: Partial<Ledger>): void {
    this.ledger = { ...this.ledger, ...changes };
    this.keep();
  }

  /** Writes down what is not; `onKept` follows. To be called again and again, since a disk may be full for a while. */
  keep(): void {
    const { ledger } = this;
    if (this.isKept || this.#isWriting) return;
    this.#isWriting = true;
    const done = (failure: string | undefined) => {
      this.#isWriting = false;
      this.#failure = failure;
      if (failure !== undefined) return;
      this.kept = ledger;
      this.#onKept();
    };
    if (this.#memory === undefined) done(undefined);
    else this.#memory.keep(encodeLedger(ledger), done);
  }

  /** Why there is no release, or why it does not count yet, if so. */
  get failure(): string | undefined {
    return this.#failure;
  }

  status(): PrivateStatus {
    const { delta, lifetime } = budgetOf(this.#study);
    const spent = spentOn(this.ledger.releases);
    return {
      epsilonSpent: spent === 0 ? 0 : this.#prices.epsilonOf(spent),
      epsilonLifetime: lifetime,
      delta,
      protects: this.#study.protects ?? "rows",
      releases: this.ledger.releases.length,
      stage: this.kept.releases.at(-1)?.stage ?? null,
      isOutdated: this.isOutdated,
      isHistoryLost: this.isLost,
      failure: this.failure ?? null,
    };
  }
}

/** Shares of a budget add up to the whole within this. It is less than what is left over when a budget is bought. */
const ROUNDING = 2 ** -46;

function spentOn(releases: readonly Release[]): number {
  return releases.reduce((sum, { rho }) => sum + rho, 0);
}
