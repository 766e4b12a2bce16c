// One request, one answer: every request below goes through every door that can take it (library, tables, command with
// files, sources read in three ways, pipe, Python, a simulated study), and the bits are equal. A further request is one
// entry of `requests`. Where an answer may differ, the reason stands beside the door or the request.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Graph, type Matrix, methods, paperData, predict, toRows } from "@fedkm/core";
import { formatStudy, studyOfPoints } from "@fedkm/device";
import { applyScaling, standardScaling, undoScaling } from "@fedkm/files";
import { type DeviceTable, type FitRequest, fitTables, inCommonOrder, linkDevices } from "@fedkm/tables";
import { sourceAt } from "@fedkm/tables/node";
import { afterAll, describe, expect, it } from "vitest";
import { decodeFrames, encodeFrame, type Frame } from "../cli/src/commands/pipe/frames.ts";
import { runCommandLine } from "../cli/src/program.ts";
import { studyPlan } from "../cli/src/studyPlan.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "fedkm-conformance-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What every request may say: plain data. `data` names a set of tables below. */
interface Request
  extends Omit<FitRequest, "tables" | "files" | "sources" | "study" | "method" | "graph" | "examine" | "names"> {
  readonly data: keyof typeof data;
  readonly method?: keyof typeof methods;
  readonly graph?: string;
  /** Doors whose answer differs, and why. */
  readonly differs?: Readonly<Record<string, string>>;
}

/** Both ways to leave rows where they are. */
const staying = (reason: string) => ({ stream: reason, aggregate: reason });
const ORDER = "an engine gives a sample in its own order, by which random starts draw: another local optimum";
const SETTLED = "passes over all rows go on to a fixed point, where rounds in memory stopped before";

const requests: readonly Request[] = [
  { data: "even", k: 3 },
  { data: "even", k: 1 },
  { data: "even", k: 5, differs: staying(ORDER) },
  { data: "even", k: 3, alpha: 0 },
  { data: "even", k: 3, alpha: 0.01 },
  { data: "even", k: 3, alpha: 100 },
  { data: "even", k: 3, seed: 7 },
  { data: "even", k: 3, weighting: "device" },
  { data: "even", k: 3, weighting: "sample" },
  { data: "even", k: 3, preset: "paper" },
  { data: "even", k: 3, preset: "paper", weighting: "sample" },
  { data: "even", k: 3, preset: "paper", rounds: 50, seed: 3, differs: staying(SETTLED) },
  { data: "even", k: 3, preset: "dependable" },
  { data: "even", k: 3, graph: "ring" },
  { data: "even", k: 3, graph: "path" },
  { data: "even", k: 3, graph: "star" },
  { data: "even", k: 3, graph: "er:0.7", seed: 4 },
  { data: "even", k: 3, graph: "knn:2" },
  { data: "even", k: 3, init: "local" },
  { data: "even", k: 3, init: "federated" },
  { data: "even", k: 3, init: "kmeans++" },
  { data: "even", k: 3, init: "classic kmeans++" },
  { data: "even", k: 3, schedule: "simultaneous" },
  { data: "even", k: 3, schedule: "random", seed: 2 },
  { data: "even", k: 3, schedule: "coloured", graph: "ring" },
  { data: "even", k: 3, coupling: "transport" },
  { data: "even", k: 3, penalty: "norm", differs: staying(SETTLED) },
  { data: "even", k: 3, penalty: "truncated" },
  { data: "even", k: 3, tol: 1e-4 },
  { data: "even", k: 3, privacy: "guarded" },
  { data: "even", k: 2, privacy: "guarded", minRows: 5 },
  { data: "even", k: 3, scale: "standard" },
  { data: "even", k: 3, scale: "minmax" },
  { data: "even", k: 3, scale: "robust" },
  { data: "even", k: 3, scale: "rank" },
  { data: "uneven", k: 3 },
  { data: "uneven", k: 3, weighting: "device", scale: "standard" },
  { data: "uneven", k: 3, preset: "paper" },
  { data: "uneven", k: 3, method: "consensus" },
  { data: "uneven", k: 3, method: "consensus", weighting: "device" },
  { data: "even", k: 3, method: "consensus", graph: "ring" },
  { data: "even", k: 3, method: "local" },
  { data: "even", k: 3, method: "pooled" },
  { data: "even", k: 3, method: "distributed" },
  { data: "even", k: 3, method: "gradient", rounds: 20 },
  { data: "even", k: 3, method: "coreset" },
  { data: "even", k: 3, method: "backbone" },
  { data: "even", k: 3, method: "kfed" },
  { data: "even", k: 3, method: "fkm" },
  { data: "gaps", k: 3, missing: "drop" },
  { data: "gaps", k: 3, missing: "mean" },
  { data: "gaps", k: 3, missing: "mean", scale: "standard" },
  { data: "alone", k: 3 },
  { data: "alone", k: 3, scale: "standard", seed: 5 },
  { data: "even", k: 3, exclude: ["y"] },
  { data: "even", k: 3, columns: ["y", "x"] },
];

/** Rows of the paper's clusters, dealt to devices of these sizes. */
function tablesOf(
  sizes: readonly number[],
  seed: number,
  spoil: (data: Float64Array) => void = () => {},
): DeviceTable[] {
  const all = paperData(
    "var",
    1,
    sizes.reduce((sum, size) => sum + size, 0),
    seed,
  ).datasets[0];
  let from = 0;
  return sizes.map((rows, i) => {
    const own = all.data.slice(from * all.cols, (from + rows) * all.cols);
    from += rows;
    spoil(own);
    return { name: `d${i}`, columns: ["x", "y"], points: { data: own, rows, cols: all.cols } };
  });
}

const data = {
  even: tablesOf([40, 40, 40, 40], 1),
  uneven: tablesOf([12, 90, 40], 2),
  alone: tablesOf([80], 3),
  gaps: tablesOf([40, 50, 30], 4, (own) => {
    own[5] = Number.NaN;
    own[20] = Number.NaN;
  }),
};

const files = Object.fromEntries(
  Object.entries(data).map(([name, tables]) => [
    name,
    tables.map((table) => {
      const file = join(folder, `${name}-${table.name}.csv`);
      const rows = Array.from({ length: table.points.rows }, (_, r) => {
        const cells = Array.from(table.points.data.subarray(2 * r, 2 * r + 2), (x) =>
          Number.isNaN(x) ? "" : String(x),
        );
        return cells.join(",");
      });
      writeFileSync(file, `x,y\n${rows.join("\n")}\n`);
      return file;
    }),
  ]),
);

interface Answer {
  /** By device, in the units of the files. */
  readonly centroids: readonly (readonly (readonly number[])[])[];
  readonly objective: number;
  /** By device. A row that was dropped has none. Absent where rows stay in their sources. */
  readonly labels?: readonly (readonly number[])[];
}

interface Door {
  /** Whether it can take a request. */
  takes(request: Request): boolean;
  /** To nine digits: rows that stay are summed in another order, and passes over them end at a fixed point of their own. */
  readonly digits?: number;
}

/** Rows at hand have no text, no gaps and no scale but one that anybody can compute. */
const isPlain = ({ missing, scale = "none" }: Request) => missing === undefined && ["none", "standard"].includes(scale);
const isForSources = ({ missing, method = "fedkm", privacy, data: name }: Request) =>
  missing !== "mean" && ["fedkm", "consensus"].includes(method) && privacy === undefined && name !== "gaps";

/** Where rows stay there are no ranks, and consensus is pooled k-means of all rows. */
const mayStay = (request: Request) =>
  isForSources(request) &&
  request.scale !== "rank" &&
  !(request.method === "consensus" && (request.weighting ?? "sample") !== "sample");

const doors = {
  library: { takes: (request) => isPlain(request) && request.exclude === undefined && request.columns === undefined },
  command: { takes: () => true },
  memory: { takes: isForSources },
  stream: { takes: mayStay, digits: 9 },
  aggregate: { takes: mayStay, digits: 9 },
  pipe: { takes: ({ missing, columns, exclude }) => [missing, columns, exclude].every((own) => own === undefined) },
  python: {
    takes: (request) =>
      isPlain(request) && (request.scale ?? "none") === "none" && !request.exclude && !request.columns,
  },
} as const satisfies Record<string, Door>;

type DoorName = keyof typeof doors;

function nameOf({ differs: _, ...request }: Request): string {
  return Object.entries(request)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}

/** What a request means in the words of core and files. */
async function byLibrary({
  data: name,
  graph = "complete",
  method = "fedkm",
  scale,
  minRows,
  differs: _,
  ...asked
}: Request) {
  const given = data[name].map(({ points }): Matrix => ({ ...points, data: points.data.slice() }));
  const scaling = scale === "standard" ? standardScaling(given) : undefined;
  if (scaling !== undefined) for (const points of given) applyScaling(points, scaling);
  const names = data[name].map((table) => table.name);
  const { seed = 1, alpha = 1, preset } = asked;
  const links: Graph = await linkDevices(graph, names, given, seed);
  const weighting = asked.weighting ?? (preset === "paper" ? "device" : "sample");
  const options = { ...asked, seed, alpha, weighting, ...(minRows !== undefined && { minimum: minRows }) };
  const found = methods[method](given, links, options as never);
  const ordered = inCommonOrder(found.centroids, given);
  const centroids = ordered.map((own) => toRows(scaling === undefined ? own : undoScaling(own, scaling)));
  return {
    centroids,
    objective: found.objective,
    labels: given.map((points, i) => Array.from(predict(ordered[i], points))),
  };
}

async function byTables({ data: name, differs: _, ...request }: Request): Promise<Answer> {
  const { model, labels } = await fitTables({ ...request, tables: data[name], examine: false });
  return answerOf(model, labels);
}

function answerOf(
  { devices, objective }: { devices: readonly { centroids: Answer["centroids"][number] }[]; objective: number },
  labels?: readonly ArrayLike<number>[],
): Answer {
  const own = { centroids: devices.map(({ centroids }) => centroids), objective };
  return labels === undefined ? own : { ...own, labels: labels.map((some) => Array.from(some)) };
}

const isFlag = (name: string) => !["data", "differs"].includes(name);
const flagOf = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** In this process: forty starts of Node would take longer than all of the work. */
async function byCommand(request: Request): Promise<Answer> {
  const out = join(folder, "results");
  rmSync(out, { recursive: true, force: true });
  const flags = Object.entries(request)
    .filter(([name]) => isFlag(name))
    .flatMap(([name, value]) => [flagOf(name), String(value)]);
  let stderr = "";
  const output = { write: () => {} };
  const complain = (text: string) => {
    stderr += text;
  };
  const io = { stdout: output, stderr: { write: complain }, env: {} };
  const code = await runCommandLine(["fit", ...files[request.data], ...flags, "--out", out], io);
  if (code !== 0) throw new Error(stderr);
  const model = JSON.parse(readFileSync(join(out, "model.json"), "utf8"));
  if (model.labels.length === 0) return answerOf(model);
  return answerOf(
    model,
    model.labels.map((own: { file: string }) => labelsOf(join(out, "labels", own.file))),
  );
}

function labelsOf(file: string): number[] {
  const [, ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines
    .map((line) => line.slice(line.lastIndexOf(",") + 1))
    .filter((label) => label !== "")
    .map(Number);
}

/** The rows of each file in DuckDB. */
async function bySources({ data: name, differs: _, ...request }: Request, read: "memory" | "stream" | "aggregate") {
  const sources = files[name].map((file) => sourceAt(`duckdb:${file}`, { read, env: {} }));
  const { model, labels, input } = await fitTables({ ...request, sources, examine: false });
  for (const source of input.sources) await source?.close();
  return answerOf(model, labels);
}

/** One process answers all. */
async function byPipe(all: readonly Request[]): Promise<Answer[]> {
  const frames = all.flatMap(({ data: name, differs: _, ...request }) => [
    ...encodeFrame(
      { ask: "fit", request },
      data[name].map(({ points }) => points),
    ),
  ]);
  const input = Buffer.concat(frames);
  const { stdout } = spawnSync(process.execPath, [join(root, "cli/bin/fedkm.js"), "pipe"], {
    input,
    maxBuffer: 2 ** 28,
  });
  const pieces = (async function* () {
    yield stdout;
  })();
  const answers: Frame[] = [];
  for await (const frame of decodeFrames(pieces)) answers.push(frame);
  return all.map(({ data: name }, i): Answer => {
    const { header, arrays } = answers[i + 1];
    if (header.refusal !== undefined) throw new Error(String(header.refusal));
    const count = data[name].length;
    return {
      centroids: arrays.slice(0, count).map((own) => toRows(own as Matrix)),
      objective: Number(header.objective),
      labels: arrays.slice(count, 2 * count).map((own) => Array.from(own.data)),
    };
  });
}

// Debian's own first: its packages are there, while another python3 on the PATH may have none.
const python = ["/usr/bin/python3", "python3"].find((name) => spawnSync(name, ["-c", "import numpy"]).status === 0);
if (python === undefined) console.warn("skipped: the door python, because no python3 has numpy");

const PROGRAM = `
import json, sys
import numpy as np
from fedkm import FedKMeans
answers = []
for tables, options in json.load(sys.stdin):
    model = FedKMeans(**options).fit([np.array(table) for table in tables])
    answers.append([model.device_centers_.tolist(), model.objective_, [labels.tolist() for labels in model.labels_]])
json.dump(answers, sys.stdout)
`;

const pythonNames: Readonly<Record<string, string>> = { k: "n_clusters", seed: "random_state", minRows: "min_rows" };

function byPython(all: readonly Request[]): Answer[] {
  const asked = all.map((request) => [
    data[request.data].map(({ points }) => toRows(points)),
    Object.fromEntries(
      Object.entries(request)
        .filter(([name]) => isFlag(name) && name !== "scale")
        .map(([name, value]) => [pythonNames[name] ?? name, value]),
    ),
  ]);
  const { stdout, stderr } = spawnSync(python ?? "python3", ["-c", PROGRAM], {
    input: JSON.stringify(asked),
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    env: {
      ...process.env,
      PYTHONPATH: join(root, "python"),
      PYTHONDONTWRITEBYTECODE: "1",
      FEDKM_COMMAND: `"${process.execPath}" "${join(root, "cli/bin/fedkm.js")}"`,
    },
  });
  if (stdout === "") throw new Error(stderr);
  return (JSON.parse(stdout) as [Answer["centroids"], number, number[][]][]).map(([centroids, objective, labels]) => {
    return { centroids, objective, labels };
  });
}

const one = (answer: (request: Request) => Promise<Answer>) => async (all: readonly Request[]) => {
  const answers: Answer[] = [];
  for (const request of all) answers.push(await answer(request));
  return answers;
};

const through: Record<DoorName, (all: readonly Request[]) => Promise<Answer[]> | Answer[]> = {
  library: one(byLibrary),
  command: one(byCommand),
  memory: one((request) => bySources(request, "memory")),
  stream: one((request) => bySources(request, "stream")),
  aggregate: one((request) => bySources(request, "aggregate")),
  pipe: byPipe,
  python: byPython,
};

const names = Object.keys(doors) as DoorName[];

describe("a request has one answer", () => {
  const expected = new Map<Request, Promise<Answer>>();
  const answerTo = (request: Request) => {
    const own = expected.get(request) ?? byTables(request);
    expected.set(request, own);
    return own;
  };

  it("there are at least 40 requests, all different", () => {
    expect(new Set(requests.map(nameOf)).size).toBe(requests.length);
    expect(requests.length).toBeGreaterThanOrEqual(40);
  });

  for (const door of names) {
    it.skipIf(door === "python" && python === undefined)(`${door} gives the bits of fitTables`, async () => {
      const { takes, digits }: Door = doors[door];
      const asked = requests.filter((request) => takes(request) && request.differs?.[door] === undefined);
      const answers = await through[door](asked);
      for (const [i, request] of asked.entries()) {
        const [answer, own] = [answers[i], await answerTo(request)];
        if (digits === undefined) {
          const { labels, ...rest } = own;
          expect(answer, nameOf(request)).toEqual(answer.labels === undefined ? rest : { ...rest, labels });
        } else {
          expect(answer.objective, nameOf(request)).toBeCloseTo(own.objective, digits);
        }
      }
      expect(asked.length).toBeGreaterThan(0);
    });
  }
});

describe("a study has one answer", () => {
  it.each(["even", "uneven"] as const)("the command and fitTables simulate the same devices on %s", async (name) => {
    const points = data[name].map((table) => table.points);
    const study = studyOfPoints(points, ["x", "y"], { name: "conformance", k: 3, alpha: 1 });
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, formatStudy(study));
    const { k, alpha, coupling, weighting } = study;
    const request = { tables: data[name], k, alpha, coupling, weighting, study: studyPlan(study), examine: false };
    const { model, labels } = await fitTables(request);
    const out = join(folder, "study");
    const output = { write: () => {} };
    await runCommandLine(["fit", ...files[name], "--study", file, "--out", out], {
      stdout: output,
      stderr: output,
      env: {},
    });
    const written = JSON.parse(readFileSync(join(out, "model.json"), "utf8"));
    const all = written.labels.map((own: { file: string }) => labelsOf(join(out, "labels", own.file)));
    expect(answerOf(written, all)).toEqual(answerOf(model, labels));
    // Devices update when messages come and not in rounds, so that they may end in another local optimum than `fit`.
    expect(model.options.method).toBe("devices");
  });
});
