// fedkm compare: all methods on the same problems within one budget, as a table, as JSON, and as curves.

import { methods } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { canSimulateShared, sharedMethod } from "@fedkm/device";
import {
  type ComparisonTable,
  comparedMethodOptions,
  comparisonLines,
  comparisonPage,
  comparisonSummary,
  contest,
  drawComparison,
  type OptionsByMethod,
  seedOfRun,
} from "@fedkm/experiments";
import { linkDevices } from "@fedkm/tables";
import { countLabel } from "@fedkm/tables/numbers";
import { watchCompared } from "@fedkm/web";
import { boldOn, type Console, printAnswer } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { checkSelection } from "../../input/options.ts";
import { linksOfFlag } from "../../input/reading.ts";
import { pluginsOf } from "../../plugins.ts";
import { progressBar, progressPercent, withProgress } from "../../progress.ts";
import { writeResultFile } from "../../write.ts";
import { type CompareFlags, compareCommandData } from "./data.ts";

export async function runCompareCommand(options: CompareFlags, io: Console): Promise<void> {
  checkSelection(options);
  const { alpha, seed, runs, init, out } = options;
  const plugins = await pluginsOf(options);
  const table = chosenMethods(options.method, plugins.methods);
  const settings = settingsOf(options.set, table);
  const summary = await withProgress(io, async (progress) => {
    const onFile = (file: string) => progress.announce(`fedkm  reading ${file}`);
    const dataOf = await compareCommandData(options, plugins.datasets, onFile);
    const problemOf = async (run: number) => {
      // The first run has the seed that was asked for, so that it can be watched.
      const own = run === 1 ? seed : seedOfRun(seed, run);
      const { datasets, labels, names, bestKnown, ...data } = dataOf(own);
      const { k = data.k, messages = defaults.rounds * datasets.length } = options;
      if (k === undefined) throw new UsageError("your files need --k, or --classes to count them");
      const graph = await linkDevices(linksOfFlag(options.graph, plugins.graphs), names, datasets, { seed: own, k });
      const known = k === data.k ? bestKnown : undefined;
      return { datasets, labels, graph, k, alpha, seed: own, messages, init, settings, plugins, bestKnown: known };
    };
    const problem = await problemOf(1);
    // What the links of this network do not allow is left out, unless it was asked for.
    if (options.method === undefined && !canSimulateShared(problem.graph)) delete table.shared;
    const began = performance.now();
    const onSetting = (method: string, share: number) =>
      progress.show(
        `fedkm  ${progressBar(share, 24)}  ${method}, ${progressPercent(share, performance.now() - began)}`,
      );
    const found = await contest(problemOf, runs, table, onSetting);
    const { name } = dataOf(seed);
    const watched = watchCompared(options, problem.k, settings, found.untuned);
    const asked = { ...problem, data: name, split: options.split ?? "even", runs };
    const isDrawn = found.outcomes.length > 0;
    const summary = { ...comparisonSummary(asked, found), watched, picture: isDrawn ? out : null };
    if (isDrawn) {
      const title = `${name}: quality against bytes, at most ${countLabel(problem.messages)} messages`;
      const picture = drawComparison(found.outcomes, title);
      await writeResultFile(out, /\.html$/i.test(out) ? comparisonPage(summary, picture) : picture);
    }
    return summary;
  });
  printAnswer(io, options.json, summary, () => comparisonLines(summary, boldOn(io.stdout, io.env)));
}

function chosenMethods(
  names: readonly string[] | undefined,
  plugged: ComparisonTable,
): Record<string, ComparisonTable[string]> {
  const table: ComparisonTable = { ...methods, shared: sharedMethod, ...plugged };
  if (names === undefined) return table;
  for (const name of names) {
    if (!Object.hasOwn(table, name)) {
      throw new UsageError(`--method must be some of ${Object.keys(table).join(", ")}, got "${name}"`);
    }
  }
  return Object.fromEntries(names.map((name) => [name, table[name]]));
}

function settingsOf(texts: readonly string[], table: ComparisonTable): OptionsByMethod {
  try {
    return comparedMethodOptions(texts, table);
  } catch (error) {
    throw new UsageError(`--set ${(error as Error).message}`);
  }
}
