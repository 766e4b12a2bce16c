// PostgreSQL's binary COPY of rows of doubles: a header of 19 bytes, then for each row its number of fields, and before
// each field its length (https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-BINARY-FORMAT).

import type { Matrix } from "@fedkm/core";
import { BLOCK_ROWS } from "./engine.ts";

const HEADER = 19;
const FIELD = 12;
/** In the place of a number of fields: the end. */
const TRAILER = -1;
const NULL_LENGTH = -1;

export async function* copyRows(stream: AsyncIterable<Buffer>, cols: number): AsyncIterable<Matrix> {
  const data = new Float64Array(BLOCK_ROWS * cols);
  let rest: Buffer = Buffer.alloc(0);
  let rows = 0;
  let hasHeader = false;
  let hasEnded = false;
  for await (const piece of stream) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = hasHeader ? 0 : HEADER;
    if (!hasHeader && bytes.length < HEADER) at = 0;
    else hasHeader = true;
    while (hasHeader && !hasEnded && at + 2 <= bytes.length) {
      if (view.getInt16(at) === TRAILER) {
        hasEnded = true;
        break;
      }
      const end = rowEnd(view, at + 2, cols);
      if (end === undefined) break;
      readRow(view, at + 2, cols, data, rows * cols);
      at = end;
      if (++rows === BLOCK_ROWS) {
        yield { data, rows, cols };
        rows = 0;
      }
    }
    rest = bytes.subarray(at);
  }
  if (!hasEnded) throw Object.assign(new Error("PostgreSQL ended its answer too early: terminated"), { code: "08006" });
  if (rows > 0) yield { data: data.subarray(0, rows * cols), rows, cols };
}

/** Where the row ends that begins here; undefined where it has not arrived whole. */
function rowEnd(view: DataView, from: number, cols: number): number | undefined {
  // Nearly always: all fields are there, and none is NULL.
  if (from + cols * FIELD <= view.byteLength) {
    let at = from;
    for (let c = 0; c < cols; c++) at += view.getInt32(at) === NULL_LENGTH ? 4 : FIELD;
    return at;
  }
  let at = from;
  for (let c = 0; c < cols; c++) {
    if (at + 4 > view.byteLength) return undefined;
    at += view.getInt32(at) === NULL_LENGTH ? 4 : FIELD;
  }
  return at <= view.byteLength ? at : undefined;
}

function readRow(view: DataView, from: number, cols: number, /* OUT */ data: Float64Array, to: number): void {
  let at = from;
  for (let c = 0; c < cols; c++) {
    const isNull = view.getInt32(at) === NULL_LENGTH;
    data[to + c] = isNull ? Number.NaN : view.getFloat64(at + 4);
    at += isNull ? 4 : FIELD;
  }
}
