// k, links and alpha without pooling: first how many clusters there are, then who has the same, then how strongly to couple these.

import { checkNetwork } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import type { Matrix } from "../data/matrix.ts";
import { checkOptions, type OptionNames } from "../data/optionNames.ts";
import type { Graph } from "../graph/graph.ts";
import { addTraffic } from "../graph/traffic.ts";
import { type AlphaChoice, type ChooseAlphaOptions, chooseAlphaOn, foldOptionNames, type Judge } from "./alpha.ts";
import { chooseGroups, type DeviceGroup } from "./groups.ts";
import { type ChooseKOptions, chooseKOn, chooseKOptionNames, type KChoice } from "./k.ts";
import { type ChoiceCosts, choiceSample, participantsOf } from "./participants.ts";

/** Options of `choose`. */
export interface ChooseOptions extends Omit<ChooseAlphaOptions, "k" | "judge">, Pick<ChooseKOptions, "largestK"> {
  /** Default: "all" where all devices have the same clusters, or some of them each; else "own". */
  judge?: Judge | undefined;
}

const chooseOptionNames: OptionNames<ChooseOptions> = { ...chooseKOptionNames, ...foldOptionNames };

/** How many clusters `chooseClusters` found, and over which links: `fit(datasets, graph, { k: fitted, alpha })`. */
export interface ClusterChoice extends Pick<ChoiceCosts, "messages" | "bytes" | "sampled"> {
  /** Of each device: of all together, or of the groups. */
  readonly k: number;
  /** The k to fit with: see `KChoice`. */
  readonly fitted: number;
  /** The links to fit with: without those between groups. */
  readonly graph: Graph;
  /** Devices whose clusters are not those of the others; one group where all belong together. */
  readonly groups: readonly DeviceGroup[];
  /** How many clusters there are in all, and whether there are any. */
  readonly clusters: KChoice;
}

/** What `choose` found, and how it came to it. */
export interface Choice extends ClusterChoice {
  readonly alpha: number;
  /** How alpha was found, at that k. */
  readonly coupling: AlphaChoice;
}

/**
 * How many clusters there are, and which devices have the same.
 * @example chooseClusters(paperData("iso", 4, 60, 1).datasets, ring(4)).k // 3
 */
export function chooseClusters(datasets: readonly Matrix[], graph: Graph, options: ChooseKOptions = {}): ClusterChoice {
  checkNetwork(datasets, graph);
  checkOptions(options, chooseKOptionNames);
  const { sample, ...others } = options;
  const { datasets: looked, ...sampled } = choiceSample(datasets, options.seed ?? defaults.seed, sample);
  return { ...chooseClustersOn(looked, graph, others).found, ...sampled };
}

function chooseClustersOn(
  datasets: readonly Matrix[],
  graph: Graph,
  options: Omit<ChooseKOptions, "sample">,
): { readonly found: ClusterChoice; readonly isShared: boolean } {
  const clusters = chooseKOn(datasets, graph, options);
  const { found, isShared, ...traffic } = chooseGroups(datasets, graph, clusters, options);
  const members = Array.from(datasets.keys()).filter((i) => !clusters.leftOut.includes(i));
  const choice = {
    k: found?.k ?? clusters.k,
    fitted: found?.k ?? clusters.fitted,
    graph: found?.graph ?? graph,
    groups: found?.groups ?? [{ devices: members, k: clusters.k }],
    clusters,
    ...addTraffic(clusters, traffic),
  };
  return { found: choice, isShared };
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
  const { found, isShared } = chooseClustersOn(looked, graph, { ...coupled, largestK });
  const { fitted } = found;
  // Alone a device divides its rows among clusters of which it may hold some only.
  const judge = coupled.judge ?? (isShared ? "all" : "own");
  participantsOf(looked, graph, fitted + 1, `k, found to be ${fitted}, and one to keep back for alpha`);
  const coupling = chooseAlphaOn(looked, graph, { ...coupled, judge, k: fitted }, found.graph);
  return { ...found, alpha: coupling.alpha, coupling, ...sampled, ...addTraffic(found, coupling) };
}
