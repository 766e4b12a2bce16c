// Every figure of a report's tables (sizes, means, deviations, what columns explain, shares and means of devices), of the
// terminal's table and of the model is what pandas computes from the labelled files, to the digits that are printed, over
// thirty sets: of one cluster and of several, with numbers, words, dates and gaps.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const PYTHON = "/usr/bin/python3";
const hasPandas = spawnSync(PYTHON, ["-c", "import pandas"]).status === 0;

const folder = temporaryFolder();
const at = (...names: string[]) => join(folder.path, ...names);

const JUDGE = `
import json, math, re, sys
from html.parser import HTMLParser
import pandas as pd
class Tables(HTMLParser):
    def __init__(s): super().__init__(); s.tables = []; s.cell = None; s.row = None
    def handle_starttag(s, t, a):
        if t == "table": s.tables.append([])
        if t == "tr": s.row = []
        if t in ("td", "th") and s.row is not None: s.cell = ""
    def handle_endtag(s, t):
        if t in ("td", "th") and s.cell is not None: s.row.append(" ".join(s.cell.split())); s.cell = None
        if t == "tr" and s.row is not None: s.tables[-1].append(s.row); s.row = None
    def handle_data(s, d):
        if s.cell is not None: s.cell += d
compared = 0
def same(where, printed, value):
    global compared
    compared += 1
    text = re.sub(r"[,\\u202f\\u2009\\u00a0 ]", "", printed).replace("\\u2212", "-")
    found = re.fullmatch(r"(-?)(\\d+)(?:\\.(\\d+))?(?:e([+-]?\\d+))?", text)
    if found is None: raise SystemExit(f"{where}: {printed!r} is no number, {value}")
    unit = 10.0 ** (int(found[4] or 0) - len(found[3] or ""))
    # Of a deviation two digits are printed.
    if found[3] is None and found[4] is None and where.endswith("deviation"): unit = 10.0 ** max(0, len(found[2]) - 2)
    if abs(float(text) - value) > 0.5 * unit * (1 + 1e-6) + 1e-12 * abs(value): raise SystemExit(f"{where}: {printed!r} is printed, pandas has {value}")
def same_share(where, printed, share):
    same(where, printed.replace("%", "").replace("<0.1", "0.05"), 100 * share if printed[0] != "<" else .05)
DAY = pd.Timedelta(days=1)
def days_of(text): return (pd.Timestamp(text) - pd.Timestamp(0)) / DAY
def same_day(where, printed, value):
    global compared
    compared += 1
    if abs(days_of(printed) - value) > .5 + 1e-9: raise SystemExit(f"{where}: {printed!r} is printed, pandas has {value}")
def figure(where, cell, values, is_day):
    if is_day:
        day, spread = re.fullmatch(r"(\\S+?)(?: [▼▲])?\\s*± ?(\\S+) days", cell).groups()
        same_day(f"{where} mean", day, values.mean())
        return same(f"{where} deviation", spread, values.std(ddof=0))
    value, rest = re.fullmatch(r"(\\S+?)(?: [▼▲])?\\s*(±.*|geometric.*|[a-z].*)", cell).groups()
    same(f"{where} mean", value, values.mean())
    if rest[0] == "±": same(f"{where} deviation", rest[1:].strip(), values.std(ddof=0))
    elif rest.startswith("geometric"):
        import numpy as np
        logs = np.log(values)
        printed = re.search(r"(\\S+), (\\S+) to (\\S+)$", rest).groups()
        for text, steps in zip(printed, (0, -1, 1)): same(f"{where} {steps}", text, math.exp(logs.mean() + steps * logs.std(ddof=0)))
def table_of(lines):
    at = next(i for i, line in enumerate(lines) if line.startswith("cluster "))
    end = next(i for i in range(at, len(lines)) if lines[i] == "")
    return [re.split(r" {2,}", line.strip()) for line in lines[at:end]]
def counted_cells(where, told, lost, gaps, missing):
    global compared
    word = {"drop": rf"{lost} rows? with missing cells (was|were) dropped", "mean": rf"{gaps} missing cells? (was|were) filled"}.get(missing)
    if word is None or (lost if missing == "drop" else gaps) == 0: return
    compared += 1
    if re.search(word, " ".join(told.split())) is None: raise SystemExit(f"{where}: {word} is not said")
for own in json.load(sys.stdin):
    name, numbers, words, days, k = own["name"], own["numbers"], own["words"], own["days"], own["k"]
    frames = []
    for device, path in own["files"]:
        frame = pd.read_csv(path); frame["device"] = frame["site"] if own["bySite"] else device; frames.append(frame)
    rows = pd.concat(frames, ignore_index=True)
    for c in days: rows[c] = (pd.to_datetime(rows[c]) - pd.Timestamp(0)) / DAY
    gaps = int(rows[numbers].isna().sum().sum())
    lost = int(rows[numbers].isna().any(axis=1).sum())
    model = json.load(open(own["out"] + "/model.json"))
    if own["missing"] == "mean":
        for c in numbers: rows[c] = rows[c].fillna(rows[c].mean())
    if rows["cluster"].notna().sum() != len(rows) - (lost if own["missing"] == "drop" else 0): raise SystemExit(f"{name}: labels")
    rows = rows[rows["cluster"].notna()]
    text = open(own["out"] + "/report.html").read()
    page = Tables(); page.feed(text)
    profile = page.tables[0]
    clusters = [rows[rows["cluster"] == c] for c in range(k)]
    for told in (text, own["stdout"]): counted_cells(name, told, lost, gaps, own["missing"])
    # The report.
    for c in range(k): same(f"{name} rows of {c}", profile[1][1 + c], len(clusters[c]))
    same(f"{name} rows", profile[1][k + 1], len(rows))
    told = {line[0]: line for t in page.tables for line in t if len(line) == k + 3 and t[0][-1] == "explained"}
    for c in numbers:
        line = told[c]
        for i in range(k): figure(f"{name} {c} of {i}", line[1 + i], clusters[i][c], c in days)
        figure(f"{name} {c} of all", line[k + 1], rows[c], c in days)
        if own["scale"] in ("none", "standard"):
            within = sum(((part[c] - part[c].mean()) ** 2).sum() for part in clusters)
            same_share(f"{name} {c} explained", line[k + 2], 1 - within / ((rows[c] - rows[c].mean()) ** 2).sum())
    for w in words:
        for value in sorted(rows[w].unique()):
            line = told[value]
            for i in range(k): same_share(f"{name} {w} {value} of {i}", re.sub(r" ?[▼▲]", "", line[1 + i]), (clusters[i][w] == value).mean())
    devices = rows.groupby("device", sort=False)
    if devices.ngroups > 1:
        table = next(t for t in page.tables if t[0][0] == "device")
        for line in table[1:]:
            part = devices.get_group(line[0])
            same(f"{name} rows of {line[0]}", line[1], len(part))
            for i in range(k): same_share(f"{name} {line[0]} {i}", line[3 + i], (part["cluster"] == i).mean())
        for (device, part), t in zip(devices, [t for t in page.tables if t[0][:2] == ["cluster", "rows"]]):
            for line in t[1:]:
                group = part[part["cluster"] == int(line[0])]
                same(f"{name} {device} rows of {line[0]}", line[1], len(group))
                for c, cell in zip(t[0][2:], line[2:]):
                    if c in numbers and len(group): (same_day if c in days else same)(f"{name} {device} {c} of {line[0]}", cell, group[c].mean())
    # The terminal.
    facts = next(line for line in own["stdout"].split("\\n") if re.match(r"\\d+ devices?, ", line))
    counts = [re.match(r"\\S+", part)[0] for part in facts.split(", ")]
    for what, printed, value in zip(("devices", "links", "rows", "columns"), counts, (devices.ngroups, devices.ngroups * (devices.ngroups - 1) // 2, len(rows), len(numbers + words))): same(f"{name} {what}", printed, value)
    head, *lines = table_of(own["stdout"].split("\\n"))
    if len(lines) != k: raise SystemExit(f"{name}: {len(lines)} lines of clusters")
    for i, line in enumerate(lines):
        cells = dict(zip(head, line))
        same(f"{name} terminal rows of {i}", cells["rows"], len(clusters[i]))
        for c in numbers: (same_day if c in days else same)(f"{name} terminal {c} of {i}", cells[c], clusters[i][c].mean())
        for w in words:
            value, share = re.fullmatch(r"(\\S+) (\\d+) %", cells[w]).groups()
            shares = clusters[i][w].value_counts(normalize=True)
            if shares[value] != shares.max(): raise SystemExit(f"{name} {w} of {i}: {value} is not what most have")
            same(f"{name} terminal {w} of {i}", share, 100 * shares[value])
    # The model, whose figures are not rounded.
    def near(where, stored, value):
        global compared
        compared += 1
        if abs(stored - value) > 1e-9 * max(1, abs(value)): raise SystemExit(f"{name} {where}: model.json has {stored}, pandas has {value}")
    columns = [*numbers, *[f"{w}={v}" for w in words for v in sorted(rows[w].unique())]]
    if model["columns"] != columns: raise SystemExit(f"{name}: columns {model['columns']}")
    def of_column(part, c): return part[c] if c in numbers else (part[c.split("=")[0]] == c.split("=")[1])
    for i in range(k):
        near(f"rows of {i}", model["clusters"][i]["rows"], len(clusters[i]))
        for x, c in enumerate(columns): near(f"mean {c} of {i}", model["clusters"][i]["mean"][x], of_column(clusters[i], c).mean())
    for device in model["devices"]:
        part = devices.get_group(device["name"])
        near(f"rows of {device['name']}", device["rows"], len(part))
        for i in range(k): near(f"sizes of {device['name']}", device["sizes"][i], (part["cluster"] == i).sum())
    if own["scale"] == "standard":
        for x, c in enumerate(numbers):
            near(f"offset {c}", model["scaling"]["offset"][x], rows[c].mean())
            near(f"scale {c}", model["scaling"]["scale"][x], rows[c].std(ddof=0))
print(compared)
`;

interface Made {
  readonly files: readonly (readonly [string, string])[];
  readonly flags: readonly string[];
  readonly numbers: readonly string[];
  readonly words: readonly string[];
  readonly days: readonly string[];
  readonly missing: string;
  readonly scale: string;
  readonly bySite: boolean;
  readonly k: number;
}

/** Set number n: its columns, devices, gaps and scale are what n says. */
function make(n: number): Made {
  let state = n * 7919 + 17;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const k = n % 10 === 6 ? 1 : 2 + (n % 3);
  const days = n % 4 < 2 && n % 3 === 0 ? ["day"] : [];
  const measured = Array.from({ length: 2 + (n % 4) }, (_, c) => `c${c}`);
  const numbers = [...measured, ...days];
  const words = n % 3 === 1 ? ["wood"] : [];
  const missing = ["refuse", "drop", "mean"][n % 3 === 1 ? 0 : Math.floor(n / 2) % 3];
  const scale = ["standard", "none", "rank", "log:c0"][n % 4];
  const bySite = n % 5 === 0;
  const names = bySite || n % 2 === 0 ? [`set${n}`] : ["a", "b", "c"].map((name) => `set${n}${name}`);
  const files = names.map((name) => {
    const lines = Array.from({ length: 60 + (n % 7) * 10 }, (_, r) => {
      const group = Math.floor(random() * k);
      const cells = measured.map((_c, c) => {
        const scaled = (5 + 3 * group * (c % 2 === 0 ? 1 : -1) + random()) * 10 ** (((n + 3 * c) % 9) - 3);
        if (missing !== "refuse" && random() < 0.03) return "";
        return (c === 0 ? Math.abs(scaled) + 1e-3 : scaled).toPrecision(6);
      });
      const site = ["x", "y"][r % 2];
      const day = new Date(864e5 * (20_000 + Math.floor(200 * random()))).toISOString().slice(0, 10);
      return [
        ...cells,
        ...days.map(() => day),
        ...words.map(() => ["ash", "oak", "fir"][(group + (random() < 0.2 ? 1 : 0)) % 3]),
        site,
      ].join(",");
    });
    writeFileSync(at(`${name}.csv`), `${[...numbers, ...words, "site"].join(",")}\n${lines.join("\n")}\n`);
    return [name, at(`${name}.csv`)] as const;
  });
  const flags = [
    ...["--as-is", "--k", String(k), "--scale", scale, "--missing", missing],
    ...(words.length > 0 ? ["--categories", "wood"] : []),
    ...(days.length > 0 ? ["--dates", "days"] : []),
    ...(bySite ? ["--device-column", "site"] : ["--exclude", "site"]),
  ];
  return { files, flags, numbers, words, days, missing, scale: scale.split(":")[0], bySite, k };
}

test("every figure of thirty reports, terminals and models is what pandas has", async ({ skip }) => {
  if (!hasPandas) skip("no python3 with pandas; on Debian: apt-get install python3-pandas");
  const sets = [];
  for (let n = 0; n < 30; n++) {
    const { files, flags, ...rest } = make(n);
    const out = at(`out${n}`);
    const paths = files.map(([, path]) => path);
    const { code, stdout, stderr } = await outcome("fit", ...paths, ...flags, "--out", out);
    expect({ n, code, stderr }).toEqual({ n, code: 0, stderr: "" });
    const labelled = files.map(([name]) => [name, join(out, "labels", `${name}.csv`)]);
    sets.push({ ...rest, name: `set ${n}`, files: labelled, out, stdout });
  }
  const { stdout, stderr } = spawnSync(PYTHON, ["-c", JUDGE], { input: JSON.stringify(sets), encoding: "utf8" });
  expect(stderr).toBe("");
  expect(Number(stdout)).toBeGreaterThan(1500);
}, 600_000);
