// What became of reading a file, as plain data that also comes out of a page: a table or a refusal.

import { checkMissingCells, DataError, type Table } from "../src/index.ts";

export type Outcome = Readonly<Record<string, unknown>>;

export async function outcome(reading: Promise<Table>): Promise<Outcome> {
  try {
    const table = await reading;
    checkMissingCells(table, "refuse");
    const { points, devices, ...rest } = table;
    const of = devices && { names: devices.names, of: Array.from(devices.of) };
    return { ...rest, rows: points.rows, values: Array.from(points.data), devices: of };
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    const { message, position, rule, got, remedies } = error;
    return { message, position, rule, got, remedies };
  }
}
