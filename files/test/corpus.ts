// Files that nobody should have written, each with the refusal it must get.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { defaultLimits, type ReadOptions } from "../src/node.ts";

const bytes = (...values: number[]) => Buffer.from(values);
const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}.parquet`, import.meta.url));
const zeroed = (file: string, from: number, to: number) => readFileSync(file).fill(0, from, to);
const deep = '{"a":'.repeat(2000);

type Case = readonly [name: string, content: string | Uint8Array, refusal: RegExp, options?: ReadOptions];

/** The name's ending is that of the file. */
export const corpus: readonly Case[] = [
  [
    "spaces.txt",
    "1.0   2.0\n3.5  4.5\n",
    /line 1, column 1 must end with a comma, semicolon, tab or bar, got spaces between cells; put commas/,
  ],
  [
    "twice.jsonl",
    '{"a": 1, "b": 2}\n{"a": 1, "b": 2, "a": 3}\n',
    /line 2, column "a" must be there once, got two of them/,
  ],
  [
    "twice-beside-nested.jsonl",
    '{"a": 1, "meta": {"a": 1, "b": [{"a": 2}]}}\n{"a": 1, "meta": {"b": "}"}, "\\u0061": 2}\n',
    /line 2, column "a" must be there once, got two of them/,
    { columns: ["a"] },
  ],
  [
    "constructor.jsonl",
    '{"a": 1, "constructor": "n"}\n{"a": 2}\n',
    /line 2, column "constructor" must name a device, got no value/,
    { deviceColumn: "constructor" },
  ],
  [
    "quotes-open.jsonl",
    `{"a": 1, "b": "${'\\"c\\":'.repeat(120_000)}\n`,
    /line 1, column "b" must be in one whole JSON object/,
  ],
  ["empty.csv", "", /line 1, column 1 must hold a header and rows, got an empty file; export/],
  ["blank.csv", "\n\n\r\n", /line 1, column 1 must hold a header and rows, got only blank lines/],
  ["space.csv", "   \n", /line 1, column "column1" must have a value in some row, got none/],
  ["only-header.csv", "a,b\n", /line 2, column "a" must begin a row, got none below the header/],
  ["only-mark.csv", "\uFEFF", /line 1, column 1 must hold a header and rows, got an empty file/],
  ["word.csv", "hello", /line 2, column "hello" must begin a row/],
  [
    "text-cell.csv",
    "a,b\n1,2\n3,tall\n5,6\n",
    /line 3, column "b" must be a number, got "tall"; fix the cell, empty it if the value is not known, or leave out column "b"$/,
  ],
  ["hexadecimal.csv", "a,b\n1,2\n3,0x10\n5,6\n", /line 3, column "b" must be a number, got "0x10"/],
  ["binary-number.csv", "a,b\n1,0b1\n3,4\n5,6\n", /line 2, column "b" must be a number, got "0b1"/],
  ["infinity.csv", "a,b\n1,inf\n3,4\n5,6\n", /line 2, column "b" must be a number, got "inf"/],
  ["minus-infinity.csv", "a,b\n1,-Infinity\n3,4\n5,6\n", /line 2, column "b" must be a number, got "-Infinity"/],
  [
    "thousands.csv",
    'a,b\n1,"1,000"\n3,4\n5,6\n',
    /line 2, column "b" must be a number, got "1,000"; write numbers with a decimal point/,
  ],
  [
    "decimal-commas.csv",
    "a;b\n1,5;2\n2,5;3\n",
    /column "a" must hold numbers, got decimal commas in "a"; write numbers with a decimal point/,
  ],
  [
    "decimal-commas-and-text.csv",
    "länge;breite;art\n1,5;2,5;a\n2,5;3,5;b\n",
    /line 1, column "länge" must hold numbers, got decimal commas in "länge", "breite", text in "art"; write numbers with a decimal point and no commas; leave out column "art", choose columns "länge", "breite", or take column "art" as a category$/,
  ],
  [
    "note-to-excel.csv",
    "sep=;\na;b\n1;2\n",
    /line 1, column 1 must name a column or hold a value, got Excel's note of the delimiter; remove the line/,
  ],
  ["percent.csv", "a,b\n1,5%\n3,4\n5,6\n", /line 2, column "b" must be a number, got "5%"/],
  ["currency.csv", "a,b\n1,$5\n3,4\n5,6\n", /line 2, column "b" must be a number, got "\$5"/],
  ["trailing-letters.csv", "a,b\n1,2abc\n3,4\n5,6\n", /line 2, column "b" must be a number, got "2abc"/],
  ["two-points.csv", "a,b\n1,1.2.3\n3,4\n5,6\n", /line 2, column "b" must be a number, got "1.2.3"/],
  ["bare-point.csv", "a,b\n1,.\n3,4\n5,6\n", /line 2, column "b" must be a number, got "."/],
  ["bare-sign.csv", "a,b\n1,-\n3,4\n5,6\n", /line 2, column "b" must be a number, got "-"/],
  ["bare-exponent.csv", "a,b\n1,e5\n3,4\n5,6\n", /line 2, column "b" must be a number, got "e5"/],
  ["half-exponent.csv", "a,b\n1,1e\n3,4\n5,6\n", /line 2, column "b" must be a number, got "1e"/],
  ["two-signs.csv", "a,b\n1,--5\n3,4\n5,6\n", /line 2, column "b" must be a number, got "--5"/],
  ["inner-space.csv", "a,b\n1,1 2\n3,4\n5,6\n", /line 2, column "b" must be a number, got "1 2"/],
  ["underscore.csv", "a,b\n1,1_000\n3,4\n5,6\n", /line 2, column "b" must be a number, got "1_000"/],
  ["arabic-digits.csv", "a,b\n1,٣\n3,4\n5,6\n", /line 2, column "b" must be a number, got "٣"/],
  ["true.csv", "a,b\n1,true\n3,4\n5,6\n", /line 2, column "b" must be a number, got "true"/],
  [
    "date.csv",
    "a,b\n1,2026-01-01\n2,2026-01-02\n",
    /line 1, column "b" must hold numbers, got text in "b"; leave out column "b", choose column "a", or take column "b" as a category$/,
  ],
  [
    "huge.csv",
    "a,b\n1,1e13\n3,4\n",
    /line 2, column "b" must be a number from -1000000000000 to 1000000000000, got "1e13"/,
  ],
  ["overflow.csv", "a,b\n1,1e999\n3,4\n", /line 2, column "b" must be a number from .* got "1e999"/],
  [
    "long-digits.csv",
    `a,b\n1,${"9".repeat(400)}\n3,4\n`,
    /line 2, column "b" must be a number from .*got "9{40}\.\.\."/,
  ],
  [
    "all-text.csv",
    "a,b\nx,y\nz,w\n",
    /line 1, column "a" must hold numbers, got text in "a", "b"; turn at least one column into numbers/,
  ],
  [
    "short-row.csv",
    "a,b,c\n1,2,3\n4,5\n",
    /line 3, column "c" must have 3 cells, as the first line, got 2; fix the line/,
  ],
  ["long-row.csv", "a,b\n1,2\n3,4,5\n", /line 3, column "b" must have 2 cells, as the first line, got 3/],
  ["ragged-header.csv", "a,b,c\n1,2\n3,4\n", /line 2, column "c" must have 3 cells/],
  ["comma-at-end.csv", "a,b\n1,2,\n3,4,\n", /line 2, column "b" must have 2 cells/],
  ["open-quote.csv", 'a,b\n1,"2\n3,4\n', /line 2, column "b" must close every quote/],
  [
    "open-quote-header.csv",
    'a,"b\n1,2\n3,4\n',
    /line 1, column 2 must close every quote, got one that stays open to the end/,
  ],
  [
    "text-after-quote.csv",
    'a,b\n1,"2"x\n3,4\n',
    /line 2, column 2 must have a delimiter or the line's end after a closing quote, got "x"; write quotes/,
  ],
  ["quote-in-number.csv", 'a,b\n1,2"\n3,4\n5,6\n', /line 2, column "b" must be a number/],
  [
    "repeated-name.csv",
    "a,a,b\n1,2,3\n",
    /line 1, column "a" must be there once, got two of them; rename one of them in the file, or leave out column "a"$/,
  ],
  [
    "latin1.csv",
    Buffer.from("a,b,näme\n1,2,3\n", "latin1"),
    /line 1, column 3 must be UTF-8 text, got byte 0xe4; save the file as UTF-8/,
  ],
  [
    "bad-byte.csv",
    Buffer.concat([Buffer.from("a,b\n1,2\n3,4\n5,"), bytes(0xff), Buffer.from("\n7,8\n")]),
    /line 4, column "b" must be UTF-8 text, got byte 0xff; save/,
  ],
  [
    "bad-byte-unused.csv",
    Buffer.concat([Buffer.from("a,b\n1,x\n3,"), bytes(0xc3, 0x28), Buffer.from("\n")]),
    /line 3, column "b" must be UTF-8 text, got byte 0xc3; save/,
    { columns: ["a"] },
  ],
  ["nul.csv", "a,b\n1,2\n3,\u00004\n5,6\n", /line 3, column "b" must be UTF-8 text, got byte 0x00; export it/],
  [
    "nul-unused.csv",
    "a,b\n1,x\u0000y\n",
    /line 2, column "b" must be UTF-8 text, got byte 0x00; export it as CSV/,
    { columns: ["a"] },
  ],
  [
    "utf16.csv",
    Buffer.from("\uFEFFa,b\n1,2\n", "utf16le"),
    /line 1, column 1 must begin CSV, .*got UTF-16 text; save it as UTF-8/,
  ],
  [
    "carriage.csv",
    "a,b\r1,2\r3,4\r",
    /line 1, column 2 must end with a line feed, got a carriage return alone; save the file with line ends/,
  ],
  [
    "zip.csv",
    bytes(0x50, 0x4b, 3, 4, 0, 0),
    /got a zip archive or an Excel workbook; unpack it, or save the sheet as CSV/,
  ],
  [
    "points.npy",
    Buffer.from("\x93NUMPY\x01\0v\0{'descr': '<f8', }", "latin1"),
    /got a NumPy array \(\.npy\); save the array as CSV with numpy\.savetxt\("rows\.csv", array, delimiter=","\)/,
  ],
  [
    "points.npz",
    Buffer.concat([
      bytes(0x50, 0x4b, 3, 4),
      Buffer.alloc(22),
      bytes(9, 0, 0, 0),
      Buffer.from("arr_0.npy\x93NUMPY", "latin1"),
    ]),
    /got NumPy arrays \(\.npz\); save the array as CSV with numpy\.savetxt/,
  ],
  ["workbook.xls", bytes(0xd0, 0xcf, 0x11, 0xe0, 0xa1), /got an Excel workbook; save the sheet as CSV/],
  ["zstd.csv", bytes(0x28, 0xb5, 0x2f, 0xfd, 0), /got zstd data; unpack it first/],
  ["arrow.arrow", "ARROW1\0\0", /got an Arrow file; save it as Parquet or CSV/],
  ["database.csv", "SQLite format 3\0", /got an SQLite database; export the table as CSV/],
  [
    "cut.csv.gz",
    gzipSync(`a,b\n${"1,2\n".repeat(1000)}`).subarray(0, 30),
    /line 1, column 1 must come from whole gzip data/,
  ],
  [
    "changed.csv.gz",
    Buffer.concat([gzipSync("a,b\n1,2\n").subarray(0, 12), bytes(1, 2, 3, 4, 5, 6, 7, 8)]),
    /line 1, column 1 must come from whole gzip data/,
  ],
  [
    "bomb.csv.gz",
    gzipSync(Buffer.alloc(4e6, "1,2\n")),
    /line 250001, column "column1" must be within the first 1000000 unpacked bytes, got more; split/,
    { limits: { ...defaultLimits, fileBytes: 1e6 } },
  ],
  [
    "endless-line.csv",
    `a,b\n1,${"2".repeat(3e6)}\n`,
    /line 2, column "b" must end within 1048576 bytes of the line's start/,
  ],
  [
    "no-such-column.csv",
    "a,b\n1,2\n",
    /column "c" must exist, got the columns "a", "b"; name one of them$/,
    { columns: ["c"] },
  ],
  [
    "twice-named.csv",
    "a,b\n1,2\n",
    /line 1, column "a" must be there once, got two of them; choose column "a"$/,
    { columns: ["a", "a"] },
  ],
  [
    "nothing-left.csv",
    "a,b\n1,2\n",
    /line 1, column "a" must be left to cluster, or another column, got none left; exclude fewer/,
    { exclude: ["a", "b"] },
  ],
  [
    "no-device.csv",
    "site,a\nx,1\n,2\n",
    /line 3, column "site" must name a device, got an empty cell; fill the cell/,
    { deviceColumn: "site" },
  ],
  [
    "missing.csv",
    "a,b\n1,2\n,4\n",
    /line 3, column "a" must have a value, got 1 missing cell; drop their rows, or fill/,
  ],
  [
    "missing-words.csv",
    "a,b\nNA,2\nnull,4\n3,NaN\n",
    /line 2, column "a" must have a value, got 3 missing cells in the file \(2 in "a", 1 in "b"\)/,
  ],
  ["empty-column.csv", "a,b\n1,\n2,\n", /column "b" must have a value in some row, got none; leave out column "b"$/],
  [
    "broken.jsonl",
    '{"a": 1}\n{"a": \n',
    /line 2, column "a" must be in one whole JSON object, got "\{\\"a\\":"; write one whole object/,
  ],
  ["array.jsonl", "[1, 2]\n[3, 4]\n", /line 1, column 1 must begin a JSON object, got "\[1, 2\]"; write lines such as/],
  ["document.json", '[\n {"a": 1}\n]\n', /line 1, column 1 must be in one whole JSON object/],
  [
    "text-number.jsonl",
    '{"a": 1, "b": 1}\n{"a": "2", "b": 2}\n{"a": 3, "b": 3}\n',
    /line 2, column "a" must be a number, got "\\"2\\""; write it as a JSON number/,
  ],
  [
    "nested.jsonl",
    '{"a": 1, "b": {"c": 2}}\n',
    /column "b" must hold numbers, got other values in "b"; leave out column "b"/,
  ],
  ["deep.jsonl", `${deep}1${"}".repeat(2000)}\n`, /column "a" must hold numbers/],
  [
    "new-key.jsonl",
    `${'{"a": 1}\n'.repeat(300)}{"a": 2, "b": 3}\n`,
    /line 301, column "b" must be a key of the first lines too, got a new key; choose column "a"$/,
  ],
  ["huge.jsonl", '{"a": 1e300}\n', /line 1, column "a" must be a number from/],
  ["empty.jsonl", "\n", /line 1, column 1 must hold a JSON object, got no line/],
  [
    "boolean.jsonl",
    '{"a": true}\n{"a": false}\n',
    /column "a" must hold numbers, got booleans in "a"; .*take column "a" as a category/,
  ],
  ["cut.parquet", "PAR1....", /footer, byte 0 must be that of a whole Parquet file/],
  ["fake.parquet", `PAR1${"x".repeat(100)}PAR1`, /footer, byte 100 must be that of a whole Parquet file/],
  ["utf16-unmarked.csv", Buffer.from("a,b\n1,2\n", "utf16le"), /line 1, column 1 must be UTF-8 text, got byte 0x00/],
  [
    "picture.csv",
    bytes(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0),
    /line 1, column 1 must be UTF-8 .*0x89; export it/,
  ],
  [
    "random.csv",
    Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * i * 31 + (i >> 3)) % 256)),
    /must be UTF-8 text/,
  ],
  ["bzip2.csv", bytes(0x42, 0x5a, 0x68, 0x39), /line 1, column 1 must begin CSV, .*got bzip2 data; unpack it first/],
  ["xz.csv", bytes(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0), /line 1, column 1 must begin CSV, .*got xz data; unpack it first/],
  ["tree.h5", bytes(0x89, 0x48, 0x44, 0x46, 13, 10), /line 1, column 1 must begin CSV, .*got an HDF5 file; save it/],
  [
    "bad-byte-quoted.csv",
    Buffer.concat([Buffer.from('a,note,b\n1,"first,\nsecond ;, '), bytes(0xe9), Buffer.from('",2\n')]),
    /line 3, column "note" must be UTF-8 text, got byte 0xe9/,
  ],
  [
    "bad-byte-late.csv",
    Buffer.concat([Buffer.from(`a,b\n${"1,2\n".repeat(2e6)}3,`), bytes(0xe9), Buffer.from("\n4,5\n")]),
    /line 2000002, column "b" must be UTF-8 text, got byte 0xe9/,
  ],
  [
    "replacement.csv",
    Buffer.concat([Buffer.from("a,\uFFFD\n1,2\n3,"), bytes(0xff)]),
    /line 3, column "\uFFFD" must be UTF-8/,
  ],
  [
    "cut-late.csv.gz",
    gzipSync(`a,b\n${Array.from({ length: 2e5 }, (_, i) => `${i},${(i * 7919) % 1e6}`).join("\n")}\n`).subarray(0, 5e5),
    /line \d{5,}, column "[ab]" must come from whole gzip data, got data that is cut or damaged/,
  ],
  ["blank-first.csv", "\n\na,b\n1,x\n2,y\n", /line 3, column "b" must hold numbers/],
  ["wide.csv", `${"1,".repeat(1024)}1\n`, /line 1, column 1025 must be among the first 1024 columns, got 1025 columns/],
  [
    "rows.csv",
    "a,b\n1,2\n3,4\n5,6\n",
    /line 4, column "a" must be among the first 2 rows/,
    { limits: { ...defaultLimits, rows: 2 } },
  ],
  [
    "bad-byte.jsonl",
    Buffer.from('{"a": 1, "b": "\xe9"}\n', "latin1"),
    /line 1, column "b" must be UTF-8 text, got byte 0xe9/,
  ],
  ["endless-line.jsonl", `{"a": 1, "b": ${"2".repeat(7e6)}}\n`, /line 1, column "b" must end within 1048576 bytes/],
  ["cut.jsonl.gz", gzipSync('{"a": 1}\n').subarray(0, 14), /line 1, column 1 must come from whole gzip data/],
  ["comma.jsonl", '{"a": 1,, "b": 2}\n', /line 1, column "a" must be in one whole JSON object/],
  ["empty-object.jsonl", "{}\n", /line 1, column 1 must be left to cluster/],
  ["text.parquet", readFileSync(fixture("snappy")), /row 1, column "site" must hold numbers/],
  [
    "unsigned.parquet",
    readFileSync(fixture("second-version")),
    /column "unsigned", row group 1, page 1, byte \d+ must be stored plainly/,
    { columns: ["unsigned"] },
  ],
  [
    "rows.parquet",
    readFileSync(fixture("snappy")),
    /row 3, column "id" must be among the first 2 rows/,
    { columns: ["id"], limits: { ...defaultLimits, rows: 2 } },
  ],
  [
    "wide.parquet",
    readFileSync(fixture("snappy")),
    /row 1, column "f" must be among the first 2 columns/,
    { columns: ["id"], limits: { ...defaultLimits, columns: 2 } },
  ],
  [
    "large.parquet",
    readFileSync(fixture("zstd")),
    /row 1, column "unsigned" must be a number from -1000 to 1000/,
    { columns: ["unsigned"], limits: { ...defaultLimits, magnitude: 1000 } },
  ],
  [
    "zeroed.parquet",
    zeroed(fixture("zstd"), 4, 200),
    /column "id", row group 1, page 1, byte 4 must be that of a whole Parquet file/,
    { columns: ["id"] },
  ],
  [
    "missing.parquet",
    readFileSync(fixture("zstd")),
    /row 4, column "x" must have a value, got 2 missing cells/,
    { columns: ["x"] },
  ],
];
