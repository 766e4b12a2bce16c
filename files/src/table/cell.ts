// One cell as text: a number, missing, or neither. Nothing is guessed, and no cell becomes 0 that does not say so.

import { DataError } from "../source/refusal.ts";

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
}

/** What a number looks like; Number alone would take "", "0x10" and " " too. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const COMMA_NUMBER = /^[+-]?(?:\d+(?:,\d*)?|,\d+)(?:[eE][+-]?\d+)?$/;

/** How tables say that a value is not known, in any case. */
const MISSING: ReadonlySet<string> = new Set(["", "na", "n/a", "#n/a", "nan", "null", "?"]);
/** Where numbers stand; among words it is one of them, such as no garage. */
const NO_NUMBER = "none";

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
      if (isMissing(trimmed) || trimmed.toLowerCase() === NO_NUMBER) return Number.NaN;
      return dates === undefined ? undefined : daysOf(trimmed);
    },
  };
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

function groupedNumber(thousands: string, decimal: string): RegExp {
  return new RegExp(`^[+-]?\\d{1,3}(?:${escaped(thousands)}\\d{3})+(?:${escaped(decimal)}\\d*)?$`);
}

/** Where nothing is said about how cells are written. */
export const usualCells = cellReader({});

const DAY = 86_400_000;

/** 2026-03-01, with or without a time and its offset from UTC. */
const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s?(Z|[+-]\d{2}:?\d{2})?)?$/;
/** 1.3.2026: with points the day is first everywhere; with slashes it is not. */
const POINTED = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/;

/** Days since the beginning of 1970, of forms that everybody reads alike; undefined for others, such as 2026-02-30. */
export function daysOf(text: string): number | undefined {
  const iso = ISO.exec(text);
  if (iso !== null) {
    const [year, month, day, hour = 0, minute = 0, second = 0] = iso.slice(1, 7).map((part) => part && Number(part));
    const date = dateOf(Number(year), Number(month), Number(day));
    if (date === undefined || Number(hour) > 24 || Number(minute) > 59 || Number(second) >= 61) return undefined;
    const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(iso[7] ?? "") ?? ["", "+", "0", "0"];
    const offset = (sign === "-" ? -1 : 1) * (60 * Number(hours) + Number(minutes));
    return date + (3600 * Number(hour) + 60 * (Number(minute) - offset) + Number(second)) / 86_400;
  }
  const [, day, month, year] = POINTED.exec(text) ?? [];
  return day === undefined ? undefined : dateOf(Number(year), Number(month), Number(day));
}

function dateOf(year: number, month: number, day: number): number | undefined {
  const time = Date.UTC(year, month - 1, day);
  const back = new Date(time);
  const isSame = back.getUTCMonth() === month - 1 && back.getUTCDate() === day && back.getUTCFullYear() === year;
  return isSame ? time / DAY : undefined;
}
