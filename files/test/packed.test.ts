// Archives, workbooks and arrays that nobody should have written: each is refused with its place and what helps.

import { expect, test } from "vitest";
import { checkMissingCells, defaultLimits, type ReadOptions, readTable } from "../src/node.ts";
import { expectRefusal, temporaryFiles } from "./files.ts";
import { npy, npyHeader, row, xlsx, zip } from "./zips.ts";

const write = temporaryFiles();
const eight = new Uint8Array(64);
const one = { name: "rows.csv", content: "a,b\n1,2\n" };
const head = row(1, "a", "b");
const shared = (content: string) => ({ "xl/sharedStrings.xml": content });

const corpus: readonly (readonly [string, Uint8Array, RegExp, ReadOptions?])[] = [
  [
    "cut.zip",
    zip([one]).subarray(0, 40),
    /list of files, byte \d+ must be that of a whole zip archive, got an archive without its end/,
  ],
  ["no-files.zip", zip([]), /list of files, byte 0 must name a table, got none; pack CSV/],
  ["same-name.zip", zip([one, one]), /must be that of a whole zip archive, got two files "rows.csv"/],
  ["count.zip", patched(zip([one]), -12, 9), /got a damaged list/],
  ["far.zip", patched(zip([one]), -6, 0xff), /got a list that does not fit/],
  [
    "bomb.zip",
    zip([{ name: "a.csv", content: "1,2\n", size: 2 ** 31 }]),
    /"a.csv", byte 0 must be of at most 536870912 bytes when unpacked, got 2147483648; unpack it/,
  ],
  [
    "liar.zip",
    zip([{ name: "a.csv", content: "1,2\n".repeat(1e6), size: 100 }]),
    /"a.csv", byte 0 must be unpacked as it was packed/,
  ],
  [
    "short.zip",
    zip([{ name: "a.csv", content: "1,2\n", size: 9 }]),
    /must be unpacked as it was packed, got data that is cut/,
  ],
  [
    "checksum.zip",
    zip([{ ...one, checksum: 1 }]),
    /must be unpacked as it was packed, got data that is cut or damaged/,
  ],
  ["secret.zip", zip([{ ...one, flags: 1 }]), /must be readable without a password, got an encrypted file/],
  ["method.zip", zip([{ ...one, method: 99 }]), /must be stored or deflated, got compression method 99/],
  [
    "nested.zip",
    zip([{ name: "inner.csv", content: zip([one]) }]),
    /"inner.csv", byte 0 must be a file that is no archive/,
  ],
  [
    "bad-cell.zip",
    zip([{ name: "../../etc/rows.csv", content: "a,b\n1,x\n3,4\n5,6\n" }]),
    /line 2, column "b" must be a number/,
  ],
  ["empty.xlsx", xlsx(""), /One!A1, column 1 must hold a header and rows, got an empty sheet/],
  ["header-only.xlsx", xlsx(head), /One!A2, column "a" must begin a row, got none below the header/],
  [
    "text.xlsx",
    xlsx(head + row(2, 1, 2) + row(3, 3, 4) + row(4, 5, "tall")),
    /One!B4, column "b" must be a number, got "tall"; fix the cell/,
  ],
  [
    "error.xlsx",
    xlsx(head + row(2, 1, 2) + row(3, 3, 4) + row(4, 5, '<c t="e"><v>#DIV/0!</v></c>')),
    /One!B4, column "b" must be a number, got "#DIV\/0!"/,
  ],
  [
    "formula.xlsx",
    xlsx(head + row(2, 1, 2) + row(3, 3, 4) + row(4, 5, "<c><f>A4*2</f></c>")),
    /One!B4, column "b" must be a number, got "a formula without a value"/,
  ],
  [
    "boolean.xlsx",
    xlsx(head + row(2, 1, 2) + row(3, 3, 4) + row(4, 5, '<c t="b"><v>1</v></c>')),
    /One!B4, column "b" must be a number, got "true"/,
  ],
  [
    "date.xlsx",
    xlsx(head + row(2, 1, '<c s="1"><v>46082</v></c>')),
    /row 1, column "b" must hold numbers, got dates in "b"; .*read dates as days/,
  ],
  ["wide.xlsx", xlsx(head + row(2, 1, 2), {}), /row 1, column "a" must be left/, { exclude: ["a", "b"] }],
  [
    "beyond.xlsx",
    xlsx(head + Array.from({ length: 250 }, (_, r) => row(r + 2, 1, 2)).join("") + row(300, 1, 2, 3)),
    /One!C300, column 3 must stand in a column of the first rows/,
  ],
  ["missing.xlsx", xlsx(head + row(2, 1, 2) + row(3, 3)), /row 3, column "b" must have a value, got 1 missing cell/],
  ["huge.xlsx", xlsx(head + row(2, 1, "<c><v>1e300</v></c>")), /One!B2, column "b" must be a number from/],
  [
    "no-number.xlsx",
    xlsx(head + row(2, 1, "<c><v>0x10</v></c>")),
    /"xl\/worksheets\/sheet1.xml", byte \d+ must be the XML of a workbook, got the number "0x10"/,
  ],
  ["entity.xlsx", xlsx(head + row(2, 1, "&boom;")), /must be the XML of a workbook, got the entity "&boom;"/],
  [
    "entities.xlsx",
    xlsx(head + row(2, 1, 2), shared('<!DOCTYPE sst [<!ENTITY a "aaaa">]><sst/>')),
    /got a declaration of types or entities; save the workbook again/,
  ],
  [
    "shared.xlsx",
    xlsx(head + row(2, 1, '<c t="s"><v>7</v></c>'), shared("<sst><si><t>x</t></si></sst>")),
    /got text 7 of 1/,
  ],
  ["backwards.xlsx", xlsx(head + row(5, 1, 2) + row(3, 1, 2)), /got row 3 behind row 5/],
  [
    "same-cell.xlsx",
    xlsx(`${head}<row r="2"><c r="B2"><v>1</v></c><c r="A2"><v>2</v></c></row>`),
    /got column 1 twice in row 2/,
  ],
  [
    "cut-xml.xlsx",
    xlsx("", { "xl/worksheets/sheet1.xml": "<worksheet><sheetData><row" }),
    /must be the XML of a workbook, got an end at "<row"/,
  ],
  ["bytes.xlsx", xlsx("", { "xl/worksheets/sheet1.xml": "\uD800" }).fill(0xff, 40, 44), /must be/],
  [
    "no-sheet.xlsx",
    xlsx(head),
    /"xl\/workbook.xml", byte 0 must have the sheet "Two", got the sheets "One"; name one/,
    { sheet: "Two" },
  ],
  [
    "lost-sheet.xlsx",
    xlsx("", { "xl/_rels/workbook.xml.rels": '<R><Relationship Id="rId1" Target="../../gone.xml"/></R>' }),
    /got no such part; save/,
  ],
  [
    "endless-tag.xlsx",
    xlsx("", { "xl/worksheets/sheet1.xml": `<worksheet a="${"x".repeat(5e6)}` }),
    /of more than 4194304 letters/,
  ],
  [
    "cut.npy",
    npy(npyHeader("'<f8'", "(4, 2)"), eight.subarray(8)),
    /header, byte \d+ must be followed by 64 bytes of numbers, got 56; save/,
  ],
  [
    "objects.npy",
    npy(npyHeader("'|O'", "(4, 2)"), eight),
    /header, byte 10 must hold whole or floating numbers, got Python objects; save an array/,
  ],
  ["text.npy", npy(npyHeader("'<U5'", "(4,)"), eight), /must hold whole or floating numbers, got text/],
  [
    "complex.npy",
    npy(npyHeader("'<c16'", "(2, 2)"), eight),
    /must hold whole or floating numbers, got complex numbers/,
  ],
  [
    "cube.npy",
    npy(npyHeader("'<f8'", "(2, 2, 2)"), eight),
    /must have one or two dimensions, got shape \(2, 2, 2\); reshape/,
  ],
  ["scalar.npy", npy(npyHeader("'<f8'", "()"), eight.subarray(56)), /must have one or two dimensions, got shape \(\)/],
  ["empty.npy", npy(npyHeader("'<f8'", "(0, 2)")), /row 1, column "column1" must exist, got no rows/],
  ["lying.npy", npy(npyHeader("'<f8'", "(9999999999, 2)"), eight), /must be followed by 159999999984 bytes of numbers/],
  ["wide.npy", npy(npyHeader("'<f8'", "(1, 99999)"), eight), /must have 1 to 1024 columns, got 99999/],
  ["no-shape.npy", npy("{'descr': '<f8'}", eight), /must say type, order and shape, got/],
  [
    "long-header.npy",
    npy(npyHeader("'<f8'", "(4, 2)"), eight, { length: 60_000 }),
    /header, byte 6 must be that of a whole array/,
  ],
  [
    "version.npy",
    npy(npyHeader("'<f8'", "(4, 2)"), eight, { version: 9 }),
    /header, byte 6 must be that of a whole array, got version 9/,
  ],
  ["nested.npy", npy(npyHeader("[('a', [('b', '<f8')])]", "(4,)"), eight), /header, byte 10 must/],
  [
    "infinite.npy",
    npy(npyHeader("'<f8'", "(1,)"), new Uint8Array(new Float64Array([1 / 0]).buffer)),
    /row 1, column "column1" must be a number from/,
  ],
  [
    "words.npy",
    npy(npyHeader("'<f8'", "(4, 2)"), eight),
    /column "column1" must be a number, as all of an array/,
    { categories: ["column1"] },
  ],
  [
    "rows.npy",
    npy(npyHeader("'<f8'", "(4, 2)"), eight),
    /row 3, column "column1" must be among the first 2 rows/,
    { limits: { ...defaultLimits, rows: 2 } },
  ],
  [
    "two.npz",
    zip([
      { name: "a.npy", content: eight },
      { name: "b.npy", content: eight },
    ]),
    /list of files, byte 0 must hold one array, or be read with the name of one, got the arrays "a", "b"; name one/,
  ],
  [
    "other.npz",
    zip([{ name: "a.npy", content: eight }]),
    /must have the array "c", got the arrays "a"/,
    { sheet: "c" },
  ],
];

function patched(bytes: Buffer, from: number, value: number): Buffer {
  bytes[bytes.length + from] = value;
  return bytes;
}

test.each(corpus.map((own) => ({ name: own[0], own })))("$name is refused with place and remedy", async ({ own }) => {
  const [name, content, refusal, options] = own;
  const file = write(name, content);
  const error = await readTable(file, options)
    .then((table) => checkMissingCells(table, "refuse"))
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  expect(expectRefusal(error, file).message).toMatch(refusal);
});

test("no byte of an archive can be changed so that another number is read", async () => {
  const sound = xlsx(head + row(2, 1, 2) + row(3, 3, 4));
  const wanted = [1, 2, 3, 4];
  for (let at = 0; at < sound.length; at += 3) {
    const broken = Buffer.from(sound);
    broken[at] ^= 0x55;
    const found = await readTable(write("changed.xlsx", broken)).catch((error: unknown) => error);
    if (found instanceof Error) expect(found.constructor.name).toBe("DataError");
    else expect(Array.from((found as Awaited<ReturnType<typeof readTable>>).points.data)).toEqual(wanted);
  }
});

test("several files of an archive are one table, and a column that only some of them have is refused", async () => {
  const other = { name: "b.csv", content: "a,b\n3,4\n5,x\n" };
  const readme = { name: "README.txt", content: "about" };
  const two = write("both.zip", zip([one, other, readme]));
  const { points, parts, categories } = await readTable(two, { categories: ["b"] });
  expect(Array.from(points.data)).toEqual([3, 0, 5, 1, 1, 2]);
  expect(categories?.[1]?.words).toEqual(["4", "x", "2"]);
  expect(parts).toEqual([
    { file: `${two}/b.csv`, rows: 2 },
    { file: `${two}/rows.csv`, rows: 1 },
  ]);
  expect((await readTable(two, { sheet: "rows.csv" })).points.data).toEqual(Float64Array.of(1, 2));
  const uneven = write("uneven.zip", zip([one, { name: "b.csv", content: "a\n1\n" }]));
  await expect(readTable(uneven)).rejects.toThrow(
    `${uneven}/rows.csv, line 1, column "b" must be in every file, got none in the first`,
  );
  await expect(readTable(two, { sheet: "c.csv" })).rejects.toThrow(
    'must have the file "c.csv", got the files "rows.csv", "b.csv"',
  );
  const limits = { ...defaultLimits, rows: 2 };
  await expect(readTable(two, { categories: ["b"], limits })).rejects.toThrow("in all its parts, got 3 rows");
});
