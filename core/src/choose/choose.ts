// k and alpha without pooling: first how many clusters there are, then how strongly to couple the devices.

import { checkNetwork } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import type { Matrix } from "../data/matrix.ts";
import { checkOptions, type OptionNames } from "../data/optionNames.ts";
import type { Graph } from "../graph/graph.ts";
import { addTraffic } from "../graph/traffic.ts";
import { type AlphaChoice, type ChooseAlphaOptions, chooseAlphaOn, foldOptionNames } from "./alpha.ts";
import { type ChooseKOptions, chooseKOn, chooseKOptionNames, type KChoice } from "./k.ts";
import { type ChoiceCosts, choiceSample, participantsOf } from "./participants.ts";

/** Options of `choose`. */
export interface ChooseOptions extends Omit<ChooseAlphaOptions, "k">, Pick<ChooseKOptions, "largestK"> {}

const chooseOptionNames: OptionNames<ChooseOptions> = { ...chooseKOptionNames, ...foldOptionNames };

/** What `choose` found: k, alpha, and how it came to both. */
export interface Choice extends Pick<ChoiceCosts, "messages" | "bytes" | "sampled"> {
  readonly k: number;
  /** The k of a fit that finds these clusters: see `KCandidate`. */
  readonly fitted: number;
  readonly alpha: number;
  /** How k was found, and whether there are clusters at all. */
  readonly clusters: KChoice;
  /** How alpha was found, at that k. */
  readonly coupling: AlphaChoice;
}

/** Both parts of the result say what a device has to send. */
export function choose(datasets: readonly Matrix[], graph: Graph, options: ChooseOptions = {}): Choice {
  checkNetwork(datasets, graph);
  checkOptions(options, chooseOptionNames);
  const { largestK, sample, ...coupled } = options;
  const { datasets: looked, ...sampled } = choiceSample(datasets, options.seed ?? defaults.seed, sample);
  const clusters = chooseKOn(looked, graph, { ...coupled, largestK });
  const { k, fitted } = clusters;
  participantsOf(looked, graph, fitted + 1, `k, found to be ${fitted}, and one to keep back for alpha`);
  const coupling = chooseAlphaOn(looked, graph, { ...coupled, k: fitted });
  return { k, fitted, alpha: coupling.alpha, clusters, coupling, ...sampled, ...addTraffic(clusters, coupling) };
}
