// What every method takes and gives, so that they can be compared on one problem; and how a further one is made, from one
// of its rounds or from its answer.

import { checkFunction, checkInteger, checkNetwork } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import type { Matrix } from "../data/matrix.ts";
import { checkIsOptions, checkOptions, type OptionNames } from "../data/optionNames.ts";
import { drainRounds, type FitModel, runRounds } from "../fit/fit.ts";
import { type FitOptions, fitOptionNames } from "../fit/fitOptions.ts";
import { createNetwork, type NetworkState, type RoundResult, refreshNetworkStatistics } from "../fit/network.ts";
import { breadthFirst, type Graph } from "../graph/graph.ts";
import type { Traffic } from "../graph/traffic.ts";
import { labellingModel } from "../kernel/model.ts";
import { type ObjectiveSettings, objectiveOf, objectiveSettings } from "../measures/measures.ts";
import { couplings, emptyMatches, match } from "../update/coupling.ts";
import { type UpdateSettings, updateSettings } from "../update/updateOptions.ts";

/** What every method takes. Alpha steers `fedkm` alone: the others are judged by it, and need none. */
export interface CommonOptions extends Pick<FitOptions, "coupling" | "weighting" | "restarts" | "seed" | "kernel"> {
  /** Clusters of every device: only `fit` takes a list. */
  k: number;
  /** How much total variation counts in `objective`. Default 0. */
  alpha?: number | undefined;
}

/** What methods take that start their devices as `fit` does and then go on in rounds of their own. */
export interface RoundsMethodOptions
  extends CommonOptions,
    Pick<FitOptions, "rounds" | "init" | "empty" | "minimum" | "tol" | "signal"> {}

/** What any of the methods takes, so that one set of options serves all: each uses its own of them. */
export interface MethodOptions extends RoundsMethodOptions, Omit<FitOptions, "k" | "alpha" | "weights"> {
  alpha: number;
  /** Step of `distributed`: a number, or "tuned" from the graph. Default 2, the paper's. */
  eta?: number | "tuned" | undefined;
  /**
   * Start of the methods that go cluster by cluster: each device's own (local), one for all (shared), or own ones in one
   * common order (aligned). Default "local".
   */
  seeds?: "local" | "shared" | "aligned" | undefined;
  /** Step of `consensus` in sweeps, which it makes from any but the federated start, and where `beta`, `settle` or
   *  `passes` is given; otherwise its rounds are exact sums. Default from the graph. */
  beta?: number | undefined;
  /** Sweep of `consensus` (from 0) whose labels are kept until the devices agree; false: none. Default 40. */
  settle?: number | false | undefined;
}

/** What every method gives. */
export interface MethodModel extends FitModel {
  /**
   * What it would have cost with a collector one hop from everybody; `messages` and `bytes` are those of the network.
   * Absent where a method needs no place that everything reaches.
   */
  readonly collector?: Traffic;
}

/**
 * The options that a method takes besides k, alpha, seed and kernel, each with the forms its value may have as text:
 * words, of which true and false stand for themselves, and "number" for any number.
 */
export type OptionForms = { readonly [option: string]: readonly string[] };

/** Where any method may be called, it is given what all of them need. */
export interface Method<Options = MethodOptions> {
  (datasets: readonly Matrix[], graph: Graph, options: Options): MethodModel;
  /** What leaves a device, in words. Default "centroids". */
  readonly travels?: string;
  /** The options it takes, so that whoever sets options by name can refuse the others. Absent: unknown, it is given any. */
  readonly takes?: OptionForms;
}

/** Every result is judged by an objective with a coupling and a weighting, also that of a method they do not steer. */
export const judgingOptions = { coupling: couplings, weighting: ["device", "sample"] } as const satisfies OptionForms;

/** What methods take that start their devices by `createNetwork` and go on in rounds. */
export const roundsOptions = {
  ...judgingOptions,
  init: ["auto", "federated", "local", "kmeans++", "classic kmeans++"],
  restarts: ["number"],
  minimum: ["number"],
  tol: ["number"],
  rounds: ["number"],
} as const satisfies OptionForms;

/** All methods know the options of all, so that a comparison can give every one the same. Weights are for `fit` alone. */
const { weights: _, ...comparedOptionNames } = fitOptionNames;

const methodOptionNames = {
  ...comparedOptionNames,
  eta: true,
  seeds: true,
  beta: true,
  settle: true,
  rho: true,
  exchanges: true,
  coresetSize: true,
  backboneSize: true,
  counts: true,
  epsilon: true,
  bounds: true,
  localCentroids: true,
  localIterations: true,
  join: true,
} satisfies OptionNames<MethodOptions> & Record<string, true>;

export function checkMethodOptionNames(options: unknown, needs: string): void {
  checkOptions(options, methodOptionNames, needs);
}

/** The names of a method's options, and k, which all of them need. */
export function checkMethodOptions(options: CommonOptions): void {
  checkMethodOptionNames(options, "k");
  checkInteger("k", options.k, 1);
}

/** Of an update, a method with rounds of its own needs the kernel and the tolerance; its rounds are judged by the rest. */
export function roundsSettings({ alpha = 0, coupling, tol, kernel }: RoundsMethodOptions): UpdateSettings {
  return updateSettings({ alpha, coupling, tol, kernel });
}

/** By what a method's result is judged. Checked here: a wrong one is refused before the work, not after it. */
export function methodJudging({ alpha = 0, coupling, weighting }: CommonOptions): ObjectiveSettings {
  return objectiveSettings({ alpha, coupling, weighting });
}

/** Where a method without rounds came to, and what it took. */
interface Reached {
  readonly centroids: readonly Matrix[];
  readonly traffic: Traffic;
  readonly collector?: Traffic;
  /** Where they are not those of the nearest centroids. */
  readonly labels?: readonly Uint32Array[];
}

/** The model of a method without rounds: its centroids, judged by the same objective as the others. */
export function methodModel(
  datasets: readonly Matrix[],
  graph: Graph,
  judged: ObjectiveSettings,
  reached: Reached,
): MethodModel {
  const { centroids, traffic, collector, labels } = reached;
  const { objective, totalVariation, inertia } = objectiveOf(datasets, centroids, graph, judged);
  const history = [{ round: 0, objective, totalVariation, largestMove: 0, ...traffic }];
  const numbers = { centroids, objective, inertia, rounds: 0, converged: true, ...traffic, history };
  return labellingModel(
    collector === undefined ? numbers : { ...numbers, collector },
    datasets,
    labels && (() => labels.map((own) => own.slice())),
  );
}

type MethodFacts = Pick<Method, "travels" | "takes">;

/** What a method that was made takes: it need not be given alpha. */
type MadeOptions = Omit<MethodOptions, "alpha"> & Pick<CommonOptions, "alpha">;

/**
 * A method with rounds. `begin` sees the devices at their start and returns what one round does to them; it may keep
 * state of its own in between. Rounds end with `rounds`, or when one says that it converged.
 * @example
 * const starts = methodOfRounds(() => () => ({ largestMove: 0, converged: true }));
 * starts([matrix([[1], [3]])], path(1), { k: 1 }).centroids.map(toRows) // [[[2]]]
 */
export function methodOfRounds<Further = unknown>(
  begin: (network: NetworkState, options: MethodOptions & Further) => () => RoundResult,
  about: MethodFacts = {},
): Method<MadeOptions & Further> {
  checkFunction("begin", begin, "a function of a network and options");
  const method = (datasets: readonly Matrix[], graph: Graph, given: MadeOptions & Further) => {
    const options = checkedOptions(given);
    const { rounds = defaults.rounds, signal } = options;
    checkNetwork(datasets, graph);
    const network = createNetwork(datasets, graph, options, updateSettings(options));
    const advance = begin(network, options);
    return drainRounds(runRounds(network, advance, { most: rounds, signal, isWatched: false }));
  };
  return Object.assign(method, about);
}

/**
 * A method that answers at once: every device's centroids, and what it took to find them.
 * @example
 * const traffic = { messages: 0, bytes: 0 };
 * const fixed = methodOfAnswer((datasets) => ({ centroids: datasets.map(() => matrix([[2]])), traffic }));
 * fixed([matrix([[1], [3]])], path(1), { k: 1 }).inertia // 2
 */
export function methodOfAnswer<Further = unknown>(
  answer: (
    datasets: readonly Matrix[],
    graph: Graph,
    options: MethodOptions & Further,
  ) => { readonly centroids: readonly Matrix[]; readonly traffic: Traffic },
  about: MethodFacts = {},
): Method<MadeOptions & Further> {
  checkFunction("answer", answer, "a function of datasets, a graph and options");
  const method = (datasets: readonly Matrix[], graph: Graph, given: MadeOptions & Further) => {
    const options = checkedOptions(given);
    checkNetwork(datasets, graph);
    return methodModel(datasets, graph, methodJudging(options), answer(datasets, graph, options));
  };
  return Object.assign(method, about);
}

/** A method from outside may have further options, so none is unknown. */
function checkedOptions<Options extends MadeOptions>(options: Options): Options & { readonly alpha: number } {
  checkIsOptions(options, "k");
  checkInteger("k", options.k, 1);
  return { ...options, alpha: options.alpha ?? 0 };
}

export const seedOrders = ["local", "shared", "aligned"] as const;

/**
 * One common order of the clusters, which methods that average cluster by cluster need before they start. shared: everyone
 * starts from the lowest device of its component. aligned: breadth-first, each device takes the order of its parent.
 * @example
 * methodOfRounds((network) => {
 *   orderMethodSeeds(network, "shared");
 *   return () => ({ largestMove: 0, converged: true });
 * })([matrix([[1], [3]])], path(1), { k: 1 }).rounds // 1
 */
export function orderMethodSeeds(state: NetworkState, seeds: (typeof seedOrders)[number]): void {
  const { k, sets } = state;
  const { data, cols } = sets;
  const length = k * cols;
  const matches = emptyMatches(k);
  if (seeds === "local") return;
  let root = 0;
  const { order, parents, hops } = breadthFirst(state.graph);
  for (const device of order) {
    if (hops[device] === 0) root = device;
    if (seeds === "shared") data.copyWithin(device * length, root * length, (root + 1) * length);
    else if (hops[device] > 0) {
      match("transport", data, parents[device] * k, k, data, device * k, k, cols, matches);
      const own = data.slice(device * length, (device + 1) * length);
      for (let c = 0; c < k; c++) {
        const from = matches.toOther[c] * cols;
        data.set(own.subarray(from, from + cols), device * length + c * cols);
      }
    }
    refreshNetworkStatistics(state, device);
  }
}
