// An Excel workbook, opened: the names of its sheets, its texts, which of its styles are dates, and the rows of a sheet.

import { DataError, type FilePosition, listInRefusal, shownInRefusal } from "../source/refusal.ts";
import type { ByteFile } from "../source/source.ts";
import { unzipped, type ZipEntry } from "../source/zip.ts";
import { usualCells } from "../table/cell.ts";

// XML, part by part. It has no entities but those of the standard, and nothing in it is looked up elsewhere.

interface XmlUser {
  /** Names are without prefixes; attributes are as they stand there. */
  open?(name: string, attributes: string): void;
  close?(name: string): void;
  text?(text: string): void;
}

const PIECE = 2 ** 20;
/** Of one tag or one text. */
const MOST_LETTERS = 2 ** 22;

function readXml(content: Uint8Array, position: FilePosition, user: XmlUser): void {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  for (let at = 0; at <= content.length; at += PIECE) {
    const isLast = at + PIECE > content.length;
    const piece = content.subarray(at, at + PIECE);
    try {
      rest += decoder.decode(piece, { stream: !isLast });
    } catch {
      refuse(position, "bytes that are not UTF-8");
    }
    const used = readParts(rest, position, user);
    rest = rest.slice(used);
    if (rest.length > MOST_LETTERS) refuse(position, `a tag or text of more than ${MOST_LETTERS} letters`);
  }
  if (rest.trim() !== "") refuse(position, `an end at ${shownInRefusal(rest)}`);
}

function refuse(position: FilePosition, got: string): never {
  throw new DataError(position, "be the XML of a workbook", got, "save the workbook again");
}

/** Returns how much of the text was used: up to the last part that is whole. */
function readParts(text: string, position: FilePosition, user: XmlUser): number {
  for (let at = 0; ; ) {
    const from = text.indexOf("<", at);
    if (from < 0) return at;
    if (from > at) user.text?.(unescaped(text.slice(at, from), position));
    const end = partEnd(text, from, position);
    if (end < 0) return from;
    const second = text[from + 1];
    if (second === "/") user.close?.(localName(text.slice(from + 2, end - 1).trim()));
    else if (text.startsWith("<![CDATA[", from)) user.text?.(text.slice(from + 9, end - 3));
    else if (second !== "!" && second !== "?") useTag(text.slice(from + 1, end - 1), user);
    at = end;
  }
}

/** Behind the part at `from`; -1 if it goes on in the next piece. */
function partEnd(text: string, from: number, position: FilePosition): number {
  const behind = (mark: string) => {
    const end = text.indexOf(mark, from);
    return end < 0 ? -1 : end + mark.length;
  };
  if (text.startsWith("<!--", from)) return behind("-->");
  if (text.startsWith("<![CDATA[", from)) return behind("]]>");
  if (text[from + 1] === "?") return behind("?>");
  if (text[from + 1] === "!") {
    // It may be the beginning of one of the above, cut by the end of the piece.
    if (from + 9 > text.length) return -1;
    refuse(position, "a declaration of types or entities");
  }
  let end = text.indexOf(">", from);
  // A bracket inside quotes ends nothing.
  while (end >= 0 && quotesAreOpen(text, from, end)) end = text.indexOf(">", end + 1);
  return end < 0 ? -1 : end + 1;
}

function quotesAreOpen(text: string, from: number, to: number): boolean {
  let open = "";
  for (let at = from; at < to; at++) {
    const letter = text[at];
    if (open === "" ? letter === '"' || letter === "'" : letter === open) open = open === "" ? letter : "";
  }
  return open !== "";
}

function useTag(tag: string, user: XmlUser): void {
  const isEmpty = tag.endsWith("/");
  const whole = isEmpty ? tag.slice(0, -1) : tag;
  const space = whole.search(/\s/);
  const name = localName(space < 0 ? whole : whole.slice(0, space));
  user.open?.(name, space < 0 ? "" : whole.slice(space));
  if (isEmpty) user.close?.(name);
}

const localName = (name: string) => name.slice(name.indexOf(":") + 1);

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescaped(text: string, position: FilePosition): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(/&([^;&]*);?/g, (whole, name: string) => {
    const [, hex, decimal] = /^#(?:x([\da-fA-F]{1,6})|(\d{1,7}))$/.exec(name) ?? [];
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    if (code <= 0x10ffff && whole.endsWith(";")) return String.fromCodePoint(code);
    if (!whole.endsWith(";") || !Object.hasOwn(entities, name)) refuse(position, `the entity ${shownInRefusal(whole)}`);
    return entities[name];
  });
}

/** A function that finds the attribute of this name, whatever its prefix. */
function attribute(name: string): (attributes: string) => string | undefined {
  const pattern = new RegExp(`\\s(?:\\w+:)?${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`);
  return (attributes) => {
    const match = pattern.exec(attributes);
    return match === null ? undefined : (match[1] ?? match[2]);
  };
}

export interface Workbook {
  readonly file: string;
  readonly sheets: readonly string[];
  /** The one that is read. */
  readonly sheet: string;
  readonly content: Uint8Array;
  readonly position: FilePosition;
  readonly texts: readonly string[];
  /** For each style whether its numbers are dates. */
  readonly areDates: readonly boolean[];
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
  const texts = await parsed("xl/sharedStrings.xml", parseTexts, []);
  const areDates = await parsed("xl/styles.xml", parseStyles, []);
  const opened = async (at: number): Promise<Workbook> => {
    const target = targets.get(sheets[at]?.id ?? "");
    if (target === undefined) refuseSheet(file, names, wanted);
    const { position, content } = await part(target.startsWith("/") ? target.slice(1) : `xl/${target}`);
    if (content === undefined) refuse(position, "no such part");
    return { file, sheets: names, sheet: names[at], content, position, texts, areDates, is1904 };
  };
  if (wanted !== undefined || names.length < 2) return opened(chosenSheet(names, wanted));
  const all: Workbook[] = [];
  for (const at of names.keys()) if (targets.get(sheets[at].id)?.includes("worksheets")) all.push(await opened(at));
  return mainSheet(all) ?? opened(0);
}

/** A sheet with less than this share of the rows of another is its cover, or notes on it. */
const COVER = 0.125;

/** The first sheet that is a table, by its rows of several cells with a number among them. */
function mainSheet(all: readonly Workbook[]): Workbook | undefined {
  const rows = all.map((workbook) => {
    let count = 0;
    eachSheetRow(workbook, ({ cells }) => {
      if (cells.filter((cell) => cell !== undefined).length > 1 && cells.some((cell) => typeof cell === "number"))
        count++;
    });
    return count;
  });
  return all.find((_, s) => rows[s] >= COVER * Math.max(...rows));
}

/** The place of the sheet that is meant, -1 if there is none; the first unless one is named. */
export function chosenSheet(names: readonly string[], sheet: string | undefined): number {
  if (sheet === undefined) return 0;
  const named = names.indexOf(sheet);
  return named >= 0 || !/^\d+$/.test(sheet) || Number(sheet) > names.length ? named : Number(sheet) - 1;
}

function refuseSheet(file: string, names: readonly string[], wanted: string | undefined): never {
  const known = listInRefusal(names.map((name) => JSON.stringify(name)));
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
      const number = usualCells.value(value) ?? Number.NaN;
      if (Number.isNaN(number)) refuse(position, `the number ${JSON.stringify(value)}`);
      return areDates[style] ? { days: daysOfSerial(number, is1904) } : number;
    }
  }
}

/** A day as Excel counts it: from the end of 1899, with a 29 February 1900 that never was, or from the start of 1904. */
function daysOfSerial(serial: number, is1904: boolean): number {
  if (is1904) return serial - 24_107;
  return serial < 60 ? serial - 25_568 : serial - 25_569;
}
