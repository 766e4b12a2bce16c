// Methods side by side: the same data, network, seed and message budget for all, and how near each came to pooled k-means.

import {
  adjustedRandIndex,
  consensusVariation,
  distortion,
  type FitModel,
  type Graph,
  globalCentroidDeviation,
  type Matrix,
  type Method,
  methods,
  normalizedMutualInformation,
  predict,
  stack,
} from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { measuresOf, noPlugins, type Plugins } from "./plugins/plugin.ts";

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
  /** Of which the measures are taken too. Default: none. */
  readonly plugins?: Plugins;
}

/** How good centroids are. */
interface Quality {
  /** GCD to the pooled solution. */
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

export interface CurvePoint {
  readonly rounds: number;
  readonly messages: number;
  readonly bytes: number;
  readonly gcd: number;
  readonly costRatio: number | null;
}

export interface MethodOutcome extends Quality {
  readonly method: string;
  readonly rounds: number;
  readonly converged: boolean;
  readonly messages: number;
  readonly bytes: number;
  readonly milliseconds: number;
  /** From the start to the end of the budget. */
  readonly curve: readonly CurvePoint[];
}

/** A method whose start alone is more than the budget. */
export interface TooDear {
  readonly method: string;
  /** What it would have to send. */
  readonly needed: number;
}

export type Table = { readonly [name: string]: Method };

/** Runs each of a table of methods, by default those of the core, within the budget. */
export function* compareMethods(
  problem: ComparisonProblem,
  table: Table = methods,
): Generator<MethodOutcome | TooDear, void, void> {
  const judge = judgeOf(problem);
  for (const [name, method] of Object.entries(table)) yield outcome(name, method, problem, judge);
}

function outcome(
  name: string,
  method: Method,
  problem: ComparisonProblem,
  judge: (model: FitModel) => Quality,
): MethodOutcome | TooDear {
  const { datasets, graph, k, alpha, seed, messages: budget } = problem;
  const run = (rounds: number) => method(datasets, graph, { k, alpha, seed, rounds });
  // A first round tells what rounds cost, and compiles the code, which is no part of a method's time.
  const [start, first] = run(1).history;
  if (start.messages > budget) return { method: name, needed: start.messages };
  const each = first === undefined ? 0 : first.messages - start.messages;
  let rounds = each > 0 ? Math.floor((budget - start.messages) / each) : defaults.rounds;
  for (;;) {
    const began = performance.now();
    const model = run(rounds);
    const milliseconds = performance.now() - began;
    const { converged, messages, bytes } = model;
    if (messages <= budget) {
      const curve = curveRounds(model.rounds).map((some) =>
        curvePoint(some === model.rounds ? model : run(some), judge),
      );
      return { method: name, ...judge(model), rounds: model.rounds, converged, messages, bytes, milliseconds, curve };
    }
    // Rounds need not all cost the same.
    rounds = model.history.findLastIndex((round) => round.messages <= budget);
  }
}

/** Rounds at which a curve has a point: 0, 1, 2, 3, 5, 8, .. and the last. A shorter run is the beginning of a longer one. */
function curveRounds(last: number): number[] {
  const rounds = [0];
  for (let [some, next] = [1, 2]; some < last; [some, next] = [next, some + next]) rounds.push(some);
  return last === 0 ? rounds : [...rounds, last];
}

function curvePoint(model: FitModel, judge: (model: FitModel) => Quality): CurvePoint {
  const { gcd, costRatio } = judge(model);
  return { rounds: model.rounds, messages: model.messages, bytes: model.bytes, gcd, costRatio };
}

/** What every result is held against: one pooled solution. */
function judgeOf({ plugins = noPlugins, ...problem }: ComparisonProblem): (model: FitModel) => Quality {
  const { datasets, graph, k, alpha, seed, labels } = problem;
  const [reference] = methods.pooled(datasets, graph, { k, alpha, seed }).centroids;
  const all = stack(datasets);
  const cost = (centroids: Matrix) => distortion([all], [centroids]);
  const pooledCost = cost(reference);
  // Equal costs are equal also where both are 0.
  const ratio = (centroids: Matrix) => {
    const own = cost(centroids);
    return own === pooledCost ? 1 : own / pooledCost;
  };
  const classes = labels?.flatMap((own) => Array.from(own));
  return (model) => {
    const { centroids } = model;
    const mean = (score: (own: Matrix) => number) =>
      centroids.reduce((sum, own) => sum + score(own), 0) / centroids.length;
    const costRatio = mean(ratio);
    return {
      gcd: globalCentroidDeviation(centroids, reference),
      cv: consensusVariation(centroids, graph),
      costRatio: Number.isFinite(costRatio) ? costRatio : null,
      nmi: classes === undefined ? null : mean((own) => normalizedMutualInformation(predict(own, all), classes)),
      ari: classes === undefined ? null : mean((own) => adjustedRandIndex(predict(own, all), classes)),
      measures: measuresOf(plugins, { model, datasets, labels, graph, reference }),
    };
  };
}
