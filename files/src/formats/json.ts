// JSON to a table: one flat object a line, its keys the columns; or an array of such objects, or of arrays.

import { textOf } from "../source/bytes.ts";
import { type Feed, openFeed } from "../source/feed.ts";
import { DataError, type Remedy, shownInRefusal } from "../source/refusal.ts";
import type { Limits, OpenedFile } from "../source/source.ts";
import { type CellReader, cellOrNoted } from "../table/cell.ts";
import { type ChosenColumns, type Column, chooseColumns, type ReadPlan, textColumns } from "../table/columns.ts";
import { GrowingTable, refuseLargeCell, type Table } from "../table/table.ts";

const NEWLINE = 10;
const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN = 91;
const CLOSE = 93;
const SPACES: ReadonlySet<number> = new Set([32, 9, NEWLINE, 13]);

/** By the ending of its name; what holds no text is told by its first bytes before. */
export function isJsonFile({ ending }: OpenedFile): boolean {
  return /\.(jsonl|ndjson|json)(\.gz)?$/i.test(ending);
}

type Line = Readonly<Record<string, unknown>>;

const SAMPLE_LINES = 200;

interface Reading extends ReadPlan {
  /** Of the columns whose numbers are written as texts. */
  readonly readers: ReadonlyMap<string, CellReader>;
  readonly chosen: ChosenColumns;
  readonly columns: readonly Column[];
  readonly table: GrowingTable;
}

export async function readJsonTable(source: OpenedFile, plan: ReadPlan): Promise<Table> {
  const { file, size } = source;
  let reading: Reading | undefined;
  const first: { line: number; value: Line }[] = [];
  const begin = () => {
    const lines = first.map(({ value }) => value);
    const columns = columnsOf(lines, plan.rules);
    const chosen = chooseColumns({ file, line: first[0].line }, columns, plan.options);
    const letters = lines.reduce((sum, value) => sum + JSON.stringify(value).length, 0);
    const table = new GrowingTable(file, chosen, (first.length * size) / Math.max(1, letters), plan);
    const written = columns.flatMap(({ name, form }) => (form ? [[name, plan.rules.written(form)] as const] : []));
    reading = { ...plan, readers: new Map(written), chosen, columns, table };
    for (const { line, value } of first) keepRow(reading, value, line);
    return reading;
  };
  const format = await eachJsonRow(source, plan.limits, (line, value) => {
    if (reading !== undefined) keepRow(reading, value, line);
    else if (first.push({ line, value }) === SAMPLE_LINES) begin();
  });
  if (first.length === 0) {
    throw new DataError({ file, line: 1, column: 1 }, "hold a JSON object", "no line", "export it again");
  }
  const { table, columns } = reading ?? begin();
  return table.finish(format, columns);
}

/** Calls back with every row, and returns what holds them: lines or an array. */
export async function eachJsonRow(source: OpenedFile, limits: Limits, use: (line: number, value: Line) => void) {
  let names: readonly string[] | undefined;
  const useArray = (line: number, cells: readonly unknown[]) => {
    if (names === undefined && cells.every((cell) => typeof cell === "string")) {
      names = cells;
      return;
    }
    names ??= cells.map((_, c) => `column${c + 1}`);
    if (cells.length !== names.length) {
      const position = { file: source.file, line, column: names[Math.min(cells.length, names.length - 1)] };
      throw new DataError(position, `have ${names.length} values, as the first row`, `${cells.length}`, "fix the row");
    }
    use(line, Object.fromEntries(cells.map((cell, c) => [names?.[c], cell])));
  };
  return eachJsonLine(source, limits, (line, text, isElement) => {
    if (isElement && text.startsWith("[")) useArray(line, parsed(source.file, line, text) as unknown[]);
    else use(line, parseLine(source.file, line, text));
  });
}

/** Calls back with every line that is not blank, or with every element of the array that the text is. */
export async function eachJsonLine(
  source: OpenedFile,
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
        const position = { file: source.file, line, column: keyAt(lineBefore(feed.bytes, at + limits.lineBytes)) };
        const rule = `end within ${limits.lineBytes} bytes of the line's start`;
        throw new DataError(position, rule, "more", "write one object a line");
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
    const position = { file, line, column: keyAt(text.slice(0, Number(at))) };
    throw new DataError(
      position,
      "be in one whole JSON object",
      shownInRefusal(text),
      "write one whole object on each line",
    );
  }
}

function parseLine(file: string, line: number, text: string): Line {
  const value = parsed(file, line, text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const remedy = 'write lines such as {"a": 1, "b": 2}';
    throw new DataError({ file, line, column: 1 }, "begin a JSON object", shownInRefusal(text), remedy);
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

export async function jsonColumns(source: OpenedFile, limits: Limits, rules: CellReader) {
  const first: Line[] = [];
  const format = await eachJsonRow(source, limits, (_, value) => {
    if (first.length < SAMPLE_LINES) first.push(value);
  });
  return { format, columns: columnsOf(first, rules) };
}

/** The keys of some lines in their order, with what their values are. */
function columnsOf(lines: readonly Line[], rules: CellReader): Column[] {
  const names = Array.from(new Set(lines.flatMap((line) => Object.keys(line))));
  const valuesOf = (c: number) => lines.map((line) => ownValue(line, names[c]) ?? null);
  const texts = textColumns(names, (c) => valuesOf(c).flatMap((own) => (typeof own === "string" ? [own] : [])), rules);
  return texts.map((column, c) => typedColumn(column, valuesOf(c)));
}

/** Undefined if the line lacks it, even if every object inherits something of that name, such as "constructor". */
function ownValue(line: Line, name: string): unknown {
  return Object.hasOwn(line, name) ? line[name] : undefined;
}

/** By the types of its values; `texts` is what those of them are that are texts. */
function typedColumn(texts: Column, values: readonly unknown[]): Column {
  const { name } = texts;
  const present = values.filter((value) => value !== null);
  if (present.length === 0) return { name, kind: "empty" };
  const strings = present.filter((value) => typeof value === "string").length;
  const numbers = present.filter((value) => typeof value === "number").length;
  // Quoted digits are numbers where all are quoted; codes such as "007" are not.
  if (strings === present.length) {
    if (texts.isCode) return { name, kind: "text" };
    return texts.kind === "number" || texts.kind === "date" ? { form: {}, ...texts } : texts;
  }
  if (2 * numbers >= present.length) return { name, kind: "number" };
  if (strings > 0) return { name, kind: "text" };
  return { name, kind: present.every((value) => typeof value === "boolean") ? "boolean" : "other" };
}

function keepRow(reading: Reading, value: Line, line: number): void {
  const { chosen, columns, table, options, rules } = reading;
  const { file } = table;
  // What was not chosen may come and go; but if everything was, a new key is a column that would be lost.
  if (options.columns === undefined) checkKeys(file, line, value, columns);
  table.makeRoom(line);
  for (const [slot, { name, isCategory }] of chosen.features.entries()) {
    const cell = ownValue(value, name);
    const number = isCategory
      ? table.categoryIndex(slot, wordAt(file, line, name, cell), line)
      : cellOrNoted(rules, () => numberAt(file, line, name, cell, reading));
    table.set(table.rows, slot, number, line);
  }
  if (chosen.device !== undefined) {
    const column = columns[chosen.device].name;
    const name = String(ownValue(value, column) ?? "").trim();
    table.setDevice(table.rows, name, { file, line, column }, "no value", "fill it or remove the line");
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
    const got = shownInRefusal(JSON.stringify(value));
    throw new DataError({ file, line, column }, "be a text, a number or a boolean", got, remedies);
  }
  return String(value ?? "");
}

function numberAt(
  file: string,
  line: number,
  column: string,
  value: unknown,
  { limits, rules, readers }: Reading,
): number {
  if (value === null || value === undefined) return Number.NaN;
  const read = typeof value === "string" ? readers.get(column)?.value(value) : undefined;
  if (read !== undefined) return read;
  if (typeof value !== "number") {
    const remedies: Remedy[] = [
      { kind: "text", text: "write it as a JSON number" },
      { kind: "text", text: "write null if it is not known" },
      { kind: "leave-out-columns", columns: [column] },
    ];
    throw new DataError({ file, line, column }, "be a number", shownInRefusal(JSON.stringify(value)), remedies);
  }
  if (Math.abs(value) > limits.magnitude) {
    refuseLargeCell({ file, line, column }, String(value), limits, "fix the value, or write it in a larger unit");
  }
  return rules.without(value);
}

function isArray({ bytes, length }: Feed): boolean {
  for (let at = 0; at < length; at++) if (!SPACES.has(bytes[at])) return bytes[at] === OPEN;
  return false;
}

/** Calls back with every element of the array in the feed. */
async function eachElement(feed: Feed, limits: Limits, use: (line: number, text: string) => void): Promise<void> {
  const state = { line: 1, isOpen: false, isClosed: false, wantsElement: false };
  const refuse = (got: string): never => {
    const position = { file: feed.file, line: state.line, column: 1 };
    throw new DataError(
      position,
      "be part of one whole JSON array",
      got,
      'write an array such as [{"a": 1}, {"a": 2}]',
    );
  };
  for (;;) {
    let at = 0;
    while (at < feed.length) {
      const byte = feed.bytes[at];
      if (SPACES.has(byte)) {
        if (byte === NEWLINE) state.line++;
        at++;
      } else if (!state.isOpen) {
        state.isOpen = true;
        at++;
      } else if (state.isClosed) refuse("text behind its end");
      else if (byte === CLOSE) {
        if (state.wantsElement) refuse("a comma at its end");
        state.isClosed = true;
        at++;
      } else if (byte === COMMA) {
        if (state.wantsElement) refuse("two commas");
        state.wantsElement = true;
        at++;
      } else {
        const end = elementEnd(feed, at);
        if (end < 0) break;
        const text = textOf(feed.bytes, at, end);
        use(state.line, text);
        for (let p = at; p < end; p++) if (feed.bytes[p] === NEWLINE) state.line++;
        state.wantsElement = false;
        at = end;
      }
    }
    if (feed.length - at > limits.lineBytes) refuse(`an element of more than ${limits.lineBytes} bytes`);
    if (feed.ended)
      return state.isClosed ? undefined : refuse(`an end at ${shownInRefusal(textOf(feed.bytes, at, feed.length))}`);
    await feed.advance(at, state.line);
  }
}

/** Behind the element at `from`, by its brackets and quotes; -1 if it does not end in the block. */
function elementEnd({ bytes, length }: Feed, from: number): number {
  let depth = 0;
  for (let at = from; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      for (at++; at < length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
    } else if (byte === OPEN || byte === OPEN + 32) depth++;
    else if (byte === CLOSE || byte === CLOSE + 32) {
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (byte === COMMA && depth === 0) return at;
  }
  return -1;
}
