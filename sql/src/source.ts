// A source on an engine: the rows are loaded, streamed through the kernel, or stay where they are and answer by aggregates.

import { setTimeout as wait } from "node:timers/promises";
import { fastKernel, type Matrix, takeRows } from "@fedkm/core";
import {
  addKernelBlock,
  memorySource,
  rowsNearBorders,
  type Source,
  type StatisticsParts,
  sourceParts,
} from "@fedkm/core/sources";
import type { ReadMode } from "./address.ts";
import { SourceError } from "./driver.ts";
import { gatherEngineRows, type SqlEngine, stackedBlocks } from "./engine.ts";
import {
  borderStatement,
  isExactSql,
  nearStatement,
  ON_BORDER,
  type RowSelection,
  statisticsStatement,
} from "./statements.ts";
import type { RowReader, Survey } from "./survey.ts";

/** Who wants to know how far a pass is. */
export interface Watcher {
  /** Rows that have passed in the current pass. */
  readonly onRows?: ((rows: number) => void) | undefined;
  /** A server was away and is asked again. */
  readonly onRetry?: ((error: unknown) => void) | undefined;
}

/** Where the rows of a source are, which of them, and what one look at them found. */
export interface SurveyedRows {
  readonly engine: SqlEngine;
  readonly rows: RowReader;
  readonly selected: RowSelection;
  readonly survey: Survey;
}

export async function loadedSqlSource(
  { engine, rows, selected, survey }: SurveyedRows,
  { onRetry = () => {} }: Watcher,
  signal?: AbortSignal,
): Promise<Source> {
  const cols = selected.columns.length;
  const load = async () => {
    const data = new Float64Array(survey.rows * cols);
    let loaded = 0;
    for await (const block of rows.blocks(selected, signal, true)) {
      if (loaded + block.rows <= survey.rows) data.set(block.data, loaded * cols);
      loaded += block.rows;
    }
    checkRows(loaded, survey.rows);
    return { data, rows: loaded, cols };
  };
  return memorySource(await retry(load, engine.isPassing, signal, onRetry));
}

/** Rows that stay where they are. Long, as all answers share one way to ask again. */
export function sourceOn(
  { engine, rows: all, selected, survey: { rows, least, most } }: SurveyedRows,
  read: Exclude<ReadMode, "memory">,
  { onRows = () => {}, onRetry = () => {} }: Watcher,
): Source {
  const cols = selected.columns.length;
  const again = <T>(ask: () => Promise<T>, stop: AbortSignal | undefined) =>
    retry(ask, engine.isPassing, stop, onRetry);
  const each = async (blocks: AsyncIterable<Matrix>, work: (block: Matrix) => boolean) => {
    let seen = 0;
    for await (const block of blocks) {
      if (!work(block)) return;
      seen += block.rows;
      onRows(seen);
    }
  };
  const stream = async (centroids: Matrix, grids: Float64Array, stop?: AbortSignal): Promise<StatisticsParts> => {
    const sums = sourceParts(centroids);
    let loss = 0;
    await each(all.blocks(selected, stop), (block) => {
      loss += addKernelBlock(block, grids, centroids.data, sums);
      return true;
    });
    return { sums, loss };
  };
  const aggregate = async (centroids: Matrix, grids: Float64Array, stop?: AbortSignal): Promise<StatisticsParts> => {
    const sums = sourceParts(centroids);
    const width = 3 + 2 * cols;
    const answer = await gatherEngineRows(
      engine.blocks(statisticsStatement(selected, centroids, grids), width, stop),
      width,
    );
    let loss = readParts(answer, cols, sums);
    if (!isExactSql(selected, centroids) && hasBorder(answer)) {
      await each(engine.blocks(borderStatement(selected, centroids), cols, stop), (block) => {
        loss += addKernelBlock(block, grids, centroids.data, sums);
        return true;
      });
    }
    return { sums, loss };
  };
  return {
    rows,
    cols,
    least,
    most,
    async parts(centroids, grids, stop) {
      const parts = await again(() => (read === "stream" ? stream : aggregate)(centroids, grids, stop), stop);
      checkRows(countOf(parts, centroids), rows);
      return parts;
    },
    sample: (size, stop) =>
      again(async () => {
        const step = Math.max(1, Math.floor(rows / size));
        const blocks = step === 1 ? all.blocks(selected, stop, true) : all.sample(selected, step, stop);
        return inOrder(await gatherEngineRows(blocks, cols));
      }, stop),
    nearBorders: (centroids, margin, mostRows, stop) =>
      again(async () => {
        const found: Matrix[] = [];
        let near = 0;
        const asked = () => engine.blocks(nearStatement(selected, centroids, margin), cols, stop);
        await each(read === "stream" ? all.blocks(selected, stop) : asked(), (block) => {
          const own = read === "stream" ? nearIn(block, centroids, margin) : { ...block, data: block.data.slice() };
          found.push(own);
          near += own.rows;
          return near <= mostRows;
        });
        return near > mostRows ? undefined : stackedBlocks(found, cols);
      }, stop),
  };
}

/** Shards answer in any order, and the first rows of a sample are where a run begins. */
function inOrder(points: Matrix): Matrix {
  const { data, rows, cols } = points;
  const compare = (a: number, b: number) => {
    for (let c = 0; c < cols; c++) {
      const difference = data[a * cols + c] - data[b * cols + c];
      if (difference !== 0) return difference;
    }
    return 0;
  };
  return takeRows(points, Uint32Array.from({ length: rows }, (_, r) => r).sort(compare));
}

/** Adds the answer of an aggregate query to the parts; returns the loss. */
function readParts({ data, rows, cols: width }: Matrix, cols: number, /* IN OUT */ sums: Float64Array): number {
  let loss = 0;
  for (let r = 0; r < rows; r++) {
    const [label, count, best, ...columns] = data.subarray(r * width, (r + 1) * width);
    if (Number.isNaN(label)) throw new SourceError(`${count} rows hold no numbers any more: the table has changed`);
    if (label === ON_BORDER) continue;
    const at = 2 * (cols + 1) * label;
    for (let j = 0; j < cols; j++) {
      sums[at + j] += columns[2 * j];
      sums[at + cols + 1 + j] += columns[2 * j + 1];
    }
    sums[at + cols] += count;
    loss += best;
  }
  return loss;
}

function hasBorder({ data, rows, cols }: Matrix): boolean {
  return Array.from({ length: rows }, (_, r) => data[r * cols]).includes(ON_BORDER);
}

function countOf({ sums }: StatisticsParts, { rows: k, cols }: Matrix): number {
  return Array.from({ length: k }, (_, c) => sums[c * 2 * (cols + 1) + cols]).reduce((a, b) => a + b, 0);
}

/** A pass that met other rows than the survey has counted something twice, or not at all. */
function checkRows(found: number, expected: number): void {
  if (found !== expected) {
    throw new SourceError(`rows have changed since the survey: there were ${expected}, and a pass met ${found}`);
  }
}

function nearIn(block: Matrix, centroids: Matrix, margin: number): Matrix {
  const prepared = fastKernel.prepare(block);
  const near = rowsNearBorders(block, prepared, centroids, margin);
  prepared.release();
  return near;
}

/** Seconds before each further try, about a minute in all: as long as a server takes to start again. */
const DELAYS = [0.2, 0.5, 1, 2, 4, 8, 15, 30];

/** Asks again, as a whole, where a question failed because a server is away: nothing is counted twice or by half. */
async function retry<T>(
  ask: () => Promise<T>,
  isPassing: (error: unknown) => boolean,
  signal: AbortSignal | undefined,
  onRetry: (error: unknown) => void,
): Promise<T> {
  for (const seconds of DELAYS) {
    try {
      return await ask();
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPassing(error)) throw error;
      onRetry(error);
      await wait(1000 * seconds, undefined, signal && { signal });
    }
  }
  return await ask();
}
