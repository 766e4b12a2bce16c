// One trial: runs the method of a cell on its problem and measures what came out. Same cell, same row, on any machine.

import {
  adjustedRandIndex,
  type Coupling,
  consensusVariation,
  distortion,
  type FitModel,
  fitRounds,
  type Graph,
  globalCentroidDeviation,
  type LabelledPoints,
  type Matrix,
  type Method,
  type MethodOptions,
  methods,
  normalizedMutualInformation,
  predict,
  type RoundSummary,
  stack,
  stationarityResidual,
} from "@fedkm/core";
import { type RecoveredCluster, recoverClusters } from "@fedkm/core/privacy";
import { cellColumns, measureColumns, type StudyCell, variants } from "../cell.ts";
import { noPlugins, type Plugins, pluggedGraph, pluginMeasures } from "../plugins/plugin.ts";
import type { TableRow } from "../table.ts";
import { type CellProblem, cellProblem, type DeviceGroup } from "./problem.ts";

/**
 * How many clusters of all devices somebody who hears every message recovers: share and mean right to 1e-6. `rounds` are
 * everybody's centroids after each round of a run that visits the devices in order, on a network with all links.
 */
export function countTrialRecoveries(
  datasets: readonly Matrix[],
  rounds: readonly (readonly Matrix[])[],
  alpha: number,
): number {
  let recovered = 0;
  datasets.forEach((points, device) => {
    const exchanges = rounds.slice(1).map((now, t) => ({
      sent: now[device],
      // Who is visited earlier has sent its new centroids by then.
      neighbours: [...now.slice(0, device), ...rounds[t].slice(device + 1)],
    }));
    // Clusters are mostly recovered from the same message, whose labels are computed once.
    const labels = new Map<number, Uint32Array>();
    recoverClusters(exchanges, alpha).forEach((found, cluster) => {
      if (found === undefined) return;
      const own = labels.get(found.message) ?? predict(exchanges[found.message].sent, points);
      labels.set(found.message, own);
      if (isRight(found, points, own, cluster)) recovered++;
    });
  });
  return recovered;
}

function isRight({ share, mean }: RecoveredCluster, points: Matrix, labels: Uint32Array, cluster: number): boolean {
  const sum = new Float64Array(points.cols);
  let count = 0;
  for (let r = 0; r < points.rows; r++) {
    if (labels[r] !== cluster) continue;
    count++;
    for (let d = 0; d < points.cols; d++) sum[d] += points.data[r * points.cols + d];
  }
  const near = (a: number, b: number) => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b));
  return near(share, count / points.rows) && mean.every((x, d) => near(x, sum[d] / count));
}

export const runColumns = [...cellColumns, ...measureColumns];

export function cellRow(cell: StudyCell): TableRow<(typeof cellColumns)[number]> {
  const { pointsPerDevice, edgeProbability, graph, rounds, safeguard, ...same } = cell;
  return {
    ...same,
    points_per_device: pointsPerDevice,
    edge_probability: graph ?? edgeProbability,
    safeguard: safeguard ? 1 : 0,
    most_rounds: rounds,
  };
}

export type RunRow = TableRow<(typeof runColumns)[number]>;

/** Cells of one problem, which is made once and forgotten. */
export function trials(cells: readonly StudyCell[], features?: LabelledPoints, plugins: Plugins = noPlugins): RunRow[] {
  const problem = cellProblem(cells[0], features, plugins);
  try {
    return cells.map((cell) => trial(cell, problem, plugins));
  } finally {
    problem.release();
  }
}

function trial(cell: StudyCell, problem: CellProblem, plugins: Plugins): RunRow {
  const graph = pluggedGraph(cell, plugins) ?? problem.graph(cell.edgeProbability);
  const overheard: (readonly Matrix[])[] = [];
  const method = { ...methods, ...plugins.methods }[isVariant(cell.method) ? variants[cell.method] : cell.method];
  const model = run(cell, problem, graph, method, overheard);
  const { centroids, objective, rounds, converged, messages, bytes, history } = model;
  const isLinked = cell.edgeProbability !== null || cell.network === "geometric";
  return {
    ...cellRow(cell),
    ...deviations(problem, centroids),
    cv: isLinked ? consensusVariation(centroids, graph) : null,
    // The follow-up's form of both; the paper's figures have the nearest one.
    gcd_aligned: cell.study === "figures" ? null : alignedDeviation(problem, centroids),
    cv_aligned: isLinked && cell.study !== "figures" ? consensusVariation(centroids, graph, "transport") : null,
    ...scores(cell, problem, centroids),
    objective: cell.alpha === null ? null : objective,
    objective_rises: cell.alpha === null ? null : rises(history).length,
    recovered_clusters:
      overheard.length === 0 ? null : countTrialRecoveries(problem.partition.datasets, overheard, cell.alpha ?? 1),
    rounds,
    converged: converged ? 1 : 0,
    // The start is not counted: a given one has no honest price.
    messages: messages - history[0].messages,
    bytes: bytes - history[0].bytes,
    ...certificate(cell, problem, graph, model),
    own_cost_ratio: ownCostRatio(problem, centroids),
    ...pluginMeasures(plugins, { model, ...problem.partition, graph, reference: problem.groups[0].reference }),
  };
}

function isVariant(method: StudyCell["method"]): method is keyof typeof variants {
  return Object.hasOwn(variants, method);
}

/** Of Algorithm 1, the one method whose objective it is about. */
function certificate({ method, alpha }: StudyCell, { partition, range }: CellProblem, graph: Graph, model: FitModel) {
  if (alpha === null || (method !== "fedkm" && method !== "fedkm-ot")) {
    return { largest_rise: null, relative_residual: null };
  }
  const judged = { alpha, coupling: couplingOf(method) };
  const residual = stationarityResidual(partition.datasets, graph, model.centroids, judged);
  return { largest_rise: Math.max(0, ...rises(model.history)), relative_residual: residual / range };
}

function couplingOf(method: StudyCell["method"]): Coupling {
  return method === "fedkm-ot" ? "transport" : "nearest";
}

/** What the devices' own centroids cost on rows of their own that they have not seen, relative to the pooled ones. */
function ownCostRatio({ partition: { unseen }, groups }: CellProblem, centroids: readonly Matrix[]): number | null {
  if (unseen === undefined) return null;
  const [{ reference }] = groups;
  return (
    distortion(unseen, centroids) /
    distortion(
      unseen,
      unseen.map(() => reference),
    )
  );
}

/** `overheard` is filled with the first rounds' messages where everybody hears everybody. */
function run(
  cell: StudyCell,
  problem: CellProblem,
  graph: Graph,
  method: Method,
  /* OUT */ overheard: (readonly Matrix[])[],
): FitModel {
  const { k, seed, rounds, damping, passes, tol, eta, rho, safeguard, start } = cell;
  const coupling = couplingOf(cell.method);
  const { datasets } = problem.partition;
  const isDistributed = cell.method === "distributed" || cell.method === "distributed-shared";
  const options = {
    k,
    alpha: cell.alpha ?? 1,
    seed,
    rounds,
    coupling,
    safeguard,
    preset: start === "auto" ? "dependable" : "paper",
    ...(start !== null && { init: problem.starts.of(start, graph, cell.alpha, coupling) }),
    // T rounds mean T rounds for every method: this one would stop at 1e-12, far above the rounding it reaches.
    ...(isDistributed && { tol: 0 }),
    ...(cell.method === "distributed-shared" && { seeds: "shared" as const }),
    // Its own k-means is a start of others too.
    ...(cell.method === "local" && { init: problem.starts.local(graph) }),
    ...(damping !== null && { damping }),
    ...(passes !== null && { passes }),
    ...(tol !== null && { tol }),
    ...(eta !== null && { eta }),
    ...(rho !== null && { rho }),
    // Listed step by step, all devices at once are run as asked for; by its name, what may rise is refused.
    ...(cell.schedule === "simultaneous" && { schedule: allAtOnce(graph.size, rounds) }),
  } satisfies MethodOptions & { rho?: number };
  if (!isOverheard(cell)) return method(datasets, graph, options);
  const loop = fitRounds(datasets, graph, options);
  for (;;) {
    const step = loop.next();
    if (step.done) return step.value;
    if (step.value.round <= OVERHEARD) overheard.push(step.value.centroids);
  }
}

/** Moves are large enough to divide by in the first rounds. */
const OVERHEARD = 12;

/** With all links a neighbour gets every message; relaxed steps would need another formula. */
function isOverheard({ study, method, edgeProbability, start }: StudyCell): boolean {
  return study === "figures" && method === "fedkm" && edgeProbability === 1 && start !== "auto";
}

function allAtOnce(devices: number, rounds: number): number[][] {
  const everyDevice = Array.from({ length: devices }, (_, i) => i);
  return Array.from({ length: rounds }, () => everyDevice);
}

/** GCD to the pooled solution of each device's group, how many devices are wrong, and what their centroids cost. */
function deviations({ groups }: CellProblem, centroids: readonly Matrix[]) {
  let [deviation, wrong, cost] = [0, 0, 0];
  for (const group of groups) {
    const own = group.devices.map((i) => centroids[i]);
    deviation += (own.length / centroids.length) * globalCentroidDeviation(own, group.reference);
    for (const set of own) {
      const ratio = group.cost(set) / group.referenceCost;
      cost += ratio;
      if (ratio > 1.1 || !isOneToOne(set, group)) wrong++;
    }
  }
  return { gcd: deviation, wrong_devices: wrong, cost_ratio: cost / centroids.length };
}

/** GCD with the Hungarian form of the discrepancy. */
function alignedDeviation({ groups }: CellProblem, centroids: readonly Matrix[]): number {
  return groups.reduce((sum, { devices, reference }) => {
    const own = devices.map((i) => centroids[i]);
    return sum + (own.length / centroids.length) * globalCentroidDeviation(own, reference, "transport");
  }, 0);
}

/** Whether every pooled centroid is the nearest one of exactly one of these. */
function isOneToOne(centroids: Matrix, { reference }: DeviceGroup): boolean {
  return new Set(predict(reference, centroids)).size === reference.rows;
}

/** How well a device's centroids tell everybody's classes apart, and its own points', in the mean over the devices. */
function scores({ study, pointsPerDevice }: StudyCell, { partition }: CellProblem, centroids: readonly Matrix[]) {
  if (pointsPerDevice !== null && study !== "comparison") return { nmi: null, ari: null, nmi_own: null };
  const points = stack(partition.datasets);
  const classes = partition.labels.flatMap((own) => Array.from(own));
  const labels = centroids.map((own) => predict(own, points));
  const mean = (score: (found: Uint32Array) => number) =>
    labels.reduce((sum, found) => sum + score(found), 0) / labels.length;
  return {
    nmi: mean((found) => normalizedMutualInformation(found, classes)),
    ari: mean((found) => adjustedRandIndex(found, classes)),
    nmi_own:
      partition.datasets.reduce(
        (sum, own, i) => sum + normalizedMutualInformation(predict(centroids[i], own), partition.labels[i]),
        0,
      ) / centroids.length,
  };
}

/** By how much rounds raised the objective, where that is more than rounding. */
function rises(history: readonly RoundSummary[]): number[] {
  const found: number[] = [];
  for (let round = 1; round < history.length; round++) {
    const [before, after] = [history[round - 1].objective, history[round].objective];
    if (after > before * (1 + 1e-12)) found.push(after - before);
  }
  return found;
}
