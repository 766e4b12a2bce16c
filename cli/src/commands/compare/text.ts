// A comparison on the terminal: what was run, a row for each method, and what the columns mean.

import { edges, type Graph, type Matrix } from "@fedkm/core";
import type { Contest, MethodOutcome, OptionsByMethod, Standing } from "@fedkm/experiments";
import { escaped, htmlPage, htmlTable } from "@fedkm/pictures";
import { playgroundState, type Setup, unreadSetupSettings } from "@fedkm/web";
import { bold } from "../../console.ts";
import { countLabel, significantLabel } from "../../numbers.ts";
import { alignColumns, wrap } from "../../table.ts";
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
  const { dataset, split = "even", devices, typicalRows, alpha, seed, init } = options;
  const data = (["iso", "var", "aniso"] as const).find((name) => name === dataset);
  const network = networkOf(options.graph, devices);
  const isOwn = options.files.length > 0 || options.plugin !== undefined;
  if (isOwn || data === undefined || split !== "even" || network === undefined) return undefined;
  return { data, devices, points: typicalRows, ...network, k, alpha, seed, start: init };
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
  { alpha, seed, runs, split = "even", init, out }: CompareFlags,
  name: string,
  problem: { datasets: readonly Matrix[]; graph: Graph; k: number; messages: number; settings: OptionsByMethod },
  { outcomes, untuned, reference, ...found }: Contest,
  watched: readonly WatchedPair[],
) {
  const { datasets, graph, k, messages, settings } = problem;
  const points = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const links = Array.from(edges(graph)).length;
  const network = { data: name, devices: graph.size, links, points, split };
  const asked = { k, alpha, seed, runs, budget: messages, init, settings };
  const { centroids, ...searched } = reference;
  const picture = outcomes.length > 0 ? out : null;
  return { ...network, ...asked, ...found, reference: searched, methods: untuned, watched, picture };
}

export function comparisonLines(summary: ComparisonSummary, styled: boolean): string[] {
  const { data, points, devices, links, k, alpha, seed, runs, split, budget, standings, watched, picture } = summary;
  return [
    `${data}: ${countLabel(points)} rows on ${devices} devices, ${links} links, k = ${k}, alpha = ${alpha}, seed ${seed}${split === "even" ? "" : `, split ${split}`}`,
    `${runs} ${runs === 1 ? "run" : "runs"}, at most ${countLabel(budget)} messages for each method, common start: ${summary.init}`,
    ...(standings.length > 0 ? ["", ...standingsTable(summary, styled)] : []),
    ...summary.overBudget.map(
      ({ method, needed }) => `${method} needs ${countLabel(needed)} messages to start: over the budget`,
    ),
    ...(standings.length > 0 ? ["", ...wrap(summary.sentence, 80)] : []),
    "",
    ...standings.flatMap(({ method, best }) => {
      const [text, runs] = mostOften(best.settings.map(settingsText));
      const share = runs === best.runs ? "" : ` (${runs} of ${best.runs} runs)`;
      return text === "" && share === "" ? [] : [`${method} at its best: ${text || "its defaults"}${share}`];
    }),
    "",
    ...wrap(columnsExplained(summary), 80),
    ...wrap(referenceExplained(summary), 80),
    ...(standings.some(({ best }) => best.costRatio === null) ? wrap(noRatio, 80) : []),
    ...(watched.length > 0 ? ["", "watch the first run:", ...watched.map(({ command }) => `  ${command}`)] : []),
    ...(picture === null ? [] : ["", `picture: ${picture}`]),
  ];
}

/** Every method at its best settings, and beside it untuned. */
function standingsRows({ standings }: ComparisonSummary): string[][] {
  const [{ best: first }] = standings;
  const plugged = Object.keys(first.measures);
  const isScored = standings.some(({ best }) => best.nmi !== null);
  const heading = ["method", "cost", "GCD", ...(isScored ? ["NMI"] : []), ...plugged, "messages", "bytes"];
  const rows = standings.map(({ method, best, untuned }) => [
    method,
    costText(best),
    significantLabel(best.gcd, 2),
    ...(isScored ? [best.nmi?.toFixed(3) ?? ""] : []),
    ...plugged.map((name) => (best.measures[name] === null ? "none" : significantLabel(best.measures[name], 3))),
    countLabel(Math.round(best.messages)),
    countLabel(Math.round(best.bytes)),
    ...(untuned === null
      ? ["did not run", "", ""]
      : [costText(untuned), significantLabel(untuned.gcd, 2), countLabel(Math.round(untuned.bytes))]),
  ]);
  return [[...heading, "untuned: cost", "GCD", "bytes"], ...rows];
}

/** On a terminal the cheapest that does not pool is bold. */
function standingsTable(summary: ComparisonSummary, styled: boolean): string[] {
  const { standings } = summary;
  const cheapest = standings
    .filter(({ method, best }) => method !== "pooled" && best.costRatio !== null)
    .reduce((least, { best }) => Math.min(least, best.costRatio as number), Number.POSITIVE_INFINITY);
  const isBold = (row: number) => row > 0 && standings[row - 1].best.costRatio === cheapest;
  return alignColumns(standingsRows(summary), (text, row, column) =>
    bold(text, styled && column === 1 && isBold(row) && standings[row - 1].method !== "pooled"),
  );
}

/** The same as a page that stands alone: what to use and why, the curves, the table, and what its columns mean. */
export function comparisonPage(summary: ComparisonSummary, picture: string): string {
  const { data, points, devices, links, k, alpha, seed, runs, budget, init } = summary;
  const [heading, ...rows] = standingsRows(summary);
  const asked = `${countLabel(points)} rows on ${devices} devices, ${links} links, k = ${k}, alpha = ${alpha}, seed ${seed}; ${runs} ${runs === 1 ? "run" : "runs"}, at most ${countLabel(budget)} messages for each method, common start: ${init}.`;
  const notes = [
    columnsExplained(summary),
    referenceExplained(summary),
    ...(summary.standings.some(({ best }) => best.costRatio === null) ? [noRatio] : []),
  ];
  const over = summary.overBudget.map(
    ({ method, needed }) => `${method} needs ${countLabel(needed)} messages to start: over the budget.`,
  );
  return htmlPage(
    `Methods on ${data}`,
    `<h1>${escaped(`Methods on ${data}`)}</h1>
<p class="answer">${escaped(summary.sentence)}</p>
<p>${escaped(asked)}</p>
<figure class="wide" tabindex="0">${picture.replaceAll(/ aria-label="[a-z]+"/g, "")}</figure>
<h2>Every method at its best, and untuned</h2>
${htmlTable({ heading, rows, names: 1 })}
${[...over, ...notes].map((text) => `<p>${escaped(text)}</p>`).join("\n")}`,
  );
}

function costText({ costRatio, costInterval }: Standing): string {
  return costRatio === null ? "none" : `${costRatio.toFixed(4)} ± ${(costInterval ?? 0).toFixed(4)}`;
}

const noRatio = "cost none: pooled costs nothing on these rows and the method does, so there is no ratio.";

function columnsExplained({ standings, init }: ComparisonSummary): string {
  const without = standings.filter(({ takesStart }) => !takesStart).map(({ method }) => method);
  const defaults = without.length === 0 ? "" : `; ${without.join(", ")} take no start and have their defaults`;
  return `Means over the runs. Left, in every run the best of a method's published and tuned settings by its cost on all rows, which no device knows: what it can do, and kinder the more settings it has. Right, one setting for all runs, from the common start (${init})${defaults}. ${measuresExplained}`;
}

const measuresExplained =
  "cost: of a device's centroids on all rows, relative to pooled, with its 95 % interval. GCD: mean squared distance to " +
  "the pooled centroids. NMI: against the classes, 1 is perfect. bytes: over the links of the network, where what must " +
  "reach everybody is flooded. pooled moves every row, coreset some.";

/** How hard the reference was looked for, and whether it had to be replaced. */
function referenceExplained({ reference, replaced, isOptimal, runs }: ComparisonSummary): string {
  if (isOptimal) return "pooled is optimal: no clustering of these rows is cheaper.";
  const base = `pooled is the best of ${countLabel(reference.restarts)} restarts`;
  if (replaced === 0) return `${base}.`;
  return `${base}; in ${replaced} of ${runs} runs a method beat it, and k-means from that method's centroids took its place.`;
}

/** Which of these is there most often, the first of equals, and how often. */
function mostOften(texts: readonly string[]): [text: string, times: number] {
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  return [...times].reduce((most, own) => (own[1] > most[1] ? own : most));
}

function settingsText(settings: OptionsByMethod[string]): string {
  return Object.entries(settings)
    .filter(([option, value]) => option !== "seeds" || value !== "local")
    .map(([option, value]) => `${option} = ${value}`)
    .join(", ");
}
