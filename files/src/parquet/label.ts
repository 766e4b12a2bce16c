// Columns behind those of a Parquet file. Every byte of its pages stays as it was and where it was: the pages of the new
// columns come behind them, and only the footer is written anew.

import { type AddedColumn, withFreeNames } from "../added.ts";
import { DataError } from "../refusal.ts";
import type { PieceWriter, Source } from "../source.ts";
import { chunkOf, columnTypes, pagesOf } from "./chunk.ts";
import { openParquet } from "./file.ts";
import { int32, int64, list, readThrift, type Struct, struct, type Thrift, text, writeThrift } from "./thrift.ts";

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

export async function labelParquet(source: Source, added: readonly AddedColumn[], write: PieceWriter): Promise<void> {
  const { groups, elements } = await openParquet(source);
  const columns = withFreeNames(
    added,
    elements.map(({ name }) => name),
  );
  const { footer, end } = await readFooter(source);
  await copy(source, end, write);
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

async function readFooter(source: Source): Promise<{ footer: Struct; end: number }> {
  const tail = await slice(source, source.size - TAIL, source.size);
  const length = new DataView(tail.buffer).getUint32(0, true);
  const end = source.size - TAIL - length;
  try {
    return { footer: readThrift(await slice(source, end, source.size - TAIL)), end };
  } catch (error) {
    const place = { file: source.file, part: "footer", byte: Math.max(0, end) };
    const got = error instanceof Error ? error.message : "other bytes";
    throw new DataError(place, "be that of a whole Parquet file", got, "copy or write the file again", {
      cause: error,
    });
  }
}

async function slice(source: Source, from: number, to: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(to - from);
  for (let at = 0; at < bytes.length; ) {
    const length = await source.read(bytes.subarray(at), from + at);
    if (length === 0) throw new Error(`the file ends before byte ${to}`);
    at += length;
  }
  return bytes;
}

async function copy(source: Source, end: number, write: PieceWriter): Promise<void> {
  for (let at = 0; at < end; at += PIECE) await write(await slice(source, at, Math.min(end, at + PIECE)));
}

/** In place: the new columns in the schema and in every row group. */
function extend(footer: Struct, columns: readonly AddedColumn[], chunks: Thrift[][], bytes: readonly number[]): void {
  const { items: schema } = listIn(footer, FILE.schema);
  const root = schema[0] as Struct;
  root.fields.set(SCHEMA.children, int32(numberIn(root, SCHEMA.children) + columns.length));
  for (const { name, kind } of columns) {
    const { physical, converted } = columnTypes[kind];
    schema.push(
      struct({
        [SCHEMA.type]: int32(physical),
        [SCHEMA.repetition]: int32(OPTIONAL),
        [SCHEMA.name]: text(name),
        ...(converted !== undefined && { [SCHEMA.converted]: int32(converted) }),
      }),
    );
  }
  listIn(footer, FILE.rowGroups).items.forEach((own, g) => {
    const group = own as Struct;
    listIn(group, GROUP.columns).items.push(...chunks[g]);
    for (const field of [GROUP.bytes, GROUP.compressed]) {
      if (group.fields.has(field)) group.fields.set(field, int64(numberIn(group, field) + bytes[g]));
    }
  });
  // One order of values for each column, where there are any.
  if (footer.fields.has(FILE.columnOrders)) {
    listIn(footer, FILE.columnOrders).items.push(...columns.map(() => struct({ 1: struct({}) })));
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
  else footer.fields.set(FILE.keyValues, list(STRUCT, kept));
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
