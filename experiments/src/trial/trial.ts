// One trial: runs the method of a cell on its problem and measures what came out. Same cell, same row, on any machine.

import { rowsFromExchanges } from "@fedkm/audit/rows";
import {
  adjustedRandIndex,
  type Coupling,
  consensusVariation,
  distortion,
  type FitModel,
  fitRounds,
  type Graph,
  globalCentroidDeviation,
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
import { cellColumns, cellRow, measureColumns, type StudyCell } from "../cell.ts";
import { noPlugins, type Plugins, pluginMeasures } from "../plugins/plugin.ts";
import type { TableRow } from "../table.ts";
import type { GivenData } from "./datasets.ts";
import { type CellProblem, cellProblem, type DeviceGroup, unbeatenProblem } from "./problem.ts";

/**
 * How many rows of all devices somebody who hears every message can compute. `rounds` are everybody's centroids after
 * each round of a run that visits the devices in order, on a network with all links.
 */
export function countRecoveredRows(
  datasets: readonly Matrix[],
  rounds: readonly (readonly Matrix[])[],
  alpha: number,
): number {
  return datasets.reduce((sum, points, device) => {
    const exchanges = rounds.slice(1).map((now, t) => ({
      sent: now[device],
      // Who is visited earlier has sent its new centroids by then.
      neighbours: [...now.slice(0, device), ...rounds[t].slice(device + 1)],
    }));
    return sum + rowsFromExchanges(exchanges, alpha, points);
  }, 0);
}

export const runColumns = [...cellColumns, ...measureColumns];

export type RunRow = TableRow<(typeof runColumns)[number]>;

/** What a cell's method came to, before it is measured. */
interface Trial {
  readonly cell: StudyCell;
  readonly method: string;
  readonly graph: Graph;
  readonly model: FitModel;
  readonly centroids: readonly Matrix[];
  /** The first rounds' messages where everybody hears everybody. */
  readonly overheard: readonly (readonly Matrix[])[];
}

/** Cells of one problem, which is made once and forgotten. All are measured when all have run, by one reference. */
export function trials(cells: readonly StudyCell[], given: GivenData = {}, plugins: Plugins = noPlugins): RunRow[] {
  const problem = cellProblem(cells[0], given, plugins);
  try {
    const table: { readonly [name: string]: Method } = { ...methods, ...plugins.methods };
    const ran = cells.map((cell): Trial => {
      const graph = problem.graph(cell.graph);
      const overheard: (readonly Matrix[])[] = [];
      const model = run(cell, problem, graph, table[cell.base], overheard);
      return { cell, method: cell.method, graph, model, centroids: model.centroids, overheard };
    });
    const judging = unbeatenProblem(problem, ran);
    return ran.map((own) => trialRow(own, judging, plugins));
  } finally {
    problem.release();
  }
}

function trialRow({ cell, graph, model, centroids, overheard }: Trial, problem: CellProblem, plugins: Plugins): RunRow {
  const { objective, rounds, converged, messages, bytes, history } = model;
  const isLinked = cell.graph !== null;
  const [{ reference }] = problem.groups;
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
    recovered_rows:
      overheard.length === 0 ? null : countRecoveredRows(problem.partition.datasets, overheard, cell.alpha ?? 1),
    rounds,
    converged: converged ? 1 : 0,
    // The start is not counted: a given one has no honest price.
    messages: messages - history[0].messages,
    bytes: bytes - history[0].bytes,
    ...certificate(cell, problem, graph, model),
    own_cost_ratio: ownCostRatio(problem, centroids),
    reference_from: reference.from ?? null,
    ...pluginMeasures(plugins, { model, ...problem.partition, graph, reference: reference.centroids }),
  };
}

/** Of Algorithm 1, the one method whose objective it is about. */
function certificate(cell: StudyCell, { partition, range }: CellProblem, graph: Graph, model: FitModel) {
  const { alpha, base } = cell;
  if (alpha === null || base !== "fedkm") return { largest_rise: null, relative_residual: null };
  const judged = { alpha, coupling: couplingOf(cell) };
  const residual = stationarityResidual(partition.datasets, graph, model.centroids, judged);
  return { largest_rise: Math.max(0, ...rises(model.history)), relative_residual: residual / range };
}

function couplingOf({ options }: StudyCell): Coupling {
  return options.coupling === "transport" ? "transport" : "nearest";
}

/** What the devices' own centroids cost on rows of their own that they have not seen, relative to the pooled ones. */
function ownCostRatio({ partition: { unseen }, groups }: CellProblem, centroids: readonly Matrix[]): number | null {
  if (unseen === undefined) return null;
  const [{ reference }] = groups;
  const pooled = unseen.map(() => reference.centroids);
  return distortion(unseen, centroids) / distortion(unseen, pooled);
}

/** `overheard` is filled with the first rounds' messages where everybody hears everybody. */
function run(
  cell: StudyCell,
  problem: CellProblem,
  graph: Graph,
  method: Method,
  /* OUT */ overheard: (readonly Matrix[])[],
): FitModel {
  const { k, seed, rounds, start, base, options: own } = cell;
  const coupling = couplingOf(cell);
  const { datasets } = problem.partition;
  const { schedule, ...given } = own;
  const options = {
    k,
    alpha: cell.alpha ?? 1,
    seed,
    rounds,
    preset: start === "auto" || start === "federated" ? "dependable" : "paper",
    ...(start !== null && { init: problem.starts.of(start, graph, cell.alpha, coupling) }),
    // T rounds mean T rounds for every method: this one would stop at 1e-12, far above the rounding it reaches.
    ...(base === "distributed" && { tol: 0 }),
    // Its own k-means is a start of others too.
    ...(base === "local" && { init: problem.starts.local(graph) }),
    ...given,
    // Listed step by step, all devices at once are run as asked for; by its name, what may rise is refused.
    ...(schedule !== undefined && {
      schedule: schedule === "simultaneous" ? allAtOnce(graph.size, rounds) : (schedule as "cyclic"),
    }),
  } satisfies MethodOptions;
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
function isOverheard({ study, method, graph, start }: StudyCell): boolean {
  return study === "figures" && method === "fedkm" && graph === "er:1" && start !== "auto";
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
    deviation += (own.length / centroids.length) * globalCentroidDeviation(own, group.reference.centroids);
    for (const set of own) {
      const ratio = group.cost(set) / group.cost(group.reference.centroids);
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
    const share = own.length / centroids.length;
    return sum + share * globalCentroidDeviation(own, reference.centroids, "transport");
  }, 0);
}

/** Whether every pooled centroid is the nearest one of exactly one of these. */
function isOneToOne(centroids: Matrix, { reference: { centroids: pooled } }: DeviceGroup): boolean {
  return new Set(predict(pooled, centroids)).size === pooled.rows;
}

/** How well a device's centroids tell everybody's classes apart, and its own points', in the mean over the devices. */
function scores({ isScored }: StudyCell, { partition }: CellProblem, centroids: readonly Matrix[]) {
  if (!isScored) return { nmi: null, ari: null, nmi_own: null };
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
