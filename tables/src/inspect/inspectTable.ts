// What a file holds before anything is clustered: its columns, what their values are like, and the cells that cannot be read.

import {
  type Column,
  type ColumnProfile,
  type ColumnStatistics,
  type DataError,
  type DialectOptions,
  defaultLimits,
  type FileLayout,
  profile,
  profileStatistics,
  readLayout,
  readTable,
} from "@fedkm/files";
import { type FileInput, inputFileName } from "../input/readTables.ts";
import { countLabel, readableDate, readableValue } from "../numbers.ts";
import { computeWork, type WorkContext } from "../work.ts";

export interface InspectedColumn extends Column, Partial<Omit<ColumnProfile, "name">> {
  readonly statistics?: ColumnStatistics | undefined;
  /** Of words: how many are different, and the most frequent one. */
  readonly words?: { readonly distinct: number; readonly most: string; readonly share: number };
  /** Cells that cannot be read. */
  readonly bad: number;
}

export interface InspectedTable {
  readonly file: string;
  readonly layout: FileLayout;
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

export async function inspectTable(
  input: FileInput,
  options: DialectOptions = {},
  context: WorkContext = {},
): Promise<InspectedTable> {
  const file = inputFileName(input);
  const layout = await readLayout(input, options);
  const readable = layout.columns.filter(({ kind }) => kind !== "other");
  const empty = { file, layout, rows: 0, repeatedRows: 0, bad: { first: [], count: 0 } };
  if (readable.length === 0) return { ...empty, columns: layout.columns.map((column) => ({ ...column, bad: 0 })) };
  const first: DataError[] = [];
  const counts = new Map<string | number | undefined, number>();
  let count = 0;
  const onBad = (refusal: DataError) => {
    count++;
    if (first.length < MOST_LISTED) first.push(refusal);
    // A line of another length is no cell of a column.
    if (!refusal.rule.startsWith("be a number")) return;
    counts.set(refusal.position.column, (counts.get(refusal.position.column) ?? 0) + 1);
  };
  // Commas may mean two things: until somebody says which, such numbers are words.
  const isWord = (kind: Column["kind"]) => ["text", "boolean", "decimal commas"].includes(kind);
  const words = readable.filter(({ kind }) => isWord(kind)).map(({ name }) => name);
  const table = await readTable(input, {
    ...options,
    onBad,
    onRead: () => context.signal?.throwIfAborted(),
    dates: "days",
    columns: readable.map(({ name }) => name),
    categories: words,
    limits: { ...defaultLimits, values: Number.POSITIVE_INFINITY },
  });
  const seen = await computeWork(context, () => profile(table));
  const columns = layout.columns.map((column): InspectedColumn => {
    const c = table.columns.indexOf(column.name);
    const bad = counts.get(column.name) ?? 0;
    if (c < 0) return { ...column, bad };
    const own = table.categories?.[c];
    const values =
      own === undefined ? { statistics: profileStatistics(table.points, c) } : wordsOf(table, c, own.words);
    const { missing, ...rest } = seen.columns[c];
    return { ...rest, ...column, missing: missing - bad, ...values, bad };
  });
  return { file, layout, rows: table.points.rows, repeatedRows: seen.repeatedRows, columns, bad: { first, count } };
}

function wordsOf({ points }: Awaited<ReturnType<typeof readTable>>, c: number, words: readonly string[]) {
  const counts = new Uint32Array(words.length);
  let total = 0;
  for (let at = c; at < points.data.length; at += points.cols) {
    if (Number.isNaN(points.data[at])) continue;
    counts[points.data[at]]++;
    total++;
  }
  if (total === 0) return {};
  const most = counts.indexOf(counts.reduce((a, b) => Math.max(a, b), 0));
  return { words: { distinct: words.length, most: words[most], share: counts[most] / total } };
}

/** Columns with more cubes than this have a tail that decides alone. */
const LOPSIDED = 3;

/** What a careful colleague would say about a column, in a few words. */
export function inspectedRemarks(own: InspectedColumn, rows: number): string[] {
  const { words, sentinel } = own;
  return [
    ...(own.isConstant ? ["constant"] : own.countsRows ? ["counts the rows"] : own.namesRows ? ["an id"] : []),
    ...(own.copyOf === undefined ? [] : [`same as ${own.copyOf}`]),
    ...(sentinel === undefined ? [] : [`${sentinel.value} may mean missing`]),
    ...(hasInspectedTail(own) ? ["a long tail"] : []),
    ...(words && isInspectedName(own, rows) ? [2 * words.distinct > rows ? "an id or a note" : "too many values"] : []),
    ...(isInspectedTarget(own) ? ["named like an answer"] : []),
  ];
}

/** Whether few values are far from all others, and would decide alone. */
export function hasInspectedTail({ statistics, sentinel }: InspectedColumn): boolean {
  return statistics !== undefined && Math.abs(statistics.skew) > LOPSIDED && sentinel === undefined;
}

/** Words that hardly ever repeat, or more than a category takes. */
export function isInspectedName({ words, kind }: InspectedColumn, rows: number): boolean {
  if (words === undefined || kind !== "text") return false;
  return words.distinct > defaultLimits.values || (words.distinct > 20 && 2 * words.distinct > rows);
}

const TARGET = /^(target|class|label|diagnosis|outcome)$/i;
const PLACE =
  /^(place|site|hospital|clinic|cent(re|er)|facility|station|branch|store|school|device)([ _-]?(id|name|code))?$/i;

/** More values than this are measured, and not classes or devices. */
const FEW = 50;
/** Fewer rows a value than this are no device. */
const ROWS_OF_DEVICE = 10;

const distinctOf = ({ words, statistics }: InspectedColumn) => words?.distinct ?? statistics?.distinct ?? 0;

/** What somebody may hold clusters against: clustered by it, rows would only repeat it. */
export function isInspectedTarget(own: InspectedColumn): boolean {
  return TARGET.test(own.name) && distinctOf(own) <= FEW;
}

/** A column that says where a row is from. */
export function isInspectedDevice(own: InspectedColumn, rows: number): boolean {
  const devices = distinctOf(own);
  const isFew = devices > 1 && devices <= FEW && rows >= ROWS_OF_DEVICE * devices;
  return PLACE.test(own.name) && isFew && ["text", "number"].includes(own.kind) && own.missing === 0 && own.bad === 0;
}

/** A number that is of no use for clusters. */
export function isInspectedUseless({
  isConstant,
  countsRows,
  namesRows,
  copyOf,
  statistics,
  kind,
}: InspectedColumn): boolean {
  const isNumber = kind === "number" || kind === "date";
  return isConstant || countsRows || namesRows || copyOf !== undefined || (isNumber && !statistics);
}
