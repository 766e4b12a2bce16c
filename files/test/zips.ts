// Zip archives, workbooks, Parquet files and arrays for tests, whole and in every way broken.

import { deflateRawSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { crc32 } from "../src/source/bytes.ts";

export interface Packed {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** What the list says instead of the truth. */
  readonly size?: number;
  readonly checksum?: number;
  readonly flags?: number;
  readonly method?: number;
}

export function zip(files: readonly Packed[]): Buffer {
  const bodies: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const { name, content, size, checksum, flags = 0, method = 8 } of files) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50, 0);
    header.writeUInt16LE(Buffer.byteLength(name), 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(checksum ?? crc32(bytes), 16);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(size ?? bytes.length, 24);
    entry.writeUInt16LE(Buffer.byteLength(name), 28);
    entry.writeUInt32LE(offset, 42);
    bodies.push(header, Buffer.from(name), packed);
    list.push(entry, Buffer.from(name));
    offset += 30 + Buffer.byteLength(name) + packed.length;
  }
  const directory = Buffer.concat(list);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, directory, end]);
}

const workbook = `<?xml version="1.0"?><workbook xmlns:r="r"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`;
const relations = `<Relationships><Relationship Id="rId1" Type="t" Target="worksheets/sheet1.xml"/></Relationships>`;
const styles = `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="171" formatCode="[h]:mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs></styleSheet>`;

/** A workbook with one sheet of these rows, and with other parts where they are given. */
export function xlsx(rows: string, parts: Readonly<Record<string, string>> = {}): Buffer {
  const all: Record<string, string> = {
    "xl/workbook.xml": workbook,
    "xl/_rels/workbook.xml.rels": relations,
    "xl/styles.xml": styles,
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    ...parts,
  };
  return zip(Object.entries(all).map(([name, content]) => ({ name, content })));
}

/** Cells as they stand in a row: numbers, or whole tags. */
export function row(number: number, ...cells: readonly (number | string)[]): string {
  const inner = cells.map((cell, c) => {
    const reference = `${String.fromCharCode(65 + c)}${number}`;
    if (typeof cell === "number") return `<c r="${reference}"><v>${cell}</v></c>`;
    return cell.startsWith("<c")
      ? cell.replace("<c", `<c r="${reference}"`)
      : `<c r="${reference}" t="inlineStr"><is><t>${cell}</t></is></c>`;
  });
  return `<row r="${number}">${inner.join("")}</row>`;
}

export function npy(header: string, numbers: Uint8Array = new Uint8Array(), { version = 1, length = 0 } = {}): Buffer {
  const text = Buffer.from(header, "latin1");
  const prefix = Buffer.from([0x93, ...Buffer.from("NUMPY"), version, 0, 0, 0]);
  prefix.writeUInt16LE(length || text.length, 8);
  return Buffer.concat([prefix, text, numbers]);
}

export const npyHeader = (descr: string, shape: string, fortran = "False") =>
  `{'descr': ${descr}, 'fortran_order': ${fortran}, 'shape': ${shape}, }`;

type ParquetColumns = Parameters<typeof parquetWriteBuffer>[0]["columnData"];

export function parquet(columnData: ParquetColumns): Uint8Array {
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}
