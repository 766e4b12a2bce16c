// Tables that stand one below the other: sheets of a workbook or files of an archive, which hold the same columns.

import { DataError } from "../source/refusal.ts";
import type { ReadPlan } from "./columns.ts";
import { type CategoryValues, type MissingCells, NO_DEVICE, type Table, tableDeviceNumber } from "./table.ts";

/** How the parts behind the first are read: with the columns of the first. */
export function planLike({ options, ...plan }: ReadPlan, { columns, categories }: Table): ReadPlan {
  const words = columns.filter((_, c) => categories?.[c] !== undefined);
  return { ...plan, options: { ...options, columns, exclude: [], categories: words } };
}

/** Rows keep their order. Each part is named, so that it may be a device. */
export function joinTables(file: string, parts: readonly Table[], { limits }: ReadPlan): Table {
  const [first] = parts;
  const { cols } = first.points;
  const rows = parts.reduce((sum, { points }) => sum + points.rows, 0);
  if (rows > limits.rows || rows * cols > limits.cells) {
    const rule = `have at most ${limits.rows} rows and ${limits.cells} numbers in all its parts`;
    throw new DataError({ file, whole: true }, rule, `${rows} rows`, "name one of its parts, or unpack it");
  }
  const data = new Float64Array(rows * cols);
  const categories = first.categories?.map((own) => (own === undefined ? undefined : new Map<string, number>()));
  let at = 0;
  for (const { points, categories: own } of parts) {
    for (let x = 0; x < points.rows * cols; x++, at++) {
      const value = points.data[x];
      const word = own?.[x % cols]?.words[value];
      data[at] = word === undefined ? value : numberIn(categories?.[x % cols], word);
    }
  }
  return {
    file,
    format: first.format,
    columns: first.columns,
    points: { data, rows, cols },
    missing: first.columns.map((_, c) => totalMissing(parts.map(({ missing }) => missing[c]))),
    parts: parts.map((own) => ({ file: own.file, rows: own.points.rows })),
    ...(first.devices && { devices: joinDevices(parts, rows) }),
    ...(categories && { categories: categories.map((own, c) => own && joinedWords(own, parts, c)) }),
    ...(parts.some(({ forms }) => forms) && {
      forms: Object.assign({}, ...parts.toReversed().map(({ forms }) => forms)),
    }),
  };
}

function numberIn(numbers: Map<string, number> | undefined, word: string): number {
  return numbers === undefined ? Number.NaN : tableDeviceNumber(numbers, word);
}

function totalMissing(all: readonly MissingCells[]): MissingCells {
  const first = all.find(({ count }) => count > 0);
  return { count: all.reduce((sum, { count }) => sum + count, 0), line: first?.line ?? 0 };
}

function joinedWords(numbers: ReadonlyMap<string, number>, parts: readonly Table[], c: number): CategoryValues {
  const words = [...numbers.keys()];
  const lineOf = (word: string) => {
    const own = parts.map(({ categories }) => categories?.[c]).find((values) => values?.words.includes(word));
    return own?.lines[own.words.indexOf(word)] ?? 0;
  };
  return { words, lines: words.map(lineOf) };
}

function joinDevices(parts: readonly Table[], rows: number): NonNullable<Table["devices"]> {
  const numbers = new Map<string, number>();
  const of = new Uint32Array(rows);
  let at = 0;
  for (const { devices } of parts) {
    const own = devices?.names.map((name) => tableDeviceNumber(numbers, name)) ?? [];
    for (const number of devices?.of ?? []) of[at++] = number === NO_DEVICE ? NO_DEVICE : own[number];
  }
  return { names: [...numbers.keys()], of };
}
