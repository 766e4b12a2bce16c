// k, links and alpha without pooling: first how many clusters there are, then who has the same, then how strongly to couple these.

import { checkNetwork } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import type { Matrix } from "../data/matrix.ts";
import { checkOptions, type OptionNames } from "../data/optionNames.ts";
import type { Graph } from "../graph/graph.ts";
import { addTraffic } from "../graph/traffic.ts";
import { type AlphaChoice, type ChooseAlphaOptions, chooseAlphaOn, foldOptionNames } from "./alpha.ts";
import { chooseGroups, type DeviceGroup } from "./groups.ts";
import { type ChooseKOptions, chooseKOn, chooseKOptionNames, type KChoice } from "./k.ts";
import { type ChoiceCosts, choiceSample, participantsOf } from "./participants.ts";

/** Options of `choose`. */
export interface ChooseOptions extends Omit<ChooseAlphaOptions, "k">, Pick<ChooseKOptions, "largestK"> {}

const chooseOptionNames: OptionNames<ChooseOptions> = { ...chooseKOptionNames, ...foldOptionNames };

/** What `choose` found, ready for `fit(datasets, graph, { k: fitted, alpha })`, and how it came to it. */
export interface Choice extends Pick<ChoiceCosts, "messages" | "bytes" | "sampled"> {
  /** Of each device: of all together, or of the groups. */
  readonly k: number;
  /** The k of a fit that finds these clusters: see `KCandidate`. */
  readonly fitted: number;
  readonly alpha: number;
  /** The links to fit with: without those between groups. */
  readonly graph: Graph;
  /** Devices whose clusters are not those of the others; one group where all belong together. */
  readonly groups: readonly DeviceGroup[];
  /** How many clusters there are in all, and whether there are any. */
  readonly clusters: KChoice;
  /** How alpha was found, at that k. */
  readonly coupling: AlphaChoice;
}

/**
 * Both parts of the result say what a device has to send.
 * @example choose(paperData("iso", 4, 60, 1).datasets, ring(4)).k // 3
 */
export function choose(datasets: readonly Matrix[], graph: Graph, options: ChooseOptions = {}): Choice {
  checkNetwork(datasets, graph);
  checkOptions(options, chooseOptionNames);
  const { largestK, sample, ...coupled } = options;
  const { datasets: looked, ...sampled } = choiceSample(datasets, options.seed ?? defaults.seed, sample);
  const clusters = chooseKOn(looked, graph, { ...coupled, largestK });
  const grouping = chooseGroups(looked, graph, clusters, { ...coupled, largestK });
  const { found } = grouping;
  const k = found?.k ?? clusters.k;
  const fitted = found?.k ?? clusters.fitted;
  const { members } = participantsOf(
    ...([looked, graph, fitted + 1] as const),
    `k, found to be ${fitted}, and one to keep back for alpha`,
  );
  const coupling = chooseAlphaOn(looked, graph, { ...coupled, k: fitted }, found?.graph);
  return {
    ...{ k, fitted, alpha: coupling.alpha },
    graph: found?.graph ?? graph,
    groups: found?.groups ?? [{ devices: members, k }],
    ...{ clusters, coupling, ...sampled },
    ...addTraffic(clusters, grouping, coupling),
  };
}
