// How a further method is made, from one of its rounds or from its answer; arguments, starts, history and judgement are the same for all.

import { checkInteger, checkNetwork } from "../check.ts";
import { defaults } from "../defaults.ts";
import { drain, type RoundResult, runRounds, startNetwork } from "../fit.ts";
import type { Graph } from "../graph.ts";
import type { Matrix } from "../matrix.ts";
import type { Network } from "../network.ts";
import { updateSettings } from "../options.ts";
import type { Traffic } from "../traffic.ts";
import { judgedBy, type Method, type MethodOptions, modelWithoutRounds } from "./method.ts";

/**
 * A method with rounds. `begin` sees the devices at their start and returns what one round does to them; it may keep
 * state of its own in between. Rounds end with `rounds`, or when one says that it converged.
 */
export function methodOfRounds(begin: (network: Network, options: MethodOptions) => () => RoundResult): Method {
  return (datasets, graph, options) => {
    const { k, rounds = defaults.rounds, signal } = options;
    checkInteger("k", k, 1);
    checkNetwork(datasets, graph);
    const network = startNetwork(datasets, graph, options, updateSettings(options));
    const advance = begin(network, options);
    return drain(runRounds(network, advance, { most: rounds, signal, isWatched: false }));
  };
}

/** A method that answers at once: every device's centroids, and what it took to find them. */
export function methodOfAnswer(
  answer: (
    datasets: readonly Matrix[],
    graph: Graph,
    options: MethodOptions,
  ) => { readonly centroids: readonly Matrix[]; readonly traffic: Traffic },
): Method {
  return (datasets, graph, options) => {
    checkInteger("k", options.k, 1);
    checkNetwork(datasets, graph);
    return modelWithoutRounds(datasets, graph, judgedBy(options), answer(datasets, graph, options));
  };
}
