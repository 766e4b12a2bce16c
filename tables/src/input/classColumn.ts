// The class of every row, from a column that is no feature: what clusters are judged by, never what they are found from.

import { DataError, readLayout, readTable } from "@fedkm/files";
import { type FileInput, fileName, type Input, type RowsRequest } from "./readTables.ts";

/** Refuses a column that is not there, before it is left out of what is clustered. */
export async function checkClassColumn(file: FileInput, column: string, options: RowsRequest): Promise<void> {
  const names = (await readLayout(file, options)).columns.map(({ name }) => name);
  if (names.includes(column)) return;
  const got = `the columns ${names.map((name) => JSON.stringify(name)).join(", ")}`;
  throw new DataError({ file: fileName(file), line: 1, column }, "exist", got, [
    { kind: "name-column", option: "classes", columns: names },
  ]);
}

/** For each device of an input the classes of its rows, numbered in the order in which they are met. */
export async function readClasses(input: Input, column: string, options: RowsRequest): Promise<Uint32Array[]> {
  const numbers = new Map<string, number>();
  const classes = input.devices.map(({ points }) => new Uint32Array(points.rows));
  const filled = new Uint32Array(classes.length);
  for (const { input: file, rows, deviceOf } of input.files) {
    if (file === undefined) throw new RangeError("classes are read from files");
    // A column of names is read as that of devices is.
    const { exclude: _, files: __, ...rest } = options;
    const columns = input.encoding.map(({ name }) => name);
    const { devices } = await readTable(file, { ...rest, columns, deviceColumn: column });
    const { names, of } = devices ?? { names: [], of: new Uint32Array() };
    for (let r = 0; r < rows; r++) {
      const device = deviceOf(r);
      if (device < 0) continue;
      const name = names[of[r]];
      const number = numbers.get(name) ?? numbers.size;
      numbers.set(name, number);
      classes[device][filled[device]++] = number;
    }
  }
  return classes;
}
