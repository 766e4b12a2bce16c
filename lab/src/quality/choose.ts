// Do the devices find k and alpha without pooling? True k, no clusters where there are none, an alpha that does no harm.

import {
  chooseAlpha,
  chooseK,
  communities,
  distortion,
  erdosRenyi,
  fit,
  type Graph,
  type Matrix,
  matrix,
  normalStream,
  type PaperKind,
  paperData,
  randomStream,
  ring,
  splitBySizes,
  twoCommunities,
} from "@fedkm/core";
import { print } from "../measure.ts";
import { clusterKinds, dealt, noises } from "./clusterKinds.ts";
import { kinds, median } from "./setting.ts";

const SEEDS = 20;
const KIND_SEEDS = 4;
const SIZES = [4, 6, 10, 20, 40, 60, 100, 130, 230, 400];

const network = (seed: number) => erdosRenyi(10, 0.7, randomStream(seed, "graph"));

function unequal(kind: PaperKind, seed: number): readonly Matrix[] {
  const { datasets, labels } = paperData(kind, 1, 1000, seed);
  return splitBySizes({ points: datasets[0], labels: labels[0] }, SIZES, seed).datasets;
}

/** 100 points for each of ten devices, drawn one by one. */
function drawn(seed: number, point: (even: () => number, normal: () => number) => number[]): readonly Matrix[] {
  const even = randomStream(seed, "quality", "one cluster");
  const normal = normalStream(even);
  return Array.from({ length: 10 }, () => matrix(Array.from({ length: 100 }, () => point(even, normal))));
}

export function kChosen(first: number): void {
  const cases: [string, number, (seed: number) => readonly Matrix[]][] = [
    ...kinds.map((kind): (typeof cases)[number] => [kind, 3, (seed) => paperData(kind, 10, 100, seed).datasets]),
    ...kinds.map((kind): (typeof cases)[number] => [`${kind}, unequal`, 3, (seed) => unequal(kind, seed)]),
    ["one round cluster", 1, (seed) => drawn(seed, (_, normal) => [normal(), normal()])],
    ["one long cluster", 1, (seed) => drawn(seed, (_, normal) => [9 * normal(), normal()])],
    ["evenly spread", 1, (seed) => drawn(seed, (even) => [even(), even()])],
  ];
  const rows = cases.map(([name, k, make]) => {
    const choices = Array.from({ length: SEEDS }, (_, s) =>
      chooseK(make(first + s), network(first + s), { seed: first + s }),
    );
    const right = (by: "k" | "elbow" | "silhouette") => String(choices.filter((choice) => choice[by] === k).length);
    return [
      name,
      String(k),
      right("k"),
      right("elbow"),
      right("silhouette"),
      String(choices.filter(({ agree }) => !agree).length),
      String(median(choices.map(({ messages }) => messages))),
      String(Math.round(median(choices.map(({ bytes }) => bytes)) / 1000)),
    ];
  });
  print(`choose, k: 10 devices, 1,000 points, p = 0.7, no options, how often right of ${SEEDS}`, [
    ["data", "true k", "chosen", "elbow", "silhouette", "disagreement said", "messages", "kB"],
    ...rows,
  ]);
}

/** Kinds of data that others test with, and noises, on a ring of five devices. */
export function kindsChosen(first: number): void {
  const all = [...clusterKinds, ...noises.map(([name, draw]) => [name, 1, draw] as const)];
  const rows = all.map(([name, k, draw]) => {
    const choices = Array.from({ length: KIND_SEEDS }, (_, s) =>
      chooseK(dealt(name, draw, first + s), ring(5), { seed: first + s }),
    );
    const right = (by: "k" | "elbow" | "silhouette") => String(choices.filter((choice) => choice[by] === k).length);
    const wrong = choices.filter((choice) => choice.k !== k).map((choice) => choice.k);
    return [name, String(k), right("k"), wrong.join(" "), right("elbow"), right("silhouette")];
  });
  print(`choose, k: kinds of clusters and of noise, 5 devices, no options, how often right of ${KIND_SEEDS}`, [
    ["data", "true k", "chosen", "else", "elbow", "silhouette"],
    ...rows,
  ]);
}

/** 50 points for each device to choose with, 200 fresh ones to judge by. */
export function alphaChosen(first: number): void {
  const blocks = (between: number) => (seed: number) => communities([5, 5], 0.8, between, randomStream(seed, "graph"));
  const cases: [string, (seed: number) => readonly Matrix[], (seed: number) => Graph][] = [
    ["two communities, p between 0", (seed) => twoCommunities(5, 250, seed).datasets, blocks(0)],
    ["two communities, p between 0.1", (seed) => twoCommunities(5, 250, seed).datasets, blocks(0.1)],
    ...kinds.map((kind): (typeof cases)[number] => [kind, (seed) => paperData(kind, 10, 250, seed).datasets, network]),
  ];
  const rows = cases.map(([name, make, links]) => {
    const results = Array.from({ length: SEEDS }, (_, s) => alphaRun(make(first + s), links(first + s), first + s));
    const worst = Math.max(...results.map(({ ratio }) => ratio));
    return [
      name,
      `${results.filter(({ ratio }) => ratio <= 1.5).length} of ${SEEDS}`,
      worst.toFixed(3),
      Math.max(...results.map(({ strongest }) => strongest)).toFixed(1),
      String(results.filter(({ alone }) => alone).length),
      String(median(results.map(({ alpha }) => alpha))),
      String(median(results.map(({ messages }) => messages))),
    ];
  });
  print(`choose, alpha: 10 devices, 50 points each, loss on fresh points relative to the best alpha, ${SEEDS} seeds`, [
    ["data", "within 1.5", "worst", "worst if alpha were 10", "alone", "median alpha", "messages"],
    ...rows,
  ]);
}

function alphaRun(drawn: readonly Matrix[], links: Graph, seed: number) {
  const part = (from: number, to: number) =>
    drawn.map(({ data, cols }) => ({ data: data.slice(cols * from, cols * to), rows: to - from, cols }));
  const [datasets, fresh] = [part(0, 50), part(50, 250)];
  const { alpha, alone, curve, messages } = chooseAlpha(datasets, links, { k: 3, seed });
  const losses = curve.map((score) =>
    distortion(fresh, fit(datasets, links, { k: 3, alpha: score.alpha, seed }).centroids),
  );
  const best = Math.min(...losses);
  const ratio = losses[curve.findIndex((score) => score.alpha === alpha)] / best;
  return { alpha, alone, messages, ratio, strongest: losses[losses.length - 1] / best };
}
