// What differential privacy costs and whether it holds: how far private networks are from the pooled answer, the noise
// that is drawn against the noise that is paid for, and what an attacker who knows all but one row can tell.

import { randomBytes } from "node:crypto";
import { fit, globalCentroidDeviation, kmeans, type Matrix, type PaperKind, predict, stack } from "@fedkm/core";
import {
  cellSummary,
  discreteGaussian,
  gridFor,
  lossAt,
  reachIn,
  releaseCells,
  releaseResiduals,
  residualSummary,
  rhoOf,
  type Summary,
  summaryKernel,
  summarySize,
  varianceAtLeast,
} from "@fedkm/core/privacy";
import { isHeld, print, progress } from "../measure.ts";
import { median, setting } from "../quality/setting.ts";
import { attackHeld, empiricalEpsilon } from "./distinguish.ts";

const K = 3;
const DELTA = 1e-5;
const BOX = { low: Float64Array.of(-13, -13), high: Float64Array.of(13, 13) };
/** No constant was chosen by networks of these seeds. */
const FIRST_SEED = 8001;

/**
 * Medians of a pilot of the same design, for each epsilon; none was made with this box for the others.
 */
const cells: readonly (readonly [PaperKind, number, readonly number[]])[] = [
  ["iso", 800, [0.009, 0.0018]],
  ["iso", 200, [0.24, 0.064]],
  ["iso", 100, [5, 0.16]],
  ["var", 800, []],
  ["var", 200, []],
];
/** Fewer networks have a median that says little. */
const LEAST_JUDGED = 20;
const EPSILONS = [0.5, 1, 5];
export function privateRows({ seeds, draws, runs }: { seeds: number; draws: number; runs: number }): boolean {
  return [utility(seeds), variances(draws), attack(runs)].every((isGood) => isGood);
}

/** The devices' two releases, and Algorithm 1 on what they gave. */
function utility(seeds: number): boolean {
  const rows = cells.map(([kind, points, pilot]) => {
    const settings = Array.from({ length: seeds }, (_, s) => setting(kind, points, FIRST_SEED + s));
    const local = settings.map(({ datasets, reference }) =>
      globalCentroidDeviation(
        datasets.map((own) => kmeans(own, { k: K }).centroids),
        reference,
      ),
    );
    const found = EPSILONS.map((epsilon) => {
      progress(`private, ${kind}, ${points} rows, epsilon ${epsilon}`);
      return settings.map((at) => globalCentroidDeviation(privateNetwork(at, points, epsilon), at.reference));
    });
    return { kind, points, pilot, local: median(local), found };
  });
  progress("");
  print(
    `Private devices, 10 of them, delta ${DELTA}: GCD, median (worst) of ${seeds} networks; alone is without noise`,
    [
      ["data", "rows", "alone", ...EPSILONS.map((epsilon) => `epsilon ${epsilon}`), "pilot"],
      ...rows.map(({ kind, points, pilot, local, found }) => [
        kind,
        String(points),
        local.toPrecision(2),
        ...found.map((values) => `${median(values).toPrecision(2)} (${Math.max(...values).toPrecision(2)})`),
        pilot.join(", "),
      ]),
    ],
  );
  // Against the pilot from above only: less is better.
  if (seeds < LEAST_JUDGED) return true;
  const missed = rows.flatMap(({ kind, points, pilot, found }) =>
    found.flatMap((values, e) =>
      pilot[e] === undefined || median(values) <= 1.3 * pilot[e]
        ? []
        : [`${kind} ${points} epsilon ${EPSILONS[e]}: ${median(values).toPrecision(2)}`],
    ),
  );
  return isHeld("at most 1.3 times the pilot", missed);
}

function privateNetwork(
  { datasets, network, seed }: ReturnType<typeof setting>,
  points: number,
  epsilon: number,
): readonly Matrix[] {
  const rho = rhoOf(epsilon, DELTA) / 2;
  const grid = gridFor(BOX, points, epsilon);
  const first = datasets.map((own) => cellSummary(releaseCells(own, grid, rho, randomBytes), grid, rho, K));
  const start = seedOf(first, seed);
  if (start === undefined) return datasets.map(() => ({ data: new Float64Array(2 * K), rows: K, cols: 2 }));
  const settled = fitSummaries(
    first,
    network,
    datasets.map(() => start),
  );
  const reach = reachIn(BOX.low, BOX.high);
  const second = datasets.map((own, i) => {
    const at = settled[i];
    return residualSummary(releaseResiduals(own, at, reach, rho, randomBytes), at, reach, lossAt(first[i], at));
  });
  return fitSummaries(second, network, settled);
}

/** As devices find it: every device's own clusters, weighted. */
function seedOf(summaries: readonly Summary[], seed: number): Matrix | undefined {
  const own = summaries
    .filter(({ points }) => points.rows >= K)
    .map(({ points, weights }) => {
      const { centroids } = kmeans(points, { k: K, weights, seed });
      const counts = new Float64Array(K);
      predict(centroids, points).forEach((label, r) => {
        counts[label] += weights[r];
      });
      return { centroids, counts };
    });
  if (own.length === 0) return undefined;
  const weights = own.flatMap(({ counts }) => Array.from(counts));
  return kmeans(stack(own.map(({ centroids }) => centroids)), { k: K, weights, restarts: 20, seed }).centroids;
}

function fitSummaries(
  summaries: readonly Summary[],
  network: ReturnType<typeof setting>["network"],
  init: readonly Matrix[],
): readonly Matrix[] {
  // Every device counts the same: its weights are taken to its number of points.
  const kernels = new Map(
    summaries.map((summary) => {
      const share = Math.max(1, summary.points.rows) / Math.max(1, summarySize(summary));
      const weights = summary.weights.map((weight) => weight * share);
      return [summary.points, summaryKernel({ ...summary, weights, within: summary.within * share })];
    }),
  );
  const kernel = {
    name: "summaries",
    prepare: (points: Matrix) => (kernels.get(points) ?? unknown()).prepare(points),
  };
  const points = summaries.map((summary) => summary.points);
  return fit(points, network, { k: K, alpha: 1, init, kernel, jointSteps: false }).centroids;
}

function unknown(): never {
  throw new Error("points must be those of a summary");
}

function variances(draws: number): boolean {
  const paid = [16.3, 1e6, 3.5e13];
  const found = paid.map((variance) => {
    progress(`${draws} draws of variance ${variance}`);
    const draw = discreteGaussian(varianceAtLeast(variance), randomBytes);
    let squares = 0;
    for (let i = 0; i < draws; i++) squares += Number(draw()) ** 2;
    return squares / draws / variance;
  });
  progress("");
  print(`Noise drawn against noise paid for, ${draws} draws`, [
    ["variance paid", "drawn, as a share of it"],
    ...paid.map((variance, i) => [variance.toExponential(1), found[i].toFixed(4)]),
  ]);
  // 1 % at a million draws; fewer draws scatter more.
  const bar = Math.max(0.01, 4 * Math.sqrt(2 / draws));
  return isHeld(
    `within ${(100 * bar).toFixed(1)} %`,
    found.filter((share) => Math.abs(share - 1) > bar).map((share) => share.toFixed(4)),
  );
}

function attack(runs: number): boolean {
  return attackHeld(`An attacker knows all rows but one, ${runs} releases with it and ${runs} without`, (epsilon) =>
    empiricalEpsilon(epsilon, DELTA, runs),
  );
}
