// fedkm fit: files in, a model, labels and a report out.

import {
  checkFitRequest,
  type FitContext,
  type FitRequest,
  fitTables,
  type MethodSettings,
  type RowsRequest,
  type StudyPlan,
} from "@fedkm/tables";
import { type Console, isStyled, printAnswer } from "../../console.ts";
import { checkSelection, type SourceFlags } from "../../input/options.ts";
import { inputRowsOfCommand, linksOfFlag, methodOfFlag } from "../../input/reading.ts";
import { type PluginFlags, pluginsOf } from "../../plugins.ts";
import { type ProgressLine, withProgress } from "../../progress.ts";
import { progressWatch } from "../../progressWords.ts";
import { interruptible, stoppableUnchanged } from "../../stop.ts";
import { type ThreadFlags, withThreads } from "../../threads.ts";
import { checkResultFolder } from "../../write.ts";
import { type ResultsFlags, summary, writeFitCommandResults } from "./results.ts";
import { type CoreTime, commandCoreTime, startStabilityProcess } from "./stabilityLater.ts";
import { fitText } from "./text.ts";

type RowFlags = Omit<RowsRequest, "tables" | "files" | "sources">;

export interface FitFlags extends RowFlags, SourceFlags, MethodSettings, PluginFlags, ThreadFlags, ResultsFlags {
  readonly k: number;
  readonly alpha: number;
  readonly method: string;
  readonly graph: string;
  readonly scale: string;
  readonly seed: number;
  readonly study?: StudyPlan;
  /** Of the clusters, in their order. */
  readonly names?: readonly string[];
  readonly json?: boolean;
}

export async function runFitCommand(patterns: readonly string[], flags: FitFlags, io: Console): Promise<void> {
  checkSelection(flags);
  checkResultFolder(flags.out);
  const plugins = await pluginsOf(flags);
  const asked = {
    ...flags,
    method: await methodOfFlag(flags.method, plugins.methods),
    graph: linksOfFlag(flags.graph, plugins.graphs),
  };
  checkFitRequest(asked);
  const core = commandCoreTime();
  const began = performance.now();
  const { outcome, written } = await stoppableUnchanged((signal) =>
    withProgress(io, (progress) => fitAndWrite(patterns, asked, flags, { progress, core, signal, env: io.env })),
  );
  const milliseconds = { ...outcome.milliseconds, core: core.milliseconds(), total: performance.now() - began };
  const warnings = [...outcome.warnings, ...written.leftOut];
  printAnswer(io, flags.json, summary(outcome, warnings, written.paths, milliseconds), () =>
    fitText(outcome, warnings, written.paths, isStyled(io.stdout, io.env)),
  );
}

interface Watched {
  readonly progress: ProgressLine;
  readonly core: CoreTime;
  readonly signal: AbortSignal;
  readonly env: Console["env"];
}

async function fitAndWrite(
  patterns: readonly string[],
  asked: Omit<FitRequest, "files" | "sources">,
  flags: FitFlags,
  { progress, core, signal, env }: Watched,
) {
  const compute: FitContext["compute"] = (work) => core.measure(() => interruptible(work, signal));
  let endStability = () => {};
  const rows = await inputRowsOfCommand(patterns, flags, env, { onProgress: (step) => onProgress(step), signal });
  const onProgress = progressWatch(progress, rows.files);
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
    const outcome = await fitTables({ ...asked, ...rows }, context);
    progress.announce("fedkm  writing the results");
    return { outcome, written: await writeFitCommandResults(outcome, flags, { progress, signal }) };
  } finally {
    endStability();
  }
}
