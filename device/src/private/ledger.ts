// The ledger of a private device: every release of its rows and what it cost, and what was released last, as bytes.
// It is written down before anything that rests on it is sent, so that a crash can only count too much.

import { type Matrix, matrix, toRows } from "@fedkm/core";
import type { Summary } from "@fedkm/core/privacy";
import { bytesToHex } from "@noble/hashes/utils.js";

/** cells: how many rows lie where. means: the rows around given centroids. */
export type ReleaseStage = "cells" | "means";

export interface Release {
  /** Which rows, as a number that nobody can find rows for. */
  readonly rows: string;
  readonly stage: ReleaseStage;
  readonly rho: number;
}

/** What was added to sums over several devices, as it is repeated whenever the same sums are asked again. */
export interface Posted {
  readonly stage: ReleaseStage;
  /** Which sums: with whom, for which answer, and where. */
  readonly of: string;
  /** With noise, before they are masked. */
  readonly integers: readonly number[];
}

export interface Ledger {
  /** What the noise is drawn from, in hex: whoever has it can take the noise away. */
  readonly secret: string;
  readonly releases: readonly Release[];
  /** What all computations use; undefined: nothing was released. */
  readonly summary: Summary | undefined;
  /** With shared clusters. */
  readonly posted: readonly Posted[];
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

function isPosted(value: unknown): value is Posted {
  const { stage, of, integers } = (value ?? {}) as Partial<Posted>;
  return isStage(stage) && typeof of === "string" && Array.isArray(integers) && integers.every(Number.isSafeInteger);
}

const isStage = (stage: unknown): stage is ReleaseStage => stage === "cells" || stage === "means";
