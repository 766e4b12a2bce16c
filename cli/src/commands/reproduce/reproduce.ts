// fedkm reproduce: runs a study with a bar on the terminal, writes its results and says what was found.

import { availableParallelism } from "node:os";
import { stack } from "@fedkm/core";
import {
  OtherRunError,
  reproduceStudy,
  reproductionFeatures,
  resultsOf,
  type StartName,
  type StudyProgress,
  type StudyRequest,
  studies,
} from "@fedkm/experiments";
import { expandPatterns } from "@fedkm/files";
import { readInput, readInputClasses } from "@fedkm/tables";
import { type Console, printAnswer } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { duration } from "../../numbers.ts";
import type { PluginFlags } from "../../plugins.ts";
import { type ProgressLine, progressBar, withProgress } from "../../progress.ts";
import { Stopped, stoppable } from "../../stop.ts";
import { writeResultFolder } from "../../write.ts";
import { reproduceWatchCommands, resultLines } from "./text.ts";

export interface ReproduceFlags extends PluginFlags {
  readonly what: string;
  /** Files of the study "features", the column of their classes, and how many devices share them. */
  readonly data?: readonly string[];
  readonly classes: string;
  readonly devices: number;
  readonly runs?: number;
  readonly quick?: true;
  readonly out: string;
  readonly seed: number;
  readonly init: readonly StartName[];
  readonly threads?: number;
  readonly summary?: "mean" | "median";
  readonly titles: boolean;
  readonly resume?: true;
  readonly json?: true;
}

export async function runReproduceCommand(options: ReproduceFlags, io: Console): Promise<void> {
  const { what, quick = false, out, seed, devices, init: starts, resume = false, plugin: plugins } = options;
  const { runs = quick ? 2 : 10, threads = availableParallelism(), summary, titles } = options;
  const features = await readFeatures(options);
  const planned = { what, runs, seed, starts, quick, features, devices, plugins };
  const results = await withProgress(io, async (progress) => {
    const request = { ...planned, folder: out, resume, workers: threads, node: process.version };
    const finished = await runToTheEnd(request, progress);
    progress.announce("fedkm  drawing");
    const drawn = resultsOf(finished, { ...(summary && { summary }), titles }, reproduceWatchCommands);
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

/** The study "features" needs files, and no other can use them. */
async function readFeatures({ what, data, classes }: ReproduceFlags): Promise<StudyRequest["features"]> {
  if (what !== "features") {
    if (data !== undefined) throw new UsageError(`--data must be used with the study features, got "${what}"`);
    if (Object.hasOwn(studies, what)) return undefined;
    throw new UsageError(`what must be one of ${[...Object.keys(studies), "features"].join(", ")}, got "${what}"`);
  }
  if (data === undefined) throw new UsageError("the study features needs --data FILES");
  const reading = { exclude: [classes], missing: "refuse" } as const;
  const input = await readInput({ ...reading, files: expandPatterns(data) });
  const labels = Uint32Array.from((await readInputClasses(input, classes, reading)).flatMap((own) => [...own]));
  if (new Set(labels).size < 2) {
    throw new UsageError(`--classes must name a column with at least 2 classes, got 1 in ${classes}`);
  }
  return reproductionFeatures({ points: stack(input.devices.map(({ points }) => points)), labels });
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
