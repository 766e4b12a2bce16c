// One cell as text: a number, missing, or neither. Nothing is guessed, and no cell becomes 0 that does not say so.

import { DataError } from "../source/refusal.ts";
import { amountReader, type CellForm, USUAL_NUMBER } from "./cellForms.ts";
import { type DateRule, daysOf } from "./dates.ts";

/** How the cells of a file are written, where they do not say so themselves. */
export interface CellRules {
  /** What 1,234 and 1.234 mean in columns where they may mean two things. */
  readonly decimal?: "." | ",";
  /** Further values that mean that nothing is known, such as -200. */
  readonly na?: readonly string[];
  /** Dates and times as numbers: days since the beginning of 1970, in UTC unless they say otherwise. */
  readonly dates?: DateRule;
  /** By the names of columns: how their cells are written, where they can be read so. */
  readonly forms?: Readonly<Record<string, CellForm>>;
  /** Hears of every cell and line that cannot be read, which then counts as missing; without it the file is refused. */
  readonly onBad?: (refusal: DataError) => void;
}

/** What `read` gives; NaN where it refuses a cell and somebody hears of that. */
export function cellOrNoted({ onBad }: CellRules, read: () => number): number {
  if (onBad === undefined) return read();
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    onBad(error);
    return Number.NaN;
  }
}

export interface CellReader extends CellRules {
  /** The number that a cell holds, NaN where it says that it is missing, undefined for anything else. */
  value(text: string): number | undefined;
  /** A number as it is, NaN where it means that nothing is known. */
  without(value: number): number;
  /** Whether a word without spaces around it says that there is no value. */
  isMissing(trimmed: string): boolean;
  /** The same for the cells of a column that are written so. */
  written(form: CellForm | undefined): CellReader;
}

/** How tables say that a value is not known, in any case. */
const MISSING: ReadonlySet<string> = new Set(["", "na", "n/a", "#n/a", "nan", "null", "?"]);
/** Where numbers stand; among words it is one of them, such as no garage. */
export const NO_NUMBER = "none";

/** A reader of cells of one column: text in, number out, NaN for a missing cell. */
export function cellReader(rules: CellRules, form?: CellForm): CellReader {
  const { na = [], dates } = rules;
  const words = new Set(na.map((own) => own.trim().toLowerCase()));
  const codes = new Set(na.filter((own) => USUAL_NUMBER.test(own.trim())).map(Number));
  const without =
    codes.size === 0 ? (value: number) => value : (value: number) => (codes.has(value) ? Number.NaN : value);
  const isMissing = (trimmed: string) => MISSING.has(trimmed.toLowerCase()) || words.has(trimmed.toLowerCase());
  const usual = (text: string) => (USUAL_NUMBER.test(text) ? Number(text) : undefined);
  const numberOf = form === undefined || form.order !== undefined ? usual : amountReader(form);
  return {
    ...rules,
    without,
    isMissing,
    value(text) {
      const trimmed = text.trim();
      const number = numberOf(trimmed);
      if (number !== undefined) return without(number);
      if (isMissing(trimmed) || trimmed.toLowerCase() === NO_NUMBER) return Number.NaN;
      return dates === undefined ? undefined : daysOf(trimmed, form?.order);
    },
    written: (own) => (own === undefined ? cellReader(rules) : cellReader(rules, own)),
  };
}

/** Where nothing is said about how cells are written. */
export const usualCells = cellReader({});
