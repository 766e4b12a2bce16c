// What a source needs of an engine: answers of few rows, and many rows as blocks of doubles.

import { type Matrix, stack } from "@fedkm/core";
import type { SqlDialect } from "./dialect.ts";

/** A column as its engine describes it. */
export interface EngineColumn {
  readonly name: string;
  /** As the engine calls it. */
  readonly type: string;
  readonly isNumeric: boolean;
  /** Whether the type says that cells can be NULL. */
  readonly isNullable: boolean;
}

/** An engine that answers queries about rows. */
export interface SqlEngine {
  readonly dialect: SqlDialect;
  columns(relation: string, signal?: AbortSignal): Promise<EngineColumn[]>;
  /**
   * The rows of a query whose `cols` columns are doubles, in blocks of at most BLOCK_ROWS. A block is overwritten by the
   * next. `isNumbered`: the query numbers its rows, which must have the same numbers next time.
   */
  blocks(statement: string, cols: number, signal?: AbortSignal, isNumbered?: boolean): AsyncIterable<Matrix>;
  /** The rows of a query whose columns are texts or NULL: few rows. Without it there are neither devices nor categories. */
  texts?(statement: string, signal?: AbortSignal, isNumbered?: boolean): Promise<(string | null)[][]>;
  /** Runs statements that write, all or none. */
  write(statements: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Whether the question can be asked again after this failure: the engine was not there, or went away. */
  isPassing(error: unknown): boolean;
  close(): Promise<void>;
}

/** Where an engine listens, and who asks. */
export interface EngineServer {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Seconds for a query. */
  readonly timeLimit: number;
}

/** Enough for the kernel to be busy, and few enough to stay in a cache. */
export const BLOCK_ROWS = 8192;

/** Gathers doubles that arrive in pieces of any length into blocks of whole rows. */
export class BlockFiller {
  readonly #block: Float64Array;
  readonly #bytes: Uint8Array;
  readonly #cols: number;
  #filled = 0;

  constructor(cols: number) {
    this.#cols = cols;
    this.#block = new Float64Array(BLOCK_ROWS * cols);
    this.#bytes = new Uint8Array(this.#block.buffer);
  }

  /** Takes what fits of some bytes of little-endian doubles; returns how many it took. */
  take(bytes: Uint8Array, from: number): number {
    const taken = Math.min(bytes.length - from, this.#bytes.length - this.#filled);
    this.#bytes.set(bytes.subarray(from, from + taken), this.#filled);
    this.#filled += taken;
    return taken;
  }

  get isFull(): boolean {
    return this.#filled === this.#bytes.length;
  }

  /** The rows so far; the next ones overwrite them. */
  drain(): Matrix {
    const rows = this.#filled / (8 * this.#cols);
    if (!Number.isInteger(rows)) throw new Error("the answer of the database ended within a row");
    this.#filled = 0;
    return { data: this.#block.subarray(0, rows * this.#cols), rows, cols: this.#cols };
  }
}

/** All rows of a query, in memory. */
export async function gatherEngineRows(blocks: AsyncIterable<Matrix>, cols: number): Promise<Matrix> {
  const parts: Matrix[] = [];
  for await (const { data, rows } of blocks) parts.push({ data: data.slice(), rows, cols });
  return stackedBlocks(parts, cols);
}

export function stackedBlocks(parts: readonly Matrix[], cols: number): Matrix {
  return parts.length === 0 ? { data: new Float64Array(0), rows: 0, cols } : stack(parts);
}
