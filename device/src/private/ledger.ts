// The ledger of a private device: every release of its rows and what it cost, and what was released last, as bytes.
// It is written down before anything that rests on it is sent, so that a crash can only count too much.

import { type Matrix, matrix, toRows } from "@fedkm/core";
import type { Summary } from "@fedkm/core/private";
import { bytesToHex } from "@noble/hashes/utils.js";

/** cells: how many rows lie where. means: the rows around given centroids. */
export type Stage = "cells" | "means";

export interface Release {
  /** Which rows, as a number that nobody can find rows for. */
  readonly rows: string;
  readonly stage: Stage;
  readonly rho: number;
}

export interface Ledger {
  /** What the noise is drawn from, in hex: whoever has it can take the noise away. */
  readonly secret: string;
  readonly releases: readonly Release[];
  /** What all computations use; undefined: nothing was released. */
  readonly summary: Summary | undefined;
}

const FORMAT = "fedkm-ledger 1";
const SECRET_BYTES = 32;

export function newLedger(secret: Uint8Array = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))): Ledger {
  return { secret: bytesToHex(secret), releases: [], summary: undefined };
}

export function encodeLedger({ secret, releases, summary }: Ledger): Uint8Array {
  const written = summary && {
    points: toRows(summary.points),
    weights: Array.from(summary.weights),
    within: summary.within,
  };
  return new TextEncoder().encode(JSON.stringify({ format: FORMAT, secret, releases, summary: written ?? null }));
}

/** Undefined: these bytes are no ledger for so many features. */
export function decodeLedger(bytes: Uint8Array, features: number): Ledger | undefined {
  try {
    const { format, secret, releases, summary } = JSON.parse(new TextDecoder().decode(bytes));
    if (format !== FORMAT || !/^[0-9a-f]{64}$/.test(secret)) return undefined;
    if (!Array.isArray(releases) || !releases.every(isRelease)) return undefined;
    if (summary === null) return { secret, releases, summary: undefined };
    const points = pointsOf(summary.points, features);
    const weights = Float64Array.from(summary.weights as number[]);
    const isWhole = weights.length === points.rows && weights.every((weight) => weight > 0) && summary.within >= 0;
    return isWhole ? { secret, releases, summary: { points, weights, within: summary.within } } : undefined;
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
  return typeof rows === "string" && (stage === "cells" || stage === "means") && typeof rho === "number" && rho > 0;
}
