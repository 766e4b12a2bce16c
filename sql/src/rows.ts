// Where the rows of a selection come from: an engine that is asked each time, or what was kept of an answer (spool.ts).

import type { Matrix } from "@fedkm/core";
import { type Engine, gather } from "./engine.ts";
import {
  type Bounds,
  outsideStatement,
  rowsStatement,
  type Selected,
  sampleStatement,
  surveyStatement,
} from "./statements.ts";

/** What one look at all rows finds, for each column. Without rows all extremes are 0. */
export interface Look {
  readonly rows: number;
  readonly missing: Float64Array;
  readonly infinite: Float64Array;
  readonly least: Float64Array;
  readonly most: Float64Array;
}

export interface Rows {
  look(selected: Selected, signal?: AbortSignal): Promise<Look>;
  /** For each column the number of rows that are out of its bounds. */
  outside(selected: Selected, bounds: readonly Bounds[], signal?: AbortSignal): Promise<number[]>;
  /** All rows, always in the same order if `isNumbered`. A block is overwritten by the next. */
  blocks(selected: Selected, signal?: AbortSignal, isNumbered?: boolean): AsyncIterable<Matrix>;
  /** One row of about `step`: the same ones every time. */
  sample(selected: Selected, step: number, signal?: AbortSignal): AsyncIterable<Matrix>;
}

export function rowsIn(engine: Engine): Rows {
  return {
    async look(selected, signal) {
      const width = 1 + 4 * selected.columns.length;
      const { data } = await gather(engine.blocks(surveyStatement(selected), width, signal), width);
      const every = (from: number) => Float64Array.from(selected.columns, (_, c) => data[1 + 4 * c + from]);
      const orZero = (x: number) => (Number.isNaN(x) ? 0 : x);
      return {
        rows: data[0],
        // Without rows an engine has no sums and no extremes.
        missing: every(0).map(orZero),
        infinite: every(1).map(orZero),
        least: every(2).map(orZero),
        most: every(3).map(orZero),
      };
    },
    async outside(selected, bounds, signal) {
      const statement = outsideStatement(selected, bounds);
      const { data } = await gather(engine.blocks(statement, bounds.length, signal), bounds.length);
      return Array.from(data);
    },
    blocks: (selected, signal, isNumbered) =>
      engine.blocks(rowsStatement(selected), selected.columns.length, signal, isNumbered),
    sample: (selected, step, signal) =>
      engine.blocks(sampleStatement(selected, step), selected.columns.length, signal, true),
  };
}
