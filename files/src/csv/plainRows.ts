// The fast way through delimited text: records whose chosen cells are plain numbers, straight from bytes to doubles.

import { textOf } from "../source/bytes.ts";
import { type GrowingTable, tableDeviceNumber } from "../table/table.ts";
import { EXACT_DIGITS, exactPowers, HALF_DIGITS, roundDecimal } from "./decimal.ts";
import { NEWLINE, QUOTE, RETURN, SPACE } from "./records.ts";

/** What becomes of a column of the file: a slot of the row from 0 on, or one of these. */
export const SKIPPED = -1;
export const DEVICE = -2;
/** And from here down a category: CATEGORY - slot. */
export const CATEGORY = -3;

const PLUS = 43;
const MINUS = 45;
export const POINT = 46;
const ZERO = 48;

/** A number that was read, NaN for anything else, and where it ends; and what its decimals stand behind. */
interface ParsedNumber {
  value: number;
  end: number;
  readonly point: number;
}

/** How numbers are written, and which of them count. */
export interface NumberRules {
  /** The byte before the decimals. */
  readonly point: number;
  readonly magnitude: number;
  /** NaN for a number that means that nothing is known. */
  without(value: number): number;
}

/**
 * Reads records from `from` on while they are clean and there is room, and returns where the first other one begins:
 * one with a missing or strange cell, a wrong number of cells, inner line ends, or without an end before the 0 behind
 * the text. Nothing is refused here, and nothing of such a record is kept.
 */
export function readPlainRows(
  bytes: Uint8Array,
  from: number,
  delimiter: number,
  slots: Int32Array,
  table: GrowingTable,
  { magnitude, point, without }: NumberRules,
): number {
  const { values, cols } = table;
  const found: ParsedNumber = { value: Number.NaN, end: 0, point };
  const last = slots.length - 1;
  const room = Math.floor(values.length / cols);
  let p = from;
  while (table.rows < room) {
    const start = p;
    const at = table.rows * cols;
    for (let c = 0; ; c++) {
      const slot = slots[c];
      if (slot >= 0) {
        readNumber(bytes, p, found);
        const value = without(found.value);
        // NaN fails too.
        if (!(value <= magnitude && value >= -magnitude)) return start;
        values[at + slot] = value;
        p = found.end;
      } else {
        const end = skipCell(bytes, p, delimiter);
        if (end < 0) return start;
        if (slot === DEVICE && !noteDevice(table, bytes, p, end)) return start;
        if (slot <= CATEGORY && !noteCategory(table, CATEGORY - slot, bytes, p, end)) return start;
        p = end;
      }
      const byte = bytes[p];
      if (c < last) {
        if (byte !== delimiter) return start;
        p++;
      } else {
        if (byte === NEWLINE) p++;
        else if (byte === RETURN && bytes[p + 1] === NEWLINE) p += 2;
        else return start;
        break;
      }
    }
    table.rows++;
  }
  return p;
}

/** The number that is all of the cell from ... to - 1, spaces apart; NaN if the cell is anything else. */
export function csvNumber(bytes: Uint8Array, from: number, to: number, point: number): number {
  const found: ParsedNumber = { value: Number.NaN, end: 0, point };
  readNumber(bytes, from, found);
  return found.end === to ? found.value : Number.NaN;
}

/** The number at `from`, spaces around it; the digits are gathered in two int32 halves of nine. */
function readNumber(bytes: Uint8Array, from: number, found: ParsedNumber): void {
  let p = from;
  let byte = bytes[p];
  while (byte === SPACE) byte = bytes[++p];
  const start = p;
  if (byte === MINUS || byte === PLUS) byte = bytes[++p];
  const digitsFrom = p;
  const { point: before } = found;
  let a = 0;
  let b = 0;
  // Significant digits so far: leading zeros are none.
  let n = 0;
  let point = -1;
  for (;;) {
    const digit = byte - ZERO;
    if (digit >= 0 && digit <= 9) {
      if (n < HALF_DIGITS) {
        a = (a * 10 + digit) | 0;
        if (a !== 0) n++;
      } else {
        if (n < 2 * HALF_DIGITS) b = (b * 10 + digit) | 0;
        n++;
      }
    } else if (byte === before && point < 0) point = p;
    else break;
    byte = bytes[++p];
  }
  const fraction = point < 0 ? 0 : p - point - 1;
  let isNumber = p - digitsFrom - (point < 0 ? 0 : 1) > 0;
  let exponent = -fraction;
  if (byte === 101 || byte === 69) {
    const end = exponentEnd(bytes, p);
    isNumber &&= end > p;
    if (isNumber) exponent += exponentAt(bytes, p + 1, end);
    p = end;
    byte = bytes[p];
  }
  const end = p;
  while (byte === SPACE) byte = bytes[++p];
  found.end = p;
  found.value = isNumber ? valueOfDigits(bytes, start, end, a, b, n, exponent) : Number.NaN;
}

function valueOfDigits(
  bytes: Uint8Array,
  start: number,
  end: number,
  a: number,
  b: number,
  n: number,
  exponent: number,
): number {
  let value = Number.NaN;
  if (n <= EXACT_DIGITS && exponent >= -22 && exponent <= 22) {
    const digits = n <= HALF_DIGITS ? a : a * exactPowers[n - HALF_DIGITS] + b;
    // Both sides are doubles without error, so the result is rounded once.
    value = exponent < 0 ? digits / exactPowers[-exponent] : digits * exactPowers[exponent];
  } else if (n > 0 && n <= 2 * HALF_DIGITS) {
    value = roundDecimal(a, b, Math.max(0, n - HALF_DIGITS), exponent);
  }
  // The only comma that a number can have here is that before its decimals.
  if (Number.isNaN(value)) return Number(textOf(bytes, start, end).replace(",", "."));
  return bytes[start] === MINUS ? -value : value;
}

/** Behind e, an optional sign and digits; `from` itself if there are none. */
function exponentEnd(bytes: Uint8Array, from: number): number {
  let p = from + 1;
  if (bytes[p] === MINUS || bytes[p] === PLUS) p++;
  const digits = p;
  while (bytes[p] >= ZERO && bytes[p] <= ZERO + 9) p++;
  return p > digits ? p : from;
}

function exponentAt(bytes: Uint8Array, from: number, end: number): number {
  return Number(textOf(bytes, from, end));
}

/** The end of a cell that is not read, or -1 where quotes need a closer look. */
function skipCell(bytes: Uint8Array, from: number, delimiter: number): number {
  let p = from;
  if (bytes[p] === QUOTE) {
    for (p++; bytes[p] !== QUOTE; p++) if (bytes[p] === NEWLINE || bytes[p] === 0) return -1;
    const behind = bytes[++p];
    // A doubled quote, or text behind the closing one, is not for here.
    return behind === delimiter || behind === NEWLINE || behind === RETURN ? p : -1;
  }
  for (;;) {
    const byte = bytes[p];
    if (byte === delimiter || byte === NEWLINE || byte === RETURN || byte === 0) return p;
    p++;
  }
}

function noteDevice({ devices, rows }: GrowingTable, bytes: Uint8Array, from: number, end: number): boolean {
  if (devices === undefined) return false;
  const quoted = bytes[from] === QUOTE ? 1 : 0;
  const start = from + quoted;
  const stop = end - quoted;
  // Rows of one device mostly follow each other: the name is made only where it changes.
  if (!isSame(bytes, start, stop, devices.last)) {
    const name = textOf(bytes, start, stop).trim();
    // No name at all is for the slow way to refuse.
    if (name === "") return false;
    devices.last = bytes.slice(start, stop);
    devices.lastNumber = tableDeviceNumber(devices.numbers, name);
  }
  devices.of[rows] = devices.lastNumber;
  return true;
}

/** False for a new value of a category; the slow way notes it. */
function noteCategory(
  { values, rows, cols, categories }: GrowingTable,
  slot: number,
  bytes: Uint8Array,
  from: number,
  end: number,
): boolean {
  const quoted = bytes[from] === QUOTE ? 1 : 0;
  const known = categories[slot]?.get(textOf(bytes, from + quoted, end - quoted).trim());
  if (known === undefined) return false;
  values[rows * cols + slot] = known.index;
  return true;
}

function isSame(bytes: Uint8Array, start: number, stop: number, other: Uint8Array): boolean {
  if (stop - start !== other.length) return false;
  for (let i = 0; i < other.length; i++) if (bytes[start + i] !== other[i]) return false;
  return true;
}
