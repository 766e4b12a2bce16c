// What a zip archive is: an Excel workbook, NumPy's arrays, or one file that was packed.

import type { Limits } from "./limits.ts";
import { DataError, listed } from "./refusal.ts";
import { type ByteFile, type Source, sourceOf, type TextEncoding } from "./source.ts";
import { openWorkbook, type Workbook } from "./xlsx/workbook.ts";
import { chosenSheet, memoryFile, unzipped, type ZipEntry, zipEntries } from "./zip.ts";

type Archive =
  | { readonly kind: "workbook"; readonly workbook: Workbook }
  /** With the names of all arrays, if these are arrays. */
  | { readonly kind: "file"; readonly file: ByteFile; readonly sheets?: readonly string[] };

/** `sheet` is the name of a sheet or an array, or its number from 1. */
export async function openArchive(bytes: ByteFile, sheet: string | undefined): Promise<Archive> {
  const entries = await zipEntries(bytes);
  if (entries.some(({ name }) => name === "xl/workbook.xml")) {
    return { kind: "workbook", workbook: await openWorkbook(bytes, entries, sheet) };
  }
  const isArrays = entries.length > 0 && entries.every(({ name }) => name.endsWith(".npy"));
  const sheets = entries.map(({ name }) => name.replace(/\.npy$/, ""));
  const entry = isArrays ? arrayOf(bytes.file, entries, sheets, sheet) : onlyEntry(bytes.file, entries);
  const file = memoryFile(bytes, entry.name, await unzipped(bytes, entry));
  return { kind: "file", file, ...(isArrays && { sheets }) };
}

function arrayOf(file: string, entries: readonly ZipEntry[], names: readonly string[], sheet: string | undefined) {
  const at = chosenSheet(names, sheet);
  if (at >= 0 && (sheet !== undefined || names.length === 1)) return entries[at];
  const known = listed(names.map((name) => JSON.stringify(name)));
  const rule =
    sheet === undefined ? "hold one array, or be read with the name of one" : `have the array ${JSON.stringify(sheet)}`;
  throw new DataError({ file, part: "list of files", byte: 0 }, rule, `the arrays ${known}`, [
    { kind: "sheet", sheets: names },
  ]);
}

/** The file in an archive as one to read. An archive in an archive, whatever it is called, is not opened. */
export async function insideSource(file: ByteFile, limits: Limits, encoding?: TextEncoding): Promise<Source> {
  const source = await sourceOf(file, limits, encoding);
  if (source.container !== "zip") return source;
  const place = { file: file.file, part: JSON.stringify(file.ending), byte: 0 };
  throw new DataError(place, "be a file that is no archive", "a zip archive", "unpack it first");
}

function onlyEntry(file: string, entries: readonly ZipEntry[]): ZipEntry {
  // What a Mac adds to every archive.
  const own = entries.filter(({ name }) => !/(^|\/)(__MACOSX\/|\.DS_Store$|\._)/.test(name));
  const place = { file, part: "list of files", byte: 0 };
  if (own.length !== 1) {
    const names = listed(own.map(({ name }) => JSON.stringify(name)));
    const got = own.length === 0 ? "none" : `${own.length}: ${names}`;
    throw new DataError(place, "name one file", got, "unpack it, and name the files");
  }
  return own[0];
}
