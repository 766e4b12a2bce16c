// A data file as points of a study: numeric CSV, read strictly. A cell is a number or the file is refused.

import { open } from "node:fs/promises";
import type { Matrix } from "@fedkm/core";
import type { Study } from "../study.ts";

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const LARGEST_VALUE = 1e12;

/** Columns of a file, by name. */
export interface Columns {
  readonly names: readonly string[];
  readonly points: Matrix;
}

/** The study's features of all rows of a file, in the features' units. */
export async function readPoints(path: string, { features }: Study): Promise<Matrix> {
  const wanted = features.map(({ name }) => name);
  return (await readColumns(path, wanted)).points;
}

/** Columns are found by their names in the first line; without names all of them are read. */
export async function readColumns(path: string, wanted?: readonly string[]): Promise<Columns> {
  const lines = (await readSteady(path)).replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const [header = "", ...body] = lines;
  const present = header.split(",").map((name) => name.trim().replace(/^"(.*)"$/, "$1"));
  const names = wanted ?? present;
  const columns = names.map((name) => {
    const at = present.indexOf(name);
    if (at < 0) throw new Error(`${path} line 1 must name the column ${name}, got "${header.slice(0, 200)}"`);
    return at;
  });
  const data = new Float64Array(body.length * columns.length);
  body.forEach((line, row) => {
    const cells = line.split(",");
    const where = `${path} line ${row + 2}`;
    if (cells.length !== present.length) {
      throw new Error(`${where} must have ${present.length} cells (as line 1), got ${cells.length}`);
    }
    columns.forEach((at, c) => {
      const cell = cells[at].trim();
      const value = NUMBER.test(cell) ? Number(cell) : Number.NaN;
      // The value itself stays out of the message: messages are logged, data is not.
      if (!(Math.abs(value) <= LARGEST_VALUE)) {
        throw new Error(`${where} column ${present[at]} must be a number of at most 1e12, got something else`);
      }
      data[row * columns.length + c] = value;
    });
  });
  return { names, points: { data, rows: body.length, cols: columns.length } };
}

/** A file that did not change while it was read; one that did is read once more. */
async function readSteady(path: string): Promise<string> {
  for (let attempt = 0; attempt < 2; attempt++) {
    const file = await open(path);
    try {
      const before = await file.stat();
      const text = await file.readFile("utf8");
      const after = await file.stat();
      if (before.mtimeMs === after.mtimeMs && before.size === after.size) return text;
    } finally {
      await file.close();
    }
  }
  throw new Error(`${path} must not change while it is read, got a change twice`);
}
