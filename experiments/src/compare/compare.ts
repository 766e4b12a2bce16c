// Methods side by side: the same data, network, start, seed and message budget for all, and how near each came to pooled k-means.

import {
  adjustedRandIndex,
  consensusVariation,
  distortion,
  type FitModel,
  type Graph,
  globalCentroidDeviation,
  type Matrix,
  type Method,
  type MethodModel,
  type MethodOptions,
  methods,
  normalizedMutualInformation,
  type PooledReference,
  pooledReference,
  predict,
  stack,
  unbeatenReference,
} from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { nearestName } from "@fedkm/core/optionNames";
import { noPlugins, type Plugins, pluginMeasures } from "../plugins/plugin.ts";

/** Rows, links and k on which methods are compared. */
export interface ComparisonProblem {
  readonly datasets: readonly Matrix[];
  /** The class of every point, where known. */
  readonly labels?: readonly Uint32Array[] | undefined;
  readonly graph: Graph;
  readonly k: number;
  readonly alpha: number;
  readonly seed: number;
  /** No method may send more. */
  readonly messages: number;
  /** Default "aligned". */
  readonly init?: ComparisonStart;
  /** What is set here wins over the common start. */
  readonly settings?: OptionsByMethod;
  /** Of which the measures are taken too. Default: none. */
  readonly plugins?: Plugins;
  /** Centroids of all points that nobody has beaten. */
  readonly bestKnown?: Matrix | undefined;
}

interface Quality {
  readonly gcd: number;
  readonly cv: number;
  /**
   * What a device's centroids cost on all points, relative to the pooled solution, in the mean over the devices. Null
   * where pooled costs nothing and a device does: there is no such ratio.
   */
  readonly costRatio: number | null;
  /** Against the classes, for all points by every device's centroids, in the mean; null without classes. */
  readonly nmi: number | null;
  readonly ari: number | null;
  /** Those of plug-ins, by name. */
  readonly measures: Readonly<Record<string, number | null>>;
}

/** What every result is held against, and how it was found. */
export interface Reference extends PooledReference {
  /** Whose centroids it was found from, where the search was beaten. */
  readonly from?: string;
}

/** The cheapest of the pooled search, of what is known, and of what k-means makes of the devices' centroids. */
function referenceOf(problem: ComparisonProblem, runs: readonly Run[]): Reference {
  const { datasets, k, seed, bestKnown, settings } = problem;
  const all = stack(datasets);
  const restarts = settings?.pooled?.restarts as number | undefined;
  const searched = pooledReference(all, { k, seed, restarts });
  const rivals = runs.flatMap(({ method, model }) => model.centroids.map((own) => [method, own] as const));
  return unbeatenReference(
    all,
    searched,
    bestKnown === undefined ? rivals : [["the best known", bestKnown], ...rivals],
  );
}

/** In the mean over the devices; not finite where pooled costs nothing and a device does. */
function costRatioTo(reference: Reference, all: Matrix): (model: FitModel) => number {
  const cost = (centroids: Matrix) => distortion([all], [centroids]);
  const pooledCost = cost(reference.centroids);
  // Equal costs are equal also where both are 0.
  const ratio = (own: number) => (own === pooledCost ? 1 : own / pooledCost);
  return ({ centroids }) => meanOf(centroids, (own) => ratio(cost(own)));
}

function meanOf(centroids: readonly Matrix[], score: (own: Matrix) => number): number {
  return centroids.reduce((sum, own) => sum + score(own), 0) / centroids.length;
}

function judgeOf(problem: ComparisonProblem, reference: Reference): (model: FitModel) => Quality {
  const { datasets, graph, labels, plugins = noPlugins } = problem;
  const all = stack(datasets);
  const ratio = costRatioTo(reference, all);
  const classes = labels?.flatMap((own) => Array.from(own));
  return (model) => {
    const { centroids } = model;
    const mean = (score: (own: Matrix) => number) => meanOf(centroids, score);
    const costRatio = ratio(model);
    return {
      gcd: globalCentroidDeviation(centroids, reference.centroids),
      cv: consensusVariation(centroids, graph),
      costRatio: Number.isFinite(costRatio) ? costRatio : null,
      nmi: classes === undefined ? null : mean((own) => normalizedMutualInformation(predict(own, all), classes)),
      ari: classes === undefined ? null : mean((own) => adjustedRandIndex(predict(own, all), classes)),
      measures: pluginMeasures(plugins, { model, datasets, labels, graph, reference: reference.centroids }),
    };
  };
}

/**
 * Where the devices begin, the same for every method that takes a start. local: each device's own k-means, in an order of
 * its own. aligned: the same, relabelled by the Hungarian method to one order, so that methods that average cluster by
 * cluster are not punished for labels. federated: one flooded seed for all.
 */
export const commonStarts = {
  local: { init: "local", seeds: "local" },
  aligned: { init: "local", seeds: "aligned" },
  federated: { init: "federated", seeds: "local" },
} as const satisfies Record<string, Pick<MethodOptions, "init" | "seeds">>;

/** Starts that all methods can share. */
export type ComparisonStart = keyof typeof commonStarts;

/** Options of methods by their names. */
export type OptionsByMethod = { readonly [method: string]: { readonly [option: string]: unknown } };

export type CurvePoint = Pick<MethodOutcome, "rounds" | "messages" | "bytes" | "gcd" | "costRatio">;

/** What a method found, and what it took. */
export interface MethodOutcome extends Quality {
  readonly method: string;
  readonly rounds: number;
  readonly converged: boolean;
  readonly messages: number;
  readonly bytes: number;
  /** Bytes with a collector one hop from everybody; null for methods that need none. */
  readonly collectorBytes: number | null;
  readonly milliseconds: number;
  /** From the start to the end of the budget. */
  readonly curve: readonly CurvePoint[];
}

/** A method whose start alone is more than the budget. */
export interface OverBudget {
  readonly method: string;
  /** What it would have to send. */
  readonly needed: number;
}

/** Methods by name. */
export type ComparisonTable = { readonly [name: string]: Method };

/** What a method did within the budget, before it is judged. */
export interface Run {
  readonly method: string;
  readonly model: MethodModel;
  readonly milliseconds: number;
  /** The same with fewer rounds. */
  readonly run: (rounds: number) => MethodModel;
}

export interface Comparison {
  /** Of the methods that ran, in the order of the table. */
  readonly outcomes: readonly MethodOutcome[];
  readonly overBudget: readonly OverBudget[];
  /** The pooled solution that all are held against. */
  readonly reference: Reference;
}

/**
 * Runs each of a table of methods, by default those of the core, within the budget. All are judged when all have run,
 * by one pooled solution.
 */
export function compareMethods(problem: ComparisonProblem, table: ComparisonTable = methods): Comparison {
  const runs = Object.entries(table).map(([name, method]) => runWithin(problem, name, method));
  const { outcomes, reference } = judgedRuns(
    problem,
    runs.filter((run) => "model" in run),
    table,
  );
  return { outcomes, overBudget: runs.filter((run) => "needed" in run), reference };
}

/** All held against one reference, which none of them beats; pooled itself is that reference. */
export function judgedRuns(
  problem: ComparisonProblem,
  runs: readonly Run[],
  table: ComparisonTable,
  withCurves = true,
) {
  const reference = referenceOf(problem, runs);
  const judge = judgeOf(problem, reference);
  const outcomes = runs.map((own) => {
    if (table[own.method] !== methods.pooled) return outcome(own, judge, withCurves);
    const model = { ...own.model, centroids: own.model.centroids.map(() => reference.centroids) };
    return outcome({ ...own, model }, judge, withCurves);
  });
  return { outcomes, reference };
}

/** One method, run for as long as the budget pays. */
export function runWithin(problem: ComparisonProblem, name: string, method: Method): Run | OverBudget {
  const { datasets, graph, k, alpha, seed, messages: budget, init = "aligned", settings } = problem;
  // The reference takes its place: what it sends does not depend on how long it looked.
  const own = method === methods.pooled ? { restarts: 1 } : settings?.[name];
  const run = (rounds: number) => method(datasets, graph, { k, alpha, seed, rounds, ...commonStarts[init], ...own });
  // A first round tells what rounds cost, and compiles the code, which is no part of a method's time.
  const first = timed(() => run(1));
  const [start, after] = first.model.history;
  if (start.messages > budget) return { method: name, needed: start.messages };
  // Without rounds that was all.
  if (after === undefined) return { method: name, ...first, run };
  const each = after.messages - start.messages;
  let rounds = each > 0 ? Math.floor((budget - start.messages) / each) : defaults.rounds;
  for (;;) {
    const made = timed(() => run(rounds));
    if (made.model.messages <= budget) return { method: name, ...made, run };
    // Rounds need not all cost the same.
    rounds = made.model.history.findLastIndex((round) => round.messages <= budget);
  }
}

function timed(run: () => MethodModel): Pick<Run, "model" | "milliseconds"> {
  const began = performance.now();
  const model = run();
  return { model, milliseconds: performance.now() - began };
}

/** Rounds at which a curve has a point: 0, 1, 2, 3, 5, 8, .. and the last. A shorter run is the beginning of a longer one. */
function curveRounds(last: number): number[] {
  const rounds = [0];
  for (let [some, next] = [1, 2]; some < last; [some, next] = [next, some + next]) rounds.push(some);
  return last === 0 ? rounds : [...rounds, last];
}

function outcome(
  { method, model, milliseconds, run }: Run,
  judge: (model: MethodModel) => Quality,
  withCurves: boolean,
): MethodOutcome {
  const { rounds, converged, messages, bytes, collector } = model;
  const curve = (withCurves ? curveRounds(rounds) : []).map((some): CurvePoint => {
    const shorter = some === rounds ? model : run(some);
    const { gcd, costRatio } = judge(shorter);
    return { rounds: shorter.rounds, messages: shorter.messages, bytes: shorter.bytes, gcd, costRatio };
  });
  const cost = { messages, bytes, collectorBytes: collector?.bytes ?? null, milliseconds };
  return { method, ...judge(model), rounds, converged, ...cost, curve };
}

/** Options by method from texts such as "distributed.eta=2", checked by what methods say they take. A later one wins. */
export function comparedMethodOptions(texts: readonly string[], table: ComparisonTable): OptionsByMethod {
  const options: Record<string, Record<string, unknown>> = {};
  for (const text of texts) {
    const [, method, option, value] = /^([^.=]+)\.([^.=]+)=(.+)$/.exec(text) ?? [];
    if (method === undefined) throw new RangeError(`${text} must look like METHOD.OPTION=VALUE`);
    if (!Object.hasOwn(table, method)) {
      throw new RangeError(`${text} must name a method that is run, got "${method}"${suggestion(method, table)}`);
    }
    if (option === "rounds") throw new RangeError(`${text} cannot be set: the budget of messages limits the rounds`);
    const { takes } = table[method];
    if (takes !== undefined && !Object.hasOwn(takes, option)) {
      const { rounds, ...settable } = takes;
      const rule = `${text} must name one of ${Object.keys(settable).join(", ")}`;
      throw new RangeError(`${rule}, got "${option}"${suggestion(option, settable)}`);
    }
    options[method] = { ...options[method], [option]: parseValue(text, value, takes?.[option]) };
  }
  return options;
}

/** A number or a word; true and false are themselves. Forms are those of the method, where it names them. */
function parseValue(text: string, value: string, forms: readonly string[] | undefined): unknown {
  const number = Number(value);
  const isNumber = value.trim() !== "" && Number.isFinite(number);
  if (isNumber && (forms === undefined || forms.includes("number"))) return number;
  // The word "number" stands for numbers and is none of the words.
  if (forms !== undefined && (value === "number" || !forms.includes(value))) {
    const rule = forms.map((form) => (form === "number" ? "a number" : form)).join(" or ");
    throw new RangeError(`${text.slice(0, text.indexOf("="))} must be ${rule}, got "${value}"`);
  }
  return value === "true" || value === "false" ? value === "true" : value;
}

function suggestion(got: string, names: object): string {
  const nearest = nearestName(got, Object.keys(names));
  return nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
}
