// A workbook of one sheet: the least that spreadsheets open, packed as they pack it.

import { joinBytes } from "../source/bytes.ts";
import { DataError } from "../source/refusal.ts";
import type { Platform } from "../source/source.ts";
import type { CellColumn } from "../table/cellColumns.ts";

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
  return zipped(files, platform);
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

const marks: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function textCell(text: string): string {
  const escaped = Array.from(text.slice(0, LONGEST_TEXT), (own) => marks[own] ?? visible(own)).join("");
  return `<c t="inlineStr"><is><t xml:space="preserve">${escaped}</t></is></c>`;
}

/** Characters that XML cannot have are written as the format escapes them. */
function visible(character: string): string {
  const isControl = character < " " && !["\t", "\n", "\r"].includes(character);
  return isControl ? `_x${character.charCodeAt(0).toString(16).padStart(4, "0")}_` : character;
}

/** Gzip holds what an archive needs: packed bytes behind a head of ten, and in its last eight the checksum. */
const [GZIP_HEAD, GZIP_TAIL] = [10, 8];
const DEFLATED = 8;
/** The first of January 1980, the earliest that an archive can say. */
const NO_DATE = 0x21;

async function zipped(
  files: readonly { readonly name: string; readonly bytes: Uint8Array }[],
  platform: Platform,
): Promise<Uint8Array> {
  const out: Uint8Array[] = [];
  const listed: Uint8Array[] = [];
  let at = 0;
  const put = (bytes: Uint8Array) => {
    out.push(bytes);
    at += bytes.length;
  };
  for (const { name, bytes } of files) {
    const packed = await gzipped(bytes, platform);
    const sum = new DataView(packed.buffer, packed.byteOffset + packed.length - GZIP_TAIL).getUint32(0, true);
    const body = packed.subarray(GZIP_HEAD, packed.length - GZIP_TAIL);
    const title = new TextEncoder().encode(name);
    const about = [20, 0, DEFLATED, 0, NO_DATE];
    const sizes = [sum, body.length, bytes.length];
    const begin = at;
    put(record([0x04034b50], about, sizes, [title.length, 0]));
    put(title);
    put(body);
    listed.push(record([0x02014b50], [20, ...about], sizes, [title.length, 0, 0, 0, 0], [0, begin]), title);
  }
  const begin = at;
  for (const bytes of listed) put(bytes);
  put(record([0x06054b50], [0, 0, files.length, files.length], [at - begin, begin], [0]));
  return joinBytes(out);
}

/** Numbers of four and of two bytes in turn, the low byte first. */
function record(...groups: readonly (readonly number[])[]): Uint8Array {
  const size = groups.reduce((sum, own, i) => sum + own.length * (i % 2 === 0 ? 4 : 2), 0);
  const view = new DataView(new ArrayBuffer(size));
  let at = 0;
  for (const [i, own] of groups.entries()) {
    for (const value of own) {
      if (i % 2 === 0) view.setUint32(at, value, true);
      else view.setUint16(at, value, true);
      at += i % 2 === 0 ? 4 : 2;
    }
  }
  return new Uint8Array(view.buffer);
}

async function gzipped(bytes: Uint8Array, platform: Platform): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  await platform.throughGzip(
    async (piece) => void pieces.push(piece),
    (write) => write(bytes),
  );
  return joinBytes(pieces);
}
