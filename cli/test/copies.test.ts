// Labelled copies, compared cell by cell with the files that they were made of by programs of others (Python's csv, json and
// zipfile, openpyxl, ElementTree, DuckDB): only the new columns differ, and encodings, marks and line ends are the same.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { beforeAll, expect, test } from "vitest";
import { cp1252, csv, locales, measure, pick, rowsOf } from "../../tables/test/exports.ts";
import { outcome, temporaryFolder } from "./folder.ts";

const PYTHON = "/usr/bin/python3";
const hasPython = spawnSync(PYTHON, ["-c", "import openpyxl"]).status === 0;

const folder = temporaryFolder();
const at = (...names: string[]) => join(folder.path, ...names);

/** Workbooks, spreadsheets and archives as other programs write them. */
const MAKER = `
import datetime, json, random, sys, zipfile, csv, io
from openpyxl import Workbook
from openpyxl.styles import Font, PatternFill
random.seed(3)
def rows(n, extra=()):
    for i in range(n):
        g = i % 3
        yield [i + 1, round(10 + 5 * g + random.gauss(0, .4), 2), round(200 - 60 * g + random.gauss(0, 9), 1), *[e(i) for e in extra]]
day = lambda i: datetime.datetime(2026, 1, 1) + datetime.timedelta(days=i)
def sheet(own, n, titles=(), extra=(), names=()):
    for title in titles: own.append([title])
    own.append(["no", "height", "force", *names])
    for row in rows(n, extra): own.append(row)
def save(book, name): book.save(sys.argv[1] + "/" + name)
book = Workbook(); sheet(book.active, 60, extra=[day], names=["day"]); save(book, "dates.xlsx")
book = Workbook(); own = book.active; sheet(own, 70, ["Report", "of March"])
for cell in own[3]: cell.font = Font(bold=True); cell.fill = PatternFill("solid", fgColor="FFEE00")
for row in own.iter_rows(min_row=4, min_col=2, max_col=2): row[0].number_format = "0.000"
own.merge_cells("A1:C1"); own.freeze_panes = "A4"; save(book, "titles.xlsx")
book = Workbook(); cover = book.active; cover.title = "Cover"; cover["A1"] = "Read me"; cover["B2"] = day(3)
sheet(book.create_sheet("Data"), 80); note = book.create_sheet("Notes"); note["C5"] = "=1+1"; save(book, "cover.xlsx")
book = Workbook(); book.active.title = "North"; sheet(book.active, 50); sheet(book.create_sheet("South"), 50); save(book, "sheets.xlsx")
book = Workbook(); own = book.active; sheet(own, 40)
for r in range(1, 42): own.cell(r, 4).fill = PatternFill("solid", fgColor="DDDDDD"); own.cell(r, 7).value = None; own.cell(r, 7).font = Font(bold=True)
save(book, "styled.xlsx")
NS = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
def cell(v):
    if v is None: return '<table:table-cell/>'
    if isinstance(v, datetime.datetime): return f'<table:table-cell table:style-name="ce2" office:value-type="date" office:date-value="{v:%Y-%m-%d}"><text:p>{v:%d.%m.%Y}</text:p></table:table-cell>'
    if isinstance(v, str): return f'<table:table-cell office:value-type="string"><text:p>{v}</text:p></table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{v}"><text:p>{v}</text:p></table:table-cell>'
def ods(name, sheets):
    text = ''.join(f'<table:table table:name="{n}">' + ''.join('<table:table-row table:style-name="ro1">' + ''.join(map(cell, r)) + '<table:table-cell table:number-columns-repeated="1000"/></table:table-row>' for r in rs) + '<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="1010"/></table:table-row></table:table>' for n, rs in sheets)
    with zipfile.ZipFile(sys.argv[1] + "/" + name, "w") as z:
        z.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        z.writestr("content.xml", f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {NS}><office:body><office:spreadsheet>{text}</office:spreadsheet></office:body></office:document-content>')
        z.writestr("styles.xml", "<styles/>")
head = ["no", "height", "force"]
ods("plain.ods", [("Sheet1", [head, *rows(50)])])
ods("dates.ods", [("Cover", [["Figures"], ["of us"]]), ("Data", [["Title"], [*head, "day"], *rows(60, [day])])])
ods("sheets.ods", [("A", [head, *rows(40)]), ("B", [head, *rows(40)])])
def text(n): 
    out = io.StringIO(); w = csv.writer(out); w.writerow(head); w.writerows(rows(n)); return out.getvalue()
with zipfile.ZipFile(sys.argv[1] + "/branches.zip", "w", zipfile.ZIP_DEFLATED) as z:
    for name in ["east", "west"]: z.writestr("export/" + name + ".csv", text(45))
    z.writestr("export/readme.txt", "about these files")
with zipfile.ZipFile(sys.argv[1] + "/mixed.zip", "w") as z:
    z.writestr("a.csv", text(30)); z.writestr("b.jsonl", "".join(json.dumps(dict(zip(head, r))) + "\\n" for r in rows(30)))
open(sys.argv[1] + "/objects.json", "w").write(json.dumps([dict(zip([*head, "tags"], [*r, ["x"]])) for r in rows(40)]))
open(sys.argv[1] + "/lines.jsonl", "w").write("".join(json.dumps(dict(zip([*head, "who"], [*r, "é"])), ensure_ascii=False) + "\\n" for r in rows(40)))
`;

/** Prints what differs besides cells that were added. */
const JUDGE = `
import csv, io, json, sys, zipfile
from xml.etree import ElementTree
from openpyxl import load_workbook
def judge_text(a, b, encoding, delimiter):
    if a[:3] == b"\\xef\\xbb\\xbf" and b[:3] != a[:3]: return "mark"
    if (b"\\r\\n" in a) != (b"\\r\\n" in b) or a.endswith(b"\\n") != b.endswith(b"\\n"): return "line ends"
    left, right = a.decode(encoding).splitlines(True), b.decode(encoding).splitlines(True)
    if len(left) != len(right): return "lines"
    new = 0
    for x, y in zip(left, right):
        if x == y: continue
        stem = x.rstrip("\\r\\n")
        if not y.startswith(stem + delimiter) or y[len(stem) + 1:].rstrip("\\r\\n").count(delimiter): return f"line {x!r} {y!r}"
        new += 1
    return None if new > 20 else "no labels"
def judge_book(a, b):
    left, right = load_workbook(a), load_workbook(b)
    if left.sheetnames != right.sheetnames: return "sheets"
    new = 0
    for one, two in zip(left, right):
        if one.merged_cells.ranges != two.merged_cells.ranges or one.freeze_panes != two.freeze_panes: return "layout"
        for row in two.iter_rows():
            for cell in row:
                own = one.cell(cell.row, cell.column)
                if own.value is None and cell.value is not None: new += 1; continue
                if (own.value, own.number_format, own.font.b, own.fill.fgColor.rgb) != (cell.value, cell.number_format, cell.font.b, cell.fill.fgColor.rgb): return f"{cell.coordinate}: {own.value} {cell.value}"
        if one.max_row != two.max_row: return "rows"
    return None if new > 20 else "no labels"
T = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
def tables(path):
    with zipfile.ZipFile(path) as z:
        assert z.infolist()[0].filename == "mimetype" and z.infolist()[0].compress_type == 0
        root = ElementTree.fromstring(z.read("content.xml"))
    for table in root.iter(T + "table"):
        rows = []
        for row in table.iter(T + "table-row"):
            if int(row.get(T + "number-rows-repeated", 1)) > 1000: continue
            cells = []
            for cell in row:
                n = int(cell.get(T + "number-columns-repeated", 1))
                key = {k: v for k, v in cell.attrib.items() if "repeated" not in k}
                cells += [(tuple(sorted(key.items())), "".join(cell.itertext()))] * min(n, 20)
            rows.append((dict(row.attrib), cells))
        yield table.get(T + "name"), rows
def judge_ods(a, b):
    new = 0
    for (n, rows), (m, others) in zip(tables(a), tables(b)):
        if n != m or len(rows) != len(others): return "rows"
        for (ra, x), (rb, y) in zip(rows, others):
            if ra != rb: return "attributes of a row"
            for i, c in enumerate(y[:20]):
                own = x[i] if i < len(x) else ((), "")
                if own == ((), "") and c != own: new += 1
                elif own != c: return f"{own} {c}"
    return None if new > 20 else "no labels"
def judge_json(a, b):
    read = lambda t: json.loads(t) if t.lstrip().startswith("[") else [json.loads(l) for l in t.splitlines()]
    left, right = read(a.decode()), read(b.decode())
    for x, y in zip(left, right):
        if "cluster" not in y or {k: v for k, v in y.items() if k != "cluster"} != x or list(y)[:-1] != list(x): return "keys"
    return None if len(left) == len(right) else "rows"
def judge_zip(a, b):
    with zipfile.ZipFile(a) as x, zipfile.ZipFile(b) as y:
        if x.namelist() != y.namelist(): return "names"
        for name in x.namelist():
            one, two = x.read(name), y.read(name)
            if "readme" in name:
                if one != two: return "readme"
            else:
                found = judge_json(one, two) if name.endswith("jsonl") else judge_text(one, two, "utf-8", ",")
                if found: return f"{name}: {found}"
for a, b, kind, encoding, delimiter in json.load(sys.stdin):
    bytes_of = lambda p: open(p, "rb").read()
    found = {"csv": lambda: judge_text(bytes_of(a), bytes_of(b), encoding, delimiter), "xlsx": lambda: judge_book(a, b), "ods": lambda: judge_ods(a, b), "json": lambda: judge_json(bytes_of(a), bytes_of(b)), "zip": lambda: judge_zip(a, b)}[kind]()
    if found: print(a, found)
`;

interface Original {
  readonly name: string;
  readonly kind: "csv" | "xlsx" | "ods" | "json" | "zip" | "parquet";
  readonly encoding?: string;
  readonly delimiter?: string;
}

const made: Original[] = [
  ...["dates.xlsx", "titles.xlsx", "cover.xlsx", "sheets.xlsx", "styled.xlsx"].map(
    (name) => ({ name, kind: "xlsx" }) as const,
  ),
  ...["plain.ods", "dates.ods", "sheets.ods"].map((name) => ({ name, kind: "ods" }) as const),
  ...["branches.zip", "mixed.zip"].map((name) => ({ name, kind: "zip" }) as const),
  ...["objects.json", "lines.jsonl"].map((name) => ({ name, kind: "json" }) as const),
  { name: "plain.csv", kind: "csv" },
  { name: "marked.csv", kind: "csv" },
  { name: "windows.csv", kind: "csv", encoding: "cp1252", delimiter: ";" },
  { name: "unicode.txt", kind: "csv", encoding: "utf-16", delimiter: "\t" },
  { name: "open.csv", kind: "csv" },
  { name: "comments.csv", kind: "csv" },
  { name: "numbers.parquet", kind: "parquet" },
  { name: "words.parquet", kind: "parquet" },
];

async function query(statement: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(statement)).getRows();
  connection.closeSync();
  instance.closeSync();
  return rows;
}

beforeAll(async () => {
  if (!hasPython) return;
  const { status, stderr } = spawnSync(PYTHON, ["-c", MAKER, folder.path], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const [us, de] = locales;
  const text = (own: typeof us, delimiter: string, end: string) =>
    csv(
      ["a", "b", "Größe"],
      rowsOf(60, [measure(own, 20, 2, 1), measure(own, 300, 30, 0), pick(["süß", "herb"])], 5),
      delimiter,
      end,
    );
  writeFileSync(at("plain.csv"), text(us, ",", "\n"));
  writeFileSync(at("marked.csv"), `\ufeff${text(us, ",", "\r\n")}`);
  writeFileSync(at("windows.csv"), cp1252(text(de, ";", "\r\n")));
  writeFileSync(
    at("unicode.txt"),
    Buffer.concat([Buffer.from([255, 254]), Buffer.from(text(de, "\t", "\r\n"), "utf16le")]),
  );
  writeFileSync(at("open.csv"), text(us, ",", "\n").trimEnd());
  writeFileSync(at("comments.csv"), `# made by a machine\n# on a Monday\n${text(us, ",", "\n")}`);
  await query(
    `COPY (SELECT i AS n, 10.0 * (i % 3) + random() AS x, 5.5 * (i % 2) AS y FROM range(90) t(i)) TO '${at("numbers.parquet")}'`,
  );
  await query(
    `COPY (SELECT 10.0 * (i % 3) + random() AS x, 'w' || (i % 2) AS w, DATE '2026-01-01' + i::INTEGER AS d, i % 2 = 0 AS b FROM range(80) t(i)) TO '${at("words.parquet")}'`,
  );
});

test("labelled copies of twenty files in six formats differ by the new columns alone", async ({ skip }) => {
  if (!hasPython) skip("no python3 with openpyxl; on Debian: apt-get install python3-openpyxl");
  const pairs: unknown[] = [];
  for (const { name, kind, encoding = "utf-8", delimiter = "," } of made) {
    const { code, stderr } = await outcome("fit", at(name), "--out", at(`out-${name}`));
    expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: "" });
    const copy = at(`out-${name}`, "labels", name);
    if (kind === "parquet") {
      const own = `FROM read_parquet('${at(name)}')`;
      const other = `FROM read_parquet('${copy}')`;
      const [[lost, added, labels]] = await query(
        `SELECT (SELECT count(*) FROM (SELECT * ${own} EXCEPT ALL SELECT * EXCLUDE (cluster) ${other})), (SELECT count(*) FROM (SELECT * EXCLUDE (cluster) ${other} EXCEPT ALL SELECT * ${own})), (SELECT count(cluster) ${other})`,
      );
      expect({ name, lost: Number(lost), added: Number(added), hasLabels: Number(labels) > 20 }).toEqual({
        name,
        lost: 0,
        added: 0,
        hasLabels: true,
      });
    } else pairs.push([at(name), copy, kind, encoding, delimiter]);
  }
  const input = JSON.stringify(pairs);
  const { status, stdout, stderr } = spawnSync(PYTHON, ["-c", JUDGE], { input, encoding: "utf8" });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
  expect(made.length).toBe(20);
});
