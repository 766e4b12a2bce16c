// Methods over several runs, each at its best setting of every run and at one untuned setting side by side, with
// intervals; and the sentence that says who wins by quality, by bytes, and by both.

import { methods } from "@fedkm/core";
import { intervalOf, meanValue } from "../statistics.ts";
import {
  type ComparisonProblem,
  type ComparisonTable,
  commonStarts,
  judgedRuns,
  type MethodOutcome,
  type OverBudget,
  type Reference,
  runWithin,
} from "./compare.ts";

type Setting = { readonly [option: string]: unknown };

/**
 * What is tried for each method, published or tuned; in every run the cheapest counts. First come the defaults. `npm run lab -- rivals` sweeps far
 * more of them. fedkm: devices or rows count the same. distributed: eta 2 is the paper's, tuned suits the graph, 0.2
 * and 20 are far to both sides. gradient: rho 1, 10 and 100 are the follow-up's. coreset: five times the sample. backbone: with and without counts. kfed: its
 * three ends, and as many local clusters as devices may have, which its theory takes as known, of at least some rows:
 * single rows mislead it, and where rows are few all are needed. fkm: minimum 2 is the authors', and more iterations on
 * the devices.
 */
function triedSettings(k: number, devices: number): { readonly [method: string]: readonly Setting[] } {
  const { federated, aligned } = commonStarts;
  const auto = { init: "auto", seeds: "local" };
  const shares = [1, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.1, 0].map((share) => Math.max(1, Math.ceil(share * k)));
  const fewer = [...new Set([...shares, Math.min(3, k), Math.min(2, k)])];
  return {
    fedkm: [auto, federated, { ...auto, weighting: "sample" }],
    consensus: [federated],
    local: [commonStarts.local, { init: "kmeans++" }, { init: "classic kmeans++" }],
    distributed: [
      ...[2, "tuned", 0.2, 20].map((eta) => ({ ...federated, eta })),
      ...["tuned", 20].map((eta) => ({ ...aligned, eta })),
    ],
    gradient: [1, 0.1, 10, 100].map((rho) => ({ ...federated, rho })),
    coreset: [{}, { coresetSize: 100 * k * devices }],
    backbone: [{}, { counts: true }, { counts: true, backboneSize: 6 * k }],
    kfed: ["lloyd", "mean", "weighted"].flatMap((join) => [
      ...fewer.flatMap((localCentroids) => [1, 2, 3, 5, 8].map((minimum) => ({ join, localCentroids, minimum }))),
      { join, restarts: 50 },
    ]),
    fkm: [{}, { minimum: 2 }, { localIterations: 5 }],
  };
}

/** Of one method over the runs: means, and half the widths of their 95 % intervals. */
export interface Standing {
  /** How it was set in each run. */
  readonly settings: readonly Setting[];
  readonly runs: number;
  readonly costRatio: number | null;
  readonly costInterval: number | null;
  readonly gcd: number;
  readonly gcdInterval: number;
  readonly nmi: number | null;
  /** Of plug-ins, by name. */
  readonly measures: Readonly<Record<string, number | null>>;
  readonly messages: number;
  readonly bytes: number;
}

/** How one method stands after all runs. */
export interface MethodStandings {
  readonly method: string;
  /** In every run at the cheapest of its settings. */
  readonly best: Standing;
  /** At one setting in all runs: from the common start, or the defaults of a method that takes none. Null: it did not run. */
  readonly untuned: Standing | null;
  readonly takesStart: boolean;
}

/** How methods stand after all runs. */
export interface Contest {
  readonly standings: readonly MethodStandings[];
  readonly sentence: string;
  /** Of the first run, each at its best setting, with curves. */
  readonly outcomes: readonly MethodOutcome[];
  /** The same untuned. */
  readonly untuned: readonly MethodOutcome[];
  readonly overBudget: readonly OverBudget[];
  readonly reference: Reference;
  /** Runs whose reference was found from a rival, and whether all references are optimal. */
  readonly replaced: number;
  readonly isOptimal: boolean;
}

/** A method and how it is set. */
export interface ComparedSetting {
  readonly method: string;
  readonly setting: Setting;
}

interface Entry extends ComparedSetting {
  readonly isUntuned: boolean;
}

/** What is set by hand for a method is the one setting that is tried for it. */
export function comparedSettings(
  { k, graph, init = "aligned", settings }: ComparisonProblem,
  table: ComparisonTable,
): Entry[] {
  const tried = triedSettings(k, graph.size);
  return Object.entries(table).flatMap(([method, own]) => {
    const isKnown = own === methods[method as keyof typeof methods];
    const byHand = settings?.[method];
    const common = takesStart(table, method) ? [{ ...commonStarts[init], ...byHand }] : [];
    const starts = takesStart(table, method) ? [commonStarts.federated, commonStarts.aligned] : [{}];
    const best = byHand === undefined ? (isKnown ? (tried[method] ?? [{}]) : starts) : [byHand];
    return [...common, ...best].map((setting, at) => ({ method, setting, isUntuned: at === 0 }));
  });
}

/** A method that says which options it takes, and no start among them, has none. k-means alone has its own only. */
function takesStart(table: ComparisonTable, method: string): boolean {
  const { takes } = table[method];
  return table[method] !== methods.local && (takes === undefined || Object.hasOwn(takes, "init"));
}

/** Runs all settings of all methods on the problem of every run. `onSetting` hears which is next, and how much is done. */
export async function contest(
  problems: (run: number) => Promise<ComparisonProblem>,
  runs: number,
  table: ComparisonTable,
  onSetting: (method: string, share: number) => void = () => {},
): Promise<Contest> {
  const first = await problems(1);
  const entries = comparedSettings(first, table);
  const found: (MethodOutcome | undefined)[][] = entries.map(() => []);
  const needed = new Map<string, OverBudget>();
  const refused = new Map<string, RangeError>();
  const references: Reference[] = [];
  for (let run = 1; run <= runs; run++) {
    const problem = run === 1 ? first : await problems(run);
    const judged = judgedSettings(problem, table, entries, (method, at) =>
      onSetting(method, ((run - 1) * entries.length + at) / (runs * entries.length)),
    );
    references.push(judged.reference);
    for (const [at, own] of judged.outcomes.entries()) {
      if ("needed" in own) needed.set(own.method, own);
      if ("refusal" in own) refused.set(own.method, own.refusal);
      found[at].push("gcd" in own ? own : undefined);
    }
  }
  const standings = Object.keys(table).flatMap((method) =>
    standingsOf(method, entries, found, takesStart(table, method)),
  );
  const isRun = (method: string) => standings.some((own) => own.method === method);
  for (const [method, refusal] of refused) if (!isRun(method) && !needed.has(method)) throw refusal;
  const chosen = (pick: (own: MethodStandings) => Standing | null) => {
    const made = standings.flatMap((own) => {
      const [setting] = (pick(own) ?? own.best).settings;
      const ran = runAt(first, table, { method: own.method, setting });
      return "needed" in ran ? [] : [ran];
    });
    return judgedRuns({ ...first, bestKnown: references[0].centroids }, made, table).outcomes;
  };
  return {
    standings,
    sentence: winnersSentence(standings),
    outcomes: chosen(({ best }) => best),
    untuned: chosen(({ untuned }) => untuned),
    overBudget: [...needed.values()].filter(({ method }) => !isRun(method)),
    reference: references[0],
    replaced: references.filter(({ from }) => from !== undefined).length,
    isOptimal: references.every(({ isOptimal }) => isOptimal),
  };
}

/** A setting that a method refuses on these data, such as a minimum that no cluster of so few rows can have. */
interface Refused {
  readonly method: string;
  readonly refusal: RangeError;
}

/** Each setting on one problem, all held against one reference; in their order, without curves. */
export function judgedSettings(
  problem: ComparisonProblem,
  table: ComparisonTable,
  settings: readonly ComparedSetting[],
  onSetting: (method: string, at: number) => void = () => {},
): { readonly outcomes: readonly (MethodOutcome | OverBudget | Refused)[]; readonly reference: Reference } {
  const made = settings.map((entry, at) => {
    onSetting(entry.method, at);
    try {
      return runAt(problem, table, entry);
    } catch (refusal) {
      if (refusal instanceof RangeError) return { method: entry.method, refusal };
      throw refusal;
    }
  });
  const ran = made.filter((own) => "model" in own);
  const { outcomes, reference } = judgedRuns(problem, ran, table, false);
  const judged = outcomes.values();
  return { outcomes: made.map((own) => ("model" in own ? (judged.next().value as MethodOutcome) : own)), reference };
}

function runAt(problem: ComparisonProblem, table: ComparisonTable, { method, setting }: ComparedSetting) {
  const settings = { ...problem.settings, [method]: setting };
  return runWithin({ ...problem, settings }, method, table[method]);
}

function standingsOf(
  method: string,
  entries: readonly Entry[],
  found: readonly (readonly (MethodOutcome | undefined)[])[],
  takesStart: boolean,
): MethodStandings[] {
  const own = entries.flatMap((entry, at) => (entry.method === method ? [{ ...entry, outcomes: found[at] }] : []));
  const runs = found[0]?.length ?? 0;
  const ran = (tried: typeof own) =>
    Array.from({ length: runs }, (_, run) => cheapest(tried, run)).filter((one) => one !== undefined);
  const best = ran(own);
  if (best.length === 0) return [];
  const untuned = ran(own.filter(({ isUntuned }) => isUntuned));
  return [{ method, best: standing(best), untuned: untuned.length === 0 ? null : standing(untuned), takesStart }];
}

interface SetOutcome {
  readonly setting: Setting;
  readonly outcome: MethodOutcome;
}

/** The cheapest in one run, the first among equals; what is untuned is one of them. */
function cheapest(
  tried: readonly { setting: Setting; outcomes: readonly (MethodOutcome | undefined)[] }[],
  run: number,
): SetOutcome | undefined {
  const ran = tried.flatMap(({ setting, outcomes }) => {
    const outcome = outcomes[run];
    return outcome === undefined ? [] : [{ setting, outcome }];
  });
  return ran.sort((a, b) => score(a.outcome) - score(b.outcome) || a.outcome.gcd - b.outcome.gcd)[0];
}

/** Costs that rounding parts are equal, and then GCD decides. */
function score({ costRatio }: MethodOutcome): number {
  return costRatio === null ? Number.POSITIVE_INFINITY : Number(costRatio.toFixed(9));
}

function standing(ran: readonly SetOutcome[]): Standing {
  const outcomes = ran.map(({ outcome }) => outcome);
  const of = (value: (own: MethodOutcome) => number | null) => outcomes.map(value).filter((own) => own !== null);
  const costs = of(({ costRatio }) => costRatio);
  const isWhole = costs.length === outcomes.length;
  const gcds = of(({ gcd }) => gcd);
  return {
    settings: ran.map(({ setting }) => setting),
    runs: outcomes.length,
    costRatio: isWhole ? meanValue(costs) : null,
    costInterval: isWhole ? intervalOf(costs) : null,
    gcd: meanValue(gcds) ?? 0,
    gcdInterval: intervalOf(gcds) ?? 0,
    nmi: meanValue(of(({ nmi }) => nmi)),
    measures: Object.fromEntries(
      Object.keys(outcomes[0].measures).map((name) => [name, meanValue(of(({ measures }) => measures[name]))]),
    ),
    messages: meanValue(of(({ messages }) => messages)) ?? 0,
    bytes: meanValue(of(({ bytes }) => bytes)) ?? 0,
  };
}

/** Costs this near to each other are a tie; and this near to the best one, bytes decide. */
const TIE = 1e-3;
const NEAR = 1e-2;

export interface Winners {
  /** Of lowest cost, the cheapest first; more than one where they tie. */
  readonly quality: readonly string[];
  /** Of those that send something, which sends least. */
  readonly bytes: string | undefined;
  /** Of those within 1 % of the lowest cost, tuned or not, which sends least. */
  readonly both: string;
}

/** Of the methods that do not pool; undefined where none has a cost. */
export function winnersOf(standings: readonly MethodStandings[]): Winners | undefined {
  const rivalsAt = (pick: (own: MethodStandings) => Standing | null) =>
    standings.flatMap((own) => {
      const { costRatio: cost = null, bytes = 0 } = pick(own) ?? {};
      return own.method === "pooled" || cost === null ? [] : [{ method: own.method, cost, bytes }];
    });
  const rivals = rivalsAt(({ best }) => best).sort((a, b) => a.cost - b.cost);
  if (rivals.length === 0) return undefined;
  const [{ cost }] = rivals;
  const within = (share: number) => (own: (typeof rivals)[number]) => own.cost <= cost + share * Math.max(cost, 1);
  const thrifty = (some: typeof rivals) => some.sort((a, b) => a.bytes - b.bytes || a.cost - b.cost)[0];
  return {
    quality: rivals.filter(within(TIE)).map(({ method }) => method),
    bytes: thrifty(rivals.filter(({ bytes }) => bytes > 0))?.method,
    // The best settings of a method may send far more than others that are nearly as good.
    both: thrifty([...rivals, ...rivalsAt(({ untuned }) => untuned)].filter(within(NEAR))).method,
  };
}

function winnersSentence(standings: readonly MethodStandings[]): string {
  const winners = winnersOf(standings);
  if (winners === undefined) return "No method has a cost relative to pooled, so that none is named.";
  const of = (method: string) => (standings.find((own) => own.method === method) as MethodStandings).best;
  const { quality, bytes, both } = winners;
  const cost = (of(quality[0]).costRatio as number).toFixed(4);
  const lead = quality.length === 1 ? `${quality[0]} wins` : `${listed(quality)} tie within 0.1 %`;
  const least = bytes === undefined ? "nobody sends anything" : `${bytes} sends least`;
  return `By quality ${lead}: ${cost} times the cost of pooled. By bytes ${least}. By both it is ${both}: the fewest bytes of those within 1 % of the lowest cost.`;
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}
