// How strongly to couple, without pooling: every device keeps some of its points back, and the alpha whose centroids
// serve these best is taken. Staying alone is among the answers.

import {
  checkArray,
  checkAtLeastZero,
  checkInteger,
  checkNetwork,
  checkNumber,
  checkOneOf,
  checkSeed,
} from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { datasetColumns, type Matrix, takeRows } from "../data/matrix.ts";
import { checkOptions, type OptionNames, type Settled, withoutUndefined } from "../data/optionNames.ts";
import { randomStream, shuffled } from "../data/random.ts";
import { type FitModel, fitOn } from "../fit/fit.ts";
import { type FitOptions, fitOptionNames } from "../fit/fitOptions.ts";
import { type Graph, subgraph } from "../graph/graph.ts";
import { addTraffic, floodTraffic, sumTraffic, type Traffic } from "../graph/traffic.ts";
import { lossOf } from "../kernel/model.ts";
import { type ChoiceCosts, choiceSample, type Participants, participantsOf } from "./participants.ts";

/** Options of `chooseAlpha`: those of `fit`, and how points are kept back. */
export interface ChooseAlphaOptions extends Omit<FitOptions, "alpha" | "init" | "empty" | "k"> {
  /** Clusters. */
  k: number;
  /** Default 0, 0.01, 0.03, 0.1, 0.3, 1, 3, 10. */
  alphas?: readonly number[] | undefined;
  /** The share of its points that a device keeps back in each fold, above 0 and below 1. Default 0.2. */
  holdOut?: number | undefined;
  /** So many times other points are kept back. Default 5: with a fifth each time, every point once. */
  folds?: number | undefined;
  /** Whose points that were kept back judge the centroids of a device. Default "own". */
  judge?: Judge | undefined;
  /** Rows of all devices together that are looked at, at most about this many. Default 20,000. */
  sample?: number | undefined;
}

const { k: _k, alpha: _alpha, init: _init, empty: _empty, ...fitNames } = fitOptionNames;

/** All but k, which `choose` finds itself. */
export const foldOptionNames: OptionNames<Omit<ChooseAlphaOptions, "k">> = {
  alphas: true,
  holdOut: true,
  folds: true,
  judge: true,
  sample: true,
  ...fitNames,
};

/**
 * own: its own; right where devices differ and each wants clusters for itself. all: everybody's; right where devices
 * hold different parts of the same clusters, which each of them should know.
 */
export type Judge = "own" | "all";

/** One alpha of the curve. */
export interface AlphaScore {
  readonly alpha: number;
  /** Squared distance of a point that was kept back to the nearest centroid of a device: the mean over the devices. */
  readonly loss: number;
  /** Of the difference between `loss` and the lowest loss, by how much it varies from fold to fold on the same device. */
  readonly standardError: number;
}

/** What `chooseAlpha` found, and what it cost. */
export interface AlphaChoice extends ChoiceCosts {
  /** The smallest alpha whose loss is within one standard error of the lowest. */
  readonly alpha: number;
  /** Whether that is 0. */
  readonly alone: boolean;
  readonly judge: Judge;
  /** One entry for each alpha, rising. */
  readonly curve: readonly AlphaScore[];
}

const ALPHAS = [0, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];

const REVEALS: Record<Judge, string> = {
  own:
    "for each fold and alpha a device sends its neighbours its centroids, as fit does; then it adds to sums, which its " +
    "parent in a tree sees before they are complete: for each alpha the loss of the points that it kept back, and how " +
    "much the difference of that loss to the best varies",
  all:
    "for each fold and alpha a device sends its neighbours its centroids, as fit does, and floods the last of them with " +
    "its number of points to all; then it adds to sums, which its parent in a tree sees before they are complete: for " +
    "each fold and alpha the mean loss of all these centroids on the points that it kept back, and their number",
};

/**
 * Coupling has to earn its place: where the losses do not tell two alphas apart, the smaller one shares less, needs fewer
 * messages and cannot be led astray by neighbours that are different. Differences are taken device by device, so that
 * devices with hard data do not drown them. `weighting` says whether devices or points count the same.
 * @example chooseAlpha(paperData("iso", 4, 30, 1).datasets, path(4), { k: 3, alphas: [0, 1] }).alpha // 1
 */
export function chooseAlpha(datasets: readonly Matrix[], graph: Graph, options: ChooseAlphaOptions): AlphaChoice {
  checkNetwork(datasets, graph);
  checkOptions(options, { k: true, ...foldOptionNames }, "k");
  const { sample, ...others } = options;
  const { datasets: looked, ...sampled } = choiceSample(datasets, options.seed ?? defaults.seed, sample);
  return { ...chooseAlphaOn(looked, graph, others), ...sampled };
}

/** The same on data that were checked, all of them. `links`: those over which a fit would couple, where these are fewer. */
export function chooseAlphaOn(
  datasets: readonly Matrix[],
  graph: Graph,
  options: Omit<ChooseAlphaOptions, "sample">,
  links = graph,
): AlphaChoice {
  const { alphas = ALPHAS, holdOut = 0.2, folds = 5, judge = "own", ...fitting } = options;
  const { k, seed = defaults.seed, weighting = defaults.weighting } = fitting;
  checkFolding({ k, seed, weighting, alphas, holdOut, folds, judge });
  const participants = participantsOf(datasets, graph, k + 1, "k, and one to keep back");
  const coupled = links === graph ? participants.graph : subgraph(links, participants.members);
  const rising = [...new Set(alphas)].sort((a, b) => a - b);
  const weights = participants.datasets.map(({ rows }) => (weighting === "sample" ? rows : 1));
  const traffic: Traffic[] = [];
  const folded = Array.from({ length: folds }, (_, fold) => {
    const { kept, held } = holdBack(participants.datasets, fold, { k, holdOut, seed });
    const models = alongAlphas(kept, coupled, rising, judge, fitting);
    // Alone there is nothing to send.
    traffic.push(...models.filter((_, a) => rising[a] > 0));
    return models.map(({ centroids }) =>
      judge === "own" ? ownLosses(held, centroids) : allLosses(sharesOf(weights), held, centroids),
    );
  });
  const losses: Losses = rising.map((_, a) => folded[0][a].map((_, unit) => folded.flatMap((own) => own[a][unit])));
  // A device that kept nothing back has no say.
  const shares = judge === "own" ? sharesOf(weights.map((weight, i) => (losses[0][i].length > 0 ? weight : 0))) : [1];
  const curve = scores(rising, losses, shares);
  const lowest = curve.reduce((best, score) => Math.min(best, score.loss), Number.POSITIVE_INFINITY);
  const { alpha } = curve.find(({ loss, standardError }) => loss <= lowest + standardError) as AlphaScore;
  return {
    alpha,
    alone: alpha === 0,
    judge,
    curve,
    leftOut: participants.leftOut,
    ...addTraffic(...traffic, judgingTraffic(participants, rising.length, judge, folds, k)),
    reveals: REVEALS[judge],
  };
}

type Checked = Pick<Settled<ChooseAlphaOptions>, "k" | "seed" | "weighting" | "alphas" | "holdOut" | "folds" | "judge">;

function checkFolding({ k, seed, weighting, alphas, holdOut, folds, judge }: Checked): void {
  checkInteger("k", k, 1);
  checkArray("alphas", alphas, "numbers");
  if (alphas.length === 0) throw new RangeError("alphas needs at least one number");
  for (const [a, alpha] of alphas.entries()) checkAtLeastZero(`alphas[${a}]`, alpha);
  checkNumber("holdOut", holdOut, (share) => share > 0 && share < 1, "a number above 0 and below 1");
  checkInteger("folds", folds, 2);
  checkSeed(seed);
  checkOneOf("weighting", weighting, ["device", "sample"]);
  checkOneOf("judge", judge, ["own", "all"]);
}

/** What every device fits to and what it keeps back in one fold: at least one point, but never one of its last k. */
function holdBack(
  datasets: readonly Matrix[],
  fold: number,
  { k, holdOut, seed }: Pick<Checked, "k" | "holdOut" | "seed">,
) {
  const deals = datasets.map((points, i) => {
    const { rows } = points;
    const size = Math.max(0, Math.min(rows - k, Math.max(1, Math.round(holdOut * rows))));
    const order = shuffled(rows, randomStream(seed, "holdOut", i));
    // The folds follow each other through one order, and begin again at its end.
    const turned = order.map((_, r) => order[(fold * size + r) % rows]);
    return { held: takeRows(points, turned.subarray(0, size)), kept: takeRows(points, turned.subarray(size)) };
  });
  return { held: deals.map(({ held }) => held), kept: deals.map(({ kept }) => kept) };
}

/** Losses need no more digits. */
const TOLERANCE = 1e-6;

/**
 * Models for rising alphas, each from the one before, beginning with everyone's own clusters. Where all points judge,
 * own clusters are a bad beginning: there each alpha begins as `fit` does.
 */
function alongAlphas(
  datasets: readonly Matrix[],
  graph: Graph,
  alphas: readonly number[],
  judge: Judge,
  options: Omit<FitOptions, "alpha" | "init">,
): readonly FitModel[] {
  const models: FitModel[] = [];
  for (const alpha of alphas) {
    const beginning = judge === "own" ? { init: models.at(-1)?.centroids ?? ("local" as const) } : {};
    // The loss of rows decides, not the last digits: sums over the network would double the messages.
    const rough = { tol: TOLERANCE, jointSteps: false };
    models.push(fitOn(datasets, graph, { ...rough, ...withoutUndefined(options), alpha, ...beginning }));
  }
  return models;
}

/** By alpha, device and fold; none of a device that kept nothing back. Where all judge, they are one device. */
type Losses = number[][][];

/** Of each device's centroids on its own points that were kept back: one number, or none without such points. */
function ownLosses(held: readonly Matrix[], centroids: readonly Matrix[]): number[][] {
  return held.map((points, i) => (points.rows > 0 ? [lossOf(points, centroids[i]) / points.rows] : []));
}

/** The mean over everybody's centroids of their loss on everybody's points that were kept back: a sum of one number. */
function allLosses(shares: readonly number[], held: readonly Matrix[], centroids: readonly Matrix[]): number[][] {
  const rows = held.reduce((sum, points) => sum + points.rows, 0);
  const sums = held.map((points) =>
    centroids.reduce((sum, own, i) => (shares[i] > 0 ? sum + shares[i] * lossOf(points, own) : sum), 0),
  );
  return [[sums.reduce((a, b) => a + b) / rows]];
}

function judgingTraffic(
  { datasets, graph }: Participants,
  alphas: number,
  judge: Judge,
  folds: number,
  k: number,
): Traffic {
  if (judge === "own") {
    // Numbers for every alpha and how much the device counts; then, as the best is known, the variances.
    return addTraffic(sumTraffic(graph, alphas + 1), sumTraffic(graph, alphas));
  }
  const numbers = datasets.map(() => k * datasetColumns(datasets) + 1);
  const once = floodTraffic(graph, numbers);
  const times = folds * alphas;
  const flooded = { messages: times * once.messages, bytes: times * once.bytes };
  // For each fold the losses of all alphas, and the number of points.
  return addTraffic(flooded, ...Array.from({ length: folds }, () => sumTraffic(graph, alphas + 1)));
}

function sharesOf(weights: readonly number[]): number[] {
  const total = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / total);
}

function scores(alphas: readonly number[], losses: Losses, shares: readonly number[]): AlphaScore[] {
  const overDevices = (value: (i: number, share: number) => number) =>
    shares.reduce((sum, share, i) => (share > 0 ? sum + value(i, share) : sum), 0);
  const means = losses.map((own) => overDevices((i, share) => share * mean(own[i])));
  const lowest = Math.min(...means);
  const best = losses[means.indexOf(lowest)];
  return alphas.map((alpha, a) => {
    // In units of the lowest loss: squares of losses may be too large for a number.
    const variance = overDevices((i, share) => {
      const differences = losses[a][i].map((loss, fold) => (loss - best[i][fold]) / (lowest > 0 ? lowest : 1));
      return share * share * varianceOfMean(differences);
    });
    return { alpha, loss: means[a], standardError: (lowest > 0 ? lowest : 1) * Math.sqrt(variance) };
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function varianceOfMean(values: readonly number[]): number {
  const middle = mean(values);
  const squares = values.map((value) => (value - middle) * (value - middle));
  return mean(squares) / (values.length - 1);
}
