// Workbooks of Excel: their sheets, their texts, which of their styles are dates, the rows of a sheet, and cells added to it.

import type { FilePosition } from "../source/refusal.ts";
import type { ByteFile } from "../source/source.ts";
import { unzipped, type ZipEntry } from "../source/zip.ts";
import { usualCells } from "../table/cell.ts";
import {
  type AddedCells,
  ALL_SHEETS,
  chosenSheet,
  columnLetters,
  refuseSheet,
  type SheetCell,
  type SheetRow,
  type Workbook,
} from "./workbook.ts";
import { escapedXml, readXml, refuseXml, unescapedXml, xmlAttribute } from "./xml.ts";

const nameOf = xmlAttribute("name");
const idOf = xmlAttribute("id");
const relationOf = xmlAttribute("Id");
const targetOf = xmlAttribute("Target");

const LIST = "xl/workbook.xml";

export function isExcel(entries: readonly ZipEntry[]): boolean {
  return entries.some(({ name }) => name === LIST);
}

/** What its sheets share. */
interface Shared {
  readonly texts: readonly string[];
  /** For each style whether its numbers are dates. */
  readonly areDates: readonly boolean[];
  readonly is1904: boolean;
}

/** All sheets, or where one is named, that one. */
export async function excelSheets(
  bytes: ByteFile,
  entries: readonly ZipEntry[],
  wanted: string | undefined,
): Promise<{ readonly names: readonly string[]; readonly all: readonly Workbook[] }> {
  const { file } = bytes;
  const part = async (name: string) => {
    const entry = entries.find((own) => own.name === name);
    const content = entry && (await unzipped(bytes, entry));
    return { position: { file, part: JSON.stringify(name), byte: entry?.offset ?? 0 }, content };
  };
  const parsed = async <T>(
    name: string,
    parse: (content: Uint8Array, position: FilePosition) => T,
    without: T,
  ): Promise<T> => {
    const { position, content } = await part(name);
    return content === undefined ? without : parse(content, position);
  };
  const { sheets, is1904 } = await parsed(LIST, parseWorkbook, { sheets: [], is1904: false });
  const targets = await parsed("xl/_rels/workbook.xml.rels", parseTargets, new Map<string, string>());
  const names = sheets.map(({ name }) => name);
  const texts = await parsed("xl/sharedStrings.xml", parseTexts, []);
  const areDates = await parsed("xl/styles.xml", parseStyles, []);
  const shared = { texts, areDates, is1904 };
  const opened = async (at: number): Promise<Workbook> => {
    const target = targets.get(sheets[at]?.id ?? "");
    if (target === undefined) refuseSheet({ file, part: LIST }, names, wanted);
    const name = target.startsWith("/") ? target.slice(1) : `xl/${target}`;
    const { position, content } = await part(name);
    if (content === undefined) refuseXml(position, "no such part");
    return {
      file,
      sheets: names,
      sheet: names[at],
      part: name,
      content,
      eachRow: (use) => eachSheetRow(content, position, shared, use),
      withCells: withExcelCells,
    };
  };
  const isOne = (wanted !== undefined && wanted !== ALL_SHEETS) || names.length < 2;
  if (isOne) return { names, all: [await opened(chosenSheet(names, wanted === ALL_SHEETS ? undefined : wanted))] };
  const all: Workbook[] = [];
  for (const at of names.keys()) if (targets.get(sheets[at].id)?.includes("worksheets")) all.push(await opened(at));
  return { names, all: all.length > 0 ? all : [await opened(0)] };
}

function parseWorkbook(content: Uint8Array, position: FilePosition) {
  const sheets: { name: string; id: string }[] = [];
  let is1904 = false;
  const date1904 = xmlAttribute("date1904");
  readXml(content, position, {
    open(name, attributes) {
      if (name === "workbookPr") is1904 = ["1", "true"].includes(date1904(attributes) ?? "");
      if (name !== "sheet") return;
      sheets.push({ name: unescapedXml(nameOf(attributes) ?? "", position), id: idOf(attributes) ?? "" });
    },
  });
  return { sheets, is1904 };
}

function parseTargets(content: Uint8Array, position: FilePosition): Map<string, string> {
  const targets = new Map<string, string>();
  readXml(content, position, {
    open(name, attributes) {
      if (name !== "Relationship") return;
      targets.set(relationOf(attributes) ?? "", unescapedXml(targetOf(attributes) ?? "", position));
    },
  });
  return targets;
}

/** Texts that cells name by their numbers; what says how a text is spoken (rPh) is no part of it. */
function parseTexts(content: Uint8Array, position: FilePosition): string[] {
  const texts: string[] = [];
  let text = "";
  let isText = false;
  let isSpoken = false;
  readXml(content, position, {
    open(name) {
      if (name === "si") text = "";
      if (name === "rPh") isSpoken = true;
      isText = name === "t" && !isSpoken;
    },
    text(own) {
      if (isText) text += own;
    },
    close(name) {
      if (name === "si") texts.push(text);
      if (name === "rPh") isSpoken = false;
      isText = false;
    },
  });
  return texts;
}

/** Formats of dates that need no code. */
const isBuiltInDate = (id: number) =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);

function parseStyles(content: Uint8Array, position: FilePosition): boolean[] {
  const codeOf = xmlAttribute("formatCode");
  const formatOf = xmlAttribute("numFmtId");
  const dates = new Set<number>();
  const styles: boolean[] = [];
  let isInCells = false;
  readXml(content, position, {
    open(name, attributes) {
      const id = Number(formatOf(attributes) ?? 0);
      if (name === "numFmt" && isDateCode(unescapedXml(codeOf(attributes) ?? "", position))) dates.add(id);
      if (name === "cellXfs") isInCells = true;
      if (name === "xf" && isInCells) styles.push(dates.has(id) || isBuiltInDate(id));
    },
    close(name) {
      if (name === "cellXfs") isInCells = false;
    },
  });
  return styles;
}

/** Letters of days and times outside quotes and brackets; an elapsed time such as [h]:mm is a number of days. */
function isDateCode(code: string): boolean {
  if (/\[(h+|m+|s+)\]/i.test(code)) return false;
  const plain = code.replaceAll(/"[^"]*"|\[[^\]]*\]|\\.|_.|\*./g, "");
  return /[ymdhs]/i.test(plain) && !/general/i.test(plain);
}

const referenceOf = xmlAttribute("r");
const typeOf = xmlAttribute("t");
const styleOf = xmlAttribute("s");

/** What is gathered between the tags of a cell. */
interface Gathered {
  column: number;
  type: string;
  style: number;
  value: string;
  hasValue: boolean;
  isFormula: boolean;
}

function eachSheetRow(content: Uint8Array, position: FilePosition, shared: Shared, use: (row: SheetRow) => void): void {
  let row = 0;
  let cells: (SheetCell | undefined)[] = [];
  let own: Gathered | undefined;
  let isText = false;
  let isSpoken = false;
  let next = 0;
  readXml(content, position, {
    open(name, attributes) {
      if (name === "row") {
        const number = Number(referenceOf(attributes) ?? row + 1);
        if (!(Number.isInteger(number) && number > row)) refuseXml(position, `row ${number} behind row ${row}`);
        [row, cells, next] = [number, [], 0];
      } else if (name === "c") {
        const column = columnOf(referenceOf(attributes), next);
        if (column < next) refuseXml(position, `column ${column + 1} twice in row ${row}`);
        const style = Number(styleOf(attributes) ?? -1);
        own = { column, type: typeOf(attributes) ?? "n", style, value: "", hasValue: false, isFormula: false };
        next = column + 1;
      } else if (name === "f" && own !== undefined) own.isFormula = true;
      else if (name === "rPh") isSpoken = true;
      isText = (name === "v" || (name === "t" && !isSpoken)) && own !== undefined;
      if (isText && own !== undefined) own.hasValue = true;
    },
    text(text) {
      if (isText && own !== undefined) own.value += text;
    },
    close(name) {
      isText = false;
      if (name === "rPh") isSpoken = false;
      if (name === "c" && own !== undefined) {
        const cell = cellOf(own, position, shared);
        if (cell !== undefined) cells[own.column] = cell;
        own = undefined;
      }
      if (name === "row" && cells.length > 0) use({ row, cells });
    },
  });
}

/** From 0; the next one if a cell does not say where it stands. */
function columnOf(reference: string | undefined, next: number): number {
  const letters = reference?.match(/^[A-Z]{1,3}/)?.[0];
  if (letters === undefined) return next;
  return Array.from(letters).reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 64, 0) - 1;
}

function cellOf(own: Gathered, position: FilePosition, { texts, areDates, is1904 }: Shared): SheetCell | undefined {
  const { type, style, value, hasValue, isFormula } = own;
  if (!hasValue || (value === "" && type !== "str" && type !== "inlineStr")) {
    return isFormula ? { formula: true } : undefined;
  }
  switch (type) {
    case "s": {
      const text = /^\d+$/.test(value) ? texts[Number(value)] : undefined;
      return text ?? refuseXml(position, `text ${value} of ${texts.length}`);
    }
    case "str":
    case "inlineStr":
    case "d":
      return value;
    case "b":
      return value === "1" || value === "true";
    case "e":
      return { error: value };
    default: {
      const number = usualCells.value(value) ?? Number.NaN;
      if (Number.isNaN(number)) refuseXml(position, `the number ${JSON.stringify(value)}`);
      return areDates[style] ? { days: daysOfSerial(number, is1904) } : number;
    }
  }
}

/** A day as Excel counts it: from the end of 1899, with a 29 February 1900 that never was, or from the start of 1904. */
function daysOfSerial(serial: number, is1904: boolean): number {
  if (is1904) return serial - 24_107;
  return serial < 60 ? serial - 25_568 : serial - 25_569;
}

// Cells added to the XML of a sheet, of which everything else stays as it stands there.

const ATTRIBUTES = `((?:[^>"'/]|"[^"]*"|'[^']*'|/(?!>))*)`;
const ROW = new RegExp(`<!--[\\s\\S]*?-->|<((?:\\w+:)?)row\\b${ATTRIBUTES}(/?)>`, "g");
const CELL = new RegExp(`<((?:\\w+:)?)c\\b${ATTRIBUTES}(?:/>|>[\\s\\S]*?</\\1c\\s*>)`, "g");
const DIMENSION = /(<(?:\w+:)?dimension\b[^>]*?\bref=")([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?"/;

function withExcelCells(
  content: Uint8Array,
  column: number,
  cellsOf: (row: number) => AddedCells | undefined,
): Uint8Array {
  const text = new TextDecoder().decode(content);
  const out: string[] = [];
  let at = 0;
  let number = 0;
  let width = 0;
  for (const match of text.matchAll(ROW)) {
    const [whole, prefix, attributes, empty] = match;
    if (attributes === undefined || match.index < at) continue;
    number = Number(referenceOf(attributes) ?? number + 1);
    const added = cellsOf(number);
    if (added === undefined) continue;
    width = Math.max(width, added.length);
    const from = match.index + whole.length;
    const end = `</${prefix}row`;
    const to = empty === "/" ? from : text.indexOf(end, from);
    const cells = added.map((value, c) => excelCell(value, prefix, `${columnLetters(column + c)}${number}`));
    // A hint on the columns that are filled, which would be wrong now.
    const kept = attributes.replace(/\sspans\s*=\s*("[^"]*"|'[^']*')/, "");
    const inner = withCellsAt(text.slice(from, to), column, cells);
    out.push(text.slice(at, match.index), `<${prefix}row${kept}>`, inner, `${end}>`);
    at = empty === "/" ? from : text.indexOf(">", to) + 1;
  }
  out.push(text.slice(at));
  const whole = out.join("").replace(DIMENSION, (_, head, left, top, right = left, bottom = top) => {
    const last = Math.max(columnOf(right, 0), column + width - 1);
    return `${head}${left}${top}:${columnLetters(last)}${bottom}"`;
  });
  return new TextEncoder().encode(whole);
}

/** In the place of cells without a value; those behind stay behind. */
function withCellsAt(inner: string, column: number, cells: readonly string[]): string {
  const before: string[] = [];
  const behind: string[] = [];
  let at = 0;
  let next = 0;
  for (const match of inner.matchAll(CELL)) {
    const own = columnOf(referenceOf(match[2]), next);
    next = own + 1;
    const between = inner.slice(at, match.index);
    at = match.index + match[0].length;
    if (own < column) before.push(between, match[0]);
    else if (own >= column + cells.length) behind.push(between, match[0]);
  }
  return [...before, ...cells, ...behind, inner.slice(at)].join("");
}

function excelCell(value: AddedCells[number], prefix: string, reference: string): string {
  if (value === null) return "";
  const tag = (name: string, inner: string, attributes = "") =>
    `<${prefix}${name}${attributes}>${inner}</${prefix}${name}>`;
  if (typeof value !== "string") return tag("c", tag("v", String(value)), ` r="${reference}"`);
  const text = tag("t", escapedXml(value), ' xml:space="preserve"');
  return tag("c", tag("is", text), ` r="${reference}" t="inlineStr"`);
}
