// The ledger of a private device, and the account kept in it: every release of its rows, what it cost, what may still be spent,
// and what was released last. It is written before anything that rests on it is sent, so that a crash can only count too much.

import { type Matrix, matrix, takeRows, toRows } from "@fedkm/core";
import { epsilonOf, type RowSummary, rhoOf } from "@fedkm/core/privacy";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { budgetOf, type Study } from "../study/study.ts";
import { scaleRows } from "../study/units.ts";
import type { HistoryMemory } from "./history.ts";

/** cells: how many rows lie where. means: the rows around given centroids. */
export type ReleaseStage = "cells" | "means";

interface Release {
  /** Which rows, as a number that nobody can find rows for. */
  readonly rows: string;
  readonly stage: ReleaseStage;
  readonly rho: number;
}

/** What was added to sums over several devices, as it is repeated whenever the same sums are asked again. */
export interface PostedIntegers {
  readonly stage: ReleaseStage;
  /** Which sums: with whom, for which answer, and where. */
  readonly of: string;
  /** With noise, before they are masked. */
  readonly integers: readonly number[];
}

interface Ledger {
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
  const { rows, stage, rho } = (value ?? {}) as Partial<Release>;
  return typeof rows === "string" && isStage(stage) && typeof rho === "number" && rho > 0;
}

function isPosted(value: unknown): value is PostedIntegers {
  const { stage, of, integers } = (value ?? {}) as Partial<PostedIntegers>;
  return isStage(stage) && typeof of === "string" && Array.isArray(integers) && integers.every(Number.isSafeInteger);
}

const isStage = (stage: unknown): stage is ReleaseStage => stage === "cells" || stage === "means";

/** What a device says of its releases; it stays on the device. */
export interface PrivateStatus {
  /** Of everything that was released so far, and the most that ever may be. */
  readonly epsilonSpent: number;
  readonly epsilonLifetime: number;
  readonly delta: number;
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

/** A name for rows that tells nothing about them to whoever does not know the secret. */
function nameOfRows(secret: string, { data }: Matrix): string {
  return bytesToHex(hmac(sha256, hexToBytes(secret), new Uint8Array(data.buffer, data.byteOffset, data.byteLength)));
}

/** In whatever order they are read, they are the same rows. */
function inOrderOfValues(rows: Matrix): Matrix {
  const { data, cols } = rows;
  const order = Array.from({ length: rows.rows }, (_, r) => r);
  order.sort((a, b) => {
    for (let c = 0; c < cols; c++) {
      const difference = data[a * cols + c] - data[b * cols + c];
      if (difference !== 0) return difference;
    }
    return 0;
  });
  return takeRows(rows, order);
}

/** The rows of a private device and what was paid for them. */
export class Account {
  readonly #study: Study;
  readonly #memory: HistoryMemory | undefined;
  readonly #onKept: () => void;
  #isWriting = false;
  #failure: string | undefined;
  ledger: Ledger;
  /** As it is written down. Nothing else counts. */
  kept: Ledger;
  isLost: boolean;
  /** Within the study's bounds, scaled. */
  rows: Matrix;
  #name = "";

  constructor(study: Study, memory: HistoryMemory | undefined, onKept: () => void) {
    this.#study = study;
    this.#memory = memory;
    this.#onKept = onKept;
    const saved = memory?.saved && decodeLedger(memory.saved, study.features.length);
    this.isLost = memory !== undefined && (memory.isLost || (memory.saved !== undefined && saved === undefined));
    this.ledger = saved ?? newLedger();
    this.kept = this.ledger;
    this.rows = { data: new Float64Array(0), rows: 0, cols: study.features.length };
  }

  /** The data became these. */
  take(rows: Matrix): void {
    this.rows = inOrderOfValues(scaleRows(this.#study, rows));
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

  /** Pays half of epsilon for a release, and writes down what it bought with it. Nothing where the lifetime forbids it. */
  pay(stage: ReleaseStage, buy: (release: Release, ledger: Ledger) => Partial<Ledger>): void {
    const { epsilon, delta, lifetime } = budgetOf(this.#study);
    const { releases } = this.ledger;
    const release = { rows: this.#name, stage, rho: rhoOf(epsilon, delta) / 2 };
    if (spentOn(releases) + release.rho > rhoOf(lifetime, delta)) {
      this.#failure = `a further release would cost more than the study's lifetimeEpsilon of ${lifetime}`;
      return;
    }
    this.ledger = { ...this.ledger, releases: [...releases, release], ...buy(release, this.ledger) };
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

  status(): PrivateStatus {
    const { delta, lifetime } = budgetOf(this.#study);
    const spent = spentOn(this.ledger.releases);
    return {
      epsilonSpent: spent === 0 ? 0 : epsilonOf(spent, delta),
      epsilonLifetime: lifetime,
      delta,
      releases: this.ledger.releases.length,
      stage: this.kept.releases.at(-1)?.stage ?? null,
      isOutdated: this.isOutdated,
      isHistoryLost: this.isLost,
      failure: this.#failure ?? null,
    };
  }
}

function spentOn(releases: readonly Release[]): number {
  return releases.reduce((sum, { rho }) => sum + rho, 0);
}
