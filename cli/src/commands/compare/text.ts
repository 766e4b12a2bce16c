// A comparison on the terminal, and which of its runs the playground can show.

import {
  type ComparisonSummary,
  comparisonNotes,
  comparisonTable,
  type MethodOutcome,
  type OptionsByMethod,
  overBudgetTexts,
} from "@fedkm/experiments";
import { playgroundState, type Setup, unreadSetupSettings } from "@fedkm/web";
import { bold } from "../../console.ts";
import { countLabel } from "../../numbers.ts";
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

/** As --json prints it. */
export type WatchedComparison = ComparisonSummary & {
  readonly watched: readonly WatchedPair[];
  /** The picture's file; null: there was nothing to draw. */
  readonly picture: string | null;
};

export function comparisonLines(summary: WatchedComparison, styled: boolean): string[] {
  const { data, points, devices, links, k, alpha, seed, runs, split, budget, standings, watched, picture } = summary;
  return [
    `${data}: ${countLabel(points)} rows on ${devices} devices, ${links} links, k = ${k}, alpha = ${alpha}, seed ${seed}${split === "even" ? "" : `, split ${split}`}`,
    `${runs} ${runs === 1 ? "run" : "runs"}, at most ${countLabel(budget)} messages for each method, common start: ${summary.init}`,
    ...(standings.length > 0 ? ["", ...standingsTable(summary, styled)] : []),
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

/** On a terminal the cheapest that does not pool is bold. */
function standingsTable(summary: ComparisonSummary, styled: boolean): string[] {
  const { standings } = summary;
  const cheapest = standings
    .filter(({ method, best }) => method !== "pooled" && best.costRatio !== null)
    .reduce((least, { best }) => Math.min(least, best.costRatio as number), Number.POSITIVE_INFINITY);
  const isBold = (row: number) => row > 0 && standings[row - 1].best.costRatio === cheapest;
  return alignColumns(comparisonTable(summary), (text, row, column) =>
    bold(text, styled && column === 1 && isBold(row) && standings[row - 1].method !== "pooled"),
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
