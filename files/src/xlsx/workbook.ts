// An Excel workbook, opened: the names of its sheets, its texts and which of its styles are dates.

import { DataError, listed, type Place } from "../refusal.ts";
import type { ByteFile } from "../source.ts";
import { chosenSheet, unzipped, type ZipEntry } from "../zip.ts";
import { attribute, readXml, refuse, unescaped } from "./xml.ts";

export interface Workbook {
  readonly file: string;
  /** Of all sheets. */
  readonly sheets: readonly string[];
  /** The one that is read. */
  readonly sheet: string;
  readonly content: Uint8Array;
  readonly place: Place;
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
    return { place: { file, part: JSON.stringify(name), byte: entry?.offset ?? 0 }, content };
  };
  const parsed = async <T>(name: string, parse: (content: Uint8Array, place: Place) => T, without: T): Promise<T> => {
    const { place, content } = await part(name);
    return content === undefined ? without : parse(content, place);
  };
  const { sheets, is1904 } = await parsed("xl/workbook.xml", parseWorkbook, { sheets: [], is1904: false });
  const targets = await parsed("xl/_rels/workbook.xml.rels", parseTargets, new Map<string, string>());
  const names = sheets.map(({ name }) => name);
  const at = chosenSheet(names, wanted);
  const target = targets.get(sheets[at]?.id ?? "");
  if (target === undefined) refuseSheet(file, names, wanted);
  const { place, content } = await part(target.startsWith("/") ? target.slice(1) : `xl/${target}`);
  if (content === undefined) refuse(place, "no such part");
  return {
    file,
    sheets: names,
    sheet: names[at],
    content,
    place,
    texts: await parsed("xl/sharedStrings.xml", parseTexts, []),
    areDates: await parsed("xl/styles.xml", parseStyles, []),
    is1904,
  };
}

function refuseSheet(file: string, names: readonly string[], wanted: string | undefined): never {
  const known = listed(names.map((name) => JSON.stringify(name)));
  const rule = wanted === undefined ? "hold a sheet" : `have the sheet ${JSON.stringify(wanted)}`;
  const remedies = names.length > 0 ? [{ kind: "sheet", sheets: names } as const] : "save the workbook again";
  throw new DataError({ file, part: '"xl/workbook.xml"', byte: 0 }, rule, `the sheets ${known || "none"}`, remedies);
}

function parseWorkbook(content: Uint8Array, place: Place) {
  const sheets: { name: string; id: string }[] = [];
  let is1904 = false;
  const date1904 = attribute("date1904");
  readXml(content, place, {
    open(name, attributes) {
      if (name === "workbookPr") is1904 = ["1", "true"].includes(date1904(attributes) ?? "");
      if (name !== "sheet") return;
      sheets.push({ name: unescaped(nameOf(attributes) ?? "", place), id: idOf(attributes) ?? "" });
    },
  });
  return { sheets, is1904 };
}

function parseTargets(content: Uint8Array, place: Place): Map<string, string> {
  const targets = new Map<string, string>();
  readXml(content, place, {
    open(name, attributes) {
      if (name !== "Relationship") return;
      targets.set(relationOf(attributes) ?? "", unescaped(targetOf(attributes) ?? "", place));
    },
  });
  return targets;
}

/** Texts that cells name by their numbers; what says how a text is spoken (rPh) is no part of it. */
function parseTexts(content: Uint8Array, place: Place): string[] {
  const texts: string[] = [];
  let text = "";
  let isText = false;
  let isSpoken = false;
  readXml(content, place, {
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

function parseStyles(content: Uint8Array, place: Place): boolean[] {
  const codeOf = attribute("formatCode");
  const formatOf = attribute("numFmtId");
  const dates = new Set<number>();
  const styles: boolean[] = [];
  let isInCells = false;
  readXml(content, place, {
    open(name, attributes) {
      const id = Number(formatOf(attributes) ?? 0);
      if (name === "numFmt" && isDateCode(unescaped(codeOf(attributes) ?? "", place))) dates.add(id);
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
