// Rows that stay where they are, in a database for instance: a device asks for their statistics and never has them.

import type { Matrix, Statistics } from "@fedkm/core";
import { type Source, statisticsOf } from "@fedkm/core/sources";

export interface Elsewhere {
  /** The rows within the study's bounds, scaled. */
  readonly source: Source;
  /** Rows that are out of the bounds. */
  readonly leftOut: number;
  /** Equal rows, equal numbers. */
  readonly fingerprint: number;
  /** Ends every question: the device stops, or has other rows by now. */
  readonly signal: AbortSignal;
}

/** In memory and in the features' units, or elsewhere. */
export type Rows = Matrix | Elsewhere;

export function isElsewhere(rows: Rows): rows is Elsewhere {
  return "source" in rows;
}

export function countOf(rows: Rows): number {
  return isElsewhere(rows) ? rows.source.rows : rows.rows;
}

/** For what needs the rows one by one. */
export function inMemory(rows: Rows): Matrix {
  if (isElsewhere(rows))
    throw new TypeError("rows must be in memory unless the study is open and its clusters are own");
  return rows;
}

const lastAnswers = new WeakMap<Source, { readonly centroids: Float64Array; readonly statistics: Statistics }>();

/** (E1). An update begins where the last one ended: a device at rest asks nothing. */
export async function statisticsAt({ source, signal }: Elsewhere, centroids: Matrix): Promise<Statistics> {
  const last = lastAnswers.get(source);
  if (last?.centroids.length === centroids.data.length && last.centroids.every((x, i) => x === centroids.data[i])) {
    return last.statistics;
  }
  const statistics = await statisticsOf(source, centroids, signal);
  lastAnswers.set(source, { centroids: centroids.data, statistics });
  return statistics;
}
