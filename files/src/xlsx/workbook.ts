// An Excel workbook, opened: the names of its sheets, its texts, which of its styles are dates, and the rows of a sheet.

import { DataError, type FilePosition, listNames } from "../source/refusal.ts";
import type { ByteFile } from "../source/source.ts";
import { chosenSheet, unzipped, type ZipEntry } from "../source/zip.ts";
import { cellValue, daysOfSerial } from "../table/cell.ts";
import { attribute, readXml, refuse, unescaped } from "./xml.ts";

export interface Workbook {
  readonly file: string;
  /** Of all sheets. */
  readonly sheets: readonly string[];
  /** The one that is read. */
  readonly sheet: string;
  readonly content: Uint8Array;
  readonly position: FilePosition;
  readonly texts: readonly string[];
  /** For each style whether its numbers are dates. */
  readonly areDates: readonly boolean[];
  /** Whether days are counted from 1904. */
  readonly is1904: boolean;
}

const nameOf = attribute("name");
const idOf = attribute("id");
const relationOf = attribute("Id");
const targetOf = attribute("Target");

export async function openWorkbook(
  bytes: ByteFile,
  entries: readonly ZipEntry[],
  wanted: string | undefined,
): Promise<Workbook> {
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
  const { sheets, is1904 } = await parsed("xl/workbook.xml", parseWorkbook, { sheets: [], is1904: false });
  const targets = await parsed("xl/_rels/workbook.xml.rels", parseTargets, new Map<string, string>());
  const names = sheets.map(({ name }) => name);
  const at = chosenSheet(names, wanted);
  const target = targets.get(sheets[at]?.id ?? "");
  if (target === undefined) refuseSheet(file, names, wanted);
  const { position, content } = await part(target.startsWith("/") ? target.slice(1) : `xl/${target}`);
  if (content === undefined) refuse(position, "no such part");
  return {
    file,
    sheets: names,
    sheet: names[at],
    content,
    position,
    texts: await parsed("xl/sharedStrings.xml", parseTexts, []),
    areDates: await parsed("xl/styles.xml", parseStyles, []),
    is1904,
  };
}

function refuseSheet(file: string, names: readonly string[], wanted: string | undefined): never {
  const known = listNames(names.map((name) => JSON.stringify(name)));
  const rule = wanted === undefined ? "hold a sheet" : `have the sheet ${JSON.stringify(wanted)}`;
  const remedies = names.length > 0 ? [{ kind: "sheet", sheets: names } as const] : "save the workbook again";
  throw new DataError({ file, part: '"xl/workbook.xml"', byte: 0 }, rule, `the sheets ${known || "none"}`, remedies);
}

function parseWorkbook(content: Uint8Array, position: FilePosition) {
  const sheets: { name: string; id: string }[] = [];
  let is1904 = false;
  const date1904 = attribute("date1904");
  readXml(content, position, {
    open(name, attributes) {
      if (name === "workbookPr") is1904 = ["1", "true"].includes(date1904(attributes) ?? "");
      if (name !== "sheet") return;
      sheets.push({ name: unescaped(nameOf(attributes) ?? "", position), id: idOf(attributes) ?? "" });
    },
  });
  return { sheets, is1904 };
}

function parseTargets(content: Uint8Array, position: FilePosition): Map<string, string> {
  const targets = new Map<string, string>();
  readXml(content, position, {
    open(name, attributes) {
      if (name !== "Relationship") return;
      targets.set(relationOf(attributes) ?? "", unescaped(targetOf(attributes) ?? "", position));
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
  const codeOf = attribute("formatCode");
  const formatOf = attribute("numFmtId");
  const dates = new Set<number>();
  const styles: boolean[] = [];
  let isInCells = false;
  readXml(content, position, {
    open(name, attributes) {
      const id = Number(formatOf(attributes) ?? 0);
      if (name === "numFmt" && isDateCode(unescaped(codeOf(attributes) ?? "", position))) dates.add(id);
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

/** A number, a text, true or false; a date in days since 1970; an error such as #DIV/0!; a formula that has no value. */
export type SheetCell =
  | number
  | string
  | boolean
  | { readonly days: number }
  | { readonly error: string }
  | { readonly formula: true };

export interface SheetRow {
  /** From 1, as the sheet counts. */
  readonly row: number;
  /** By their columns; undefined where nothing stands. */
  readonly cells: readonly (SheetCell | undefined)[];
}

const referenceOf = attribute("r");
const typeOf = attribute("t");
const styleOf = attribute("s");

/** What is gathered between the tags of a cell. */
interface Gathered {
  column: number;
  type: string;
  style: number;
  value: string;
  hasValue: boolean;
  isFormula: boolean;
}

/** Calls back with every row that has a cell with something in it. */
export function eachSheetRow(workbook: Workbook, use: (row: SheetRow) => void): void {
  const { content, position } = workbook;
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
        if (!(Number.isInteger(number) && number > row)) refuse(position, `row ${number} behind row ${row}`);
        [row, cells, next] = [number, [], 0];
      } else if (name === "c") {
        const column = columnOf(referenceOf(attributes), next);
        if (column < next) refuse(position, `column ${column + 1} twice in row ${row}`);
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
        const cell = cellOf(own, workbook);
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

/** The letters of a column from 0: A, B, ... Z, AA. */
export function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : columnLetters(Math.floor(column / 26) - 1) + last;
}

function cellOf(own: Gathered, { texts, areDates, is1904, position }: Workbook): SheetCell | undefined {
  const { type, style, value, hasValue, isFormula } = own;
  if (!hasValue || (value === "" && type !== "str" && type !== "inlineStr")) {
    return isFormula ? { formula: true } : undefined;
  }
  switch (type) {
    case "s": {
      const text = /^\d+$/.test(value) ? texts[Number(value)] : undefined;
      return text ?? refuse(position, `text ${value} of ${texts.length}`);
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
      const number = cellValue(value) ?? Number.NaN;
      if (Number.isNaN(number)) refuse(position, `the number ${JSON.stringify(value)}`);
      return areDates[style] ? { days: daysOfSerial(number, is1904) } : number;
    }
  }
}
