// The readers that people have in Python, for workbooks, arrays and JSON: openpyxl, numpy and json, where they are installed.

import { spawnSync } from "node:child_process";

const READERS: Readonly<Record<string, string>> = {
  xlsx: `import openpyxl
def read(file):
    rows = openpyxl.load_workbook(file, read_only=True, data_only=True).active.iter_rows(min_row=2, values_only=True)
    return np.array([row for row in rows], dtype=float)`,
  npy: `def read(file):
    return np.ascontiguousarray(np.load(file))`,
  json: `import json
def read(file):
    with open(file) as opened:
        return np.array(json.load(opened), dtype=float)`,
};

const WRITE = `import json, sys, numpy as np, openpyxl
rows = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1, max_rows=int(sys.argv[2]))
np.save(sys.argv[3] + "/rows.npy", rows)
with open(sys.argv[3] + "/rows.json", "w") as file:
    json.dump(rows.tolist(), file)
book = openpyxl.Workbook(write_only=True)
sheet = book.create_sheet("rows")
sheet.append(["c%d" % c for c in range(rows.shape[1])])
for row in rows.tolist():
    sheet.append(row)
book.save(sys.argv[3] + "/rows.xlsx")`;

/** Debian's Python comes first: its packages are those that apt-get installs. */
const python = ["/usr/bin/python3", "python3"].find((program) => {
  return spawnSync(program, ["-c", "import numpy, openpyxl"]).status === 0;
});

/** The first rows of a CSV file as a workbook, an array and JSON in the folder; none without Python. */
export function writeOthers(csv: string, rows: number, folder: string): string[] {
  if (python === undefined) return [];
  const { status } = spawnSync(python, ["-c", WRITE, csv, String(rows), folder], { stdio: "inherit" });
  return status === 0 ? ["xlsx", "npy", "json"].map((kind) => `${folder}/rows.${kind}`) : [];
}

/** CPU seconds from a file to an array of doubles, the best of three. */
export function pythonSeconds(file: string): number {
  const reader = READERS[file.slice(file.lastIndexOf(".") + 1)];
  const program = `import sys, time, numpy as np
${reader}
best = float("inf")
for _ in range(3):
    start = time.process_time()
    read(sys.argv[1])
    best = min(best, time.process_time() - start)
print(best)`;
  const { stdout } = spawnSync(python ?? "python3", ["-c", program, file], { encoding: "utf8" });
  return Number(stdout);
}
