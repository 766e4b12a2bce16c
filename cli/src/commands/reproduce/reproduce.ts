// fedkm reproduce: runs the cells of a study in processes of their own, then writes tables, pictures and the report from their rows.

import { availableParallelism } from "node:os";
import type { LabelledPoints } from "@fedkm/core";
import {
  batches,
  type Cell,
  commit,
  featuresPlan,
  type Plan,
  packages,
  type RunRow,
  runBatches,
  runColumns,
  type StartName,
  studies,
  toCsv,
  version,
  withPlugins,
  workIn,
} from "@fedkm/experiments";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { duration } from "../../numbers.ts";
import { type PluginOptions, pluginMarks, pluginsOf } from "../../plugins.ts";
import { type Progress, progressOn } from "../../progress.ts";
import { Stopped, stoppable } from "../../stop.ts";
import { type Features, readFeatures } from "./features.ts";
import { openJournal } from "./journal.ts";
import { type Results, writeResults } from "./results.ts";

export interface ReproduceOptions extends PluginOptions {
  readonly what: string;
  /** Files of the study "features", the column of their classes, and how many devices share them. */
  readonly data?: readonly string[];
  readonly classes: string;
  readonly devices: number;
  readonly runs?: number;
  readonly quick?: true;
  readonly out: string;
  readonly seed: number;
  readonly start: readonly StartName[];
  readonly workers?: number;
  readonly summary?: "mean" | "median";
  readonly titles: boolean;
  readonly resume?: true;
  readonly json?: true;
}

export async function reproduce(options: ReproduceOptions, { stdout, stderr }: Console): Promise<void> {
  const { what, quick = false, out, seed, start: starts, resume = false } = options;
  const { runs = quick ? 2 : 10, workers = availableParallelism() } = options;
  const features = await featuresOf(options);
  const planning = { runs, seed, starts, quick };
  const plugins = await pluginsOf(options);
  const study = features ? featuresPlan(features.points, options.devices, planning) : studies[what](planning);
  const plan = withPlugins(study, plugins);
  const counted = { seed, runs, quick, starts, cells: plan.cells.length };
  const own = features && { data: features.mark, devices: options.devices };
  const added = options.plugin && { plugins: pluginMarks(options.plugin) };
  const manifest = { fedkm: version(), what, ...own, ...added, ...counted };
  const began = performance.now();
  const progress = progressOn(stderr);
  try {
    const settings = { out, manifest, workers, resume, progress, features: features?.points, plugins: options.plugin };
    const rows = await runPlan(plan, settings);
    progress.announce("fedkm  drawing");
    const measures = Object.keys(plugins.measures);
    const columns: readonly string[] = [...runColumns, ...measures];
    const seconds = (performance.now() - began) / 1000;
    // What a run is resumed by is what was asked for; a manifest also names what answered.
    const answered = { node: process.version, packages: packages(), commit: commit() };
    await writeResults(
      {
        plan,
        measures,
        csv: toCsv(columns, rows),
        manifest: { ...manifest, ...answered },
        out,
        workers,
        seconds,
        json: options.json === true,
        look: lookOf(options),
      },
      stdout,
    );
  } finally {
    progress.erase();
  }
}

/** Only what was asked for: each picture has a summary of its own. */
function lookOf({ summary, titles }: ReproduceOptions): Results["look"] {
  return { titles, ...(summary !== undefined && { summary }) };
}

/** The study "features" needs files, and no other can use them. */
async function featuresOf({ what, data, classes }: ReproduceOptions): Promise<Features | undefined> {
  if (what === "features") {
    if (data === undefined) throw new UsageError("--data must name files for the study features, got none");
    return readFeatures(data, classes);
  }
  if (data !== undefined) throw new UsageError(`--data must be used with the study features, got "${what}"`);
  if (!Object.hasOwn(studies, what)) {
    throw new UsageError(`what must be one of ${[...Object.keys(studies), "features"].join(", ")}, got "${what}"`);
  }
  return undefined;
}

interface RunSettings {
  readonly out: string;
  readonly manifest: object;
  readonly workers: number;
  readonly resume: boolean;
  readonly progress: Progress;
  readonly features: LabelledPoints | undefined;
  readonly plugins: readonly string[] | undefined;
}

/** All rows in the order of the cells, whatever the order in which workers finished them. */
async function runPlan(
  { cells }: Plan,
  { out, manifest, workers, resume, progress, features, plugins }: RunSettings,
): Promise<RunRow[]> {
  const parts = batches(cells);
  const journal = openJournal(out, manifest, resume);
  const finished = new Map(journal.finished);
  const waiting = new Map([...parts.entries()].filter(([batch]) => !finished.has(batch)));
  const show = progressOf(waiting, parts.length, progress);
  try {
    await stoppable((signal) =>
      runBatches(waiting, {
        workers,
        features,
        plugins,
        signal,
        onFinished(batch, rows) {
          journal.add(batch, rows);
          finished.set(batch, rows);
          show(batch, finished.size);
        },
      }),
    );
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    const kept = `${finished.size} of ${parts.length} problems are finished and kept in ${out}`;
    throw new Stopped(error.event, `${kept}, --resume goes on from there`);
  } finally {
    journal.close();
  }
  return parts.flatMap((_, batch) => finished.get(batch) ?? []);
}

const BAR = 24;

/** A bar, and the time left if the rest goes as fast as what was done. */
function progressOf(waiting: ReadonlyMap<number, readonly Cell[]>, problems: number, progress: Progress) {
  const total = [...waiting.values()].reduce((sum, cells) => sum + workIn(cells), 0);
  const began = performance.now();
  let done = 0;
  return (batch: number, count: number) => {
    done += workIn(waiting.get(batch) ?? []);
    const filled = Math.round((BAR * done) / total);
    const left = ((performance.now() - began) * (total - done)) / done;
    const bar = "#".repeat(filled) + ".".repeat(BAR - filled);
    progress.show(`fedkm  ${bar}  ${count}/${problems} problems, ${duration(left)} left`);
  };
}
