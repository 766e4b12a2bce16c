// JSON to a table: one flat object a line, its keys the columns; or an array of such objects, or of arrays.

import { type CellReader, orNoted } from "./cell.ts";
import { daysOf } from "./dates.ts";
import { openFeed } from "./feed.ts";
import { eachElement, isArray } from "./jsonArray.ts";
import { type Chosen, type Column, type ColumnKind, chooseColumns, type Selection } from "./layout.ts";
import type { Limits } from "./limits.ts";
import { DataError, shown } from "./refusal.ts";
import type { Remedy } from "./remedy.ts";
import type { Source } from "./source.ts";
import {
  finished,
  type Growing,
  growing,
  isFull,
  makeRoom,
  namelessRemedies,
  noteDevice,
  noteMissing,
  type Table,
  wordPlace,
} from "./table.ts";
import { textOf } from "./text.ts";

type Line = Readonly<Record<string, unknown>>;

const NEWLINE = 10;
const SAMPLE_LINES = 200;

interface Reading {
  readonly chosen: Chosen;
  readonly columns: readonly Column[];
  readonly table: Growing;
  readonly rules: CellReader;
  readonly limits: Limits;
}

export async function readJsonLines(
  source: Source,
  selection: Selection,
  limits: Limits,
  rules: CellReader,
): Promise<Table> {
  let reading: Reading | undefined;
  const first: { line: number; value: Line }[] = [];
  const begin = () => {
    const columns = columnsOf(
      first.map(({ value }) => value),
      rules,
    );
    const chosen = chooseColumns({ file: source.file, line: first[0].line }, columns, selection);
    const expected =
      (first.length * source.size) /
      Math.max(
        1,
        first.reduce((sum, { value }) => sum + JSON.stringify(value).length, 0),
      );
    const table = growing(source.file, chosen, expected, limits);
    reading = { chosen, columns, table, rules, limits };
    for (const { line, value } of first) keep(reading, value, line, selection);
    return reading;
  };
  const format = await eachRow(source, limits, (line, value) => {
    if (reading !== undefined) keep(reading, value, line, selection);
    else if (first.push({ line, value }) === SAMPLE_LINES) begin();
  });
  if (first.length === 0) {
    throw new DataError({ file: source.file, line: 1, column: 1 }, "hold a JSON object", "no line", "export it again");
  }
  return finished((reading ?? begin()).table, format);
}

/** Calls back with every row, and returns what holds them: lines or an array. */
export async function eachRow(source: Source, limits: Limits, use: (line: number, value: Line) => void) {
  let names: readonly string[] | undefined;
  const useArray = (line: number, cells: readonly unknown[]) => {
    if (names === undefined && cells.every((cell) => typeof cell === "string")) {
      names = cells;
      return;
    }
    names ??= cells.map((_, c) => `column${c + 1}`);
    if (cells.length !== names.length) {
      const place = { file: source.file, line, column: names[Math.min(cells.length, names.length - 1)] };
      throw new DataError(place, `have ${names.length} values, as the first row`, `${cells.length}`, "fix the row");
    }
    use(line, Object.fromEntries(cells.map((cell, c) => [names?.[c], cell])));
  };
  return eachLine(source, limits, (line, text, isElement) => {
    if (isElement && text.startsWith("[")) useArray(line, parsed(source.file, line, text) as unknown[]);
    else use(line, parseLine(source.file, line, text));
  });
}

/** Calls back with every line that is not blank, or with every element of the array that the text is. */
export async function eachLine(
  source: Source,
  limits: Limits,
  use: (line: number, text: string, isElement: boolean) => void,
): Promise<"json" | "jsonl"> {
  const isLined = !/\.json(\.gz)?$/i.test(source.ending);
  const feed = await openFeed(source, limits, ({ bytes }, at) => keyAt(lineBefore(bytes, at)), { isLined });
  try {
    if (!isLined && isArray(feed)) {
      await eachElement(feed, limits, (line, text) => use(line, text, true));
      return "json";
    }
    for (let line = 1; ; ) {
      let at = 0;
      for (
        let end = feed.bytes.indexOf(NEWLINE);
        end >= 0 && end < feed.length;
        end = feed.bytes.indexOf(NEWLINE, at)
      ) {
        const text = textOf(feed.bytes, at, end).trim();
        if (text !== "") use(line, text, false);
        at = end + 1;
        line++;
      }
      if (feed.length - at > limits.lineBytes) {
        const place = { file: source.file, line, column: keyAt(lineBefore(feed.bytes, at + limits.lineBytes)) };
        const rule = `end within ${limits.lineBytes} bytes of the line's start`;
        throw new DataError(place, rule, "more", "write one object a line");
      }
      if (feed.ended) return "jsonl";
      await feed.advance(at, line);
    }
  } finally {
    await feed.close();
  }
}

/** Brackets, keys (with their colon) and texts, each once: a text may hold quotes and whole JSON. The last one may not end. */
const TOKEN = /"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}[\]]|".*/gs;

function lineBefore(bytes: Uint8Array, at: number): string {
  return textOf(bytes, at === 0 ? 0 : bytes.lastIndexOf(NEWLINE, at - 1) + 1, at);
}

/** The key whose value, or what follows it, stands at the end of a line's beginning; 1 if there is none yet. */
function keyAt(beginning: string): string | number {
  // Behind the space a text that does not end is no key, even if a colon is its last character.
  const keys = (`${beginning} `.match(TOKEN) ?? []).filter(isKey);
  const key = keys.at(-1);
  try {
    return key === undefined ? 1 : nameOf(key);
  } catch {
    // Such as a bare control character inside.
    return keys.length;
  }
}

const isKey = (token: string) => token.endsWith(":");
const nameOf = (key: string) => String(JSON.parse(key.slice(0, -1)));

/** The keys of an object, without those of objects inside. */
function ownKeys(text: string): string[] {
  let depth = 0;
  return (text.match(TOKEN) ?? []).filter((token) => {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    return depth === 1 && isKey(token);
  });
}

function parsed(file: string, line: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Where engines do not say at which character, the line ends too early.
    const [, at = text.length] = /position (\d+)/.exec(String(error)) ?? [];
    const place = { file, line, column: keyAt(text.slice(0, Number(at))) };
    throw new DataError(place, "be in one whole JSON object", shown(text), "write one whole object on each line");
  }
}

function parseLine(file: string, line: number, text: string): Line {
  const value = parsed(file, line, text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const remedy = 'write lines such as {"a": 1, "b": 2}';
    throw new DataError({ file, line, column: 1 }, "begin a JSON object", shown(text), remedy);
  }
  checkKeysOnce(file, line, text, value as Line);
  return value as Line;
}

/** Of two equal keys JSON.parse keeps the last: a value would be lost without a word. */
function checkKeysOnce(file: string, line: number, text: string, value: Line): void {
  const keys = ownKeys(text);
  if (keys.length === Object.keys(value).length) return;
  const seen = new Set<string>();
  const [column] = keys.map(nameOf).filter((name) => seen.has(name) || !seen.add(name));
  throw new DataError({ file, line, column }, "be there once", "two of them", "remove one, or rename it");
}

/** The columns of the first lines. */
export async function jsonColumns(source: Source, limits: Limits, rules: CellReader) {
  const first: Line[] = [];
  const format = await eachRow(source, limits, (_, value) => {
    if (first.length < SAMPLE_LINES) first.push(value);
  });
  return { format, columns: columnsOf(first, rules) };
}

/** The keys of some lines in their order, with what their values are. */
function columnsOf(lines: readonly Line[], rules: CellReader): Column[] {
  const names = new Set(lines.flatMap((line) => Object.keys(line)));
  return Array.from(names, (name) => {
    const values = lines.map((line) => ownValue(line, name));
    return { name, kind: kindOf(values, rules) };
  });
}

/** Undefined if the line lacks it, even if every object inherits something of that name, such as "constructor". */
function ownValue(line: Line, name: string): unknown {
  return Object.hasOwn(line, name) ? line[name] : undefined;
}

function kindOf(values: readonly unknown[], rules: CellReader): ColumnKind {
  const present = values.filter((value) => value !== null && value !== undefined);
  if (present.length === 0) return "empty";
  const isDate = (value: unknown) => typeof value === "string" && daysOf(value.trim()) !== undefined;
  const days = present.filter(isDate).length;
  const numbers = present.filter((value) => typeof value === "number").length + (rules.dates ? days : 0);
  if (2 * numbers >= present.length) return "number";
  if (days === present.length) return "date";
  if (present.some((value) => typeof value === "string")) return "text";
  return present.every((value) => typeof value === "boolean") ? "boolean" : "other";
}

function keep(reading: Reading, value: Line, line: number, selection: Selection): void {
  const { chosen, columns, table, limits } = reading;
  const { file } = table;
  // What was not chosen may come and go; but if everything was, a new key is a column that would be lost.
  if (selection.columns === undefined) checkKeys(file, line, value, columns);
  if (isFull(table)) makeRoom(table, line, limits);
  for (const [slot, { name, isCategory }] of chosen.features.entries()) {
    const own = ownValue(value, name);
    const number = isCategory
      ? wordPlace(table, slot, wordAt(file, line, name, own), line, reading)
      : orNoted(reading.rules, () => numberAt(file, line, name, own, reading));
    if (Number.isNaN(number)) noteMissing(table, slot, line);
    table.values[table.rows * table.cols + slot] = number;
  }
  if (chosen.device !== undefined) {
    const column = columns[chosen.device].name;
    noteDevice(table, table.rows, String(ownValue(value, column) ?? "").trim(), () => {
      const remedies = namelessRemedies("fill it or remove the line");
      throw new DataError({ file, line, column }, "name a device", "no value", remedies);
    });
  }
  table.rows++;
}

function checkKeys(file: string, line: number, value: Line, columns: readonly Column[]): void {
  for (const name of Object.keys(value)) {
    if (columns.some((column) => column.name === name)) continue;
    const known = columns.filter(({ kind }) => kind === "number").map((column) => column.name);
    const remedies = [{ kind: "choose-columns", columns: known } as const];
    throw new DataError({ file, line, column: name }, "be a key of the first lines too", "a new key", remedies);
  }
}

function wordAt(file: string, line: number, column: string, value: unknown): string {
  if (typeof value === "object" && value !== null) {
    const remedies = [{ kind: "leave-out-columns", columns: [column] } as const];
    throw new DataError(
      { file, line, column },
      "be a text, a number or a boolean",
      shown(JSON.stringify(value)),
      remedies,
    );
  }
  return String(value ?? "");
}

function numberAt(file: string, line: number, column: string, value: unknown, { limits, rules }: Reading): number {
  if (value === null || value === undefined) return Number.NaN;
  const days = rules.dates && typeof value === "string" ? daysOf(value.trim()) : undefined;
  if (days !== undefined) return days;
  if (typeof value !== "number") {
    const remedies: Remedy[] = [
      { kind: "text", text: "write it as a JSON number" },
      { kind: "text", text: "write null if it is not known" },
      { kind: "leave-out-columns", columns: [column] },
    ];
    throw new DataError({ file, line, column }, "be a number", shown(JSON.stringify(value)), remedies);
  }
  if (Math.abs(value) > limits.magnitude) {
    const rule = `be a number from -${limits.magnitude} to ${limits.magnitude}`;
    throw new DataError({ file, line, column }, rule, String(value), "fix the value, or write it in a larger unit");
  }
  return rules.without(value);
}
