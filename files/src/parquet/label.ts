// Columns behind those of a Parquet file. Every byte of its pages stays as it was and where it was: the pages of the new
// columns come behind them, and only the footer is written anew.

import type { OpenedFile, PieceWriter } from "../source/source.ts";
import { type AddedColumn, withFreeNames } from "../table/cellColumns.ts";
import { guardParquet, openParquet, parquetSlice } from "./file.ts";

// Thrift's compact encoding, which Parquet footers have: any structure to a tree of fields and back, also of fields that
// nobody here knows.

/** By the types of the encoding; booleans are a type each. */
export type Thrift =
  | { readonly type: 1 | 2 }
  | { readonly type: 3 | 4 | 5 | 6; readonly value: bigint }
  | { readonly type: 7 | 8; readonly bytes: Uint8Array }
  | { readonly type: 9 | 10; readonly of: number; readonly items: Thrift[] }
  | { readonly type: 12; readonly fields: Map<number, Thrift> };

export type Struct = Extract<Thrift, { type: 12 }>;

const TRUE = 1;
const DOUBLE_BYTES = 8;

export function readThrift(bytes: Uint8Array): Struct {
  let at = 0;
  const byte = () => {
    if (at >= bytes.length) throw new Error("a footer that ends early");
    return bytes[at++];
  };
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const next = byte();
      value |= BigInt(next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
  };
  const zigzag = () => {
    const value = varint();
    return (value >> 1n) ^ -(value & 1n);
  };
  const take = (length: number) => {
    if (at + length > bytes.length) throw new Error("a footer that ends early");
    at += length;
    return bytes.slice(at - length, at);
  };
  const value = (type: number, isItem: boolean): Thrift => {
    if (type === 1 || type === 2) return { type: isItem ? (byte() === TRUE ? 1 : 2) : type };
    if (type === 3) return { type, value: BigInt(byte()) };
    if (type === 4 || type === 5 || type === 6) return { type, value: zigzag() };
    if (type === 7) return { type, bytes: take(DOUBLE_BYTES) };
    if (type === 8) return { type, bytes: take(Number(varint())) };
    if (type === 9 || type === 10) {
      const head = byte();
      const size = head >> 4 === 15 ? Number(varint()) : head >> 4;
      return { type, of: head & 15, items: Array.from({ length: size }, () => value(head & 15, true)) };
    }
    if (type === 12) return struct();
    throw new Error(`a field of type ${type} in the footer`);
  };
  const struct = (): Struct => {
    const fields = new Map<number, Thrift>();
    for (let id = 0; ; ) {
      const head = byte();
      if (head === 0) return { type: 12, fields };
      id = head >> 4 === 0 ? Number(zigzag()) : id + (head >> 4);
      fields.set(id, value(head & 15, false));
    }
  };
  return struct();
}

export function writeThrift(root: Struct): Uint8Array {
  const out: number[] = [];
  const varint = (value: bigint) => {
    for (let rest = value; ; rest >>= 7n) {
      if (rest < 0x80n) return void out.push(Number(rest));
      out.push(Number(rest & 0x7fn) | 0x80);
    }
  };
  const zigzag = (value: bigint) => varint(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  const append = (bytes: Uint8Array) => {
    for (const byte of bytes) out.push(byte);
  };
  const value = (own: Thrift, isItem: boolean): void => {
    if (own.type === 1 || own.type === 2) {
      if (isItem) out.push(own.type);
    } else if (own.type === 3) out.push(Number(own.value));
    else if (own.type <= 6) zigzag((own as { value: bigint }).value);
    else if (own.type === 7) append(own.bytes);
    else if (own.type === 8) {
      varint(BigInt(own.bytes.length));
      append(own.bytes);
    } else if (own.type === 9 || own.type === 10) {
      const { length } = own.items;
      out.push((Math.min(length, 15) << 4) | own.of);
      if (length >= 15) varint(BigInt(length));
      for (const item of own.items) value(item, true);
    } else struct(own as Struct);
  };
  const struct = ({ fields }: Struct): void => {
    let last = 0;
    for (const id of [...fields.keys()].sort((a, b) => a - b)) {
      const own = fields.get(id) as Thrift;
      const delta = id - last;
      out.push(((delta > 0 && delta < 16 ? delta : 0) << 4) | own.type);
      if (!(delta > 0 && delta < 16)) zigzag(BigInt(id));
      value(own, false);
      last = id;
    }
    out.push(0);
  };
  struct(root);
  return Uint8Array.from(out);
}

export const thriftInt32 = (value: number): Thrift => ({ type: 5, value: BigInt(value) });
export const thriftInt64 = (value: number | bigint): Thrift => ({ type: 6, value: BigInt(value) });
export const thriftText = (value: string): Thrift => ({ type: 8, bytes: new TextEncoder().encode(value) });
export const thriftList = (of: number, items: Thrift[]): Thrift => ({ type: 9, of, items });
export const thriftStruct = (fields: Readonly<Record<number, Thrift>>): Struct => ({
  type: 12,
  fields: new Map(Object.entries(fields).map(([id, value]) => [Number(id), value])),
});

/** Of a footer, by the numbers that the format gives its fields. */
const FILE = { schema: 2, rowGroups: 4, keyValues: 5, columnOrders: 7 };
const SCHEMA = { type: 1, repetition: 3, name: 4, children: 5, converted: 6 };
const GROUP = { columns: 1, bytes: 2, compressed: 6 };
const STRUCT = 12;
const OPTIONAL = 1;

const PIECE = 2 ** 20;
/** Its length in four bytes and four letters. */
const TAIL = 8;
const MAGIC = Uint8Array.of(0x50, 0x41, 0x52, 0x31);

export async function labelParquet(file: OpenedFile, added: readonly AddedColumn[], write: PieceWriter): Promise<void> {
  const { groups, elements } = await openParquet(file);
  const columns = withFreeNames(
    added,
    elements.map(({ name }) => name),
  );
  const { footer, end } = await readFooter(file);
  await copy(file, end, write);
  let at = end;
  const chunks: Thrift[][] = [];
  const bytes: number[] = [];
  for (const { start, end: stop } of groups) {
    const made = pagesOf(columns, start, stop);
    chunks.push([]);
    bytes.push(0);
    for (const [c, pages] of made.entries()) {
      chunks[chunks.length - 1].push(chunkOf(columns[c], pages, at));
      for (const piece of pages.pieces) await write(piece);
      at += pages.bytes;
      bytes[bytes.length - 1] += pages.bytes;
    }
  }
  extend(footer, columns, chunks, bytes);
  const written = writeThrift(footer);
  const tail = new Uint8Array(TAIL);
  new DataView(tail.buffer).setUint32(0, written.length, true);
  tail.set(MAGIC, 4);
  await write(written);
  await write(tail);
}

async function readFooter(file: OpenedFile): Promise<{ footer: Struct; end: number }> {
  const tail = await parquetSlice(file, file.size - TAIL, file.size);
  const length = new DataView(tail).getUint32(0, true);
  const end = file.size - TAIL - length;
  const position = { file: file.file, part: "footer", byte: Math.max(0, end) };
  return guardParquet(position, async () => {
    return { footer: readThrift(new Uint8Array(await parquetSlice(file, end, file.size - TAIL))), end };
  });
}

async function copy(file: OpenedFile, end: number, write: PieceWriter): Promise<void> {
  for (let at = 0; at < end; at += PIECE)
    await write(new Uint8Array(await parquetSlice(file, at, Math.min(end, at + PIECE))));
}

/** In place: the new columns in the schema and in every row group. */
function extend(footer: Struct, columns: readonly AddedColumn[], chunks: Thrift[][], bytes: readonly number[]): void {
  const { items: schema } = listIn(footer, FILE.schema);
  const root = schema[0] as Struct;
  root.fields.set(SCHEMA.children, thriftInt32(numberIn(root, SCHEMA.children) + columns.length));
  for (const { name, kind } of columns) {
    const { physical, converted } = columnTypes[kind];
    schema.push(
      thriftStruct({
        [SCHEMA.type]: thriftInt32(physical),
        [SCHEMA.repetition]: thriftInt32(OPTIONAL),
        [SCHEMA.name]: thriftText(name),
        ...(converted !== undefined && { [SCHEMA.converted]: thriftInt32(converted) }),
      }),
    );
  }
  listIn(footer, FILE.rowGroups).items.forEach((own, g) => {
    const group = own as Struct;
    listIn(group, GROUP.columns).items.push(...chunks[g]);
    for (const field of [GROUP.bytes, GROUP.compressed]) {
      if (group.fields.has(field)) group.fields.set(field, thriftInt64(numberIn(group, field) + bytes[g]));
    }
  });
  // One order of values for each column, where there are any.
  if (footer.fields.has(FILE.columnOrders)) {
    listIn(footer, FILE.columnOrders).items.push(...columns.map(() => thriftStruct({ 1: thriftStruct({}) })));
  }
  dropArrowSchema(footer);
}

/** Arrow's own description has as many fields as it had, and readers trip over one that has fewer than the file. */
function dropArrowSchema(footer: Struct): void {
  if (!footer.fields.has(FILE.keyValues)) return;
  const { items } = listIn(footer, FILE.keyValues);
  const kept = items.filter((pair) => {
    const key = (pair as Struct).fields.get(1);
    return !(key?.type === 8 && new TextDecoder().decode(key.bytes) === "ARROW:schema");
  });
  if (kept.length === 0) footer.fields.delete(FILE.keyValues);
  else footer.fields.set(FILE.keyValues, thriftList(STRUCT, kept));
}

function listIn({ fields }: Struct, id: number): { items: Thrift[] } {
  const own = fields.get(id);
  if (own?.type !== 9) throw new Error(`no list as field ${id} of the footer`);
  return own;
}

function numberIn({ fields }: Struct, id: number): number {
  const own = fields.get(id);
  return own !== undefined && "value" in own ? Number(own.value) : 0;
}

/** By the numbers that the format gives types: INT32, DOUBLE, and BYTE_ARRAY that is UTF-8. */
const columnTypes: Readonly<Record<AddedColumn["kind"], { physical: number; converted?: number }>> = {
  whole: { physical: 1 },
  real: { physical: 5 },
  text: { physical: 6, converted: 0 },
};

const [PLAIN, RLE, INT32_ITEMS, BINARY_ITEMS] = [0, 3, 5, 8];
const PAGE_ROWS = 2 ** 17;

/** The pages of columns that are written: values one after the other, not packed, with marks of which rows have one.
 * Of rows start ... end - 1. Rows are asked for once and in order, all columns of a row together. */
function pagesOf(columns: readonly AddedColumn[], start: number, end: number) {
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
    thriftStruct({
      1: thriftInt32(0),
      2: thriftInt32(size),
      3: thriftInt32(size),
      5: thriftStruct({
        1: thriftInt32(cells.length),
        2: thriftInt32(PLAIN),
        3: thriftInt32(RLE),
        4: thriftInt32(RLE),
      }),
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
function chunkOf(
  { name, kind }: AddedColumn,
  { bytes, rows }: { readonly bytes: number; readonly rows: number },
  at: number,
): Thrift {
  const about = thriftStruct({
    1: thriftInt32(columnTypes[kind].physical),
    2: thriftList(INT32_ITEMS, [thriftInt32(PLAIN), thriftInt32(RLE)]),
    3: thriftList(BINARY_ITEMS, [thriftText(name)]),
    4: thriftInt32(0),
    5: thriftInt64(rows),
    6: thriftInt64(bytes),
    7: thriftInt64(bytes),
    9: thriftInt64(at),
  });
  return thriftStruct({ 2: thriftInt64(at), 3: about });
}
