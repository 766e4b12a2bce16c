// What a zip archive is: an Excel workbook, NumPy's arrays, or one file that was packed.

import { DataError, listInRefusal } from "../source/refusal.ts";
import { type ByteFile, type OpenedFile, openedByteFile } from "../source/source.ts";
import { memoryFile, unzipped, type ZipEntry, zipEntries } from "../source/zip.ts";
import type { ReadPlan } from "../table/columns.ts";
import { chosenSheet, openWorkbook, type Workbook } from "../xlsx/workbook.ts";

type Archive =
  | { readonly kind: "workbook"; readonly workbook: Workbook }
  /** With the names of all arrays, if these are arrays. */
  | { readonly kind: "file"; readonly file: OpenedFile; readonly sheets?: readonly string[] };

export async function openArchive(bytes: ByteFile, { options, limits }: ReadPlan): Promise<Archive> {
  const { sheet, encoding } = options;
  const entries = await zipEntries(bytes);
  if (entries.some(({ name }) => name === "xl/workbook.xml")) {
    return { kind: "workbook", workbook: await openWorkbook(bytes, entries, sheet) };
  }
  const isArrays = entries.length > 0 && entries.every(({ name }) => name.endsWith(".npy"));
  const sheets = entries.map(({ name }) => name.replace(/\.npy$/, ""));
  const entry = isArrays ? arrayOf(bytes.file, entries, sheets, sheet) : onlyEntry(bytes.file, entries);
  const inside = memoryFile(bytes, entry.name, await unzipped(bytes, entry));
  const file = await openedByteFile(inside, limits, encoding);
  // An archive in an archive, whatever it is called, is not opened.
  if (file.container === "zip") {
    const position = { file: bytes.file, part: JSON.stringify(entry.name), byte: 0 };
    throw new DataError(position, "be a file that is no archive", "a zip archive", "unpack it first");
  }
  return { kind: "file", file, ...(isArrays && { sheets }) };
}

function arrayOf(file: string, entries: readonly ZipEntry[], names: readonly string[], sheet: string | undefined) {
  const at = chosenSheet(names, sheet);
  if (at >= 0 && (sheet !== undefined || names.length === 1)) return entries[at];
  const known = listInRefusal(names.map((name) => JSON.stringify(name)));
  const rule =
    sheet === undefined ? "hold one array, or be read with the name of one" : `have the array ${JSON.stringify(sheet)}`;
  throw new DataError({ file, part: "list of files", byte: 0 }, rule, `the arrays ${known}`, [
    { kind: "sheet", sheets: names },
  ]);
}

function onlyEntry(file: string, entries: readonly ZipEntry[]): ZipEntry {
  // What a Mac adds to every archive.
  const files = entries.filter(({ name }) => !/(^|\/)(__MACOSX\/|\.DS_Store$|\._)/.test(name));
  const position = { file, part: "list of files", byte: 0 };
  if (files.length !== 1) {
    const names = listInRefusal(files.map(({ name }) => JSON.stringify(name)));
    const got = files.length === 0 ? "none" : `${files.length}: ${names}`;
    throw new DataError(position, "name one file", got, "unpack it, and name the files");
  }
  return files[0];
}
