// fedkm fit: files in, a model, labels and a report out.

import { wrap } from "@fedkm/pictures/terminal";
import {
  checkFitRequest,
  clusterChoiceWords,
  type FitContext,
  type FitOutcome,
  fitCommandLine,
  fitTables,
  type MethodSettings,
  modelLines,
  type RowsRequest,
  type StudyPlan,
} from "@fedkm/tables";
import { boldOn, type Console, printAnswer } from "../../console.ts";
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
  /** Undefined: as many as there are. */
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
  const facts = { ...summary(outcome, warnings, written, milliseconds), ...proposal };
  printAnswer(io, flags.json, facts, () => [
    ...(proposal === undefined ? [] : [...wrap(proposal.decisions.join("; "), 80), `in full: ${proposal.command}`, ""]),
    ...modelLines(outcome.model, { ...written, warnings }, boldOn(io.stdout, io.env)),
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
  checkFitRequest({ ...typed, method, graph });
  let endStability = () => {};
  const rows = await inputRowsOfCommand(patterns, typed, env, { onProgress: (step) => onProgress(step), signal });
  const onProgress = progressWatch(progress, rows.files);
  const { flags, decisions } = await proposedFlags(typed, rows, { signal, onProgress, compute });
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
    return { outcome, written, proposal: proposalOf(patterns, flags, outcome, decisions) };
  } finally {
    endStability();
  }
}

/** What was decided, with the command that asks for it; undefined where nothing was. */
function proposalOf(
  patterns: readonly string[],
  flags: FitFlags,
  { chosen, model: { options } }: FitOutcome,
  proposed: readonly string[] = [],
) {
  const decisions = [...proposed, ...(chosen === undefined ? [] : [clusterChoiceWords(chosen)])];
  if (decisions.length === 0) return undefined;
  const { k, graph } = options;
  return { decisions, command: fitCommandLine(patterns, { ...flags, k, ...(chosen && { graph }) }) };
}
