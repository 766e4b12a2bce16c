// A data file as points of a study. A file that is refused is named with the place in it, never with what stands there:
// messages are logged, data is not.

import { env } from "node:process";
import type { Matrix } from "@fedkm/core";
import { checkMissing, DataError, readTable } from "@fedkm/files";
import { openSource } from "@fedkm/sql";
import { isAddress } from "@fedkm/sql/address";
import type { Study } from "../study.ts";

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
  if (isAddress(path)) return readSource(path, wanted);
  try {
    const table = await readTable(path, wanted && { columns: wanted });
    checkMissing(table, "refuse");
    return { names: table.columns, points: table.points };
  } catch (error) {
    throw error instanceof DataError ? new Error(error.withoutContents) : error;
  }
}

/** All rows of a source, in memory. */
async function readSource(address: string, columns?: readonly string[]): Promise<Columns> {
  const source = await openSource(address, { columns, read: "memory", env: env });
  try {
    return { names: source.columns, points: await source.sample(Math.max(1, source.rows)) };
  } finally {
    await source.close();
  }
}
