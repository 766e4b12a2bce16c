// A comparison on the terminal: what was run, a row for each method, and what the columns mean.

import { edges, type Graph } from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import type { ComparedData, Comparison, MethodOutcome, OptionsByMethod } from "@fedkm/experiments";
import { playgroundState, type Setup, unreadSetupSettings } from "@fedkm/web";
import { countLabel } from "../../numbers.ts";
import { terminalOutcomeTable, wrap } from "../../table.ts";
import type { CompareFlags } from "./data.ts";

interface WatchedPair {
  readonly methods: readonly string[];
  /** To be pasted. */
  readonly command: string;
}

/** Those that go on in rounds, and k-means alone beside them. What is pooled is what the page measures all by. */
const shown = ["fedkm", "consensus", "distributed", "local"] as const;

/** The first of them, with each of the others beside it. */
export function compareWatchCommands(
  options: CompareFlags,
  k: number,
  settings: OptionsByMethod,
  outcomes: readonly MethodOutcome[],
): WatchedPair[] {
  const problem = setupOf(options, k);
  const [method, ...others] = shown.filter(
    (name) =>
      outcomes.some((own) => own.method === name) &&
      settings[name] === undefined &&
      // On the page k-means alone has no common start.
      (name !== "local" || options.init !== "federated"),
  );
  if (problem === undefined || method === undefined) return [];
  const pairs = others.length === 0 ? [{ method }] : others.map((versus) => ({ method, versus }));
  return pairs.flatMap((pair) => {
    const state = playgroundState({ ...problem, ...pair });
    // More devices, points or clusters than the page takes are left out of it, and it would show something else.
    if (unreadSetupSettings(state).length > 0) return [];
    return [{ methods: Object.values(pair), command: `fedkm playground '${state}'` }];
  });
}

/** Undefined: the playground has no such data or network. */
function setupOf(options: CompareFlags, k: number): Partial<Setup> | undefined {
  const { dataset, split = "even", devices, points, alpha, seed, init } = options;
  const data = (["iso", "var", "aniso"] as const).find((name) => name === dataset);
  const network = networkOf(options.graph, devices);
  const isOwn = options.files.length > 0 || options.plugin !== undefined;
  if (isOwn || data === undefined || split !== "even" || network === undefined) return undefined;
  return { data, devices, points, ...network, k, alpha, seed, start: init };
}

function networkOf(spec: string, devices: number): Partial<Setup> | undefined {
  if (spec.startsWith("er:")) return { graph: "er", density: Number(spec.slice("er:".length)) };
  // Two devices on a ring are linked once.
  if (spec === "ring" && devices < 3) return { graph: "complete" };
  const graph = (["complete", "ring", "path", "star"] as const).find((name) => name === spec);
  return graph && { graph };
}

type ComparisonSummary = ReturnType<typeof compareCommandSummary>;

/** As --json prints it. */
export function compareCommandSummary(
  { alpha, seed, split = "even", init, out }: CompareFlags,
  { name, datasets }: ComparedData,
  { graph, k, messages, settings }: { graph: Graph; k: number; messages: number; settings: OptionsByMethod },
  { outcomes, overBudget, pooledRestarts }: Comparison,
  watched: readonly WatchedPair[],
) {
  const points = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const links = Array.from(edges(graph)).length;
  const network = { data: name, devices: graph.size, links, points, split };
  const asked = { k, alpha, seed, budget: messages, init, settings, pooledRestarts };
  return { ...network, ...asked, methods: outcomes, overBudget, watched, picture: outcomes.length > 0 ? out : null };
}

export function comparisonLines(summary: ComparisonSummary, styled: boolean): string[] {
  const { data, points, devices, links, k, alpha, seed, split, budget, methods, watched, picture } = summary;
  return [
    `${data}: ${countLabel(points)} rows on ${devices} devices, ${links} links, k = ${k}, alpha = ${alpha}, seed ${seed}${split === "even" ? "" : `, split ${split}`}`,
    `at most ${countLabel(budget)} messages for each method, start: ${summary.init}`,
    ...Object.entries(summary.settings).map(([method, own]) => `${method}: ${settingsText(own)}`),
    ...(methods.length > 0 ? ["", ...terminalOutcomeTable(methods, styled)] : []),
    ...summary.overBudget.map(
      ({ method, needed }) => `${method} needs ${countLabel(needed)} messages to start: over the budget`,
    ),
    "",
    ...wrap(columnsExplained, 80),
    ...wrap(referenceExplained(summary), 80),
    ...(methods.some(({ costRatio }) => costRatio === null) ? wrap(noRatio, 80) : []),
    ...(watched.length > 0 ? ["", "watch these runs:", ...watched.map(({ command }) => `  ${command}`)] : []),
    ...(picture === null ? [] : ["", `picture: ${picture}`]),
  ];
}

const noRatio = "cost none: pooled costs nothing on these rows and the method does, so there is no ratio.";

const columnsExplained =
  "GCD: mean squared distance from a device's centroids to the pooled ones; CV: to its neighbours'. cost: of a device's " +
  "centroids on all rows, relative to pooled. NMI, ARI: against the classes, 1 is perfect. bytes: over the links of the " +
  "network, where what must reach everybody is flooded. collector: bytes if one device collected it and sent the answer " +
  "back. pooled moves every row, coreset some.";

/** How hard the reference was looked for, and whether it stands. */
function referenceExplained({ methods, pooledRestarts }: ComparisonSummary): string {
  const beating = methods.filter(({ beatsPooled }) => beatsPooled).map(({ method }) => method);
  const base = `pooled is the best of ${countLabel(pooledRestarts)} restarts`;
  if (beating.length > 0) return `${base}, the most that are tried; *: ${beating.join(", ")} found a cheaper answer.`;
  const raised =
    pooledRestarts > defaults.pooledRestarts ? `, raised from ${defaults.pooledRestarts} because a method beat it` : "";
  return `${base}${raised}.`;
}

function settingsText(settings: OptionsByMethod[string]): string {
  return Object.entries(settings)
    .map(([option, value]) => `${option} = ${value}`)
    .join(", ");
}
