// What a file holds before anything is clustered: its columns, what their values are like, and the cells that cannot be read.

import {
  type Column,
  type ColumnProfile,
  type ColumnStatistics,
  DataError,
  type DialectOptions,
  defaultLimits,
  type FileLayout,
  profile,
  profileStatistics,
  readLayout,
  readTable,
  type Table,
} from "@fedkm/files";
import { type FileInput, inputFileName } from "../input/readTables.ts";
import { countLabel, readableDate, readableValue } from "../numbers.ts";
import { computeWork, type WorkContext } from "../work.ts";

/** A column as `fedkm inspect` describes it. */
export interface InspectedColumn extends Column, Partial<Omit<ColumnProfile, "name">> {
  readonly statistics?: ColumnStatistics | undefined;
  /** Of words: how many are different, the most frequent one, and how long they are on average. */
  readonly words?: {
    readonly distinct: number;
    readonly most: string;
    readonly share: number;
    readonly letters: number;
  };
  /** Runs of rows with the same value, the shortest and the longest: where few values are different. */
  readonly blocks?: { readonly count: number; readonly least: number; readonly most: number };
  /** Cells that cannot be read, and what stands in the first of them. */
  readonly bad: number;
  readonly unread?: readonly string[];
}

/** A file as `fedkm inspect` describes it. */
export interface InspectedTable {
  readonly file: string;
  readonly layout: FileLayout;
  /** How it was read: as asked, and where it could not be read so, with what helped. */
  readonly reading: DialectOptions;
  readonly rows: number;
  readonly repeatedRows: number;
  readonly columns: readonly InspectedColumn[];
  /** The first of the refusals, and how many there are. */
  readonly bad: { readonly first: readonly DataError[]; readonly count: number };
}

/** A value of a column as people read it. */
export function inspectedValue({ kind }: Column, number: number): string {
  if (kind === "date") return readableDate(number);
  return Number.isInteger(number) ? countLabel(number) : readableValue(number);
}

/** More are counted. */
const MOST_LISTED = 20;

/** Text in another encoding is read in that; what could mean two things is taken as such files mostly mean it. */
export async function inspectTable(
  input: FileInput,
  options: DialectOptions = {},
  context: WorkContext = {},
  firstRows?: number,
): Promise<InspectedTable> {
  try {
    const layout = await readLayout(input, options);
    const told = { ...decidedSigns(layout, options), ...decidedSheet(layout, options), ...options };
    const isSettled = Object.keys(told).length === Object.keys(options).length;
    if (!isSettled) return await inspectTable(input, told, context, firstRows);
    return await lookAt(input, layout, options, context, firstRows);
  } catch (error) {
    const told = readingThatHelps(error, options);
    if (told === undefined) throw error;
    return inspectTable(input, { ...options, ...told }, context, firstRows);
  }
}

/** Another encoding, or spaces between cells. */
function readingThatHelps(error: unknown, { encoding, delimiter }: DialectOptions): DialectOptions | undefined {
  const remedies = error instanceof DataError ? error.remedies : [];
  const named = remedies.find(({ kind }) => kind === "encoding");
  if (encoding === undefined && named?.kind === "encoding") {
    return { encoding: named.encoding as NonNullable<DialectOptions["encoding"]> };
  }
  return delimiter === undefined && remedies.some(({ kind }) => kind === "delimiter") ? { delimiter: " " } : undefined;
}

/** Sheets with the same columns are one table. */
function decidedSheet({ format, parts = [] }: FileLayout, { sheet }: DialectOptions): DialectOptions {
  return format === "xlsx" && sheet === undefined && parts.length > 1 ? { sheet: "all" } : {};
}

/** Where semicolons stand between cells, commas stand before decimals and days before months. */
function decidedSigns({ dialect, columns }: FileLayout, options: DialectOptions): DialectOptions {
  const isContinental =
    dialect?.delimiter === ";".charCodeAt(0) || columns.some(({ form }) => form?.decimal === "," || form?.unit === "€");
  const isOpen = columns.some(({ kind }) => kind === "decimal commas");
  const isAmbiguous = columns.some((own) => own.isAmbiguous);
  return {
    ...(isOpen && options.decimal === undefined && { decimal: isContinental ? "," : "." }),
    ...(isAmbiguous && options.dates === undefined && { dates: isContinental ? "day-first" : "month-first" }),
  };
}

async function lookAt(
  input: FileInput,
  layout: FileLayout,
  options: DialectOptions,
  context: WorkContext,
  firstRows?: number,
): Promise<InspectedTable> {
  const file = inputFileName(input);
  // As they are without a word about dates, which are numbers here.
  const { dates, ...plain } = options;
  const kinds = dates === undefined ? layout.columns : (await readLayout(input, plain)).columns;
  const columnsSeen = layout.columns.map((own, c) => ({ ...own, kind: kinds[c].kind }));
  const twice = new Set(
    columnsSeen.filter(({ name }, c) => columnsSeen.findIndex((own) => own.name === name) < c).map(({ name }) => name),
  );
  const readable = columnsSeen.filter(({ kind, name }) => kind !== "other" && !twice.has(name));
  const empty = { file, layout, reading: options, rows: 0, repeatedRows: 0, bad: { first: [], count: 0 } };
  if (readable.length === 0) return { ...empty, columns: columnsSeen.map((column) => ({ ...column, bad: 0 })) };
  const first: DataError[] = [];
  const unread = new Map<string | number | undefined, { count: number; words: Set<string> }>();
  let count = 0;
  const onBad = (refusal: DataError) => {
    count++;
    if (first.length < MOST_LISTED) first.push(refusal);
    // A line of another length is no cell of a column.
    if (!refusal.rule.startsWith("be a number")) return;
    const own = unread.get(refusal.position.column) ?? { count: 0, words: new Set() };
    unread.set(refusal.position.column, own);
    own.count++;
    if (own.words.size < MOST_LISTED) own.words.add(refusal.got.replaceAll(/^"|"$/g, ""));
  };
  const isWord = (kind: Column["kind"]) => ["text", "boolean", "decimal commas"].includes(kind);
  const words = readable.filter(({ kind }) => isWord(kind)).map(({ name }) => name);
  const table = await readTable(input, {
    ...options,
    ...(firstRows !== undefined && { firstRows }),
    onBad,
    onRead: () => context.signal?.throwIfAborted(),
    dates: dates ?? "days",
    columns: readable.map(({ name }) => name),
    categories: words,
    limits: { ...defaultLimits, values: Number.POSITIVE_INFINITY },
  });
  const seen = await computeWork(context, () => profile(table));
  const columns = columnsSeen.map((column): InspectedColumn => {
    const c = table.columns.indexOf(column.name);
    const own = unread.get(column.name);
    const bad = own?.count ?? 0;
    if (c < 0) return { ...column, bad };
    const { missing, ...rest } = seen.columns[c];
    const spelled = own && { unread: [...own.words] };
    return { ...rest, ...column, missing: missing - bad, ...valuesOf(table, c), bad, ...spelled };
  });
  const { rows } = table.points;
  return { ...empty, rows, repeatedRows: seen.repeatedRows, columns, bad: { first, count } };
}

function valuesOf(table: Table, c: number): Pick<InspectedColumn, "statistics" | "words" | "blocks"> {
  const own = table.categories?.[c];
  const blocks = blocksOf(table, c);
  if (own === undefined) return { statistics: profileStatistics(table.points, c), ...blocks };
  return { ...wordsOf(table, c, own.words), ...blocks };
}

/** More runs than this are no blocks. */
const MOST_BLOCKS = 50;

function blocksOf({ points: { data, cols } }: Table, c: number): Pick<InspectedColumn, "blocks"> {
  const lengths: number[] = [];
  for (let at = c; at < data.length; at += cols) {
    if (at > c && data[at] === data[at - cols]) lengths[lengths.length - 1]++;
    else if (lengths.push(1) > MOST_BLOCKS) return {};
  }
  if (lengths.length === 0) return {};
  return { blocks: { count: lengths.length, least: Math.min(...lengths), most: Math.max(...lengths) } };
}

function wordsOf({ points }: Table, c: number, words: readonly string[]): Pick<InspectedColumn, "words"> {
  const counts = new Uint32Array(words.length);
  let total = 0;
  for (let at = c; at < points.data.length; at += points.cols) {
    if (Number.isNaN(points.data[at])) continue;
    counts[points.data[at]]++;
    total++;
  }
  if (total === 0) return {};
  const most = counts.indexOf(counts.reduce((a, b) => Math.max(a, b), 0));
  const letters = words.reduce((sum, word, w) => sum + counts[w] * word.length, 0) / total;
  return { words: { distinct: words.length, most: words[most], share: counts[most] / total, letters } };
}
