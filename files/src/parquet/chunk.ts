// The pages of a column that is written: values one after the other, not packed, with marks of which rows have one.

import type { AddedColumn } from "../added.ts";
import { int32, int64, list, struct, type Thrift, text, writeThrift } from "./thrift.ts";

/** By the numbers that the format gives types: INT32, DOUBLE, and BYTE_ARRAY that is UTF-8. */
export const columnTypes: Readonly<Record<AddedColumn["kind"], { physical: number; converted?: number }>> = {
  whole: { physical: 1 },
  real: { physical: 5 },
  text: { physical: 6, converted: 0 },
};

const [PLAIN, RLE, INT32_ITEMS, BINARY_ITEMS] = [0, 3, 5, 8];
const PAGE_ROWS = 2 ** 17;

export interface Pages {
  readonly pieces: readonly Uint8Array[];
  readonly bytes: number;
  readonly rows: number;
}

/** Of rows start ... end - 1. Rows are asked for once and in order, all columns of a row together. */
export function pagesOf(columns: readonly AddedColumn[], start: number, end: number): Pages[] {
  const cells = columns.map((): (number | string | undefined)[] => new Array(end - start));
  for (let row = start; row < end; row++) {
    for (const [c, { of }] of columns.entries()) cells[c][row - start] = of(row);
  }
  return columns.map(({ kind }, c) => {
    const pieces: Uint8Array[] = [];
    // A column of no rows has one empty page.
    for (let at = 0; at === 0 || at < end - start; at += PAGE_ROWS) {
      pieces.push(...pageOf(kind, cells[c].slice(at, at + PAGE_ROWS)));
    }
    return { pieces, bytes: pieces.reduce((sum, { length }) => sum + length, 0), rows: end - start };
  });
}

/** Header and body. */
function pageOf(kind: AddedColumn["kind"], cells: readonly (number | string | undefined)[]): Uint8Array[] {
  const marks = definitionLevels(cells);
  const values = plain(kind, cells);
  const size = marks.length + values.length;
  const header = writeThrift(
    struct({
      1: int32(0),
      2: int32(size),
      3: int32(size),
      5: struct({ 1: int32(cells.length), 2: int32(PLAIN), 3: int32(RLE), 4: int32(RLE) }),
    }),
  );
  return [header, marks, values];
}

/** Runs of rows with and without a value, behind their length in four bytes. */
function definitionLevels(cells: readonly unknown[]): Uint8Array {
  const runs: number[] = [];
  for (let at = 0; at < cells.length; ) {
    const has = cells[at] !== undefined;
    let end = at;
    while (end < cells.length && (cells[end] !== undefined) === has) end++;
    let head = (end - at) * 2;
    for (; head >= 0x80; head = Math.floor(head / 0x80)) runs.push((head & 0x7f) | 0x80);
    runs.push(head, has ? 1 : 0);
    at = end;
  }
  const bytes = new Uint8Array(4 + runs.length);
  new DataView(bytes.buffer).setUint32(0, runs.length, true);
  bytes.set(runs, 4);
  return bytes;
}

function plain(kind: AddedColumn["kind"], cells: readonly (number | string | undefined)[]): Uint8Array {
  const present = cells.filter((cell) => cell !== undefined);
  if (kind === "whole") return bytesOf(Int32Array.from(present as number[]));
  if (kind === "real") return bytesOf(Float64Array.from(present as number[]));
  const encoder = new TextEncoder();
  const texts = present.map((cell) => encoder.encode(String(cell)));
  const bytes = new Uint8Array(texts.reduce((sum, { length }) => sum + 4 + length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const own of texts) {
    view.setUint32(at, own.length, true);
    bytes.set(own, at + 4);
    at += 4 + own.length;
  }
  return bytes;
}

/** As they lie in memory: every machine that runs JavaScript today has the low byte first, as the format does. */
function bytesOf({ buffer }: Int32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer as ArrayBuffer);
}

/** The footer's description of a column's pages that begin at a byte of the file. */
export function chunkOf({ name, kind }: AddedColumn, { bytes, rows }: Pages, at: number): Thrift {
  const about = struct({
    1: int32(columnTypes[kind].physical),
    2: list(INT32_ITEMS, [int32(PLAIN), int32(RLE)]),
    3: list(BINARY_ITEMS, [text(name)]),
    4: int32(0),
    5: int64(rows),
    6: int64(bytes),
    7: int64(bytes),
    9: int64(at),
  });
  return struct({ 2: int64(at), 3: about });
}
