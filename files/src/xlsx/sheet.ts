// The rows of a sheet: what stands in each cell, as it was calculated when the workbook was saved.

import { cellValue } from "../cell.ts";
import { daysOfSerial } from "../dates.ts";
import type { Workbook } from "./workbook.ts";
import { attribute, readXml, refuse } from "./xml.ts";

/** A number, a text, true or false; a date in days since 1970; an error such as #DIV/0!; a formula that has no value. */
export type SheetCell =
  | number
  | string
  | boolean
  | { readonly days: number }
  | { readonly error: string }
  | { readonly formula: true };

export interface SheetRow {
  /** From 1, as the sheet counts. */
  readonly row: number;
  /** By their columns; undefined where nothing stands. */
  readonly cells: readonly (SheetCell | undefined)[];
}

const referenceOf = attribute("r");
const typeOf = attribute("t");
const styleOf = attribute("s");

/** What is gathered between the tags of a cell. */
interface Gathered {
  column: number;
  type: string;
  style: number;
  value: string;
  hasValue: boolean;
  isFormula: boolean;
}

/** Calls back with every row that has a cell with something in it. */
export function eachSheetRow(workbook: Workbook, use: (row: SheetRow) => void): void {
  const { content, place } = workbook;
  let row = 0;
  let cells: (SheetCell | undefined)[] = [];
  let own: Gathered | undefined;
  let isText = false;
  let isSpoken = false;
  let next = 0;
  readXml(content, place, {
    open(name, attributes) {
      if (name === "row") {
        const number = Number(referenceOf(attributes) ?? row + 1);
        if (!(Number.isInteger(number) && number > row)) refuse(place, `row ${number} behind row ${row}`);
        [row, cells, next] = [number, [], 0];
      } else if (name === "c") {
        const column = columnOf(referenceOf(attributes), next);
        if (column < next) refuse(place, `column ${column + 1} twice in row ${row}`);
        const style = Number(styleOf(attributes) ?? -1);
        own = { column, type: typeOf(attributes) ?? "n", style, value: "", hasValue: false, isFormula: false };
        next = column + 1;
      } else if (name === "f" && own !== undefined) own.isFormula = true;
      else if (name === "rPh") isSpoken = true;
      isText = (name === "v" || (name === "t" && !isSpoken)) && own !== undefined;
      if (isText && own !== undefined) own.hasValue = true;
    },
    text(text) {
      if (isText && own !== undefined) own.value += text;
    },
    close(name) {
      isText = false;
      if (name === "rPh") isSpoken = false;
      if (name === "c" && own !== undefined) {
        const cell = cellOf(own, workbook);
        if (cell !== undefined) cells[own.column] = cell;
        own = undefined;
      }
      if (name === "row" && cells.length > 0) use({ row, cells });
    },
  });
}

/** From 0; the next one if a cell does not say where it stands. */
function columnOf(reference: string | undefined, next: number): number {
  const letters = reference?.match(/^[A-Z]{1,3}/)?.[0];
  if (letters === undefined) return next;
  return Array.from(letters).reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 64, 0) - 1;
}

/** The letters of a column from 0: A, B, ... Z, AA. */
export function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : columnLetters(Math.floor(column / 26) - 1) + last;
}

function cellOf(own: Gathered, { texts, areDates, is1904, place }: Workbook): SheetCell | undefined {
  const { type, style, value, hasValue, isFormula } = own;
  if (!hasValue || (value === "" && type !== "str" && type !== "inlineStr")) {
    return isFormula ? { formula: true } : undefined;
  }
  switch (type) {
    case "s": {
      const text = /^\d+$/.test(value) ? texts[Number(value)] : undefined;
      return text ?? refuse(place, `text ${value} of ${texts.length}`);
    }
    case "str":
    case "inlineStr":
    case "d":
      return value;
    case "b":
      return value === "1" || value === "true";
    case "e":
      return { error: value };
    default: {
      const number = cellValue(value) ?? Number.NaN;
      if (Number.isNaN(number)) refuse(place, `the number ${JSON.stringify(value)}`);
      return areDates[style] ? { days: daysOfSerial(number, is1904) } : number;
    }
  }
}
