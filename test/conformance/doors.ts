// The doors of the conformance suite: how each is asked, which requests it does not take and why, and how near its answer
// must be to that of fitTables.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chooseClusters, complete, type Graph, type Matrix, methods, predict, toRows } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { formatStudy, type Study, sharedMethod, studyOfPoints, studyPlan } from "@fedkm/device";
import { applyScaling, fillMissing, type Scaling, scalingMeans, scalingMoments, undoScaling } from "@fedkm/files";
import { decodePipeFrames, encodePipeFrame, type Frame } from "@fedkm/files/frames";
import {
  chooseScaling,
  clustersInModelOrder,
  type DeviceTable,
  type FitRequest,
  fitTables,
  linkDevices,
} from "@fedkm/tables";
import { inputSourceAt } from "@fedkm/tables/node";
import { runCommandLine } from "../../cli/src/program.ts";
import { columnsOf, csvOf, data, hasTexts, type Request, type Rows, settingsOf, sortedRows } from "./requests.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "fedkm-conformance-"));

export function removeFiles(): void {
  rmSync(folder, { recursive: true, force: true });
}

export interface Answer {
  /** By device, in the units of the files. */
  readonly centroids: readonly (readonly (readonly number[])[])[];
  readonly objective: number;
  /** Rows of every cluster, by device. */
  readonly sizes: readonly (readonly number[])[];
  /** With its scale. Absent where a door does not say it. */
  readonly penalty?: unknown;
  /** By device. A row that was dropped has none. Absent where rows stay in their sources. */
  readonly labels?: readonly (readonly number[])[];
}

export interface Door {
  /** In the order of the requests; an Error is a refusal. */
  ask(requests: readonly Request[]): Promise<(Answer | Error)[]>;
  /** Why it does not take a request. */
  declines(request: Request): string | undefined;
  /** What it declines can be said to it, and it refuses. Absent: there are no words for it. */
  readonly refuses?: true;
  /** The answer that it must give. Default: that of fitTables to rows at hand. */
  expected?(request: Request): Promise<Answer>;
  /** Why the bits of numbers differ; the rows of every cluster are the same all the same. Absent: no bit differs. */
  readonly differs?: string;
}

/** Declines what has one of these settings, with its reason. */
function reasons(by: { readonly [name in keyof Request]?: string | ((value: never) => string | undefined) }) {
  return (request: Request): string | undefined => {
    const declined = Object.entries(by).flatMap(([name, reason]) => {
      const value = request[name as keyof Request];
      return value === undefined ? [] : ((typeof reason === "function" ? reason(value as never) : reason) ?? []);
    });
    return declined.at(0);
  };
}

/** Asks one request after the other. */
function each(answer: (request: Request) => Promise<Answer>): Door["ask"] {
  return async (all) => {
    const answers: (Answer | Error)[] = [];
    for (const request of all) answers.push(await answer(request).catch((error: Error) => error));
    return answers;
  };
}

type Outcome = Pick<Awaited<ReturnType<typeof fitTables>>, "model" | "labels">;

function answerOf({ devices, objective, options }: Outcome["model"], labels?: readonly ArrayLike<number>[]): Answer {
  const [centroids, sizes] = [devices.map((own) => own.centroids), devices.map((own) => own.sizes)];
  const answer = { centroids, objective, sizes, penalty: options.penalty };
  return labels === undefined ? answer : { ...answer, labels: labels.map((own) => Array.from(own)) };
}

// fitTables, with rows at hand: the answer that all others are held against.

/** Texts have no matrix, and are in files in memory. */
export async function byTables(request: Request, rows: Rows = data[request.data]): Promise<Answer> {
  const given = hasTexts(request) ? { files: filesInMemory(rows) } : { tables: tablesOf(rows) };
  const { model, labels } = await fitTables({ ...fitRequest(request), ...given });
  return answerOf(model, labels);
}

function fitRequest(request: Request): FitRequest {
  const { method, ...settings } = settingsOf(request);
  const named = method === "shared" ? { name: method, method: sharedMethod } : method;
  return { ...settings, ...(named && { method: named }), examine: false };
}

function tablesOf({ columns, devices }: Rows): DeviceTable[] {
  return devices.map((rows, i) => {
    const numbers = Float64Array.from(rows.flat(), (cell) => (cell === null ? Number.NaN : Number(cell)));
    return { name: `d${i}`, columns, points: { data: numbers, rows: rows.length, cols: columns.length } };
  });
}

function filesInMemory(rows: Rows): File[] {
  return rows.devices.map((_, i) => new File([csvOf(rows, i)], `d${i}.csv`));
}

/** The one default of all doors. */
const weightingOf = ({ weighting, preset }: Pick<Request, "weighting" | "preset">) =>
  weighting ?? (preset === "paper" ? "device" : "sample");

// The library: what a request means in the words of core and files.

async function byLibrary(request: Request): Promise<Answer> {
  const { graph = "complete", method = "fedkm", minRows, seed = 1, alpha = 1, ...settings } = settingsOf(request);
  const { missing, scale = "none", columns, exclude, categories, ...options } = settings;
  const { points: read, categories: places } = numbersOf(request);
  if (missing === "mean") {
    const fill = scalingMeans(read);
    for (const points of read) fillMissing(points, fill);
  }
  const datasets = missing === "drop" ? read.map(withoutGaps) : read;
  const scaling = scalingOf(scale, datasets, places);
  for (const points of datasets) applyScaling(points, scaling);
  const names = datasets.map((_, i) => `d${i}`);
  const given: Graph = await linkDevices(graph, names, datasets, { seed });
  const { fitted: k, graph: links } =
    request.k === undefined ? chooseClusters(datasets, given, { seed }) : { fitted: request.k, graph: given };
  const weighting = weightingOf(request);
  const minimum = minRows === undefined ? {} : { minimum: minRows };
  const fitWith = method === "shared" ? sharedMethod : methods[method];
  const found = fitWith(datasets, links, { ...options, k, seed, alpha, weighting, ...minimum } as never);
  const ordered = clustersInModelOrder(found.centroids, datasets);
  const labels = datasets.map((points, i) => Array.from(predict(ordered[i], points)));
  return {
    centroids: ordered.map((own) => toRows(undoScaling(own, scaling))),
    objective: found.objective,
    sizes: labels.map((own) => Array.from({ length: k }, (_, c) => countOf(own, c))),
    penalty: found.penalty,
    labels,
  };
}

const countOf = (labels: readonly number[], cluster: number) => labels.filter((label) => label === cluster).length;

/** A number is a column and a text one for each of its words; `categories` are the places of the columns of a text. */
function numbersOf(request: Request): { points: Matrix[]; categories: number[][] } {
  const { columns, devices } = data[request.data] as Rows;
  const places = columnsOf(request).map((name) => columns.indexOf(name));
  const words = places.map((c) => {
    const texts = devices.flat().flatMap((row) => (typeof row[c] === "string" ? [row[c]] : []));
    return Array.from(new Set(texts)).sort();
  });
  const numbers = devices.map((rows) =>
    rows.map((row) =>
      places.flatMap((c, at) => {
        if (row[c] === null) return Array.from({ length: words[at].length || 1 }, () => Number.NaN);
        return words[at].length === 0 ? [Number(row[c])] : words[at].map((word) => (word === row[c] ? 1 : 0));
      }),
    ),
  );
  const cols = numbers[0][0].length;
  const points = numbers.map((rows) => ({ data: Float64Array.from(rows.flat()), rows: rows.length, cols }));
  let next = 0;
  const starts = words.map(({ length }) => {
    next += length || 1;
    return next - (length || 1);
  });
  const categories = words.flatMap((own, at) => (own.length === 0 ? [] : [own.map((_, v) => starts[at] + v)]));
  return { points, categories };
}

function withoutGaps({ data: numbers, cols }: Matrix): Matrix {
  const rows = Array.from({ length: numbers.length / cols }, (_, r) => numbers.subarray(r * cols, (r + 1) * cols));
  const whole = rows.filter((row) => !row.some(Number.isNaN));
  return { data: Float64Array.from(whole.flatMap((row) => Array.from(row))), rows: whole.length, cols };
}

/** One category counts like one number: its columns have the variance of a number together. */
function scalingOf(scale: string, datasets: readonly Matrix[], categories: readonly (readonly number[])[]): Scaling {
  const { means, variances } = scalingMoments(datasets);
  const isText = means.map((_, c) => categories.some((own) => own.includes(c)));
  const numbers = variances.filter((_, c) => !isText[c]);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const mean = numbers.length === 0 ? 1 : sum(numbers) / numbers.length;
  const offset = means.map((own, c) => (scale === "standard" && !isText[c] ? own : 0));
  const scales = means.map((_, c) => {
    const category = categories.find((own) => own.includes(c));
    if (category === undefined) return scale === "standard" ? Math.sqrt(variances[c]) : 1;
    const variance = sum(category.map((own) => variances[own]));
    return Math.sqrt(variance / (scale === "standard" ? 1 : mean));
  });
  return { offset, scale: scales };
}

// The command with files.

const paths = new Map<keyof typeof data, string[]>();

/** Written when they are first asked for. */
function pathsOf(name: keyof typeof data): string[] {
  const rows: Rows = data[name];
  const own =
    paths.get(name) ??
    rows.devices.map((_, i) => {
      const file = join(folder, `${name}-d${i}.csv`);
      writeFileSync(file, csvOf(rows, i));
      return file;
    });
  paths.set(name, own);
  return own;
}

const flagOf = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** In this process: a hundred starts of Node would take longer than all of the work. */
async function byCommand(request: Request, ...further: string[]): Promise<Answer> {
  const out = join(folder, "results");
  rmSync(out, { recursive: true, force: true });
  const flags = Object.entries(settingsOf(request)).flatMap(([name, value]) => [flagOf(name), String(value)]);
  let stderr = "";
  const complain = (text: string) => {
    stderr += text;
  };
  const io = { stdout: { write: () => {} }, stderr: { write: complain }, env: {} };
  const code = await runCommandLine(
    ["fit", "--as-is", ...pathsOf(request.data), ...flags, "--out", out, ...further],
    io,
  );
  if (code !== 0) throw new Error(stderr);
  const model = JSON.parse(readFileSync(join(out, "model.json"), "utf8"));
  return answerOf(
    model,
    model.labels.map((own: { file: string }) => labelsIn(join(out, "labels", own.file))),
  );
}

function labelsIn(file: string): number[] {
  const [, ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines
    .map((line) => line.slice(line.lastIndexOf(",") + 1))
    .filter((label) => label !== "")
    .map(Number);
}

// Sources: the rows of each file in DuckDB.

async function bySources(request: Request, read: "memory" | "stream" | "aggregate"): Promise<Answer> {
  const { missing } = request;
  const sources = pathsOf(request.data).map((file) => inputSourceAt(`duckdb:${file}`, { read, missing, env: {} }));
  const { model, labels, input } = await fitTables({ ...fitRequest(request), sources });
  for (const source of input.sources) await source?.close();
  return answerOf(model, read === "memory" ? labels : undefined);
}

/** Rows that stay are asked for sums, and for what they are in the order of their values. */
function expectedInSources(request: Request): Promise<Answer> {
  const { settings, sorted } = request.inSources ?? {};
  const rows = data[request.data];
  return byTables({ ...request, ...settings }, sorted ? sortedRows(rows) : rows);
}

const staying: Pick<Door, "declines" | "refuses" | "expected" | "differs"> = {
  declines: (request) =>
    reasons({
      method: (name: string) =>
        name === "fedkm" || name === "consensus" ? undefined : "only these two ask for nothing but sums over rows",
      privacy: "what may be sent depends on single rows",
      scale: (scale: string) => (scale === "rank" ? "ranks are no sum over rows" : undefined),
    })(request) ??
    (request.method === "consensus" && weightingOf(request) !== "sample"
      ? "consensus is pooled k-means of all rows, where every row counts the same"
      : undefined),
  refuses: true,
  expected: expectedInSources,
  differs: "losses are added up in another order, and the last steps to a fixed point are others",
};

// fedkm pipe: one process answers all.

async function byPipe(all: readonly Request[]): Promise<(Answer | Error)[]> {
  const frames = all.flatMap((request) => {
    const { columns, exclude, ...settings } = settingsOf(request);
    const places = (names?: readonly string[]) =>
      names?.map((name) => `x${data[request.data].columns.indexOf(name) + 1}`);
    const asked = { ...settings, columns: places(columns), exclude: places(exclude) };
    return [
      ...encodePipeFrame(
        { ask: "fit", request: asked },
        tablesOf(data[request.data]).map(({ points }) => points),
      ),
    ];
  });
  const { stdout } = spawnSync(process.execPath, [join(root, "cli/bin/fedkm.js"), "pipe"], {
    input: Buffer.concat(frames),
    maxBuffer: 2 ** 28,
  });
  const pieces = (async function* () {
    yield stdout;
  })();
  const answers: Frame[] = [];
  for await (const frame of decodePipeFrames(pieces)) answers.push(frame);
  return all.map((request, i) => {
    const { header, arrays } = answers[i + 1];
    if (header.refusal !== undefined) return new Error(String(header.refusal));
    const count = data[request.data].devices.length;
    return {
      centroids: arrays.slice(0, count).map((own) => toRows(own as Matrix)),
      objective: Number(header.objective),
      sizes: toRows(arrays.at(-1) as Matrix),
      labels: arrays.slice(count, 2 * count).map((own) => Array.from(own.data)),
    };
  });
}

// Python.

// Debian's own first: its packages are there, while another python3 on the PATH may have none.
export const python = ["/usr/bin/python3", "python3"].find((name) => {
  return spawnSync(name, ["-c", "import numpy"]).status === 0;
});
if (python === undefined) console.warn("skipped: the door python, because no python3 has numpy");

const PROGRAM = `
import json, sys
import numpy as np
from fedkm import FedKMeans
answers = []
for tables, options in json.load(sys.stdin):
    try:
        model = FedKMeans(**options).fit([np.array(table) for table in tables])
    except (TypeError, ValueError) as error:
        answers.append(str(error))
        continue
    answers.append({
        "centroids": model.device_centers_.tolist(),
        "objective": model.objective_,
        "sizes": model.device_sizes_.tolist(),
        "labels": [labels.tolist() for labels in model.labels_],
    })
json.dump(answers, sys.stdout)
`;

const pythonNames: Readonly<Record<string, string>> = { k: "n_clusters", seed: "random_state", minRows: "min_rows" };

/** Columns are chosen before, as with any array. */
async function byPython(all: readonly Request[]): Promise<(Answer | Error)[]> {
  const asked = all.map((request) => {
    const { columns, exclude, ...settings } = settingsOf(request);
    const { columns: names, devices }: Rows = data[request.data];
    const places = columnsOf(request).map((name) => names.indexOf(name));
    const options = Object.entries(settings).map(([name, value]) => [pythonNames[name] ?? name, value]);
    return [devices.map((rows) => rows.map((row) => places.map((c) => row[c]))), Object.fromEntries(options)];
  });
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
  const answers: (Answer | string)[] = JSON.parse(stdout);
  return answers.map((answer) => (typeof answer === "string" ? new Error(answer) : answer));
}

// The simulation of a study.

/** What a study has no words for. */
const ofStudies = reasons({
  method: (name: string) =>
    name === "fedkm" || name === "shared" ? undefined : "devices run the method, or share clusters",
  preset: "devices run in one way",
  init: "devices start with k-means of their own",
  schedule: "devices update when messages come",
  rounds: "devices go on for ever",
  tol: "devices go on for ever",
  penalty: "a study has the squared one",
  missing: "devices refuse rows with gaps",
  categories: "features of a study are numbers",
  scale: (scale: string) => (scale === "rank" ? "a feature is divided by its scale, and not ranked" : undefined),
});

/** The study that says the same as a request: scales are those of its features. */
async function studyOf(request: Request): Promise<Study> {
  const { alpha = 1, coupling = "nearest", privacy = "open", minRows = defaults.guardedMinimum } = request;
  const { points } = numbersOf(request);
  const columns = columnsOf(request);
  const { scaling } = await chooseScaling(
    request.scale ?? "none",
    columns.map((name) => ({ name })),
    points,
  );
  const scaled = numbersOf(request).points;
  for (const own of scaled) applyScaling(own, scaling);
  const { seed = 1, k = chooseClusters(scaled, complete(points.length), { seed }).fitted } = request;
  const minimum = privacy === "guarded" ? minRows : 1;
  const isShared = request.method === "shared";
  const weighting = isShared ? "device" : weightingOf(request);
  const rows = points.reduce((sum, own) => sum + own.rows, 0);
  const typicalRows = weighting === "sample" ? rows / points.length : null;
  const clusters = isShared ? ({ clusters: "shared", colluders: 1 } as const) : ({ neighbours: "trusted" } as const);
  const choices = { k, alpha: isShared ? 0 : alpha, coupling, weighting, typicalRows, minimum, ...clusters };
  const study = studyOfPoints(points, columns, {
    name: "conformance",
    privacy: privacy as Study["privacy"],
    ...choices,
  });
  return { ...study, features: study.features.map((feature, f) => ({ ...feature, scale: scaling.scale[f] })) };
}

async function byStudy(request: Request): Promise<Answer> {
  const file = join(folder, "study.yaml");
  const isDeclined = ofStudies(request) !== undefined;
  const { data: name, graph = "complete", seed = 1, k } = request;
  const study = await studyOf(isDeclined ? { data: name, ...(k !== undefined && { k }) } : request);
  writeFileSync(file, formatStudy(study));
  // Said beside a study, what it cannot express is refused.
  return byCommand(isDeclined ? request : { data: name, graph, seed, k: study.k }, "--study", file);
}

async function byStudyOfTables(request: Request): Promise<Answer> {
  const study = await studyOf(request);
  const { k, alpha, coupling, weighting, features } = study;
  const { graph = "complete", seed = 1 } = request;
  const columns = features.map(({ name }) => name);
  const asked = { k, alpha, coupling, weighting, columns, graph, seed, study: studyPlan(study), examine: false };
  const { model, labels } = await fitTables({ ...asked, tables: tablesOf(data[request.data]) });
  return answerOf(model, labels);
}

const TEXTS = "an array holds numbers: its owner decides what a text counts";

export const doors = {
  library: {
    ask: each(byLibrary),
    declines: reasons({
      scale: (scale: string) =>
        ["none", "standard"].includes(scale) ? undefined : "only these are in two lines of a program",
    }),
  },
  "files in memory": {
    ask: each(async (request) => {
      const { model, labels } = await fitTables({ ...fitRequest(request), files: filesInMemory(data[request.data]) });
      return answerOf(model, labels);
    }),
    declines: () => undefined,
  },
  command: { ask: each(byCommand), declines: () => undefined },
  memory: { ask: each((request) => bySources(request, "memory")), declines: () => undefined },
  stream: { ask: each((request) => bySources(request, "stream")), ...staying },
  aggregate: { ask: each((request) => bySources(request, "aggregate")), ...staying },
  pipe: { ask: byPipe, declines: reasons({ categories: TEXTS }) },
  python: {
    ask: byPython,
    declines: reasons({
      categories: TEXTS,
      missing: "an estimator refuses NaN, as those of scikit-learn do",
      scale: "scaling is an estimator of its own, as in scikit-learn",
    }),
    refuses: true,
  },
  study: { ask: each(byStudy), declines: ofStudies, refuses: true, expected: byStudyOfTables },
} satisfies Record<string, Door>;

/** Of devices and `fit`, which minimise the same. */
export const STUDY_DIFFERS = "devices update when messages come and not in rounds, and send nothing below a threshold";
