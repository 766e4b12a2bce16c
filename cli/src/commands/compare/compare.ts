// fedkm compare: all methods on one problem within one budget, as a table, as JSON, and as curves.

import { methods } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { canSimulateShared, sharedMethod } from "@fedkm/device";
import {
  type ComparisonTable,
  comparedMethodOptions,
  compareMethods,
  drawComparison,
  type OptionsByMethod,
} from "@fedkm/experiments";
import { linkDevices } from "@fedkm/tables";
import { type Console, isStyled, printAnswer } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { checkSelection } from "../../input/options.ts";
import { linksOfFlag } from "../../input/reading.ts";
import { countLabel } from "../../numbers.ts";
import { pluginsOf } from "../../plugins.ts";
import { withProgress } from "../../progress.ts";
import { writeResultFile } from "../../write.ts";
import { type CompareFlags, compareCommandData } from "./data.ts";
import { compareCommandSummary, compareWatchCommands, comparisonLines } from "./text.ts";

export async function runCompareCommand(options: CompareFlags, io: Console): Promise<void> {
  checkSelection(options);
  const { alpha, seed, init, out } = options;
  const plugins = await pluginsOf(options);
  const table = chosenMethods(options.method, plugins.methods);
  const settings = settingsOf(options.set, table);
  const summary = await withProgress(io, async (progress) => {
    const onFile = (file: string) => progress.announce(`fedkm  reading ${file}`);
    const data = await compareCommandData(options, plugins.datasets, onFile);
    const { k = data.k, messages = defaults.rounds * data.datasets.length } = options;
    if (k === undefined) throw new UsageError("your files need --k, or --classes to count them");
    const { datasets, labels } = data;
    const graph = await linkDevices(linksOfFlag(options.graph, plugins.graphs), data.names, datasets, seed);
    // What the links of this network do not allow is left out, unless it was asked for.
    if (options.method === undefined && !canSimulateShared(graph)) delete table.shared;
    const names = Object.keys(table);
    let done = 0;
    const onMethod = () => {
      done++;
      progress.announce(`fedkm  ${names[done] ?? "judging"}, ${done} of ${names.length} methods done`);
    };
    progress.announce(`fedkm  ${names[0]}`);
    const problem = { datasets, labels, graph, k, alpha, seed, messages, init, settings, plugins };
    const comparison = compareMethods(problem, table, onMethod);
    const { outcomes } = comparison;
    if (outcomes.length > 0) {
      const title = `${data.name}: quality against bytes, at most ${countLabel(messages)} messages`;
      await writeResultFile(out, drawComparison(outcomes, title));
    }
    return compareCommandSummary(
      options,
      data,
      problem,
      comparison,
      compareWatchCommands(options, k, settings, outcomes),
    );
  });
  printAnswer(io, options.json, summary, () => comparisonLines(summary, isStyled(io.stdout, io.env)));
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
