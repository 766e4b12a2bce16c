// fedkm compare: all methods on one problem within one budget, as a table, as JSON, and as curves.

import { styleText } from "node:util";
import { edges, type Graph, methods } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { type ComparisonTable, compareMethods, drawBudget, type MethodOutcome, type TooDear } from "@fedkm/experiments";
import { type Console, isStyled } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { linkDevices } from "../../input/links.ts";
import { count, duration, significant } from "../../numbers.ts";
import { type PluginOptions, pluginsOf } from "../../plugins.ts";
import { progressOn } from "../../progress.ts";
import { alignColumns, wrap } from "../../table.ts";
import { writeWhole } from "../../write.ts";
import { type ComparedData, namedData } from "./data.ts";
import { type FileOptions, fileData } from "./files.ts";

export interface CompareOptions extends FileOptions, PluginOptions {
  readonly dataset: string;
  /** Files, instead of `dataset`. */
  readonly data?: readonly string[];
  readonly methods?: readonly string[];
  readonly messages?: number;
  readonly points: number;
  readonly k?: number;
  readonly alpha: number;
  readonly graph: string;
  /** The picture's file. */
  readonly out: string;
  readonly json?: true;
}

interface Comparison {
  readonly data: ComparedData;
  readonly graph: Graph;
  readonly k: number;
  readonly budget: number;
  readonly outcomes: readonly MethodOutcome[];
  readonly tooDear: readonly TooDear[];
}

export async function compare(options: CompareOptions, { stdout, stderr, env }: Console): Promise<void> {
  const { dataset, devices, points, alpha, seed, out } = options;
  const plugins = await pluginsOf(options);
  const table = chosen(options.methods, plugins.methods);
  const progress = progressOn(stderr);
  const data =
    options.data === undefined
      ? namedData(dataset, devices, points, seed, plugins.datasets)
      : await fileData(options.data, options, (file) => progress.announce(`fedkm  reading ${file}`));
  const { k = data.k, messages: budget = defaults.rounds * data.datasets.length } = options;
  if (k === undefined) throw new UsageError("--k must be given with --data, or --classes to count them, got neither");
  const graph = await linkDevices(options.graph, data.names, data.datasets, seed, plugins.graphs);
  const problem = { datasets: data.datasets, labels: data.labels, graph, k, alpha, seed, messages: budget, plugins };
  const found: (MethodOutcome | TooDear)[] = [];
  const names = Object.keys(table);
  try {
    progress.announce(`fedkm  ${names[0]}`);
    for (const outcome of compareMethods(problem, table)) {
      found.push(outcome);
      progress.announce(`fedkm  ${names[found.length] ?? "drawing"}, ${found.length} of ${names.length} methods done`);
    }
    const outcomes = found.filter((outcome) => "gcd" in outcome);
    const tooDear = found.filter((outcome) => "needed" in outcome);
    const comparison = { data, graph, k, budget, outcomes, tooDear };
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

function chosen(names: readonly string[] | undefined, plugged: ComparisonTable): ComparisonTable {
  const table: ComparisonTable = { ...methods, ...plugged };
  if (names === undefined) return table;
  for (const name of names) {
    if (!Object.hasOwn(table, name)) {
      throw new UsageError(`--methods must be some of ${Object.keys(table).join(", ")}, got "${name}"`);
    }
  }
  return Object.fromEntries(names.map((name) => [name, table[name]]));
}

function summary({ seed, alpha, out }: CompareOptions, { data, graph, k, budget, outcomes, tooDear }: Comparison) {
  const points = data.datasets.reduce((sum, { rows }) => sum + rows, 0);
  const links = Array.from(edges(graph)).length;
  const problem = { data: data.name, devices: graph.size, links, points, k, alpha, seed, budget };
  const picture = outcomes.length > 0 ? out : null;
  return { ...problem, methods: outcomes, tooDear, picture };
}

function report({ alpha, seed, out }: CompareOptions, comparison: Comparison, styled: boolean): string[] {
  const { data, graph, k, budget, outcomes, tooDear } = comparison;
  const points = data.datasets.reduce((sum, { rows }) => sum + rows, 0);
  const links = Array.from(edges(graph)).length;
  const head = `${data.name}: ${count(points)} points on ${graph.size} devices, ${links} links, k = ${k}, alpha = ${alpha}, seed ${seed}`;
  return [
    head,
    `at most ${count(budget)} messages for each method`,
    ...(outcomes.length > 0 ? ["", ...outcomeTable(outcomes, styled)] : []),
    ...tooDear.map(({ method, needed }) => `${method} needs ${count(needed)} messages to start: over the budget`),
    "",
    ...wrap(columnsExplained, 80),
    ...(outcomes.some(({ costRatio }) => costRatio === null) ? wrap(noRatio, 80) : []),
    ...(outcomes.length > 0 ? ["", `picture: ${out}`] : []),
  ];
}

const noRatio = "cost none: pooled costs nothing on these points and the method does, so there is no ratio.";

const columnsExplained =
  "GCD: mean squared distance from a device's centroids to the pooled ones; CV: to its neighbours'. cost: of a device's " +
  "centroids on all points, relative to pooled. NMI, ARI: against the classes, 1 is perfect. pooled moves every raw record, coreset some.";

function outcomeTable(outcomes: readonly MethodOutcome[], styled: boolean): string[] {
  const scored = outcomes.some(({ nmi }) => nmi !== null);
  const plugged = Object.keys(outcomes[0].measures);
  const heading = [
    "method",
    "GCD",
    "CV",
    "cost",
    ...(scored ? ["NMI", "ARI"] : []),
    ...plugged,
    "messages",
    "bytes",
    "time",
  ];
  const rows = outcomes.map(({ method, gcd, cv, costRatio, nmi, ari, measures, messages, bytes, milliseconds }) => [
    method,
    significant(gcd, 2),
    significant(cv, 2),
    costRatio?.toFixed(4) ?? "none",
    ...(scored ? [nmi, ari].map((score) => (score === null ? "" : score.toFixed(3))) : []),
    ...plugged.map((name) => (measures[name] === null ? "none" : significant(measures[name], 3))),
    count(messages),
    count(bytes),
    duration(milliseconds),
  ]);
  const rivals = outcomes.filter(({ method }) => method !== "pooled");
  const best = Math.min(...rivals.map(({ gcd }) => gcd));
  return alignColumns([heading, ...rows], (text, row, column) =>
    styled && row > 0 && column === 1 && outcomes[row - 1].method !== "pooled" && outcomes[row - 1].gcd === best
      ? styleText("bold", text, { validateStream: false })
      : text,
  );
}
