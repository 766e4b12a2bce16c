// A study from its name to its results: planned, run in processes of their own, journalled so that it can be resumed, and
// described by a manifest with which another machine gets the same bytes.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Matrix, methods, type Partition } from "@fedkm/core";
import { principalComponents } from "@fedkm/pictures";
import { cellBatches } from "./cell.ts";
import { loadExperimentPlugins, type Plugins } from "./plugins/plugin.ts";
import type { FinishedRuns } from "./results/results.ts";
import type { Known } from "./studies/cells.ts";
import type { Factors, SweepFile } from "./studies/file.ts";
import { sweepPlan } from "./studies/index.ts";
import type { Plan, PlanOptions } from "./studies/plan.ts";
import { toCsv } from "./table.ts";
import { bundledClasses, type GivenData, isDrawnKind } from "./trial/datasets.ts";
import { openJournal } from "./trial/journal.ts";
import { poolWork, runBatches } from "./trial/pool.ts";
import { type RunRow, runColumns } from "./trial/trial.ts";

const COMPONENTS = 50;

/** Wider points become their 50 principal components, as in the follow-up's study of CIFAR-10. */
export function reducedFeatures(points: Matrix): Matrix {
  return points.cols > COMPONENTS ? principalComponents(points, COMPONENTS) : points;
}

function hashOf(...parts: readonly NodeJS.ArrayBufferView[]): string {
  return parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");
}

/** What tells given rows from others: a run is resumed with the same ones only. */
function marksOf(given: GivenData): { readonly [name: string]: object } {
  const mark = ({ datasets, labels }: Partition) => ({
    rows: datasets.map(({ rows }) => rows),
    columns: datasets[0].cols,
    sha256: hashOf(...datasets.map(({ data }) => data), ...labels),
  });
  return Object.fromEntries(Object.entries(given).map(([name, own]) => [name, mark(own)]));
}

/** Which study runs, on which data, and where its results go. */
export interface StudyRequest extends PlanOptions {
  /** For people: the name of a study, or the file of a sweep. */
  readonly what: string;
  readonly sweep: SweepFile;
  /** Rows of the user's own, by the names that the sweep has for them. */
  readonly given: GivenData;
  readonly plugins?: readonly string[] | undefined;
  /** Whether what plug-ins add runs too where the file does not name it: beside Algorithm 1, the data and the graph. */
  readonly isOpen: boolean;
  /** Where the journal is. */
  readonly folder: string;
  /** Whether to go on from the journal that is there. */
  readonly resume: boolean;
  readonly workers: number;
  /** What runs the code, for the manifest, such as "v22.1.0". */
  readonly node: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: StudyProgress) => void;
}

/** How far a study is. */
export interface StudyProgress {
  /** Problems of which all cells have run, also in the run that is resumed. */
  readonly finished: number;
  readonly problems: number;
  /** Of the work of this run, from 0 to 1. */
  readonly share: number;
}

/** Runs all cells of a study. What was finished when it is stopped stays in the journal of its folder. */
export async function reproduceStudy(request: StudyRequest): Promise<FinishedRuns> {
  const { what, given, runs, seed, quick, starts, plugins: files } = request;
  const began = performance.now();
  const plugins = await loadExperimentPlugins(files ?? []);
  const measures = Object.keys(plugins.measures);
  const plan = studyPlan(request, { runs, seed, starts, quick }, plugins);
  // What rows depend on besides their cells, and what else was asked for.
  const sources = files && { plugins: files.map((file) => ({ file, sha256: hashOf(readFileSync(file)) })) };
  const marks = Object.keys(given).length > 0 && { data: marksOf(given) };
  const needs = { fedkm: packageFile().version, ...marks, ...sources };
  const rows = await runCells(plan, needs, request);
  const columns: readonly string[] = [...runColumns, ...plan.options, ...measures];
  const manifest = { ...needs, what, seed, runs, quick, starts, cells: plan.cells.length };
  const answered = { node: request.node, packages: packageFile().dependencies, commit: commitOfCheckout() };
  return {
    plan,
    measures,
    csv: toCsv(columns, rows),
    manifest: { ...manifest, ...answered },
    workers: request.workers,
    seconds: (performance.now() - began) / 1000,
  };
}

export function studyPlan(
  { sweep, given, isOpen }: Pick<StudyRequest, "sweep" | "given" | "isOpen">,
  options: PlanOptions,
  plugins: Plugins,
): Plan {
  const file = isOpen ? withPlugins(sweep, plugins) : sweep;
  return sweepPlan(file, options, knownTo(plugins, given), Object.keys(plugins.measures));
}

/** Methods by name, and what data of a name are like: plug-ins know when they are drawn, given rows have their devices. */
function knownTo(plugins: Plugins, given: GivenData): Known {
  return {
    methods: { ...methods, ...plugins.methods },
    data: (name, request) => {
      if (Object.hasOwn(plugins.datasets, name)) {
        const { k, datasets } = plugins.datasets[name](request);
        return { k, devices: datasets.length, isDrawn: true };
      }
      const own = Object.hasOwn(given, name) ? given[name] : undefined;
      if (own !== undefined) {
        const classes = new Set(own.labels.flatMap((labels) => [...labels])).size;
        const devices = own.datasets.length > 1 ? own.datasets.length : undefined;
        return { k: classes > 1 ? classes : undefined, devices, isDrawn: false };
      }
      return { k: bundledClasses[name], isDrawn: isDrawnKind(name.split(":")[0]) || name === "communities" };
    },
  };
}

/** An added method runs wherever Algorithm 1 does, and added data and graphs beside those of the study. */
function withPlugins(sweep: SweepFile, plugins: Plugins): SweepFile {
  const [added, data, graphs] = [plugins.methods, plugins.datasets, plugins.graphs].map(Object.keys);
  const opened = (factors: Factors): Factors => ({
    ...factors,
    ...(factors.method?.includes("fedkm") && { method: [...factors.method, ...added] }),
    ...(factors.data && { data: [...factors.data, ...data] }),
    ...(factors.graph && { graph: [...factors.graph, ...graphs] }),
  });
  const usual = graphs.length > 0 && sweep.factors.graph === undefined ? { graph: ["er:0.7"] } : {};
  return {
    ...sweep,
    factors: opened({ ...usual, ...sweep.factors }),
    blocks: sweep.blocks.map(opened),
    quick: opened(sweep.quick),
    figures: sweep.figures.map((figure) => ({
      ...figure,
      ...(figure.methods && { methods: [...figure.methods, ...added] }),
    })),
    include: sweep.include.map((part) => withPlugins(part, plugins)),
  };
}

/** All rows in the order of the cells, whatever the order in which workers finished them. */
async function runCells({ cells }: Plan, needs: object, request: StudyRequest): Promise<RunRow[]> {
  const { folder, resume, workers, given, plugins, signal, onProgress = () => {} } = request;
  const parts = cellBatches(cells);
  const marks = parts.map((own) => hashOf(Buffer.from(JSON.stringify(own))));
  const journal = openJournal(folder, needs, resume);
  const finished = new Map(
    parts.flatMap((_, batch) => {
      const rows = journal.finished.get(marks[batch]);
      return rows === undefined ? [] : [[batch, rows] as const];
    }),
  );
  const waiting = new Map([...parts.entries()].filter(([batch]) => !finished.has(batch)));
  const total = [...waiting.values()].reduce((sum, own) => sum + poolWork(own), 0);
  let done = 0;
  try {
    onProgress({ finished: finished.size, problems: parts.length, share: 0 });
    await runBatches(waiting, {
      workers,
      given,
      plugins,
      ...(signal && { signal }),
      onFinished(batch, rows) {
        journal.add(marks[batch], rows);
        finished.set(batch, rows);
        done += poolWork(parts[batch]);
        onProgress({ finished: finished.size, problems: parts.length, share: done / total });
      },
    });
  } finally {
    journal.close();
  }
  return parts.flatMap((_, batch) => finished.get(batch) ?? []);
}

const root = new URL("../", import.meta.url);

/** All workspaces have the same version; the dependencies are pinned to one version each. */
function packageFile(): { readonly version: string; readonly dependencies: { readonly [name: string]: string } } {
  return JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
}

/** undefined: an installed package, or no git. Somebody else's repository around an installed package does not count. */
function commitOfCheckout(): string | undefined {
  const folder = fileURLToPath(root);
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    if (relative(git("rev-parse", "--show-toplevel"), folder) !== "experiments") return undefined;
    const changed = git("status", "--porcelain", "--untracked-files=no") !== "";
    return `${git("rev-parse", "HEAD")}${changed ? " with changes" : ""}`;
  } catch {
    return undefined;
  }
}
