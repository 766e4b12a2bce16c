// Rows of tables to the devices that they belong to: one a file, one a folder such as place=north, or as a column says;
// without those that are dropped or not in a sample.

import { type Matrix, randomStream, takeRows } from "@fedkm/core";
import { completeRows, NO_DEVICE, type Table } from "@fedkm/files";
import { deviceNames } from "./names.ts";

export interface Device {
  readonly name: string;
  readonly points: Matrix;
}

/** A file that was read, and the device of each of its rows: rows of a device follow each other in its points. */
export interface InputFile {
  readonly file: string;
  readonly rows: number;
  /** -1 for a row that was dropped. */
  deviceOf(row: number): number;
}

/** Whether a row of a table is in the sample. */
type Kept = (table: number, row: number) => boolean;

/** Undefined if all are. Each row is drawn with the chance that is left for it, which gives the number that was asked for. */
export function sampler(
  tables: readonly Table[],
  { sample, seed = 1 }: { readonly sample?: number; readonly seed?: number },
): Kept | undefined {
  let left = tables.reduce((sum, { points }) => sum + points.rows, 0);
  if (sample === undefined || sample >= left) return undefined;
  const random = randomStream(seed, "sample");
  let wanted = sample;
  const drawn = tables.map(({ points }) =>
    Uint8Array.from({ length: points.rows }, () => {
      const isDrawn = random() * left-- < wanted;
      if (isDrawn) wanted--;
      return isDrawn ? 1 : 0;
    }),
  );
  return (table, row) => drawn[table][row] === 1;
}

/** Files in folders such as place=north are of one device, which is called so. */
export function withFolderPlace(table: Table): Table {
  const folders = table.file.replaceAll("\\", "/").split("/").slice(0, -1);
  const values = folders.flatMap((part) => /^\w+=(.+)$/.exec(part)?.[1] ?? []);
  if (values.length === 0) return table;
  return { ...table, devices: { names: [values.map(decoded).join("/")], of: new Uint32Array(table.points.rows) } };
}

/** As programs write such folders: what a name cannot have stands there as %20. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface Gathered {
  readonly devices: Device[];
  readonly parts: InputFile[];
  readonly dropped: number;
}

export function oneEach(tables: readonly Table[], kept: Kept | undefined): Gathered {
  const names = deviceNames(tables.map(({ file }) => file));
  let dropped = 0;
  const parts: InputFile[] = [];
  const devices = tables.map((table, i): Device => {
    const complete = completeRows(table);
    const { rows } = table.points;
    const deviceOf = (row: number) => (complete?.[row] === 0 || kept?.(i, row) === false ? -1 : i);
    parts.push({ file: table.file, rows, deviceOf });
    dropped += countDropped(complete);
    if (complete === undefined && kept === undefined) return { name: names[i], points: table.points };
    const used = Array.from({ length: rows }, (_, row) => row).filter((row) => deviceOf(row) >= 0);
    return { name: names[i], points: takeRows(table.points, used) };
  });
  return { devices, parts, dropped };
}

export function byColumn(tables: readonly Table[], kept: Kept | undefined): Gathered {
  const numbers = new Map<string, number>();
  let dropped = 0;
  const parts = tables.map((table, t): InputFile => {
    const { names, of } = table.devices ?? { names: [], of: new Uint32Array() };
    const own = names.map((name) => {
      const number = numbers.get(name) ?? numbers.size;
      numbers.set(name, number);
      return number;
    });
    const complete = completeRows(table);
    const deviceOf = (row: number) =>
      complete?.[row] === 0 || of[row] === NO_DEVICE || kept?.(t, row) === false ? -1 : own[of[row]];
    for (const [row, device] of of.entries()) if (complete?.[row] === 0 || device === NO_DEVICE) dropped++;
    return { file: table.file, rows: table.points.rows, deviceOf };
  });
  const points = split(tables, parts, numbers.size);
  return { devices: Array.from(numbers.keys(), (name, i) => ({ name, points: points[i] })), parts, dropped };
}

/** The rows of each device, in the order of the files. */
function split(tables: readonly Table[], parts: readonly InputFile[], devices: number): Matrix[] {
  const { cols } = tables[0].points;
  const sizes = new Uint32Array(devices);
  for (const { rows, deviceOf } of parts) {
    for (let r = 0; r < rows; r++) if (deviceOf(r) >= 0) sizes[deviceOf(r)]++;
  }
  const points = Array.from(sizes, (rows): Matrix => ({ data: new Float64Array(rows * cols), rows, cols }));
  const filled = new Uint32Array(devices);
  parts.forEach(({ rows, deviceOf }, t) => {
    const { data } = tables[t].points;
    for (let r = 0; r < rows; r++) {
      const device = deviceOf(r);
      if (device < 0) continue;
      const to = filled[device]++ * cols;
      for (let c = 0; c < cols; c++) points[device].data[to + c] = data[r * cols + c];
    }
  });
  return points;
}

function countDropped(complete: Uint8Array | undefined): number {
  return complete === undefined ? 0 : complete.reduce((sum, whole) => sum + 1 - whole, 0);
}
