// A study from its name to its results: planned, run in processes of their own, journalled so that it can be resumed, and
// described by a manifest with which another machine gets the same bytes.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { LabelledPoints } from "@fedkm/core";
import { cellBatches } from "./cell.ts";
import { loadExperimentPlugins, withPlugins } from "./plugins/plugin.ts";
import type { FinishedRuns } from "./results/results.ts";
import { featuresPlan, followUpFeatures } from "./studies/followUp.ts";
import { studies } from "./studies/index.ts";
import type { Plan, PlanOptions } from "./studies/plan.ts";
import { toCsv } from "./table.ts";
import { openJournal } from "./trial/journal.ts";
import { poolWork, runBatches } from "./trial/pool.ts";
import { type RunRow, runColumns } from "./trial/trial.ts";

/** A user's own points and classes for the study "features". */
export interface Features {
  readonly points: LabelledPoints;
  /** What tells these points from others: a run is resumed with the same ones only. */
  readonly mark: { readonly rows: number; readonly columns: number; readonly sha256: string };
}

/** Points as they were read; wide ones are reduced. */
export function reproductionFeatures({ points, labels }: LabelledPoints): Features {
  const sha256 = hashOf(new Uint8Array(points.data.buffer), labels);
  return { points: followUpFeatures({ points, labels }), mark: { rows: points.rows, columns: points.cols, sha256 } };
}

function hashOf(...parts: readonly NodeJS.ArrayBufferView[]): string {
  return parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");
}

export interface StudyRequest extends PlanOptions {
  /** One of `studies`, or "features", which needs the next two. */
  readonly what: string;
  readonly features?: Features | undefined;
  readonly devices: number;
  readonly plugins?: readonly string[] | undefined;
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

export interface StudyProgress {
  /** Problems of which all cells have run, also in the run that is resumed. */
  readonly finished: number;
  readonly problems: number;
  /** Of the work of this run, from 0 to 1. */
  readonly share: number;
}

/** Runs all cells of a study. What was finished when it is stopped stays in the journal of its folder. */
export async function reproduceStudy(request: StudyRequest): Promise<FinishedRuns> {
  const { what, features, devices, runs, seed, quick, starts, plugins: files } = request;
  const began = performance.now();
  const planning = { runs, seed, starts, quick };
  const plugins = await loadExperimentPlugins(files ?? []);
  const study = features ? featuresPlan(features.points, devices, planning) : studies[what](planning);
  const plan = withPlugins(study, plugins);
  const own = features && { data: features.mark, devices };
  const added = files && { plugins: files.map((file) => ({ file, sha256: hashOf(readFileSync(file)) })) };
  const asked = { fedkm: packageFile().version, what, ...own, ...added, seed, runs, quick, starts };
  const manifest = { ...asked, cells: plan.cells.length };
  const rows = await runCells(plan, manifest, request);
  const measures = Object.keys(plugins.measures);
  const columns: readonly string[] = [...runColumns, ...measures];
  // What a run is resumed by is what was asked for; a manifest also names what answered.
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

/** All rows in the order of the cells, whatever the order in which workers finished them. */
async function runCells({ cells }: Plan, manifest: object, request: StudyRequest): Promise<RunRow[]> {
  const { folder, resume, workers, features, plugins, signal, onProgress = () => {} } = request;
  const parts = cellBatches(cells);
  const journal = openJournal(folder, manifest, resume);
  const finished = new Map(journal.finished);
  const waiting = new Map([...parts.entries()].filter(([batch]) => !finished.has(batch)));
  const total = [...waiting.values()].reduce((sum, own) => sum + poolWork(own), 0);
  let done = 0;
  try {
    onProgress({ finished: finished.size, problems: parts.length, share: 0 });
    await runBatches(waiting, {
      workers,
      features: features?.points,
      plugins,
      ...(signal && { signal }),
      onFinished(batch, rows) {
        journal.add(batch, rows);
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
