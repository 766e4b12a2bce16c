// A study as tables need it: which rows its devices use, on which scale, and what they reach when they are simulated with
// the loop that devices run.

import { connectedComponents, edges, type Graph, type Matrix, totalVariation } from "@fedkm/core";
import {
  contractOf,
  rowsThatCount,
  type Simulation,
  type Study,
  scaleRows,
  simulate,
  studyObjective,
  weightScale,
} from "@fedkm/device";
import type { DeviceNetwork, MethodRun, RoundModel, StudyPlan, WorkContext } from "@fedkm/tables";
import { UsageError } from "./failure.ts";

export function studyPlan(study: Study): StudyPlan {
  return {
    study,
    rowsThatCount: (points) => rowsThatCount(study, points),
    scaleRows: (points) => scaleRows(study, points),
    weightScale: (datasets) => weightScale(study, datasets),
    simulate: (network, seed, context) => runDevices(study, network, seed, context),
  };
}

/** Simulated time after which devices that have not settled are left where they are. */
const LONGEST_MILLISECONDS = 3_600_000;
/** Objectives are written down less and less often: at first an update changes much. */
const FIRST_LOOK_MILLISECONDS = 100;
const LATER_LOOKS = 1.05;

/** What the devices of a study reach on these rows and links. Their first k-means are those of devices elsewhere. */
async function runDevices(
  study: Study,
  { names, rows, graph }: DeviceNetwork,
  seed: number,
  { onProgress }: WorkContext,
): Promise<MethodRun> {
  checkLinks(graph, names);
  checkRows(study, { names, rows, graph });
  const contract = await contractOf(study);
  const network = simulate({ study, contract, datasets: rows, graph, seed, kmeansSeed: 0 });
  const scaled = rows.map((own) => scaleRows(study, own));
  const history: RoundModel[] = [];
  let converged = false;
  for (let now = 0; !converged && now < LONGEST_MILLISECONDS; now = network.now()) {
    converged = network.settle(Math.max(FIRST_LOOK_MILLISECONDS, (LATER_LOOKS - 1) * now));
    if (network.centroids().some((own) => own.rows < study.k)) continue;
    const summary = summaryOf(study, network, scaled, graph);
    history.push(summary);
    onProgress?.({ step: "simulate", milliseconds: network.now(), objective: summary.objective });
  }
  const last = history.at(-1);
  if (last === undefined) {
    const why = names.flatMap((name, i) => network.status(i).shared?.waiting?.replace(/^/, `; ${name} `) ?? []);
    throw new Error(`every device must hear of k clusters, got a simulated hour without${why[0] ?? ""}`);
  }
  const { round, objective, messages, bytes } = last;
  const centroids = network.centroids();
  return {
    centroids,
    objective,
    rounds: round,
    converged,
    messages,
    bytes,
    history,
    ...guardedOf(study, network, rows),
  };
}

/** What the guards of all devices cost, and what they kept. */
function guardedOf(
  { privacy, minimum }: Study,
  network: Simulation,
  rows: readonly Matrix[],
): Pick<MethodRun, "guarded"> {
  if (privacy !== "guarded") return {};
  const statuses = rows.map((_, i) => network.status(i));
  const all = rows.reduce((sum, own) => sum + own.rows, 0);
  const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0);
  return {
    guarded: {
      minimum,
      smallestClass: Math.min(all, ...statuses.flatMap(({ guarded }) => guarded?.smallestClass ?? [])),
      rowsHeldBack: sum(statuses.map(({ guarded }) => guarded?.rowsHeldBack ?? 0)),
      rowsLeftOut: sum(statuses.map(({ rowsLeftOut }) => rowsLeftOut)),
    },
  };
}

function summaryOf(study: Study, network: Simulation, scaled: readonly Matrix[], graph: Graph): RoundModel {
  const centroids = network.centroids();
  const rounds = scaled.map((_, i) => network.status(i).round);
  return {
    round: rounds.reduce((most, round) => Math.max(most, round), 0),
    objective: studyObjective(study, scaled, centroids, graph),
    totalVariation: totalVariation(centroids, graph, study.coupling),
    messages: network.frames,
    bytes: network.bytes,
  };
}

/** Links between devices have no weights. */
function checkLinks(graph: Graph, names: readonly string[]): void {
  for (const [i, j, weight] of edges(graph)) {
    if (weight === 1) continue;
    throw new UsageError(`links must have weight 1 with --study, got ${weight} between ${names[i]} and ${names[j]}`);
  }
}

/** Somebody in every part of the network must have rows. */
function checkRows({ k, minimum }: Study, { names, rows, graph }: DeviceNetwork): void {
  const parts = connectedComponents(graph);
  const without = names.findIndex((_, i) => rows.every((own, j) => parts[j] !== parts[i] || own.rows === 0));
  if (without < 0) return;
  const rule = `${k * minimum} rows within the study's bounds (k ${k} x minimum ${minimum})`;
  throw new Error(`${names[without]} must have ${rule}, or links that lead to a device that has, got neither`);
}
