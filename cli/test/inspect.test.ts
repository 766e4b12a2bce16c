// fedkm inspect: what files are like, what in them cannot be read, and a command that works as it is pasted.

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
folder.addExamples();
const tables = fileURLToPath(new URL("../../files/test/fixtures/tables", import.meta.url));

test("one line a column says what its values are like, and the last line what to type", async () => {
  const file = folder.file("seen.csv", "id;site;x;y\n1;a;2.5;\n2;b;3.5;1\n3;a;2.5;1\n");
  const { code, stdout } = await outcome("inspect", file);
  expect(code).toBe(0);
  expect(stdout).toBe(`${file}: delimited text, semicolon between cells, with a header, 3 rows, 4 columns

column     type   missing   different   least           quartiles    most    mean   deviation
id       number         0           3       1               1 2 3       3       2       0.816   counts the rows
site       text         0           2                      a 67 %
x        number         0           2   2.500   2.500 2.500 3.500   3.500   2.833       0.471
y        number         1           1       1               1 1 1       1       1           0          constant

fedkm fit ${file} --exclude id,y --categories site --scale standard
`);
  const facts = JSON.parse((await outcome("inspect", file, "--json")).stdout);
  expect(facts).toMatchObject({ file, format: "csv", rows: 3, dialect: { delimiter: ";", header: true } });
  expect(facts.columns[2]).toMatchObject({ name: "x", missing: 0, range: { least: 2.5 }, statistics: { distinct: 2 } });
});

test("cells and lines that cannot be read are listed and counted, and reading goes on", async () => {
  const rows = Array.from({ length: 40 }, (_, i) => `${i % 7},${(i * 3) % 11}`);
  const file = folder.file("bad.csv", `a,b\n${rows.join("\n")}\n1,tall\n2,"3,4"\n1,2,3\n4,1e300\n`);
  const { code, stdout } = await outcome("inspect", file);
  expect(code).toBe(0);
  expect(stdout).toContain('4 cells cannot be read:\n  line 42, column "b" must be a number, got "tall"; fix the cell');
  expect(stdout).toContain('line 44, column "b" must have 2 cells, as the first line, got 3');
  expect(stdout).toMatch(/b +number +0 +11 /);
  expect(stdout).toMatch(/first: fix the lines of .*bad.csv that cannot be read\n$/);
  const many = folder.file("many.csv", `a,b\n${"1,2\n3,x\n2,5\n".repeat(50)}`);
  expect((await outcome("inspect", many)).stdout).toMatch(/50 cells cannot be read:\n(.*\n){5} {2}and 45 more\n/);
});

test("several files are compared: who lacks a column, and whose means are farthest apart", async () => {
  const files = ["north.csv", "south.csv"].map((name) => join(folder.path, "examples", name));
  const { stdout } = await outcome("inspect", ...files);
  expect(stdout).toMatch(/2 files compared\n\ncolumn +least mean +largest mean +apart\n/);
  expect(stdout).toMatch(/height_cm +38\.75 north +49\.40 south +0\.\d\d|height_cm +[\d.]+ \w+ +[\d.]+ \w+ +\d\.\d\d/);
  const other = folder.file("other.csv", "height_cm,age\n1,2\n2,x\n3,4\n");
  expect((await outcome("inspect", files[0], other)).stdout).toMatch(/age +not in north/);
});

test("files of the same name are told apart by their folders, and dates are compared as dates", async () => {
  for (const place of ["place=north", "place=south"]) mkdirSync(join(folder.path, place));
  const files = ["place=north/a.csv", "place=south/a.csv"].map((name, i) =>
    folder.file(name, `when,x\n${[1, 2, 3, 4].map((day) => `2024-0${i + 1}-0${day},${day + i}`).join("\n")}\n`),
  );
  const { stdout } = await outcome("inspect", ...files);
  expect(stdout).toMatch(/\nwhen +2024-01-03 place=north\/a +2024-02-03 place=south\/a +\d/);
});

/** The words of a command line as a shell takes it apart. */
function wordsOf(command: string): string[] {
  const [, ...words] = execFileSync("bash", ["-c", `printf '%s\\n' ${command}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");
  return words;
}

const tail = Array.from({ length: 60 }, (_, i) => `${(1.3 ** i).toFixed(3)},${i % 5}`).join("\n");
const coded = Array.from(
  { length: 60 },
  (_, i) => `${i % 6 === 0 ? -200 : i},${i % 11},${i % 9 === 0 ? "unknown" : i % 4}`,
).join("\n");

const places = Array.from({ length: 90 }, (_, i) => `h${i % 3},${i % 7},${(i * 5) % 11},${"BM"[i % 2]}`).join("\n");
const percents = Array.from({ length: 900 }, (_, i) => `${i % 13},${(i * 7) % 29},${(i % 428) / 10}%`).join("\n");

const cases: readonly (readonly [string, RegExp, ...string[]])[] = [
  [join(folder.path, "examples/trees.csv"), /--categories wood,soil --scale standard$/],
  [join(folder.path, "examples/north.csv"), /--exclude plant --scale standard$/],
  [join(tables, "libreoffice.xlsx"), /--categories wood,wet --dates days --scale standard$/],
  [join(tables, "openpyxl.xlsx"), /--categories wood,wet --dates days --sheet Trees --scale/, "--sheet", "Trees"],
  [join(tables, "excel-german.csv"), /--categories holz --encoding latin1 --scale standard$/],
  [join(tables, "plain.npy"), /plain.npy --scale standard$/],
  [folder.file("it's a tail.csv", `wealth,b\n${tail}\n`), /tail.csv' --scale log:wealth$/],
  [
    folder.file("places.csv", `hospital,a,b,diagnosis\n${places}\n`),
    /--exclude diagnosis --device-column hospital --scale standard$/,
  ],
  [folder.file("percents.csv", `a,b,share\n${percents}\n`), /percents.csv --scale standard$/],
  [folder.file("coded.csv", `a,b,c\n${coded}\n`), /--na -200,unknown --missing mean --scale standard$/],
];

test.each(cases.map(([file, ending, ...options]) => ({ file, ending, options })))(
  "the command that follows from $file can be pasted",
  async ({ file, ending, options }) => {
    const { stdout } = await outcome("inspect", file, ...options);
    const command = stdout.trimEnd().split("\n").at(-1) ?? "";
    expect(command).toMatch(ending);
    const [, ...words] = wordsOf(command);
    const { code, stderr } = await outcome("fit", ...words, "--out", join(folder.path, "out"));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  },
);

test("what commas mean is told from their column, from the others, or as such files mostly have it, and then said", async () => {
  const file = folder.file("commas.csv", "name;x;y\r\na;1.012,5;1.500\r\nb;3,5;2\r\na;7,25;5\r\n");
  const { stdout } = await outcome("inspect", file, "--json");
  const { columns, command } = JSON.parse(stdout);
  expect(columns.map((own: { range?: { most: number } }) => own.range?.most)).toEqual([undefined, 1012.5, 1500]);
  expect(command).not.toContain("--decimal");
  const open = folder.file(
    "open.csv",
    `a,b\n${Array.from({ length: 9 }, (_, i) => `"${i + 1},500",${i * i}`).join("\n")}\n`,
  );
  const fitted = await outcome("fit", open, "--k", "2", "--out", join(folder.path, "open"));
  expect(fitted.stdout).toMatch(/^columns standardised; 1,234 read as 1234\nin full: fedkm fit .* --decimal point /);
  const other = JSON.parse((await outcome("inspect", open, "--decimal", "comma", "--json")).stdout);
  expect(other.columns[0].range.most).toBe(9.5);
});

test("dates are told from the month by their column, and said where nobody can tell", async () => {
  const dated = (days: readonly string[]) => `day,x\n${days.map((day, i) => `${day},${(7 * i) % 3}`).join("\n")}\n`;
  const plain = folder.file("plain-dates.csv", dated(["01/02/2026", "03/31/2026", "04/05/2026", "12/25/2026"]));
  const open = folder.file("open-dates.csv", dated(["01/02/2026", "03/11/2026", "04/05/2026", "12/10/2026"]));
  expect((await outcome("inspect", plain)).stdout).toMatch(/day +date .* 2026-12-25/);
  const { stdout } = await outcome("fit", open, "--k", "2", "--out", join(folder.path, "open"));
  expect(stdout).toMatch(/^columns standardised; 3\/1 read as 1 March\nin full: fedkm fit .* --dates month-first /);
  expect((await outcome("fit", open, "--k", "2", "--as-is", "--dates", "days")).stderr).toMatch(/--dates day-first/);
});

test("inspect shows whole numbers with all their digits", async () => {
  const file = folder.file("whole.csv", "number,x\n100001,1\n100007,2\n100002,4\n");
  expect((await outcome("inspect", file)).stdout).toMatch(/number +number +0 +3 +100,001 .* 100,007 /);
});

test("a weight is one of rows where it is 1 on average, machines are devices, and no id is common", async () => {
  const rows = Array.from({ length: 120 }, (_, r) => {
    const own = ((r * 37) % 101) / 100;
    return [`K-${r * 13 + 7}`, `M${(r * 7) % 4}`, (20 + 3 * own).toFixed(2), (0.5 + own).toFixed(2), 60 + (r % 9)];
  });
  const inspected = async (names: string) => {
    const text = `${names}\n${rows.map((row) => row.join(",")).join("\n")}\n`;
    return (await outcome("inspect", folder.file("weights.csv", text))).stdout;
  };
  const found = await inspected("ref,machine,celsius,weight,kilos");
  expect(found).toMatch(/^ref +text +0 +120 {2,}an id or a name$/m);
  expect(found).toMatch(/^weight .* a weight of rows$/m);
  expect(found).toMatch(/ --exclude ref,weight --device-column machine --scale standard\n$/);
  // Of goods: their mean is far from 1.
  expect(await inspected("ref,machine,celsius,share,weight")).toMatch(/ --exclude ref --device-column machine /);
});
