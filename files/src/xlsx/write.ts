// A workbook of one sheet: the least that spreadsheets open, packed as they pack it.

import { DataError } from "../source/refusal.ts";
import type { Platform } from "../source/source.ts";
import { zipBytes } from "../source/zip.ts";
import type { CellColumn } from "../table/cellColumns.ts";
import { escapedXml } from "./xml.ts";

/** Of the format, with a line for the names. */
const MOST_ROWS = 1_048_575;
const LONGEST_TEXT = 32_767;

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml";

const parts = {
  "[Content_Types].xml": `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPES}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPES}.worksheet+xml"/></Types>`,
  "_rels/.rels": `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  "xl/workbook.xml": `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="labels" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
};

export async function workbookBytes(columns: readonly CellColumn[], platform: Platform): Promise<Uint8Array> {
  const rows = columns[0]?.cells.length ?? 0;
  if (rows > MOST_ROWS) {
    const remedy = "write Parquet or CSV instead";
    throw new DataError({ file: "labels as xlsx", whole: true }, `have at most ${MOST_ROWS} rows`, `${rows}`, remedy);
  }
  const encoder = new TextEncoder();
  const files = Object.entries(parts).map(([name, text]) => ({ name, bytes: encoder.encode(HEAD + text) }));
  files.push({ name: "xl/worksheets/sheet1.xml", bytes: encoder.encode(sheet(columns, rows)) });
  return zipBytes(files, platform);
}

function sheet(columns: readonly CellColumn[], rows: number): string {
  const lines = [`<row r="1">${columns.map(({ name }) => textCell(name)).join("")}</row>`];
  for (let r = 0; r < rows; r++) {
    lines.push(`<row r="${r + 2}">${columns.map(({ cells }) => cell(cells[r])).join("")}</row>`);
  }
  return `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>${lines.join("\n")}</sheetData></worksheet>`;
}

/** A whole number that a spreadsheet would round is a text. */
function cell(value: CellColumn["cells"][number]): string {
  if (value === null) return "<c/>";
  if (typeof value === "boolean") return `<c t="b"><v>${value ? 1 : 0}</v></c>`;
  if (typeof value === "number") return Number.isFinite(value) ? `<c><v>${value}</v></c>` : textCell(String(value));
  if (typeof value === "bigint" && value <= 999_999_999_999_999n && value >= -999_999_999_999_999n)
    return `<c><v>${value}</v></c>`;
  return textCell(String(value));
}

function textCell(text: string): string {
  const escaped = escapedXml(text.slice(0, LONGEST_TEXT));
  return `<c t="inlineStr"><is><t xml:space="preserve">${escaped}</t></is></c>`;
}
