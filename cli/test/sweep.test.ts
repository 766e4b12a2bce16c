// fedkm sweep on Parquet files with a method in numpy: one CSV, figures with intervals, and no cell twice after a kill.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseCsv } from "@fedkm/experiments";
import { afterAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "fedkm-sweep-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bin = join(root, "cli/bin/fedkm.js");
const env = { ...process.env, PYTHONPATH: join(root, "python") };
const example = (name: string) => join(root, "examples/sweep", name);
const plugin = ["--plugin", example("middle.py")];
const moons = ["--plugin", example("moons.py")];
const hasNumpy = spawnSync("python3", ["-c", "import numpy"]).status === 0;

function fedkm(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

const text = (...names: string[]) => readFileSync(join(folder, ...names), "utf8");

test.runIf(hasNumpy)(
  "the example is killed, resumed, and gives the bytes of a run that was not",
  async () => {
    const sweep = ["sweep", example("sweep.yaml"), ...plugin, "--runs", "2", "--threads", "2"];
    const killed = spawn(process.execPath, [bin, ...sweep, "--out", "killed"], { cwd: folder, env, stdio: "ignore" });
    const journal = join(folder, "killed/finished.jsonl");
    const lines = () => (existsSync(journal) ? readFileSync(journal, "utf8").split("\n").length - 1 : 0);
    while (lines() < 3) await new Promise((resolve) => setTimeout(resolve, 20));
    killed.kill("SIGKILL");
    await new Promise((resolve) => killed.once("exit", resolve));
    const before = lines();
    expect(before).toBeLessThan(25);
    expect(existsSync(join(folder, "killed/runs.csv"))).toBe(false);
    expect(fedkm(...sweep, "--resume", "--out", "killed")).toMatchObject({ status: 0, stderr: "" });
    expect(lines()).toBe(25);
    expect(fedkm(...sweep, "--out", "whole")).toMatchObject({ status: 0, stderr: "" });
    expect(text("killed", "runs.csv")).toBe(text("whole", "runs.csv"));
    const rows = parseCsv(text("whole", "runs.csv"));
    // Two files, two splits, three k and two runs; Algorithm 1 has two alphas, the others know none.
    expect(rows.length).toBe(2 * 2 * 3 * 2 * 4);
    for (const row of rows) expect(row.cost_ratio).toBeGreaterThanOrEqual(1 - 1e-9);
    const aggregated = parseCsv(text("whole", "aggregated.csv"));
    expect(aggregated.some(({ cost_ratio_interval }) => Number(cost_ratio_interval) > 0)).toBe(true);
    const svg = text("whole", "sweep-auto.svg");
    for (const label of ["Mean and 95 % interval", "cost relative to pooled, north", "sizes:6", "middle"]) {
      expect(svg).toContain(label);
    }
    expect(text("whole", "coupling-auto.tex")).toMatch(/\\pm/);
  },
  600_000,
);

/** The same method in TypeScript; every sum in the order of the one in numpy. */
const middle = `import { edges, methodOfAnswer } from "@fedkm/core";
export const methods = {
  twin: methodOfAnswer((datasets, graph, { k }) => {
    const own = datasets.map(({ data, rows, cols }) => {
      const order = Array.from({ length: rows }, (_, r) => r).sort((a, b) => data[a * cols] - data[b * cols] || a - b);
      const sizes = Array.from({ length: k }, (_, c) => Math.floor(rows / k) + (c < rows % k ? 1 : 0));
      let from = 0;
      const chosen = sizes.flatMap((size) => {
        const row = order[from + Math.floor(size / 2)];
        from += size;
        return Array.from(data.subarray(row * cols, (row + 1) * cols));
      });
      return { data: Float64Array.from(chosen), rows: k, cols };
    });
    const met = own.map(({ data }) => data.slice());
    const degree = own.map(() => 1);
    for (const [i, j] of edges(graph)) {
      met[i].forEach((_, at) => (met[i][at] += own[j].data[at]));
      met[j].forEach((_, at) => (met[j][at] += own[i].data[at]));
      degree[i]++;
      degree[j]++;
    }
    const centroids = own.map((one, i) => ({ ...one, data: met[i].map((x) => x / degree[i]) }));
    const links = Array.from(edges(graph)).length;
    return { centroids, traffic: { messages: graph.size, bytes: 2 * links * own[0].data.length * 8 } };
  }, { takes: {} }),
};
`;

test.runIf(hasNumpy)(
  "a method has the same bits in Python and in TypeScript, and data and measures come from Python too",
  () => {
    writeFileSync(join(folder, "twin.ts"), middle);
    const sweep = "data: [moons, var, digits]\npoints: 20\ndevices: 4\nmethod: [middle, twin]\nruns: 2\n";
    writeFileSync(join(folder, "twins.yaml"), sweep);
    const asked = [
      "sweep",
      "twins.yaml",
      ...plugin,
      ...moons,
      "--plugin",
      "twin.ts",
      "--threads",
      "1",
      "--out",
      "twins",
    ];
    expect(fedkm(...asked)).toMatchObject({ status: 0, stderr: "" });
    const rows = parseCsv(text("twins", "runs.csv")).map(({ method, ...row }) => row);
    expect(rows.length).toBe(12);
    for (const row of rows) expect(row.farthest).toBeGreaterThan(0);
    for (let i = 0; i < rows.length; i += 2) expect(rows[i]).toEqual(rows[i + 1]);
    expect(new Set(rows.map(({ dataset, k }) => `${dataset} ${k}`))).toEqual(
      new Set(["moons 2", "var 3", "digits 10"]),
    );
  },
  600_000,
);

test.runIf(hasNumpy)(
  "what goes wrong in Python, and a file that is none, is said in one line",
  () => {
    writeFileSync(join(folder, "wrong.py"), "methods = {'wrong': lambda rows, graph, k: 1 / 0}\n");
    writeFileSync(join(folder, "wrong.yaml"), "data: iso\npoints: 20\nmethod: wrong\n");
    const { status, stderr } = fedkm("sweep", "wrong.yaml", "--plugin", "wrong.py", "--out", "wrong");
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "fedkm: plug-in wrong.py: ZeroDivisionError: division by zero\n",
    });
    expect(fedkm("sweep", "none.yaml")).toMatchObject({
      status: 2,
      stderr: "fedkm: sweep none.yaml must be a file, got none of that name\n",
    });
  },
  600_000,
);
