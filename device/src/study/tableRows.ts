// Rows as they stand in a file, with gaps and words, and what a study makes of them: a number for each feature.

import type { Matrix } from "@fedkm/core";
import { type Encoding, OTHER_VALUE, type Table } from "@fedkm/files";
import type { Feature, Study } from "./study.ts";

/** NaN where a cell is missing; of a category the index of its value among the words of its column. */
export interface TableRows extends Matrix {
  readonly words: readonly (readonly string[] | undefined)[];
}

/** Rows of a table as a device takes them. */
export function tableRows({ points, categories }: Pick<Table, "points" | "categories">): TableRows {
  return { ...points, words: Array.from({ length: points.cols }, (_, c) => categories?.[c]?.words) };
}

/** Of several files one after the other. A word keeps its index within a column. */
export function stackedTables(given: readonly Matrix[], cols: number): TableRows {
  const parts = given.map((part): TableRows => ({ words: [], ...part }));
  const words = Array.from({ length: cols }, (_, c) => {
    const all = parts.flatMap((part) => part.words[c] ?? []);
    return parts.some((part) => part.words[c] !== undefined) ? [...new Set(all)] : undefined;
  });
  const data = new Float64Array(parts.reduce((sum, part) => sum + part.data.length, 0));
  let at = 0;
  for (const part of parts) {
    const places = part.words.map((own, c) => own?.map((word) => words[c]?.indexOf(word) ?? 0));
    for (const [i, value] of part.data.entries()) data[at++] = places[i % cols]?.[value] ?? value;
  }
  return { data, rows: data.length / cols, cols, words };
}

const columnOf = ({ name, column }: Feature) => column ?? name;

/** The columns of files that a study reads, and which of them are categories. */
export function studyColumns({ features }: Pick<Study, "features">): { columns: string[]; categories: string[] } {
  const isCategory = ({ open, level }: Feature) => open === "category" || level !== undefined;
  const names = (some: readonly Feature[]) => [...new Set(some.map(columnOf))];
  return { columns: names(features), categories: names(features.filter(isCategory)) };
}

/** How the columns of files become the features of a closed study. */
export function studyEncoding({ features }: Pick<Study, "features">): Encoding {
  return studyColumns({ features }).columns.map((name) => {
    const values = features.flatMap(({ column, level }) => (column === name && level !== undefined ? [level] : []));
    return values.length === 0 ? { name } : { name, values };
  });
}

/** Whether every row is made of the features as they stand in the file. */
export function isPlainStudy({ features }: Pick<Study, "features">): boolean {
  return features.every(({ fill, level, open }) => fill === undefined && level === undefined && open === undefined);
}

/**
 * The features of rows. A gap takes the feature's `fill`; without one, and where a category's value is none of the study's,
 * it stays NaN, so that the row is out of the study's bounds and is counted there.
 */
export function tableFeatures({ features }: Pick<Study, "features">, { data, rows, cols, words }: TableRows): Matrix {
  const { columns } = studyColumns({ features });
  const at = features.map((feature) => columns.indexOf(columnOf(feature)));
  const levels = at.map((c) => features.flatMap(({ level }, f) => (at[f] === c && level !== undefined ? [level] : [])));
  const out = new Float64Array(rows * features.length);
  for (const [f, { level, fill = Number.NaN }] of features.entries()) {
    const featureOf = (cell: number) => {
      if (Number.isNaN(cell) || level === undefined) return cell;
      const word = words[at[f]]?.[cell] ?? "";
      const known = levels[f].includes(word) ? word : OTHER_VALUE;
      return levels[f].includes(known) ? Number(known === level) : Number.NaN;
    };
    for (let r = 0; r < rows; r++) {
      const cell = data[r * cols + at[f]];
      out[r * features.length + f] = Number.isNaN(cell) ? fill : featureOf(cell);
    }
  }
  return { data: out, rows, cols: features.length };
}
