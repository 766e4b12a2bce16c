// Rows of tables to the devices that they belong to: one a file, one a folder such as plant=north, or as a column says;
// without those that are dropped or not in a sample. Devices are called after their files, as shortly as tells them apart.

import { type Matrix, randomStream, takeRows } from "@fedkm/core";
import { completeTableRows, NO_DEVICE, type Table } from "@fedkm/files";

/** A file's name without its folder and its endings. */
export function deviceNameOfFile(file: string): string {
  const name = file.split(/[\\/]/).findLast((part) => part !== "") ?? file;
  return (
    name.replace(/(\.(csv|tsv|tab|txt|dat|jsonl|ndjson|json|parquet|pq|xlsx|xlsm|ods|npy|npz))?(\.gz|\.zip)?$/i, "") ||
    name
  );
}

/** One name a file; folders are added in front where plain names are the same. */
export function deviceNames(files: readonly string[]): string[] {
  const parts = files.map((file) => file.replaceAll("\\", "/").split("/").slice(0, -1));
  const names = files.map(deviceNameOfFile);
  for (let depth = 1; new Set(names).size < names.length && parts.some((own) => own.length >= depth); depth++) {
    const repeated = names.map((name) => names.indexOf(name) !== names.lastIndexOf(name));
    repeated.forEach((isRepeated, i) => {
      const folder = parts[i].at(-depth);
      if (isRepeated && folder !== undefined) names[i] = `${folder}/${names[i]}`;
    });
  }
  // Files that differ only in their endings.
  return new Set(names).size < names.length ? [...files] : names;
}

export interface InputDevice {
  readonly name: string;
  readonly points: Matrix;
  /** Whose each row is, by number, where a study protects persons. */
  readonly persons?: Uint32Array;
}

/** A table that was read, and the device of each of its rows: rows of a device follow each other in its points. */
export interface InputRows {
  readonly file: string;
  readonly rows: number;
  /** -1 for a row that was dropped. */
  deviceOf(row: number): number;
}

/** Whether a row of a table is in the sample. */
type IsDrawn = (table: number, row: number) => boolean;

/** Undefined if all are. Each row is drawn with the chance that is left for it, which gives the number that was asked for. */
export function drawInputSample(
  tables: readonly Table[],
  { sample, seed = 1 }: { readonly sample?: number | undefined; readonly seed?: number | undefined },
): IsDrawn | undefined {
  let left = tables.reduce((sum, { points }) => sum + points.rows, 0);
  if (sample === undefined || sample >= left) return undefined;
  const random = randomStream(seed, "sample");
  let wanted = sample;
  const marks = tables.map(({ points }) =>
    Uint8Array.from({ length: points.rows }, () => {
      const isDrawn = random() * left-- < wanted;
      if (isDrawn) wanted--;
      return isDrawn ? 1 : 0;
    }),
  );
  return (table, row) => marks[table][row] === 1;
}

/** What folders such as plant=north say of a file in them: of all, or of the one with this name. */
export function folderDevice(file: string, column?: string): string | undefined {
  const folders = file.replaceAll("\\", "/").split("/").slice(0, -1);
  const values = folders.flatMap((part) => {
    const [, name, value] = /^(\w+)=(.+)$/.exec(part) ?? [];
    return value === undefined || (column !== undefined && name !== column) ? [] : [decoded(value)];
  });
  return values.length === 0 ? undefined : values.join("/");
}

const partsOf = ({ file, parts, points }: Table) => parts ?? [{ file, rows: points.rows }];

/** Files in folders such as plant=north are of the device that is called so; sheets and files of an archive are one each. */
function withNamedDevices(tables: readonly Table[]): readonly Table[] {
  const files = tables.flatMap(partsOf).map(({ file }) => file);
  const folders = files.map((file) => folderDevice(file));
  const isSplit = tables.some(({ parts }) => parts !== undefined);
  const names = folders.every((own) => own !== undefined) ? folders : isSplit ? deviceNames(files) : undefined;
  if (names === undefined) return tables;
  let next = 0;
  return tables.map((table) => {
    const own = partsOf(table);
    const of = Uint32Array.from(own.flatMap(({ rows }, p) => new Array<number>(rows).fill(p)));
    next += own.length;
    return { ...table, devices: { names: names.slice(next - own.length, next), of } };
  });
}

/** As programs write such folders: what a name cannot have stands there as %20. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface AssignedRows {
  readonly devices: InputDevice[];
  readonly parts: InputRows[];
  readonly dropped: number;
}

/** By a column of names where there is one, by folders that name devices, or one device a table; `given` name the first ones. */
export function assignRows(
  tables: readonly Table[],
  given: readonly string[],
  hasDeviceColumn: boolean,
  isDrawn: IsDrawn | undefined,
): AssignedRows {
  const named = hasDeviceColumn || given.length > 0 ? tables : withNamedDevices(tables);
  if (named.every((table) => table.devices !== undefined)) return byColumn(named, isDrawn);
  const read = tables.slice(given.length).map(({ file }) => file);
  return oneEach(tables, [...given, ...deviceNames(read)], isDrawn);
}

function oneEach(tables: readonly Table[], names: readonly string[], isDrawn: IsDrawn | undefined): AssignedRows {
  let dropped = 0;
  const parts: InputRows[] = [];
  const devices = tables.map((table, i): InputDevice => {
    const complete = completeTableRows(table);
    const { rows } = table.points;
    const deviceOf = (row: number) => (complete?.[row] === 0 || isDrawn?.(i, row) === false ? -1 : i);
    parts.push({ file: table.file, rows, deviceOf });
    dropped += complete?.reduce((sum, whole) => sum + 1 - whole, 0) ?? 0;
    if (complete === undefined && isDrawn === undefined) return { name: names[i], points: table.points };
    const used = Array.from({ length: rows }, (_, row) => row).filter((row) => deviceOf(row) >= 0);
    return { name: names[i], points: takeRows(table.points, used) };
  });
  return { devices, parts, dropped };
}

function byColumn(tables: readonly Table[], isDrawn: IsDrawn | undefined): AssignedRows {
  const numbers = new Map<string, number>();
  let dropped = 0;
  const parts = tables.map((table, t): InputRows => {
    const { names, of } = table.devices ?? { names: [], of: new Uint32Array() };
    const own = names.map((name) => {
      const number = numbers.get(name) ?? numbers.size;
      numbers.set(name, number);
      return number;
    });
    const complete = completeTableRows(table);
    const deviceOf = (row: number) =>
      complete?.[row] === 0 || of[row] === NO_DEVICE || isDrawn?.(t, row) === false ? -1 : own[of[row]];
    for (const [row, device] of of.entries()) if (complete?.[row] === 0 || device === NO_DEVICE) dropped++;
    return { file: table.file, rows: table.points.rows, deviceOf };
  });
  const points = split(tables, parts, numbers.size);
  return { devices: Array.from(numbers.keys(), (name, i) => ({ name, points: points[i] })), parts, dropped };
}

/** The rows of each device, in the order of the files. */
function split(tables: readonly Table[], parts: readonly InputRows[], devices: number): Matrix[] {
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
