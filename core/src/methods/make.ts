// How a further method is made, from one of its rounds or from its answer; arguments, starts, history and judgement are the same for all.

import { checkFunction, checkInteger, checkNetwork } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import type { Matrix } from "../data/matrix.ts";
import { checkIsOptions } from "../data/optionNames.ts";
import { drain, type RoundResult, runRounds, startNetwork } from "../fit/fit.ts";
import type { Network } from "../fit/network.ts";
import type { Graph } from "../graph/graph.ts";
import type { Traffic } from "../graph/traffic.ts";
import { updateSettings } from "../update/updateOptions.ts";
import { type CommonOptions, judgedBy, type Method, type MethodOptions, modelWithoutRounds } from "./method.ts";

/** What a method says of itself. */
type MethodFacts = Pick<Method, "travels" | "takes">;

/** What a method that was made takes: it need not be given alpha. */
type MadeOptions = Omit<MethodOptions, "alpha"> & Pick<CommonOptions, "alpha">;

/**
 * A method with rounds. `begin` sees the devices at their start and returns what one round does to them; it may keep
 * state of its own in between. Rounds end with `rounds`, or when one says that it converged.
 */
export function methodOfRounds<Further = unknown>(
  begin: (network: Network, options: MethodOptions & Further) => () => RoundResult,
  about: MethodFacts = {},
): Method<MadeOptions & Further> {
  checkFunction("begin", begin, "a function of a network and options");
  const method = (datasets: readonly Matrix[], graph: Graph, given: MadeOptions & Further) => {
    const options = checkedOptions(given);
    const { rounds = defaults.rounds, signal } = options;
    checkNetwork(datasets, graph);
    const network = startNetwork(datasets, graph, options, updateSettings(options));
    const advance = begin(network, options);
    return drain(runRounds(network, advance, { most: rounds, signal, isWatched: false }));
  };
  return Object.assign(method, about);
}

/** A method that answers at once: every device's centroids, and what it took to find them. */
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
    return modelWithoutRounds(datasets, graph, judgedBy(options), answer(datasets, graph, options));
  };
  return Object.assign(method, about);
}

/** A method from outside may have further options, so none is unknown. */
function checkedOptions<Options extends MadeOptions>(options: Options): Options & { readonly alpha: number } {
  checkIsOptions(options, "k");
  checkInteger("k", options.k, 1);
  return { ...options, alpha: options.alpha ?? 0 };
}
