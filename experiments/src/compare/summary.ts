// What a comparison found, for people: how each method stands in a table, what its columns mean, as lines of a terminal and as a page that stands alone.

import { edges } from "@fedkm/core";
import { countLabel, escaped, htmlPage, htmlTable, significantLabel } from "@fedkm/pictures";
import { alignColumns, duration, wrap } from "@fedkm/pictures/terminal";
import type { ComparisonProblem, ComparisonStart, MethodOutcome, OptionsByMethod } from "./compare.ts";
import type { Contest, Standing } from "./standings.ts";

/** What was compared, and how often. */
export interface ComparisonRequest
  extends Pick<ComparisonProblem, "datasets" | "graph" | "k" | "alpha" | "seed" | "messages"> {
  /** What the data are called. */
  readonly data: string;
  readonly split: string;
  readonly runs: number;
  readonly init: ComparisonStart;
  readonly settings: OptionsByMethod;
}

/** What `comparisonSummary` gives: what was compared, the reference, and how every method stands. */
export type ComparisonSummary = ReturnType<typeof comparisonSummary>;

/** A comparison without its rows, as plain data. */
export function comparisonSummary(
  { data, datasets, graph, split, k, alpha, seed, runs, messages, init, settings }: ComparisonRequest,
  { outcomes, untuned, reference, ...found }: Contest,
) {
  const points = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const network = { data, devices: graph.size, links: Array.from(edges(graph)).length, points, split };
  const { centroids, ...searched } = reference;
  const asked = { k, alpha, seed, runs, budget: messages, init, settings };
  return { ...network, ...asked, ...found, reference: searched, methods: untuned };
}

/** Every method at its best settings, and beside it untuned. */
export function comparisonTable({ standings }: ComparisonSummary): string[][] {
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

/** What the columns of the table mean, and how hard the reference was looked for. */
export function comparisonNotes(summary: ComparisonSummary): string[] {
  const lacksRatio = summary.standings.some(({ best }) => best.costRatio === null);
  return [columnsExplained(summary), referenceExplained(summary), ...(lacksRatio ? [noRatio] : [])];
}

/** The methods that the budget of messages left out, and what each needs. */
export function overBudgetTexts({ overBudget }: ComparisonSummary): string[] {
  return overBudget.map(
    ({ method, needed }) => `${method} needs ${countLabel(needed)} messages to start: over the budget`,
  );
}

/** A page that stands alone: what to use and why, the curves, the table, and what its columns mean. */
export function comparisonPage(summary: ComparisonSummary, picture: string): string {
  const { data, points, devices, links, k, alpha, seed, runs, budget, init } = summary;
  const [heading, ...rows] = comparisonTable(summary);
  const asked = `${countLabel(points)} rows on ${devices} devices, ${links} links, k = ${k}, alpha = ${alpha}, seed ${seed}; ${runs} ${runs === 1 ? "run" : "runs"}, at most ${countLabel(budget)} messages for each method, common start: ${init}.`;
  return htmlPage(
    `Methods on ${data}`,
    `<h1>${escaped(`Methods on ${data}`)}</h1>
<p class="answer">${escaped(summary.sentence)}</p>
<p>${escaped(asked)}</p>
<figure class="wide" tabindex="0">${picture.replaceAll(/ aria-label="[a-z]+"/g, "")}</figure>
<h2>Every method at its best, and untuned</h2>
${htmlTable({ heading, rows, names: 1 })}
${[...overBudgetTexts(summary).map((text) => `${text}.`), ...comparisonNotes(summary)].map((text) => `<p>${escaped(text)}</p>`).join("\n")}`,
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

/**
 * The same in lines for a terminal. `watched` are its runs that can be looked at, `picture` is the file of its picture, and
 * `bold` what makes a text so.
 */
export function comparisonLines(
  summary: ComparisonSummary & {
    readonly watched: readonly { readonly command: string }[];
    readonly picture: string | null;
  },
  bold: (text: string) => string,
): string[] {
  const { data, points, devices, links, k, alpha, seed, runs, split, budget, standings, watched, picture } = summary;
  return [
    `${data}: ${countLabel(points)} rows on ${devices} devices, ${links} links, k = ${k}, alpha = ${alpha}, seed ${seed}${split === "even" ? "" : `, split ${split}`}`,
    `${runs} ${runs === 1 ? "run" : "runs"}, at most ${countLabel(budget)} messages for each method, common start: ${summary.init}`,
    ...(standings.length > 0 ? ["", ...standingsTable(summary, bold)] : []),
    ...overBudgetTexts(summary),
    ...(standings.length > 0 ? ["", ...wrap(summary.sentence, 80)] : []),
    "",
    ...standings.flatMap(({ method, best }) => {
      const [text, runs] = mostOften(best.settings.map(settingsText));
      const share = runs === best.runs ? "" : ` (${runs} of ${best.runs} runs)`;
      return text === "" && share === "" ? [] : [`${method} at its best: ${text || "its defaults"}${share}`];
    }),
    "",
    ...comparisonNotes(summary).flatMap((text) => wrap(text, 80)),
    ...(watched.length > 0 ? ["", "watch the first run:", ...watched.map(({ command }) => `  ${command}`)] : []),
    ...(picture === null ? [] : ["", `picture: ${picture}`]),
  ];
}

/** The cheapest that does not pool is bold. */
function standingsTable(summary: ComparisonSummary, bold: (text: string) => string): string[] {
  const { standings } = summary;
  const cheapest = standings
    .filter(({ method, best }) => method !== "pooled" && best.costRatio !== null)
    .reduce((least, { best }) => Math.min(least, best.costRatio as number), Number.POSITIVE_INFINITY);
  const isBold = (row: number) => row > 0 && standings[row - 1].best.costRatio === cheapest;
  return alignColumns(comparisonTable(summary), (text, row, column) =>
    column === 1 && isBold(row) && standings[row - 1].method !== "pooled" ? bold(text) : text,
  );
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

/** How methods compare in one run, in lines: the nearest to pooled of those that do not pool is bold. */
export function outcomeLines(outcomes: readonly MethodOutcome[], bold: (text: string) => string): string[] {
  const heading = ["method", "GCD", "CV", "cost", "messages", "bytes", "time"];
  const rows = outcomes.map(({ method, gcd, cv, costRatio, messages, bytes, milliseconds }) => [
    method,
    significantLabel(gcd, 2),
    significantLabel(cv, 2),
    costRatio?.toFixed(4) ?? "none",
    countLabel(messages),
    countLabel(bytes),
    duration(milliseconds),
  ]);
  const rivals = outcomes.filter(({ method }) => method !== "pooled");
  const best = Math.min(...rivals.map(({ gcd }) => gcd));
  return alignColumns([heading, ...rows], (text, row, column) => {
    const isBest = row > 0 && column === 1 && rivals.includes(outcomes[row - 1]) && outcomes[row - 1].gcd === best;
    return isBest ? bold(text) : text;
  });
}
