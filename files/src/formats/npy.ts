// NumPy's arrays (.npy): a header that is a Python dictionary, and the numbers behind it.

import { readBytes } from "../source/bytes.ts";
import { DataError } from "../source/refusal.ts";
import type { ByteFile, Limits } from "../source/source.ts";
import { cellOrNoted } from "../table/cell.ts";
import { type ChosenColumns, type Column, chooseColumns, type ReadPlan } from "../table/columns.ts";
import { checkTableRows, GrowingTable, refuseLargeCell, type Table } from "../table/table.ts";

/** One number of a row: where it lies in the row's bytes, and how it is written. */
interface Field {
  readonly name: string;
  readonly type: string;
  readonly offset: number;
}

interface Layout {
  readonly fields: readonly Field[];
  readonly rows: number;
  /** Bytes from one row to the next, and from one column to the next. */
  readonly stride: number;
  /** Where the numbers begin. */
  readonly start: number;
}

const MOST_HEADER = 2 ** 16;
const AS_NUMBERS = "save an array of numbers, such as with array.astype(float)";

export async function npyColumns(bytes: ByteFile, limits: Limits): Promise<Column[]> {
  return (await layoutOf(bytes, limits)).fields.map(({ name }) => ({ name, kind: "number" }));
}

export async function readNpyTable(bytes: ByteFile, plan: ReadPlan): Promise<Table> {
  const { file, size } = bytes;
  const { limits, rules, options } = plan;
  const { fields, rows, stride, start } = await layoutOf(bytes, limits);
  const known = fields.map(({ name }) => ({ name, kind: "number" }) as const);
  const chosen = chooseColumns({ file, line: 1 }, known, options);
  checkTableRows(file, rows, chosen, limits, "save the array again");
  checkNumbers(file, chosen);
  const view = new DataView((await readBytes(bytes, start, size)).buffer);
  const table = new GrowingTable(file, chosen, rows, plan);
  for (const [slot, { index, name: column }] of chosen.features.entries()) {
    const { type, offset } = fields[index];
    const read = readers[type.slice(1)];
    const little = type[0] !== ">";
    for (let r = 0; r < rows; r++) {
      let value = rules.without(read(view, r * stride + offset, little));
      if (Math.abs(value) > limits.magnitude) {
        const large = String(value);
        value = cellOrNoted(rules, () => refuseLargeCell({ file, line: r + 1, column }, large, limits));
      }
      table.set(r, slot, value, r + 1);
    }
  }
  table.rows = rows;
  return table.finish("npy");
}

/** An array holds no categories and no names of devices. */
function checkNumbers(file: string, { features, device }: ChosenColumns): void {
  const words = device === undefined ? features.find(({ isCategory }) => isCategory)?.name : features[0].name;
  if (words === undefined) return;
  const remedy = "save the table as CSV or Parquet for categories and names of devices";
  throw new DataError({ file, line: 1, column: words }, "be a number, as all of an array", "a word", remedy);
}

async function layoutOf(bytes: ByteFile, limits: Limits): Promise<Layout> {
  const { file, size } = bytes;
  const first = await readBytes(bytes, 0, MOST_HEADER);
  const refuse = (rule: string, got: string, remedy: string, byte = 10): never => {
    throw new DataError({ file, part: "header", byte }, rule, got, remedy);
  };
  const { text, start } = headerOf(first, refuse);
  const [, order] = /'fortran_order':\s*(True|False)/.exec(text) ?? [];
  const [, shape] = /'shape':\s*\(([\d,\s]*)\)/.exec(text) ?? [];
  const [, descr] = /'descr':\s*('[^']*'|\[[^\]]*\])/.exec(text) ?? [];
  if (order === undefined || shape === undefined || descr === undefined) {
    return refuse("say type, order and shape", JSON.stringify(text.slice(0, 40)), "save the array again");
  }
  const sides = shape
    .split(",")
    .filter((own) => own.trim() !== "")
    .map(Number);
  if (sides.length < 1 || sides.length > 2) {
    return refuse("have one or two dimensions", `shape (${sides.join(", ")})`, "reshape it to rows and columns");
  }
  const [rows, cols = 1] = sides;
  if (cols < 1 || cols > limits.columns || !Number.isSafeInteger(rows)) {
    return refuse(`have 1 to ${limits.columns} columns`, `${cols}`, "transpose it if it lies on its side");
  }
  const isFortran = order === "True" && sides.length === 2;
  const layout = descr.startsWith("[")
    ? structured(descr, rows, sides.length, refuse)
    : plain(descr.slice(1, -1), rows, cols, isFortran, refuse);
  const wanted = rows * (descr.startsWith("[") ? layout.stride : widthOf(descr.slice(1, -1)) * cols);
  if (size - start !== wanted) {
    return refuse(
      `be followed by ${wanted} bytes of numbers`,
      `${size - start}`,
      "save or copy the array again",
      start,
    );
  }
  return { ...layout, start };
}

type Refuse = (rule: string, got: string, remedy: string, byte?: number) => never;

/** The dictionary at the beginning, and where the numbers begin. */
function headerOf(first: Uint8Array<ArrayBuffer>, refuse: Refuse): { text: string; start: number } {
  const [major] = first.subarray(6);
  const view = new DataView(first.buffer);
  const from = major === 1 ? 10 : 12;
  const length = first.length < 12 ? 0 : major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (![1, 2, 3].includes(major) || length === 0 || from + length > first.length) {
    return refuse("be that of a whole array", `version ${major} with ${length} bytes`, "save the array again", 6);
  }
  return { text: new TextDecoder().decode(first.subarray(from, from + length)), start: from + length };
}

function plain(type: string, rows: number, cols: number, isFortran: boolean, refuse: Refuse): Omit<Layout, "start"> {
  checkType(type, refuse);
  const width = widthOf(type);
  const fields = Array.from({ length: cols }, (_, c) => ({
    name: `column${c + 1}`,
    type,
    offset: c * width * (isFortran ? rows : 1),
  }));
  return { fields, rows, stride: isFortran ? width : width * cols };
}

/** A record array: every row has fields with names and types of their own. */
function structured(descr: string, rows: number, dimensions: number, refuse: Refuse): Omit<Layout, "start"> {
  const pairs = [...descr.matchAll(/\(\s*'([^']+)'\s*,\s*'([^']+)'\s*\)/g)];
  if (dimensions !== 1 || pairs.length === 0 || pairs.length !== descr.split("(").length - 1) {
    refuse("have fields of single numbers", descr.slice(0, 40), "save columns of single numbers");
  }
  let offset = 0;
  const fields = pairs.map(([, name, type]) => {
    checkType(type, refuse);
    offset += widthOf(type);
    return { name, type, offset: offset - widthOf(type) };
  });
  return { fields, rows, stride: offset };
}

function checkType(type: string, refuse: Refuse): void {
  if (/^[<>|=]/.test(type) && Object.hasOwn(readers, type.slice(1))) return;
  const known: Readonly<Record<string, string>> = {
    O: "Python objects",
    U: "text",
    S: "bytes",
    M: "dates",
    c: "complex numbers",
  };
  refuse("hold whole or floating numbers", known[type[1]] ?? `type ${type}`, AS_NUMBERS);
}

const widthOf = (type: string) => Number(type.slice(2));

const readers: Readonly<Record<string, (view: DataView, at: number, little: boolean) => number>> = {
  f8: (view, at, little) => view.getFloat64(at, little),
  f4: (view, at, little) => view.getFloat32(at, little),
  f2: (view, at, little) => half(view.getUint16(at, little)),
  i8: (view, at, little) => Number(view.getBigInt64(at, little)),
  i4: (view, at, little) => view.getInt32(at, little),
  i2: (view, at, little) => view.getInt16(at, little),
  i1: (view, at) => view.getInt8(at),
  u8: (view, at, little) => Number(view.getBigUint64(at, little)),
  u4: (view, at, little) => view.getUint32(at, little),
  u2: (view, at, little) => view.getUint16(at, little),
  u1: (view, at) => view.getUint8(at),
  b1: (view, at) => (view.getUint8(at) === 0 ? 0 : 1),
};

/** A number of 16 bits: 1 of sign, 5 of exponent, 10 of fraction. */
function half(bits: number): number {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}
