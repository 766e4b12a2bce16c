// Devices and categories of a source: what stands in columns of words, and how such columns become numbers in its queries.

import type { SqlDialect } from "./dialect.ts";
import { SourceError } from "./driver.ts";
import { type EngineColumn, gatherEngineRows, type SqlEngine } from "./engine.ts";
import { type RowSelection, sumsStatement } from "./statements.ts";
import { numericEngineColumns } from "./survey.ts";

/** A column of a table; of a category its values, each of which becomes a column of 0 and 1. */
export interface EncodedSourceColumn {
  readonly name: string;
  readonly values?: readonly string[] | undefined;
}

/** The rows that name this device. */
export interface SourceDevice {
  readonly column: string;
  readonly name: string;
}

/** Words that stand in columns of a source. */
export interface SourceWords {
  /** In their order; of a category the words that stand in it. */
  readonly columns: readonly EncodedSourceColumn[];
  /** In the order in which they are met; null for rows that name none. */
  readonly devices?: readonly (string | null)[];
}

/** Which columns of a source are asked for their words. */
export interface WordsRequest {
  readonly columns?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly deviceColumn?: string | undefined;
  readonly categories?: "auto" | readonly string[] | undefined;
}

/** More words are no category. */
const MOST_WORDS = 256;
const MOST_DEVICES = 100_000;

export async function sourceWords(
  engine: SqlEngine,
  relation: string,
  { columns, exclude = [], deviceColumn, categories = [] }: WordsRequest,
  signal?: AbortSignal,
): Promise<SourceWords> {
  const { dialect } = engine;
  const all = await engine.columns(relation, signal);
  const known = all.map(({ name }) => JSON.stringify(name)).join(", ");
  const isWordy = ({ name, isNumeric }: EngineColumn) =>
    categories === "auto" ? !isNumeric : categories.includes(name);
  for (const name of [deviceColumn, ...(categories === "auto" ? [] : categories)]) {
    if (name === undefined || all.some((column) => column.name === name)) continue;
    throw new SourceError(`column ${JSON.stringify(name)} must exist, got ${known}`);
  }
  const wanted =
    columns ?? all.map(({ name }) => name).filter((name) => !exclude.includes(name) && name !== deviceColumn);
  const words = all.filter((column) => wanted.includes(column.name) && isWordy(column)).map(({ name }) => name);
  const numbers = wanted.filter((name) => !words.includes(name));
  if (numbers.length > 0) numericEngineColumns(all, { columns: numbers });
  const found: EncodedSourceColumn[] = [];
  for (const name of wanted) {
    if (words.includes(name)) found.push({ name, values: await wordsIn(engine, relation, name, signal) });
    else found.push({ name });
  }
  if (deviceColumn === undefined) return { columns: found };
  const word = dialect.word(dialect.quote(deviceColumn));
  const numbered = `(SELECT ${word} AS fedkm_word, ${dialect.rowNumber} AS fedkm_n FROM ${relation}) AS fedkm_s`;
  const met = `SELECT fedkm_word FROM ${numbered} GROUP BY fedkm_word ORDER BY min(fedkm_n) LIMIT ${MOST_DEVICES + 1}`;
  const devices = (await textsOf(engine, met, signal, true)).map(([name]) => (name === "" ? null : name));
  if (devices.length > MOST_DEVICES) {
    throw new SourceError(`column ${JSON.stringify(deviceColumn)} must name at most ${MOST_DEVICES} devices, got more`);
  }
  return { columns: found, devices };
}

async function wordsIn(engine: SqlEngine, relation: string, name: string, signal?: AbortSignal): Promise<string[]> {
  const { dialect } = engine;
  const column = dialect.quote(name);
  const statement = `SELECT DISTINCT ${dialect.word(column)} AS fedkm_word FROM ${relation} WHERE ${column} IS NOT NULL LIMIT ${MOST_WORDS + 2}`;
  const words = (await textsOf(engine, statement, signal)).flatMap(([word]) => word ?? []);
  if (words.length > MOST_WORDS) {
    const rule = `have at most ${MOST_WORDS} different values, as a category, got more: leave it out with --exclude`;
    throw new SourceError(`column ${JSON.stringify(name)} must ${rule}`);
  }
  return words;
}

function textsOf(engine: SqlEngine, statement: string, signal: AbortSignal | undefined, isNumbered = false) {
  if (engine.texts === undefined) {
    throw new SourceError(`${engine.dialect.name}: a driver without texts has neither devices nor categories`);
  }
  return engine.texts(statement, signal, isNumbered);
}

/** Columns as numbers; a word that is not among the values is missing, and `fill` takes the place of what is. */
export function encodedEngineColumns(
  all: readonly EngineColumn[],
  encoding: readonly EncodedSourceColumn[],
  fill: readonly number[] | undefined,
  dialect: SqlDialect,
): (EngineColumn & { readonly expression: string })[] {
  const numbers = encoding.flatMap(({ name, values }) => (values === undefined ? [name] : []));
  if (numbers.length > 0) numericEngineColumns(all, { columns: numbers });
  const { quote, text, number } = dialect;
  const cells = encoding.flatMap(({ name, values }) => {
    if (values === undefined) return [{ name, expression: quote(name) }];
    const word = dialect.word(quote(name));
    return values.map((value) => {
      const others = values.filter((own) => own !== value).map(text);
      const isOther = others.length === 0 ? "" : ` WHEN ${word} IN (${others.join(", ")}) THEN ${number(0)}`;
      return {
        name: `${name}=${value}`,
        expression: `CASE WHEN ${word} = ${text(value)} THEN ${number(1)}${isOther} END`,
      };
    });
  });
  return cells.map(({ name, expression }, c) => {
    const known = { name, type: "", isNumeric: true, isNullable: true };
    if (fill === undefined) return { ...known, expression };
    const cell = dialect.double(expression, true);
    return { ...known, expression: `CASE WHEN ${dialect.isNaN(cell)} THEN ${number(fill[c])} ELSE ${cell} END` };
  });
}

/** How many rows there are, and for each column the sum of its numbers and how many they are. */
export async function sourceSums(engine: SqlEngine, selected: RowSelection, signal?: AbortSignal) {
  const width = 1 + 2 * selected.columns.length;
  const { data } = await gatherEngineRows(engine.blocks(sumsStatement(selected), width, signal), width);
  const [rows, ...rest] = Array.from(data, (value) => (Number.isNaN(value) ? 0 : value));
  const every = (from: number) => selected.columns.map((_, c) => rest[2 * c + from]);
  return { rows, sums: every(0), counts: every(1) };
}

/** A condition on rows, besides one of the user's. */
export function ofDevice(
  { word, quote, text }: SqlDialect,
  where: string | undefined,
  device: SourceDevice | undefined,
): string | undefined {
  if (device === undefined) return where;
  const isOwn = `${word(quote(device.column))} = ${text(device.name)}`;
  return where === undefined ? isOwn : `(${where}\n) AND ${isOwn}`;
}
