// fedkm compare: all methods on one problem within one budget, as a table, as JSON, and as curves.

import { edges, type Graph, methods } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { canShare, sharedMethod } from "@fedkm/device";
import {
  type ComparisonTable,
  compareMethods,
  drawBudget,
  type MethodOutcome,
  type MethodSettings,
  type TooDear,
} from "@fedkm/experiments";
import { linkDevices } from "@fedkm/tables";
import { type Console, isStyled } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { linksOf } from "../../input/links.ts";
import { count } from "../../numbers.ts";
import { pluginsOf } from "../../plugins.ts";
import { progressOn } from "../../progress.ts";
import { wrap } from "../../table.ts";
import { writeWhole } from "../../write.ts";
import { type ComparedData, namedData } from "./data.ts";
import { fileData } from "./files.ts";
import { printGrid } from "./grid.ts";
import type { CompareOptions } from "./options.ts";
import { outcomeTable } from "./outcomes.ts";
import { parseSettings } from "./set.ts";
import { type Watched, watchable } from "./watch.ts";

interface Comparison {
  readonly data: ComparedData;
  readonly graph: Graph;
  readonly k: number;
  readonly budget: number;
  readonly settings: MethodSettings;
  /** Of the pooled solution that all are held against. */
  readonly pooledRestarts: number;
  readonly outcomes: readonly MethodOutcome[];
  readonly tooDear: readonly TooDear[];
  readonly watched: readonly Watched[];
}

export async function compare(options: CompareOptions, io: Console): Promise<void> {
  const { stdout, stderr, env } = io;
  const { dataset, alpha, seed, out } = options;
  const plugins = await pluginsOf(options);
  const table = chosen(options.methods, plugins.methods);
  const settings = parseSettings(options.set, table);
  const progress = progressOn(stderr);
  const data =
    options.data === undefined
      ? namedData(dataset, options, plugins.datasets)
      : await fileData(options.data, options, (file) => progress.announce(`fedkm  reading ${file}`));
  const { k = data.k, messages: budget = defaults.rounds * data.datasets.length } = options;
  if (k === undefined) throw new UsageError("--k must be given with --data, or --classes to count them, got neither");
  // Every split of a grid has links of its own, which shared clusters may not be content with.
  if (options.methods === undefined && options.grid !== undefined) delete table.shared;
  if (options.grid !== undefined)
    return printGrid({ data, k, budget, table, settings, graphs: plugins.graphs }, options, io);
  const graph = await linkDevices(linksOf(options.graph, plugins.graphs), data.names, data.datasets, seed);
  const { datasets, labels } = data;
  const problem = { datasets, labels, graph, k, alpha, seed, messages: budget, init: options.init, settings, plugins };
  // What the links of this network do not allow is left out, unless it was asked for.
  if (options.methods === undefined && !canShare(graph)) delete table.shared;
  const names = Object.keys(table);
  let done = 0;
  const onMethod = () => {
    done++;
    progress.announce(`fedkm  ${names[done] ?? "judging"}, ${done} of ${names.length} methods done`);
  };
  try {
    progress.announce(`fedkm  ${names[0]}`);
    const run = compareMethods(problem, table, onMethod);
    const outcomes: MethodOutcome[] = [];
    const tooDear: TooDear[] = [];
    let next = run.next();
    for (; !next.done; next = run.next()) {
      if ("gcd" in next.value) outcomes.push(next.value);
      else tooDear.push(next.value);
    }
    const watched = watchable(options, k, settings, outcomes);
    const pooledRestarts = next.value.restarts;
    const comparison = { data, graph, k, budget, settings, outcomes, tooDear, watched, pooledRestarts };
    if (outcomes.length > 0)
      await writeWhole(
        out,
        drawBudget(outcomes, `${data.name}: quality against bytes, at most ${count(budget)} messages`),
      );
    progress.erase();
    if (options.json) stdout.write(`${JSON.stringify(summary(options, comparison), undefined, 2)}\n`);
    else stdout.write(`${report(options, comparison, isStyled(stdout, env)).join("\n")}\n`);
  } finally {
    progress.erase();
  }
}

function chosen(
  names: readonly string[] | undefined,
  plugged: ComparisonTable,
): Record<string, ComparisonTable[string]> {
  const table: ComparisonTable = { ...methods, shared: sharedMethod, ...plugged };
  if (names === undefined) return table;
  for (const name of names) {
    if (!Object.hasOwn(table, name)) {
      throw new UsageError(`--methods must be some of ${Object.keys(table).join(", ")}, got "${name}"`);
    }
  }
  return Object.fromEntries(names.map((name) => [name, table[name]]));
}

function summary({ seed, alpha, init, split = "even", out }: CompareOptions, comparison: Comparison) {
  const { data, graph, k, budget, settings, outcomes, tooDear, watched, pooledRestarts } = comparison;
  const points = data.datasets.reduce((sum, { rows }) => sum + rows, 0);
  const links = Array.from(edges(graph)).length;
  const problem = {
    data: data.name,
    devices: graph.size,
    links,
    points,
    split,
    k,
    alpha,
    seed,
    budget,
    init,
    settings,
    pooledRestarts,
  };
  const picture = outcomes.length > 0 ? out : null;
  return { ...problem, methods: outcomes, tooDear, watched, picture };
}

function report({ alpha, seed, init, split, out }: CompareOptions, comparison: Comparison, styled: boolean): string[] {
  const { data, graph, k, budget, settings, outcomes, tooDear, watched } = comparison;
  const points = data.datasets.reduce((sum, { rows }) => sum + rows, 0);
  const links = Array.from(edges(graph)).length;
  const head = `${data.name}: ${count(points)} points on ${graph.size} devices, ${links} links, k = ${k}, alpha = ${alpha}, seed ${seed}${split === undefined ? "" : `, split ${split}`}`;
  return [
    head,
    `at most ${count(budget)} messages for each method, start: ${init}`,
    ...Object.entries(settings).map(([method, own]) => `${method}: ${settingsText(own)}`),
    ...(outcomes.length > 0 ? ["", ...outcomeTable(outcomes, styled)] : []),
    ...tooDear.map(({ method, needed }) => `${method} needs ${count(needed)} messages to start: over the budget`),
    "",
    ...wrap(columnsExplained, 80),
    ...wrap(referenceExplained(comparison), 80),
    ...(outcomes.some(({ costRatio }) => costRatio === null) ? wrap(noRatio, 80) : []),
    ...(watched.length > 0 ? ["", "watch these runs:", ...watched.map(({ command }) => `  ${command}`)] : []),
    ...(outcomes.length > 0 ? ["", `picture: ${out}`] : []),
  ];
}

const noRatio = "cost none: pooled costs nothing on these points and the method does, so there is no ratio.";

const columnsExplained =
  "GCD: mean squared distance from a device's centroids to the pooled ones; CV: to its neighbours'. cost: of a device's " +
  "centroids on all points, relative to pooled. NMI, ARI: against the classes, 1 is perfect. bytes: over the links of the " +
  "network, where what must reach everybody is flooded. collector: bytes if one place collected it and sent the answer " +
  "back. pooled moves every raw record, coreset some.";

/** How hard the reference was looked for, and whether it stands. */
function referenceExplained({ outcomes, pooledRestarts }: Comparison): string {
  const beating = outcomes.filter(({ beatsPooled }) => beatsPooled).map(({ method }) => method);
  const base = `pooled is the best of ${count(pooledRestarts)} restarts`;
  if (beating.length > 0) return `${base}, the most that are tried; *: ${beating.join(", ")} found a cheaper answer.`;
  const raised =
    pooledRestarts > defaults.pooledRestarts ? `, raised from ${defaults.pooledRestarts} because a method beat it` : "";
  return `${base}${raised}.`;
}

function settingsText(settings: MethodSettings[string]): string {
  return Object.entries(settings)
    .map(([option, value]) => `${option} = ${value}`)
    .join(", ");
}
