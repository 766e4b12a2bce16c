// A workbook with cells added behind its rows: other sheets, titles, formats and formulas stay as they are.

import type { ByteFile } from "../source/source.ts";
import { unzipped, zipBytes, zipEntries } from "../source/zip.ts";
import { type AddedColumn, withFreeNames } from "../table/cellColumns.ts";
import type { ReadPlan } from "../table/columns.ts";
import { beginningOfSheet } from "./read.ts";
import type { AddedCells, SheetRow, Workbook } from "./workbook.ts";

/** Rows are those that the reader gives: of all sheets that are read, in their order. */
export async function labelledWorkbook(
  bytes: ByteFile,
  read: readonly Workbook[],
  added: readonly AddedColumn[],
  plan: ReadPlan,
): Promise<Uint8Array> {
  const contents = new Map<string, Uint8Array>();
  let row = 0;
  for (const workbook of read) {
    const rows: SheetRow[] = [];
    workbook.eachRow((own) => rows.push(own));
    const { columns, body, header } = beginningOfSheet(workbook, rows, plan);
    const names = columns.map(({ name }) => name);
    const cells = new Map<number, AddedCells>();
    if (header !== undefined)
      cells.set(
        header,
        withFreeNames(added, names).map(({ name }) => name),
      );
    const from = body.at(0)?.row ?? Number.POSITIVE_INFINITY;
    for (const own of rows) {
      if (own.row < from) continue;
      const at = row++;
      cells.set(
        own.row,
        added.map(({ of }) => of(at) ?? null),
      );
    }
    const before = contents.get(workbook.part) ?? workbook.content;
    contents.set(
      workbook.part,
      workbook.withCells(before, columns.length, (number) => cells.get(number)),
    );
  }
  const files = [];
  for (const entry of await zipEntries(bytes)) {
    files.push({ name: entry.name, bytes: contents.get(entry.name) ?? (await unzipped(bytes, entry)) });
  }
  return zipBytes(files, bytes.platform);
}
