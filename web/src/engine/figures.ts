// What the figures of the article show: rows, centres and sums as plain numbers. All of them are computed by core, with the
// updates that devices make, when a figure comes into sight.

import {
  complete,
  discrepancy,
  type Edge,
  fit,
  fitRounds,
  graph,
  kmeans,
  type Matrix,
  matchCentroids,
  matrix,
  normalStream,
  type PenaltyOption,
  paperData,
  path,
  predict,
  randomStream,
  ring,
  toRows,
  updateDevice,
} from "@fedkm/core";
import {
  discreteGaussian,
  type Exchange,
  equationShare,
  equationSum,
  equationsOf,
  varianceAtLeast,
  waitingGroups,
} from "@fedkm/core/privacy";
import {
  muOf,
  nothingKnown,
  partDeviation,
  type ReleaseRules,
  releasedCentroids,
  releaseRounds,
} from "@fedkm/core/release";
import type { Place } from "@fedkm/pictures";
import { defaultSetup, fourClinics, type Setup } from "./setup.ts";
import { playgroundData, story } from "./story.ts";

/** Of each device, of each centre. */
export type Centres = readonly (readonly Place[])[];

const placesOf = (points: Matrix) => toRows(points) as unknown as Place[];
const centresOf = (centroids: readonly Matrix[]): Centres => centroids.map(placesOf);
const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The stops of a slider of alpha: 0, and then equal factors from 0.001 to about 30. */
const ALPHA_STOPS = 41;
function alphaAt(stop: number): number {
  return stop === 0 ? 0 : Number((10 ** (-3 + (4.5 * (stop - 1)) / (ALPHA_STOPS - 2))).toPrecision(2));
}
const alphas = Array.from({ length: ALPHA_STOPS }, (_, stop) => alphaAt(stop));

/** One device and Lloyd's two steps, one by one, until nothing moves. */
function lloyd() {
  const [points] = paperData("var", 1, 75, 20).datasets;
  const rows = placesOf(points);
  const steps: { kind: "join" | "move"; centres: Place[]; labels: number[]; misfit: number }[] = [];
  const add = (kind: "join" | "move", centres: Matrix, labels: readonly number[]) => {
    const at = placesOf(centres);
    const misfit = meanOf(rows.map(([x, y], r) => (x - at[labels[r]][0]) ** 2 + (y - at[labels[r]][1]) ** 2));
    steps.push({ kind, centres: at, labels: [...labels], misfit });
  };
  // The wrong places: all three in the middle, near each other.
  const [x, y] = [0, 1].map((column) => meanOf(rows.map((row) => row[column])));
  let centres = matrix([
    [x - 2, y - 2],
    [x - 1, y + 1],
    [x + 1, y],
  ]);
  const start = placesOf(centres);
  for (let labels: number[] = []; ; ) {
    const joined = Array.from(predict(centres, points));
    if (joined.every((label, r) => label === labels[r])) return { rows, start, steps };
    labels = joined;
    add("join", centres, labels);
    centres = updateDevice(points, centres, [], { alpha: 0, passes: 1 }).centroids;
    add("move", centres, labels);
  }
}

/** Two clinics with one measure and one centre each. */
const pair = (() => {
  const normal = normalStream(randomStream(5, "article", "pair"));
  return [-3, 3].map((middle) => matrix(Array.from({ length: 24 }, () => [middle + 1.4 * normal()])));
})();

/** Where they settle at an alpha; the mean of the rows of each; rows with heights that only keep them apart. */
function spring(alpha: number) {
  const settled = fit(pair, path(2), { k: 1, alpha, tol: 0, rounds: 1000 }).centroids.map(({ data }) => data[0]);
  const rows = pair.map(({ data }) => Array.from(data, (x, r): Place => [x, ((r * 0.618) % 1) - 0.5]));
  return { rows, means: pair.map(({ data }) => meanOf(Array.from(data))), settled };
}

/** Where a clinic goes in one update when its neighbour is here. */
function springUpdate(clinic: number, centres: readonly number[], alpha: number): number {
  const [own, other] = [centres[clinic], centres[1 - clinic]].map((x) => matrix([[x]]));
  return updateDevice(pair[clinic], own, [other], { alpha, passes: 1 }).centroids.data[0];
}

function settled(setup: Setup) {
  const problem = playgroundData(setup);
  const moments = [...story(problem, setup, setup.method)];
  return { problem, moments, last: moments[moments.length - 1] };
}

/** Rows, each with the cluster of the pooled answer that it is nearest to. */
function coloured(datasets: readonly Matrix[], pooled: Matrix) {
  return datasets.map((points) => {
    const labels = predict(pooled, points);
    return placesOf(points).map((at, r) => ({ at, cluster: labels[r] }));
  });
}

/** Four clinics, alone, and round by round together. */
function clinics() {
  const { problem, moments } = settled(fourClinics);
  const alone = settled({ ...fourClinics, method: "local" }).last;
  return {
    rows: coloured(problem.datasets, problem.pooled),
    reference: placesOf(problem.pooled),
    alone: centresOf(alone.centroids),
    rounds: moments.map(({ centroids }) => centresOf(centroids)),
  };
}

/** Four clinics with the same clusters, each a little elsewhere. */
const shifted: Setup = { ...defaultSetup, data: "shifted", devices: 4, points: 45, graph: "ring", seed: 73 };

function alpha() {
  const { problem } = settled({ ...shifted, alpha: 0 });
  const { datasets, pooled } = problem;
  const stops = alphas.map((value) => {
    const { centroids, objective: total, totalVariation: apart } = settled({ ...shifted, alpha: value }).last;
    // In the order of the pooled clusters, so that a centre has its own road.
    const ordered = centroids.map((own) => {
      const at = placesOf(own);
      return Array.from(matchCentroids(pooled, own), (c) => at[c]);
    });
    return { alpha: value, centres: ordered, misfit: total - value * apart, pull: value * apart };
  });
  return { rows: coloured(datasets, pooled), stops };
}

const UPDATES = 12;

/** The sum that all lower together, after every single update: own misfit, and alpha times disagreement. */
function sums(value: number) {
  const { datasets } = playgroundData(shifted);
  const schedule = Array.from({ length: UPDATES }, (_, t) => [t % datasets.length]);
  const steps = fitRounds(datasets, ring(datasets.length), {
    ...{ k: 3, alpha: value, preset: "paper", init: "local", seed: shifted.seed },
    ...{ schedule, rounds: UPDATES, passes: 1, tol: 0 },
  });
  return Array.from(steps, ({ objective: total, totalVariation: apart }) => {
    return { misfit: total - value * apart, pull: value * apart };
  });
}

/** Two communities of three devices with one cluster each; two links lead across. */
const strangers = (() => {
  const normal = normalStream(randomStream(7, "article", "communities"));
  const middles: Place[] = [
    ...([
      [0, 5],
      [2.6, 6],
      [1.6, 3],
    ] as const),
    ...([
      [8.2, 0.4],
      [10.6, -0.8],
      [9.4, -2.8],
    ] as const),
  ];
  const datasets = middles.map(([x, y]) =>
    matrix(Array.from({ length: 20 }, () => [x + 0.6 * normal(), y + 0.6 * normal()])),
  );
  const links: Edge[] = [
    [0, 1],
    [1, 2],
    [0, 2],
    [3, 4],
    [4, 5],
    [3, 5],
    [1, 3],
    [2, 5],
  ];
  return { datasets, links, network: graph(6, links) };
})();

/** Beyond this discrepancy a link lets go: between the widest inside a community, 21, and the shortest across, 110. */
const STRANGE = 40;

function communities() {
  const { datasets, links, network } = strangers;
  const settle = (value: number, penalty: PenaltyOption) => {
    const found = fit(datasets, network, { k: 1, alpha: value, penalty, init: "local", rounds: 500 });
    const scale = found.penalty?.scale ?? Number.POSITIVE_INFINITY;
    const centres = centresOf(found.centroids);
    const middle = (from: number) => [0, 1].map((x) => meanOf([0, 1, 2].map((i) => centres[from + i][0][x])));
    const [a, b] = [middle(0), middle(3)];
    return {
      centres,
      apart: Math.hypot(a[0] - b[0], a[1] - b[1]),
      torn: links.map(([i, j]) => discrepancy(found.centroids[i], found.centroids[j]) >= scale),
    };
  };
  return {
    rows: datasets.map(placesOf),
    links: links.map(([i, j]) => [i, j] as const),
    stops: alphas.map((value) => ({
      alpha: value,
      all: settle(value, "squared"),
      near: settle(value, { name: "truncated", scale: STRANGE }),
    })),
  };
}

/** Five clinics, all linked; the last sends a false square for ever. */
const LIE_STOPS = 21;
const LIAR = 4;
const LARGEST_LIE = 7;
const LIE_ALPHA = 0.1;

function liar() {
  const setup: Setup = { ...defaultSetup, data: "iso", devices: 5, points: 36, graph: "complete", alpha: LIE_ALPHA };
  const { problem, last } = settled(setup);
  const { datasets, pooled } = problem;
  const links = complete(5);
  const honest = last.centroids.map((own) => {
    const at = placesOf(own);
    return matrix(Array.from(matchCentroids(pooled, own), (c) => at[c]));
  });
  const turns = Array.from({ length: 400 * LIAR }, (_, t) => [t % LIAR]);
  const settle = (lie: Matrix, robust: boolean) => {
    const init = [...honest.slice(0, LIAR), lie];
    const options = { k: 3, alpha: LIE_ALPHA, init, preset: "paper", passes: 1, robust } as const;
    const { centroids } = fit(datasets, links, { ...options, schedule: turns, rounds: turns.length });
    const moved = centroids.slice(0, LIAR).map((own, i) => {
      return Math.hypot(own.data[2] - honest[i].data[2], own.data[3] - honest[i].data[3]);
    });
    const others = (i: number) => centroids.filter((_, j) => j !== i);
    const rejected = robust
      ? centroids.slice(0, LIAR).map((own, i) => {
          const update = updateDevice(datasets[i], own, others(i), { alpha: LIE_ALPHA, robust });
          // Of three centres one is a lie: a third of the pull is all of it.
          return Math.min(1, 3 * (update.rejected?.[LIAR - 1] ?? 0));
        })
      : [0];
    return { centres: centresOf(centroids.slice(0, LIAR)), harm: meanOf(moved), leftOut: meanOf(rejected) };
  };
  const towards = [pooled.data[0] - pooled.data[2], pooled.data[1] - pooled.data[3]];
  return {
    rows: coloured(datasets.slice(0, LIAR), pooled).map((own) => own.filter(({ cluster }) => cluster === 1)),
    honest: centresOf(honest),
    stops: Array.from({ length: LIE_STOPS }, (_, stop) => {
      const size = (LARGEST_LIE * stop) / (LIE_STOPS - 1);
      const share = size / Math.hypot(towards[0], towards[1]);
      const lie = Float64Array.from(honest[LIAR].data);
      lie[2] += share * towards[0];
      lie[3] += share * towards[1];
      const sent = { data: lie, rows: 3, cols: 2 };
      return {
        size,
        lie: [lie[2], lie[3]] as Place,
        believed: settle(sent, false),
        gated: settle(sent, true),
      };
    }),
  };
}

/** A clinic, its only neighbour, and patients who come later. */
const MINIMUM = 10;
const PRIVATE_ALPHA = 0.3;
const DELTA = 1e-6;
const MOST_ADMITTED = 12;
const admission = (() => {
  const { datasets } = paperData("iso", 2, 60, 6);
  const normal = normalStream(randomStream(3, "article", "admitted"));
  const rows = placesOf(datasets[0]);
  const centres = kmeans(datasets[0], { k: 3, seed: 1 }).centroids;
  const [x, y] = placesOf(centres)[2];
  const later = Array.from({ length: MOST_ADMITTED }, (): Place => [x + 1.1 * normal(), y + 1.1 * normal()]);
  return { rows, centres, neighbour: datasets[1], later };
})();

/** Shares and means of a clinic's clusters, as its neighbour solves them from what it was sent. */
function workedOut(rows: readonly Place[], privacy: "open" | "guarded") {
  const datasets = [matrix(rows), admission.neighbour];
  const start = fit(datasets, path(2), { k: 3, alpha: 0, seed: 1 }).centroids;
  // In the order of the clusters before anybody was admitted, so that a cluster keeps its number.
  const init = start.map((own) => {
    const at = placesOf(own);
    return matrix(Array.from(matchCentroids(admission.centres, own), (c) => at[c]));
  });
  const rounds = [
    ...fitRounds(datasets, path(2), {
      ...{ k: 3, alpha: PRIVATE_ALPHA, preset: "paper", passes: 1, init, rounds: 6, tol: 0 },
      ...{ privacy, minimum: privacy === "guarded" ? MINIMUM : 1 },
    }),
  ].map(({ centroids }) => centroids);
  const exchanges: Exchange[] = rounds.slice(1).map(([sent], r) => ({ sent, neighbours: [rounds[r][1]] }));
  const messages = exchanges.map((exchange) => equationsOf(exchange, PRIVATE_ALPHA));
  return [0, 1, 2].map((c) => {
    const found = messages.slice(1).flatMap((message, m) => {
      const share = equationShare(messages[m][c], message[c]);
      return share === undefined ? [] : [{ ...share, mean: equationSum(message[c], share.share) }];
    });
    found.sort((a, b) => a.error - b.error);
    if (found.length === 0) return undefined;
    const { share, mean } = found[0];
    return { share, mean: [mean[0] / share, mean[1] / share] as Place };
  });
}

/** The row by which two lists of clusters differ, if the neighbour knows how many rows there are. */
function rowBetween(before: ReturnType<typeof workedOut>, after: ReturnType<typeof workedOut>, rows: number) {
  for (const [c, now] of after.entries()) {
    const then = before[c];
    if (now === undefined || then === undefined) continue;
    const [more, fewer] = [Math.round(now.share * rows), Math.round(then.share * (rows - 1))];
    if (more === fewer + 1) return [0, 1].map((x) => more * now.mean[x] - fewer * then.mean[x]) as unknown as Place;
  }
  return undefined;
}

/** What the neighbour works out after so many patients were admitted one by one, in two modes. */
function reconstruction(admitted: number) {
  const { rows, later, centres } = admission;
  const now = [...rows, ...later.slice(0, admitted)];
  const open = workedOut(now, "open");
  const stolen = later.slice(0, admitted).map((truth, i) => {
    const known = [...rows, ...later.slice(0, i)];
    return {
      truth,
      found: rowBetween(workedOut(known, "open"), workedOut([...known, truth], "open"), known.length + 1),
    };
  });
  // By the rule of guarded devices: rows wait until ten of a part of the plane can come to count together.
  const waiting = matrix(later.slice(0, Math.max(1, admitted)));
  const groups =
    admitted === 0
      ? []
      : waitingGroups(
          matrix(rows),
          { points: waiting, isFresh: new Uint8Array(admitted).fill(1) },
          centres.data,
          MINIMUM,
        );
  const counted = new Set(groups.flat());
  const guardedRows = [...rows, ...later.filter((_, i) => i < admitted && counted.has(i))];
  return {
    rows: now,
    open,
    stolen,
    guarded: workedOut(guardedRows, "guarded"),
    waiting: admitted - counted.size,
    most: MOST_ADMITTED,
  };
}

const RELEASES = 24;

/** What a private clinic would release at this epsilon, drawn anew two dozen times: one release shows one place of each. */
function releases(admitted: number, epsilon: number) {
  const points = matrix([...admission.rows, ...admission.later.slice(0, admitted)]);
  const bounds = { low: new Float64Array(2).fill(-13), high: new Float64Array(2).fill(13) };
  const rules: ReleaseRules = { k: 3, ...bounds, mu: muOf(epsilon, DELTA), seed: 1 };
  return Array.from({ length: RELEASES }, (_, release) => {
    const random = randomStream(release, "article", "noise");
    // The page's noise is seeded, so that a picture can be looked at twice; a device's is not.
    const bytes = (count: number) => new Uint8Array(count).map(() => Math.floor(256 * random()));
    let known = nothingKnown;
    for (const round of releaseRounds(rules)) {
      const totals = round.integers(known, points);
      let at = 0;
      for (const part of round.parts(known)) {
        const noise = discreteGaussian(varianceAtLeast(partDeviation(rules, part) ** 2), bytes);
        for (let i = 0; i < part.length; i++) totals[at++] += Number(noise());
      }
      known = round.learn(known, totals, 1);
    }
    return placesOf(releasedCentroids(rules, known));
  });
}

export const figures = {
  lloyd,
  spring,
  springUpdate,
  clinics,
  alpha,
  sums,
  communities,
  liar,
  reconstruction,
  releases,
};

export type Figures = typeof figures;
