// Rows that stay where they are, in a database for instance: a device asks for their statistics and never has them.

import type { Matrix, Statistics } from "@fedkm/core";
import { type Source, sourceStatistics } from "@fedkm/core/sources";

/** Rows that stay in a source, within the study's bounds. */
export interface RemoteRows {
  /** The rows within the study's bounds, scaled. */
  readonly source: Source;
  /** Rows that are out of the bounds. */
  readonly leftOut: number;
  /** Equal rows, equal numbers. */
  readonly fingerprint: number;
  /** Ends every question: the device stops, or has other rows by now. */
  readonly signal: AbortSignal;
}

/** Rows in memory, and whose each is where a study protects persons: equal persons have equal numbers. */
export interface MemoryRows extends Matrix {
  readonly persons?: Uint32Array;
}

/** In memory and in the features' units, or elsewhere. */
export type DeviceRows = MemoryRows | RemoteRows;

/** Of a device that has no data, or none yet, which is not the same as data without rows. */
export function absentRows(cols: number): Matrix {
  return { data: ABSENT, rows: 0, cols };
}

const ABSENT = new Float64Array(0);

export function areAbsent({ data }: Matrix): boolean {
  return data === ABSENT;
}

export function isRemote(rows: DeviceRows): rows is RemoteRows {
  return "source" in rows;
}

export function rowCount(rows: DeviceRows): number {
  return isRemote(rows) ? rows.source.rows : rows.rows;
}

/** For what needs the rows one by one. */
export function rowsInMemory(rows: DeviceRows): MemoryRows {
  if (isRemote(rows)) throw new TypeError("rows must be in memory unless the study is open and its clusters are own");
  return rows;
}

const lastAnswers = new WeakMap<Source, { readonly centroids: Float64Array; readonly statistics: Statistics }>();

/** (E1). An update begins where the last one ended: a device at rest asks nothing. */
export async function remoteStatistics({ source, signal }: RemoteRows, centroids: Matrix): Promise<Statistics> {
  const last = lastAnswers.get(source);
  if (last?.centroids.length === centroids.data.length && last.centroids.every((x, i) => x === centroids.data[i])) {
    return last.statistics;
  }
  const statistics = await sourceStatistics(source, centroids, signal);
  lastAnswers.set(source, { centroids: centroids.data, statistics });
  return statistics;
}
