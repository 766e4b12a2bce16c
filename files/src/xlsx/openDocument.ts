// Spreadsheets of LibreOffice (OpenDocument): their sheets, the rows of one, and cells added to it.

import type { FilePosition } from "../source/refusal.ts";
import type { ByteFile } from "../source/source.ts";
import { unzipped, type ZipEntry } from "../source/zip.ts";
import { daysOf } from "../table/dates.ts";
import type { AddedCells, SheetCell, SheetRow, Workbook } from "./workbook.ts";
import { escapedXml, readXml, refuseXml, unescapedXml, xmlAttribute } from "./xml.ts";

const CONTENT = "content.xml";

const nameOf = xmlAttribute("name");
const rowsRepeatedOf = xmlAttribute("number-rows-repeated");
const columnsRepeatedOf = xmlAttribute("number-columns-repeated");
const typeOf = xmlAttribute("value-type");
const amountOf = xmlAttribute("value");
const dateOf = xmlAttribute("date-value");
const timeOf = xmlAttribute("time-value");
const booleanOf = xmlAttribute("boolean-value");
const stringOf = xmlAttribute("string-value");
const formulaOf = xmlAttribute("formula");
const countOf = xmlAttribute("c");

/** As large as the format's sheets are. */
const [MOST_ROWS, MOST_COLUMNS] = [2 ** 20, 2 ** 14];

export function isOpenDocument(entries: readonly ZipEntry[]): boolean {
  return ["mimetype", CONTENT].every((part) => entries.some(({ name }) => name === part));
}

export async function openDocumentSheets(
  bytes: ByteFile,
  entries: readonly ZipEntry[],
): Promise<{ readonly names: readonly string[]; readonly all: readonly Workbook[] }> {
  const entry = entries.find(({ name }) => name === CONTENT) as ZipEntry;
  const position = { file: bytes.file, part: JSON.stringify(CONTENT), byte: entry.offset };
  const content = await unzipped(bytes, entry);
  const names: string[] = [];
  readXml(content, position, {
    open(name, attributes) {
      if (name === "table") names.push(unescapedXml(nameOf(attributes) ?? "", position));
    },
  });
  if (names.length === 0) refuseXml(position, "no sheet");
  const all = names.map(
    (sheet): Workbook => ({
      file: bytes.file,
      sheets: names,
      sheet,
      part: CONTENT,
      content,
      eachRow: (use) => eachTableRow(content, position, names.indexOf(sheet), use),
      withCells: (own, column, cellsOf) => withTableCells(own, names.indexOf(sheet), column, cellsOf),
    }),
  );
  return { names, all };
}

interface Gathered {
  readonly attributes: string;
  readonly text: string[];
}

/** Paragraphs of a cell are lines of its text; notes on it are no part of it. */
function eachTableRow(content: Uint8Array, position: FilePosition, wanted: number, use: (row: SheetRow) => void): void {
  let table = -1;
  let row = 1;
  let repeated = 1;
  let cells: (SheetCell | undefined)[] = [];
  let next = 0;
  let own: Gathered | undefined;
  let notes = 0;
  const closeCell = () => {
    if (own === undefined) return;
    const count = repeatedIn(columnsRepeatedOf(own.attributes), MOST_COLUMNS, position);
    const cell = cellOf(own, position);
    if (cell !== undefined) for (let c = next; c < next + count; c++) cells[c] = cell;
    next += count;
    own = undefined;
  };
  readXml(content, position, {
    open(name, attributes) {
      if (name === "table") table++;
      if (table !== wanted) return;
      if (name === "table-row") {
        repeated = repeatedIn(rowsRepeatedOf(attributes), MOST_ROWS, position);
        [cells, next] = [[], 0];
      } else if (name === "table-cell" || name === "covered-table-cell") own = { attributes, text: [] };
      else if (name === "annotation") notes++;
      else if (own !== undefined && notes === 0) {
        if (name === "p") own.text.push("");
        if (name === "s")
          own.text.push(`${own.text.pop() ?? ""}${" ".repeat(Math.min(1000, Number(countOf(attributes) ?? 1)))}`);
        if (name === "tab") own.text.push(`${own.text.pop() ?? ""}\t`);
      }
    },
    text(text) {
      if (own !== undefined && notes === 0 && own.text.length > 0) own.text.push((own.text.pop() ?? "") + text);
    },
    close(name) {
      if (name === "annotation") notes--;
      if (table !== wanted) return;
      if (name === "table-cell" || name === "covered-table-cell") closeCell();
      if (name !== "table-row") return;
      if (cells.length > 0) for (let r = 0; r < repeated; r++) use({ row: row + r, cells });
      row += repeated;
    },
  });
}

function repeatedIn(text: string | undefined, most: number, position: FilePosition): number {
  const count = Number(text ?? 1);
  if (!(Number.isInteger(count) && count > 0 && count <= most)) refuseXml(position, `${text} repeated cells or rows`);
  return count;
}

function cellOf({ attributes, text }: Gathered, position: FilePosition): SheetCell | undefined {
  const written = text.join("\n");
  const number = (value: string | undefined) => {
    const own = Number(value ?? "");
    if (value === undefined || value.trim() === "" || Number.isNaN(own)) refuseXml(position, `the number ${value}`);
    return own;
  };
  const isError = /\scalcext:value-type\s*=\s*["']error["']/.test(attributes);
  if (isError) return { error: written };
  switch (typeOf(attributes)) {
    case "float":
    case "percentage":
    case "currency":
      return number(amountOf(attributes));
    case "date": {
      const days = daysOf(dateOf(attributes) ?? "");
      return days === undefined ? refuseXml(position, `the date ${dateOf(attributes)}`) : { days };
    }
    case "time": {
      const [, hours, minutes, seconds] = /^PT(\d+)H(\d+)M([\d.]+)S$/.exec(timeOf(attributes) ?? "") ?? [];
      return hours === undefined ? written : (Number(hours) + Number(minutes) / 60 + Number(seconds) / 3600) / 24;
    }
    case "boolean":
      return booleanOf(attributes) === "true";
    case "string": {
      const said = stringOf(attributes);
      return said === undefined ? written : unescapedXml(said, position);
    }
    default:
      return formulaOf(attributes) === undefined ? undefined : { formula: true };
  }
}

// Cells added to the XML of a table, of which everything else stays as it stands there.

const ATTRIBUTES = `((?:[^>"'/]|"[^"]*"|'[^']*'|/(?!>))*)`;
const TABLE = new RegExp(`<table:table(?=[\\s>/])${ATTRIBUTES}>`, "g");
const ROW = new RegExp(`<table:table-row(?=[\\s>/])${ATTRIBUTES}(/?)>`, "g");
const CELL = new RegExp(`<(table:(?:covered-)?table-cell)(?=[\\s>/])${ATTRIBUTES}(?:/>|>[\\s\\S]*?</\\1\\s*>)`, "g");
const ROW_END = "</table:table-row>";
const ROWS_REPEATED = /\stable:number-rows-repeated\s*=\s*("[^"]*"|'[^']*')/;
const COLUMNS_REPEATED = /\stable:number-columns-repeated\s*=\s*("[^"]*"|'[^']*')/;

function withTableCells(
  content: Uint8Array,
  wanted: number,
  column: number,
  cellsOf: (row: number) => AddedCells | undefined,
): Uint8Array {
  const text = new TextDecoder().decode(content);
  const [table, following] = [...text.matchAll(TABLE)].slice(wanted);
  const last = following?.index ?? text.length;
  const out: string[] = [];
  let at = 0;
  let number = 1;
  ROW.lastIndex = table.index;
  for (let match = ROW.exec(text); match !== null && match.index < last; match = ROW.exec(text)) {
    const [whole, attributes, empty] = match;
    const repeated = Number(rowsRepeatedOf(attributes) ?? 1);
    const from = match.index + whole.length;
    const to = empty === "/" ? from : text.indexOf(ROW_END, from);
    const end = empty === "/" ? from : to + ROW_END.length;
    const first = number;
    number += repeated;
    ROW.lastIndex = end;
    // Rows without a value have none of ours either.
    if (empty === "/" || cellsOf(first) === undefined) continue;
    const inner = text.slice(from, to);
    const kept = attributes.replace(ROWS_REPEATED, "");
    out.push(text.slice(at, match.index));
    for (let r = first; r < number; r++) {
      const cells = (cellsOf(r) ?? []).map(tableCell);
      out.push(`<table:table-row${kept}>${withCellsAt(inner, column, cells)}${ROW_END}`);
    }
    at = end;
  }
  out.push(text.slice(at));
  return new TextEncoder().encode(out.join(""));
}

/** In the place of empty cells, of which many stand in one. */
function withCellsAt(inner: string, column: number, cells: readonly string[]): string {
  const before: string[] = [];
  const behind: string[] = [];
  let next = 0;
  let at = 0;
  for (const match of inner.matchAll(CELL)) {
    const [whole, , attributes] = match;
    const count = Number(columnsRepeatedOf(attributes) ?? 1);
    const [from, to] = [next, next + count];
    next = to;
    before.push(inner.slice(at, match.index));
    at = match.index + whole.length;
    if (from < column) before.push(repeatedCell(whole, Math.min(to, column) - from, count));
    if (to > column + cells.length) {
      behind.push(repeatedCell(whole, to - Math.max(from, column + cells.length), count));
    }
  }
  const gap = column > next ? [`<table:table-cell table:number-columns-repeated="${column - next}"/>`] : [];
  return [...before, ...gap, ...cells, ...behind, inner.slice(at)].join("");
}

function repeatedCell(cell: string, count: number, before: number): string {
  if (count === before) return cell;
  const single = cell.replace(COLUMNS_REPEATED, "");
  return count === 1 ? single : single.replace(/^<[\w:-]+/, (tag) => `${tag} table:number-columns-repeated="${count}"`);
}

function tableCell(value: AddedCells[number]): string {
  if (value === null) return "<table:table-cell/>";
  const text = `<text:p>${escapedXml(String(value))}</text:p>`;
  const type = typeof value === "string" ? "string" : "float";
  const own = type === "float" ? ` office:value="${value}"` : "";
  return `<table:table-cell office:value-type="${type}"${own}>${text}</table:table-cell>`;
}
