// fedkm fit: files in, a model, labels and a report out.

import {
  checkFitRequest,
  type FitContext,
  fitCommandLine,
  fitTables,
  type MethodSettings,
  modelLines,
  type RowsRequest,
  type StudyPlan,
} from "@fedkm/tables";
import { boldOn, type Console, printAnswer } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { type ResultsFlags, summary, writeFitCommandResults } from "../../fitResults.ts";
import { checkSelection, type SourceFlags } from "../../input/options.ts";
import { inputRowsOfCommand, linksOfFlag, methodOfFlag, proposedFlags } from "../../input/reading.ts";
import { type PluginFlags, pluginsOf } from "../../plugins.ts";
import { type ProgressLine, progressWatch, withProgress } from "../../progress.ts";
import { interruptible, stoppableUnchanged } from "../../stop.ts";
import { type ThreadFlags, withThreads } from "../../threads.ts";
import { checkResultFolder } from "../../write.ts";
import { type CoreTime, commandCoreTime, startStabilityProcess } from "./stabilityLater.ts";

type RowFlags = Omit<RowsRequest, "tables" | "files" | "sources">;

export interface FitFlags extends RowFlags, SourceFlags, MethodSettings, PluginFlags, ThreadFlags, ResultsFlags {
  /** Undefined: as proposed. */
  readonly k?: number;
  readonly alpha: number;
  readonly method: string;
  readonly graph: string;
  readonly scale?: string;
  /** Nothing is proposed. */
  readonly asIs?: boolean;
  readonly seed: number;
  readonly study?: StudyPlan;
  /** Of the clusters, in their order. */
  readonly names?: readonly string[];
  readonly json?: boolean;
}

export async function runFitCommand(patterns: readonly string[], flags: FitFlags, io: Console): Promise<void> {
  checkSelection(flags);
  checkResultFolder(flags.out);
  const core = commandCoreTime();
  const began = performance.now();
  const { outcome, written, proposal } = await stoppableUnchanged((signal) =>
    withProgress(io, (progress) => fitAndWrite(patterns, flags, { progress, core, signal, env: io.env })),
  );
  const milliseconds = { ...outcome.milliseconds, core: core.milliseconds(), total: performance.now() - began };
  const warnings = [...outcome.warnings, ...written.leftOut];
  const facts = { ...summary(outcome, warnings, written.paths, milliseconds), ...proposal };
  printAnswer(io, flags.json, facts, () => [
    ...(proposal === undefined ? [] : [proposal.decisions.join("; "), `in full: ${proposal.command}`, ""]),
    ...modelLines(outcome.model, warnings, written.paths, boldOn(io.stdout, io.env)),
  ]);
}

interface Watched {
  readonly progress: ProgressLine;
  readonly core: CoreTime;
  readonly signal: AbortSignal;
  readonly env: Console["env"];
}

async function fitAndWrite(patterns: readonly string[], typed: FitFlags, { progress, core, signal, env }: Watched) {
  const compute: FitContext["compute"] = (work) => core.measure(() => interruptible(work, signal));
  const plugins = await pluginsOf(typed);
  const method = await methodOfFlag(typed.method, plugins.methods);
  const graph = linksOfFlag(typed.graph, plugins.graphs);
  if (typed.k !== undefined) checkFitRequest({ ...typed, k: typed.k, method, graph });
  let endStability = () => {};
  const rows = await inputRowsOfCommand(patterns, typed, env, { onProgress: (step) => onProgress(step), signal });
  const onProgress = progressWatch(progress, rows.files);
  const { flags: completed, decisions, k } = await proposedFlags(typed, rows, { signal, onProgress, compute });
  if (k === undefined)
    throw new UsageError("--k is missing: say how many clusters, or give --study with a file that does");
  const flags = { ...completed, k };
  const proposal = decisions && { decisions, command: fitCommandLine(patterns, flags) };
  const context: FitContext = {
    signal,
    onProgress,
    compute,
    withKernel: (datasets, work) => withThreads(flags, datasets, work),
    examineLater(task, here) {
      const later = startStabilityProcess(task, flags, here, core);
      endStability = later.end;
      return later.answer;
    },
  };
  try {
    const outcome = await fitTables({ ...flags, ...rows, method, graph }, context);
    progress.announce("fedkm  writing the results");
    const written = await writeFitCommandResults(outcome, flags, { onProgress, signal });
    return { outcome, written, proposal };
  } finally {
    endStability();
  }
}
