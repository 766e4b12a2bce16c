// One cell as text: a number, missing, or neither. Nothing is guessed, and no cell becomes 0 that does not say so.

import { daysOf } from "./dates.ts";
import { DataError } from "./refusal.ts";

/** How the cells of a file are written, where that is not as usual. */
export interface CellRules {
  /** What stands before the decimals: a point unless said. */
  readonly decimal?: "." | ",";
  /** What stands between thousands, such as a comma or a space. */
  readonly thousands?: string;
  /** Further values that mean that nothing is known, such as -200. */
  readonly na?: readonly string[];
  /** Dates and times as numbers: days since the beginning of 1970, in UTC unless they say otherwise. */
  readonly dates?: "days";
  /** Hears of every cell and line that cannot be read, which then counts as missing; without it the file is refused. */
  readonly onBad?: (refusal: DataError) => void;
}

/** What `read` gives; NaN where it refuses a cell and somebody hears of that. */
export function orNoted({ onBad }: CellRules, read: () => number): number {
  if (onBad === undefined) return read();
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    onBad(error);
    return Number.NaN;
  }
}

/** The rules, ready to be followed. */
export interface CellReader extends CellRules {
  /** The number that a cell holds, NaN where it says that it is missing, undefined for anything else. */
  value(text: string): number | undefined;
  /** A number as it is, NaN where it means that nothing is known. */
  without(value: number): number;
  /** Whether a text without spaces around it says that there is no value. */
  isMissing(trimmed: string): boolean;
}

/** What a number looks like; Number alone would take "", "0x10" and " " too. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const COMMA_NUMBER = /^[+-]?(?:\d+(?:,\d*)?|,\d+)(?:[eE][+-]?\d+)?$/;

/** How tables say that a value is not known, in any case. */
const MISSING: ReadonlySet<string> = new Set(["", "na", "n/a", "#n/a", "nan", "null", "none", "?"]);

export function cellReader(rules: CellRules): CellReader {
  const { decimal = ".", thousands, na = [], dates } = rules;
  const words = new Set(na.map((own) => own.trim().toLowerCase()));
  const codes = new Set(na.filter((own) => NUMBER.test(own.trim())).map(Number));
  const grouped = thousands === undefined ? undefined : groupedNumber(thousands, decimal);
  const pattern = decimal === "," ? COMMA_NUMBER : NUMBER;
  const without =
    codes.size === 0 ? (value: number) => value : (value: number) => (codes.has(value) ? Number.NaN : value);
  const isMissing = (trimmed: string) => MISSING.has(trimmed.toLowerCase()) || words.has(trimmed.toLowerCase());
  return {
    ...rules,
    without,
    isMissing,
    value(text) {
      const trimmed = text.trim();
      const plain = grouped?.test(trimmed) ? trimmed.replaceAll(thousands as string, "") : trimmed;
      if (pattern.test(plain)) return without(Number(decimal === "," ? plain.replace(",", ".") : plain));
      if (isMissing(trimmed)) return Number.NaN;
      return dates === undefined ? undefined : daysOf(trimmed);
    },
  };
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

function groupedNumber(thousands: string, decimal: string): RegExp {
  return new RegExp(`^[+-]?\\d{1,3}(?:${escaped(thousands)}\\d{3})+(?:${escaped(decimal)}\\d*)?$`);
}

const usual = cellReader({});

/** By the usual rules. */
export function cellValue(text: string): number | undefined {
  return usual.value(text);
}
