// What a zip archive is: a workbook, NumPy's arrays, one file that was packed, or several that hold one table together.

import { DataError, listInRefusal } from "../source/refusal.ts";
import { type ByteFile, type OpenedFile, openedByteFile } from "../source/source.ts";
import { memoryFile, unzipped, type ZipEntry, zipEntries } from "../source/zip.ts";
import type { ReadPlan } from "../table/columns.ts";
import { excelSheets, isExcel } from "../xlsx/excel.ts";
import { isOpenDocument, openDocumentSheets } from "../xlsx/openDocument.ts";
import { columnsOfSheet } from "../xlsx/read.ts";
import { ALL_SHEETS, chosenSheet, mainSheet, type Workbook } from "../xlsx/workbook.ts";

export type Archive =
  /** The sheets that are read, mostly one; and those that have the same columns as the first of them. */
  | { readonly kind: "workbook"; readonly read: readonly Workbook[]; readonly alike: readonly Workbook[] }
  /** With the names of all arrays, if these are arrays. */
  | { readonly kind: "file"; readonly file: OpenedFile; readonly sheets?: readonly string[] }
  | { readonly kind: "files"; readonly files: readonly ArchivedFile[] };

export interface ArchivedFile {
  /** With the folders of the archive. */
  readonly name: string;
  open(): Promise<OpenedFile>;
}

export async function openArchive(bytes: ByteFile, plan: ReadPlan): Promise<Archive> {
  const { sheet } = plan.options;
  const entries = await zipEntries(bytes);
  if (isExcel(entries)) return sheetsOf(await excelSheets(bytes, entries, sheet), plan);
  if (isOpenDocument(entries)) return sheetsOf(await openDocumentSheets(bytes, entries), plan);
  const isArrays = entries.length > 0 && entries.every(({ name }) => name.endsWith(".npy"));
  const open = (entry: ZipEntry, name: string) => openEntry(bytes, entry, name, plan);
  if (isArrays) {
    const sheets = entries.map(({ name }) => name.replace(/\.npy$/, ""));
    const entry = arrayOf(bytes.file, entries, sheets, sheet);
    return { kind: "file", file: await open(entry, bytes.file), sheets };
  }
  const files = tablesIn(bytes.file, entries, sheet);
  if (files.length === 1) return { kind: "file", file: await open(files[0], bytes.file) };
  return {
    kind: "files",
    files: files.map((entry) => ({ name: entry.name, open: () => open(entry, `${bytes.file}/${entry.name}`) })),
  };
}

function sheetsOf(
  { names, all }: { readonly names: readonly string[]; readonly all: readonly Workbook[] },
  plan: ReadPlan,
): Archive {
  const { sheet } = plan.options;
  const main = mainSheet(all, names, sheet);
  const isLike = (own: Workbook) => {
    const columns = (of: Workbook) => columnsOfSheet(of, plan).map(({ name }) => name);
    try {
      return columns(own).join("\n") === columns(main).join("\n");
    } catch (error) {
      // An empty sheet is like no other.
      if (error instanceof DataError) return false;
      throw error;
    }
  };
  const alike = all.filter((own) => own === main || isLike(own));
  return { kind: "workbook", read: sheet === ALL_SHEETS ? alike : [main], alike };
}

async function openEntry(bytes: ByteFile, entry: ZipEntry, file: string, { options, limits }: ReadPlan) {
  const inside = { ...memoryFile(bytes, entry.name, await unzipped(bytes, entry)), file };
  const opened = await openedByteFile(inside, limits, options.encoding);
  // An archive in an archive, whatever it is called, is not opened.
  if (opened.container === "zip") {
    const position = { file: bytes.file, part: JSON.stringify(entry.name), byte: 0 };
    throw new DataError(position, "be a file that is no archive", "a zip archive", "unpack it first");
  }
  return opened;
}

function arrayOf(file: string, entries: readonly ZipEntry[], names: readonly string[], sheet: string | undefined) {
  const at = chosenSheet(names, sheet);
  if (at >= 0 && (sheet !== undefined || names.length === 1)) return entries[at];
  const rule =
    sheet === undefined ? "hold one array, or be read with the name of one" : `have the array ${JSON.stringify(sheet)}`;
  refuseName(file, names, rule, "arrays");
}

function refuseName(file: string, names: readonly string[], rule: string, what: string): never {
  const known = listInRefusal(names.map((name) => JSON.stringify(name)));
  throw new DataError({ file, part: "list of files", byte: 0 }, rule, `the ${what} ${known}`, [
    { kind: "sheet", sheets: names },
  ]);
}

const TABLE = /\.(csv|tsv|tab|txt|dat|jsonl|ndjson|json|parquet|pq|npy)(\.gz)?$/i;

/** The only file, or all that can be tables, or the one of this name. */
function tablesIn(file: string, entries: readonly ZipEntry[], sheet: string | undefined): ZipEntry[] {
  // What a Mac adds to every archive.
  const files = entries.filter(({ name }) => !/(^|\/)(__MACOSX\/|\.DS_Store$|\._)/.test(name));
  if (files.length === 1 && (sheet === undefined || sheet === ALL_SHEETS)) return files;
  const tables = files.filter(({ name }) => TABLE.test(name) && !/(^|\/)(read.?me|licen[cs]e)[^/]*$/i.test(name));
  const names = tables.map(({ name }) => name);
  if (sheet !== undefined && sheet !== ALL_SHEETS) {
    const at = chosenSheet(names, sheet);
    return at >= 0 ? [tables[at]] : refuseName(file, names, `have the file ${JSON.stringify(sheet)}`, "files");
  }
  if (tables.length > 0) return tables.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const others = listInRefusal(files.map(({ name }) => JSON.stringify(name)));
  const got = files.length === 0 ? "none" : `${files.length}: ${others}`;
  throw new DataError({ file, part: "list of files", byte: 0 }, "name a table", got, "pack CSV, JSON or Parquet files");
}
