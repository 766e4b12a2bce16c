// Files for tests: written to a folder of their own, which is gone afterwards.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { DataError } from "../src/node.ts";

/** A function that writes a file and gives its path. */
export function temporaryFiles(): (name: string, content: string | Uint8Array) => string {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-data-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (name, content) => {
    const file = join(folder, name);
    writeFileSync(file, content);
    return file;
  };
}

const NAME = '"(?:[^"\\\\]|\\\\.)*"';
const TEXT_PLACE = `line \\d+, column (?:${NAME}|\\d+)`;
const PARQUET_PLACE = `(?:row \\d+, column ${NAME}|(?:footer|column ${NAME}, row group \\d+(?:, page \\d+)?), byte \\d+)`;
const PACKED_PLACE = `(?:${TEXT_PLACE}|row \\d+, column ${NAME}|[^!,\\n]+![A-Z]+\\d+, column (?:${NAME}|\\d+)|(?:header|list of files|${NAME}), byte \\d+)`;

/**
 * The one shape of every refusal: file, position, rule, what stands there, remedy, in one line. The position is line and column
 * of text; of Parquet row and column, or the part of the file and its byte;
 * of workbooks the cell.
 */
export function expectRefusal(error: unknown, file: string): DataError {
  expect(error).toBeInstanceOf(DataError);
  const { message, position, rule, got, remedies } = error as DataError;
  const isPacked = /\.(xlsx|npy|npz|zip)$/.test(file);
  const where = isPacked ? PACKED_PLACE : file.endsWith(".parquet") ? PARQUET_PLACE : TEXT_PLACE;
  expect(message.startsWith(`${file}, `), message).toBe(true);
  expect(message.slice(file.length)).toMatch(new RegExp(`^, ${where} must [^\\n]+, got [^\\n]+; [^\\n]{9,}$`));
  expect(message).toContain(` must ${rule}, got ${got}; `);
  expect(remedies.length).toBeGreaterThan(0);
  expect(message).not.toMatch(/--[a-z]/);
  expect(position.file).toBe(file);
  return error as DataError;
}

/** Of a given seed always the same numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
