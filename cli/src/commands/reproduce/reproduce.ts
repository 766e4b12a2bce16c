// fedkm reproduce: runs a study with a bar on the terminal, writes its results and says what was found.

import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import { type Partition, stack } from "@fedkm/core";
import {
  bundledStudies,
  bundledSweep,
  OtherRunError,
  readSweep,
  reducedFeatures,
  reproduceStudy,
  resultLines,
  resultsOf,
  type StartName,
  type StudyProgress,
  type StudyRequest,
  sweptFiles,
} from "@fedkm/experiments";
import { expandPatterns } from "@fedkm/files";
import { duration } from "@fedkm/pictures/terminal";
import { readInput, readInputClasses } from "@fedkm/tables";
import { watchReproduced } from "@fedkm/web";
import { type Console, printAnswer } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import type { PluginFlags } from "../../plugins.ts";
import { type ProgressLine, progressBar, withProgress } from "../../progress.ts";
import { Stopped, stoppable } from "../../stop.ts";
import { writeResultFolder } from "../../write.ts";

/** What both commands take. */
export interface RunFlags extends PluginFlags {
  readonly runs?: number;
  readonly seed?: number;
  readonly out: string;
  readonly threads?: number;
  readonly summary?: "mean" | "median";
  readonly titles: boolean;
  readonly resume?: true;
  readonly json?: true;
}

export interface ReproduceFlags extends RunFlags {
  readonly what: string;
  /** Files of the study "features", the column of their classes, and how many devices share them. */
  readonly data?: readonly string[];
  readonly classes: string;
  readonly devices: number;
  readonly quick?: true;
  readonly init: readonly StartName[];
}

export async function runReproduceCommand(options: ReproduceFlags, io: Console): Promise<void> {
  const { what, data, classes, devices, init: starts, quick = false } = options;
  if (!bundledStudies().includes(what)) {
    throw new UsageError(`what must be one of ${bundledStudies().join(", ")}, got "${what}"`);
  }
  if ((what === "features") !== (data !== undefined)) {
    const needs = "the study features needs --data FILES";
    throw new UsageError(data === undefined ? needs : `--data must be used with the study features, got "${what}"`);
  }
  const own = data && (await readGiven({ files: data, classes }));
  const features = own && { datasets: [reducedFeatures(stack(own.datasets))], labels: [joined(own.labels)] };
  const sweep = bundledSweep(what);
  const file = own ? { ...sweep, factors: { ...sweep.factors, devices: [devices] } } : sweep;
  const given: StudyRequest["given"] = features ? { features } : {};
  const runs = options.runs ?? (quick ? 2 : 10);
  await runStudy({ what, sweep: file, given, starts, quick, isOpen: true, runs, seed: options.seed ?? 1 }, options, io);
}

/** A sweep over factors of one's own; its files lie beside it. */
export async function runSweepCommand(file: string, options: RunFlags, io: Console): Promise<void> {
  const sweep = usage(() => readSweep(file));
  const read = sweptFiles(sweep).map(async ({ name, files, ...rest }) => {
    const beside = files.map((one) => resolve(dirname(file), one));
    return [name, await readGiven({ ...rest, files: beside })] as const;
  });
  const given = Object.fromEntries(await Promise.all(read));
  const { runs = sweep.runs ?? 10, seed = sweep.seed ?? 1 } = options;
  await runStudy({ what: file, sweep, given, starts: ["auto"], quick: false, isOpen: false, runs, seed }, options, io);
}

type Planned = Pick<StudyRequest, "what" | "sweep" | "given" | "starts" | "quick" | "isOpen" | "runs" | "seed">;

async function runStudy(planned: Planned, options: RunFlags, io: Console): Promise<void> {
  const { out, resume = false, plugin: plugins, threads = availableParallelism(), summary, titles } = options;
  const results = await withProgress(io, async (progress) => {
    const request = { ...planned, plugins, folder: out, resume, workers: threads, node: process.version };
    const finished = await runToTheEnd(request, progress);
    progress.announce("fedkm  drawing");
    const drawn = resultsOf(finished, { ...(summary && { summary }), titles }, watchReproduced);
    await writeResultFolder(out, async (put) => {
      for (const [name, content] of drawn.files) await put(name, content);
    });
    return drawn;
  });
  const { manifest, seconds, certified, claims, personalisation, agreement, watched, files } = results;
  const found = { certified, claims, ...(personalisation && { personalisation: personalisation.sentences }) };
  const facts = { ...manifest, seconds, ...found, agreement, watched, files: [...files.keys()] };
  printAnswer(io, options.json, facts, () => resultLines(results, out));
}

/** What a file says wrongly is the user's to put right, as a flag is. */
function usage<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Rows of files, several of them as devices, with their classes where a column has them. */
async function readGiven({
  files,
  classes,
  exclude = [],
}: {
  files: readonly string[];
  classes?: string;
  exclude?: readonly string[];
}): Promise<Partition> {
  const hidden = [...exclude, ...(classes === undefined ? [] : [classes])];
  const reading = { exclude: hidden, missing: "refuse" } as const;
  const input = await readInput({ ...reading, files: expandPatterns(files) });
  const datasets = input.devices.map(({ points }) => points);
  if (classes === undefined) return { datasets, labels: datasets.map(({ rows }) => new Uint32Array(rows)) };
  const labels = await readInputClasses(input, classes, reading);
  if (new Set(joined(labels)).size > 1) return { datasets, labels };
  throw new UsageError(`--classes must name a column with at least 2 classes, got 1 in ${classes}`);
}

function joined(labels: readonly Uint32Array[]): Uint32Array {
  return Uint32Array.from(labels.flatMap((own) => [...own]));
}

/** A bar while it runs, and how to go on where it was stopped. */
async function runToTheEnd(request: StudyRequest, progress: ProgressLine) {
  const began = performance.now();
  let last: StudyProgress = { finished: 0, problems: 0, share: 0 };
  const onProgress = (now: StudyProgress) => {
    last = now;
    if (now.share > 0) progress.show(barText(now, performance.now() - began));
  };
  try {
    return await stoppable((signal) => reproduceStudy({ ...request, signal, onProgress }));
  } catch (error) {
    if (error instanceof OtherRunError) throw new UsageError(`--resume needs the same options: ${error.message}`);
    if (!(error instanceof Stopped)) throw error;
    const kept = `${last.finished} of ${last.problems} problems are finished and kept in ${request.folder}`;
    throw new Stopped(error.event, `${kept}, --resume goes on from there`);
  }
}

/** A bar, and the time left if the rest goes as fast as what was done. */
function barText({ finished, problems, share }: StudyProgress, passed: number): string {
  return `fedkm  ${progressBar(share, 24)}  ${finished}/${problems} problems, ${duration((passed * (1 - share)) / share)} left`;
}
