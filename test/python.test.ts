// The Python package: its own tests, its example, and its numbers against the library's, bit for bit.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { complete, type Matrix, methods, paperData, predict, ring } from "@fedkm/core";
import { clustersInModelOrder } from "@fedkm/tables";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
// Debian's own first: its packages are there, while another python3 on the PATH may have none.
const python = ["/usr/bin/python3", "python3"].find((command) => runs(command, "import numpy"));
if (python === undefined)
  console.warn(
    "skipped: no python3 with numpy; on Debian: apt-get install python3-numpy python3-sklearn python3-pandas python3-networkx",
  );

const canInstall = python !== undefined && runs(python, "import ensurepip, venv");
if (python !== undefined && !canInstall)
  console.warn("skipped: the installation; on Debian: apt-get install python3-venv");

const environment = {
  ...process.env,
  PYTHONPATH: join(root, "python"),
  PYTHONDONTWRITEBYTECODE: "1",
  FEDKM_COMMAND: `"${process.execPath}" "${join(root, "cli/bin/fedkm.js")}"`,
};

function runs(command: string, program: string): boolean {
  return spawnSync(command, ["-c", program]).status === 0;
}

function runPython(args: readonly string[], cwd = join(root, "python")) {
  return spawnSync(python ?? "python3", args, { cwd, env: environment, encoding: "utf8" });
}

describe.skipIf(python === undefined)("the Python package", () => {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-python-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("passes its own tests", () => {
    const { status, stderr } = runPython(["-W", "error::ResourceWarning", "-m", "unittest"]);
    expect(stderr).toMatch(/Ran [12]\d tests/);
    expect(status, stderr).toBe(0);
  });

  it("has an example that prints what the page says", () => {
    const { stdout, stderr } = runPython(["examples/clinics.py"]);
    expect(stderr).toBe("");
    const page = readFileSync(join(root, "docs/python.md"), "utf8");
    expect(page).toContain(`\`\`\`text\n${stdout}\`\`\`\n`);
  });

  it.skipIf(!canInstall)("is installed without a network by the command of the page, and finds the command", () => {
    const page = readFileSync(join(root, "docs/python.md"), "utf8");
    expect(page).toMatch(/^pip install \.\/python$/m);
    const { PYTHONPATH, FEDKM_COMMAND, ...bare } = environment;
    // Pip asks no index, so what it does not find here fails.
    const env = {
      ...bare,
      PIP_NO_INDEX: "1",
      PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
    };
    const install = `set -e
      "${python}" -m venv --system-site-packages venv
      venv/bin/python -m pip install --quiet "${join(root, "python")}"
      venv/bin/python -c "import fedkm; print(fedkm.__file__)"
      venv/bin/python "${join(root, "python/examples/clinics.py")}"`;
    const { status, stdout, stderr } = spawnSync("sh", ["-c", install], { cwd: folder, env, encoding: "utf8" });
    expect(status, stderr).toBe(0);
    const [file, ...printed] = stdout.split("\n");
    expect(file).toContain(join(folder, "venv"));
    expect(page).toContain(`\`\`\`text\n${printed.join("\n")}\`\`\`\n`);
  });

  it("finds the numbers of the library, bit for bit", () => {
    for (const [seed, { method, alpha, graph }] of problems.entries()) {
      const datasets = problem(seed);
      writeFileSync(join(folder, "rows"), Buffer.concat(datasets.map(bytesOf)));
      const shapes = JSON.stringify(datasets.map(({ rows, cols }) => [rows, cols]));
      const { stdout, stderr } = runPython(["-c", BITS, join(folder, "rows"), shapes, method, String(alpha), graph]);
      expect(stderr).toBe("");
      const links = graph === "ring" ? ring(datasets.length) : complete(datasets.length);
      const options = { k: 3, alpha, seed: 5, weighting: "sample" } as const;
      const found = methods[method](datasets, links, options);
      const centroids = clustersInModelOrder(found.centroids, datasets);
      const labels = datasets.map((points, i) => Array.from(predict(centroids[i], points)));
      expect(JSON.parse(stdout)).toEqual({
        centers: Buffer.concat(centroids.map(bytesOf)).toString("hex"),
        labels,
        objective: found.objective,
        rounds: found.rounds,
        bytes: found.bytes,
      });
    }
  });
});

const problems = [
  { method: "fedkm", alpha: 1, graph: "ring" },
  { method: "fedkm", alpha: 0.01, graph: "complete" },
  { method: "consensus", alpha: 1, graph: "ring" },
  { method: "distributed", alpha: 0, graph: "complete" },
] as const;

/** Devices of unequal size whose clusters overlap. */
function problem(seed: number): Matrix[] {
  const drawn = paperData("aniso", 1, 337, seed).datasets[0];
  let from = 0;
  return [40, 200, 7, 90].map((rows): Matrix => {
    const data = drawn.data.slice(from * drawn.cols, (from + rows) * drawn.cols);
    from += rows;
    return { data, rows, cols: drawn.cols };
  });
}

function bytesOf({ data }: Matrix): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

const BITS = `
import json, sys
import numpy as np
from fedkm import FedKMeans
file, shapes, method, alpha, graph = sys.argv[1:]
numbers = np.fromfile(file, "<f8")
tables = []
for rows, cols in json.loads(shapes):
    tables.append(numbers[: rows * cols].reshape(rows, cols))
    numbers = numbers[rows * cols :]
model = FedKMeans(3, alpha=float(alpha), graph=graph, method=method, random_state=5).fit(tables)
print(json.dumps({
    "centers": model.device_centers_.tobytes().hex(),
    "labels": [labels.tolist() for labels in model.labels_],
    "objective": model.objective_,
    "rounds": model.n_iter_,
    "bytes": model.n_bytes_,
}))
`;
