// A file with columns added: the label of every row and what else is said about it, in its own format or in another.

import { labelCsv } from "../csv/label.ts";
import { joinBytes } from "../source/bytes.ts";
import { DataError } from "../source/refusal.ts";
import {
  type Limits,
  type OpenedFile,
  type Opener,
  type PieceWriter,
  textEncodings,
  withByteFile,
} from "../source/source.ts";
import { type AddedColumn, type LabelFormat, withFreeNames } from "../table/cellColumns.ts";
import { type DialectOptions, type ReadPlan, tableReadPlan } from "../table/columns.ts";
import type { Archive, ArchivedFile } from "./archive.ts";
import { eachJsonLine, isJsonFile } from "./json.ts";

export interface LabelFileOptions extends DialectOptions {
  readonly limits?: Limits;
  /** Behind the label. */
  readonly further?: readonly AddedColumn[];
  /** Default: the format of the file. */
  readonly as?: LabelFormat;
}

/** The label of a row in the order of the file, undefined for a row that was dropped. */
export type LabelOf = (row: number) => number | undefined;

/** Returns the names of columns that the format's writer cannot carry over, mostly none. */
export async function writeLabelledFile(
  open: Opener,
  labelOf: LabelOf,
  write: PieceWriter,
  options: LabelFileOptions,
): Promise<string[]> {
  const { further = [], as } = options;
  const plan = tableReadPlan(options);
  const added: readonly AddedColumn[] = [{ name: "cluster", kind: "whole", of: labelOf }, ...further];
  const work = async (outer: OpenedFile): Promise<string[]> => {
    const archive = await archiveOf(outer, plan);
    if (archive?.kind === "files") return labelArchive(outer, archive.files, added, write, options);
    if (archive?.kind === "workbook" && (as === undefined || (as === "xlsx" && !/\.ods$/i.test(outer.file)))) {
      const { labelledWorkbook } = await import("../xlsx/label.ts");
      await write(await labelledWorkbook(outer, archive.read, added, plan));
      return [];
    }
    return labelSingle(archive?.kind === "file" ? archive.file : outer, added, write, options);
  };
  // What is written cannot be taken back.
  return withByteFile(open, plan.limits, work, options.encoding, 1);
}

async function labelSingle(
  file: OpenedFile,
  added: readonly AddedColumn[],
  write: PieceWriter,
  options: LabelFileOptions,
): Promise<string[]> {
  const plan = tableReadPlan(options);
  const format = options.as ?? foreignFormat(file);
  if (format !== undefined && format !== formatOf(file)) {
    const { convertCells, writeConvertedCells } = await import("./convert.ts");
    const { columns, leftOut } = await convertCells(file, added, plan);
    await writeConvertedCells(columns, format, write, file.platform);
    return [...leftOut];
  }
  if (file.container === "parquet") await (await import("../parquet/label.ts")).labelParquet(file, added, write);
  else {
    const text = async (put: PieceWriter) => labelText(file, plan, added, await inEncodingOf(file, put));
    await (file.container === "gzip" ? file.platform.throughGzip(write, text) : text(write));
  }
  return [];
}

/** Writes UTF-8 as the text of a file is written, with its byte order mark. */
async function inEncodingOf(file: OpenedFile, write: PieceWriter): Promise<PieceWriter> {
  const { encoding } = file;
  if (encoding === undefined) return write;
  const decoder = new TextDecoder();
  const bytesOf = encoding === "utf16" ? utf16Bytes : (text: string) => latin1Bytes(text, file.file);
  const mark = new Uint8Array(2);
  if (encoding === "utf16" && file.container === "text") await file.read(mark, 0);
  let isFirst = mark[0] === 0xff && mark[1] === 0xfe;
  return async (piece) => {
    if (isFirst) await write(mark);
    isFirst = false;
    await write(bytesOf(decoder.decode(piece, { stream: true })));
  };
}

function utf16Bytes(text: string): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 * text.length));
  for (let i = 0; i < text.length; i++) view.setUint16(2 * i, text.charCodeAt(i), true);
  return new Uint8Array(view.buffer);
}

function latin1Bytes(text: string, file: string): Uint8Array {
  latin1Letters ??= readLatin1Letters();
  const known = latin1Letters;
  return Uint8Array.from(text, (letter) => {
    const byte = known.get(letter);
    if (byte !== undefined) return byte;
    const remedy = "name clusters with the letters of the file, or save it as UTF-8";
    throw new DataError({ file, whole: true }, "have letters of its encoding alone", JSON.stringify(letter), remedy);
  });
}

let latin1Letters: ReadonlyMap<string, number> | undefined;

/** As a stream, as files are read: at once, Node 20 takes bytes 128 to 159 for control characters, and "€" has no byte. */
function readLatin1Letters(): ReadonlyMap<string, number> {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const letters = new TextDecoder(textEncodings.latin1).decode(bytes, { stream: true });
  return new Map(Array.from(letters, (letter, byte) => [letter, byte]));
}

/** Each file labelled by itself, in an archive like the one that they are from. */
async function labelArchive(
  outer: OpenedFile,
  tables: readonly ArchivedFile[],
  added: readonly AddedColumn[],
  write: PieceWriter,
  options: LabelFileOptions,
): Promise<string[]> {
  const { unzipped, zipBytes, zipEntries } = await import("../source/zip.ts");
  const labelled = new Map<string, { readonly name: string; readonly bytes: Uint8Array }>();
  const leftOut: string[] = [];
  let before = 0;
  for (const { name, open } of tables) {
    let rows = 0;
    const own = added.map((column) => ({
      ...column,
      of: (row: number) => {
        rows = Math.max(rows, row + 1);
        return column.of(before + row);
      },
    }));
    const pieces: Uint8Array[] = [];
    leftOut.push(...(await labelSingle(await open(), own, async (piece) => void pieces.push(piece.slice()), options)));
    const ending = options.as === undefined ? name : name.replace(ENDING, `.${options.as}`);
    labelled.set(name, { name: ending, bytes: joinBytes(pieces) });
    before += rows;
  }
  const files = [];
  for (const entry of await zipEntries(outer)) {
    files.push(labelled.get(entry.name) ?? { name: entry.name, bytes: await unzipped(outer, entry) });
  }
  await write(await zipBytes(files, outer.platform));
  return [...new Set(leftOut)];
}

const ENDING = /(\.(csv|tsv|tab|txt|jsonl|ndjson|json|parquet|pq|npy|npz))?(\.gz)?$/i;

async function archiveOf(file: OpenedFile, plan: ReadPlan): Promise<Archive | undefined> {
  return file.container === "zip" ? (await import("./archive.ts")).openArchive(file, plan) : undefined;
}

/** The format for labels of files whose own format has no room for them. */
function foreignFormat({ container }: OpenedFile): LabelFormat | undefined {
  return container === "npy" ? "csv" : undefined;
}

/** The format that every byte can stay in. Packed text is not CSV: who asks for that wants to read it. */
function formatOf(source: OpenedFile): LabelFormat | undefined {
  if (source.container === "parquet") return "parquet";
  if (source.container !== "text") return undefined;
  if (!isJsonFile(source)) return "csv";
  return /\.json$/i.test(source.ending) ? undefined : "jsonl";
}

/** What the labelled copy of a file is called: with the ending of what it is written as, of archives of what is in them. */
export async function labelledFileName(open: Opener, options: LabelFileOptions): Promise<string> {
  const plan = tableReadPlan(options);
  const work = async (outer: OpenedFile) => {
    const archive = await archiveOf(outer, plan);
    const name = outer.file.replace(/^.*[/\\]/s, "");
    if (archive?.kind === "files" || (archive?.kind === "workbook" && options.as === undefined)) return name;
    const file = archive?.kind === "file" ? archive.file : outer;
    const stem = name
      .replace(/\.(zip|gz)$/i, "")
      .replace(/\.(csv|tsv|tab|txt|jsonl|ndjson|json|parquet|pq|xlsx|xlsm|ods|npy|npz)$/i, "");
    const format = options.as ?? foreignFormat(file);
    if (format !== undefined) return `${stem}.${format}`;
    const [ending] = /(\.\w+)(\.gz)?$/.exec(file.ending) ?? [""];
    return outer.container === "zip" ? stem + ending : name;
  };
  return withByteFile(open, plan.limits, work, options.encoding);
}

async function labelText(
  file: OpenedFile,
  plan: ReadPlan,
  added: readonly AddedColumn[],
  write: PieceWriter,
): Promise<void> {
  if (!isJsonFile(file)) return labelCsv(file, plan, added, write);
  let row = 0;
  // Any line may have a key that the others have not.
  const keys = new Set<string>();
  const lines: { body: string; cells: readonly string[] }[] = [];
  const format = await eachJsonLine(file, plan.limits, (_, text, isElement) => {
    const value: unknown = JSON.parse(text);
    const isNames =
      isElement && Array.isArray(value) && lines.length === 0 && value.every((own) => typeof own === "string");
    if (!Array.isArray(value)) for (const key of Object.keys(value as object)) keys.add(key);
    const names = isNames ? withFreeNames(added, value).map(({ name }) => name) : undefined;
    const own = names === undefined ? row++ : 0;
    const cells = added.map(({ of }, c) => JSON.stringify(names?.[c] ?? of(own) ?? null));
    lines.push({ body: text.slice(0, -1).trimEnd(), cells });
  });
  const names = withFreeNames(added, [...keys]).map(({ name }) => JSON.stringify(name));
  const all = lines.map(({ body, cells }) => {
    const comma = body.length === 1 ? "" : ", ";
    if (body.startsWith("[")) return `${body}${comma}${cells.join(", ")}]`;
    return `${body}${comma}${cells.map((cell, c) => `${names[c]}: ${cell}`).join(", ")}}`;
  });
  const text = format === "json" ? `[\n${all.join(",\n")}\n]\n` : all.map((line) => `${line}\n`).join("");
  await write(new TextEncoder().encode(text));
}
