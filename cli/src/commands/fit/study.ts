// fedkm fit --study: the devices of a study, simulated with the loop that devices run; and what a study leaves to say.

import { connectedComponents, edges, type Graph, type Matrix, totalVariation } from "@fedkm/core";
import {
  contractOf,
  parseStudy,
  type Simulation,
  type Study,
  scaleRows,
  simulate,
  studyObjective,
} from "@fedkm/device";
import { readStudyText } from "@fedkm/device/daemon";
import { UsageError } from "../../failure.ts";
import { asArgument } from "../../input/remedies.ts";
import type { RoundModel } from "../../model/model.ts";
import { duration, significant } from "../../numbers.ts";
import type { Progress } from "../../progress.ts";
import type { Found } from "./run.ts";

/** What can be said to fedkm fit as well as by a study, or not at all to devices. */
interface Said {
  readonly k?: number;
  readonly alpha?: number;
  readonly coupling?: string;
  readonly weighting?: string;
  readonly columns?: readonly string[];
  readonly missing?: string;
  readonly scale?: string;
  readonly exclude?: readonly string[];
  readonly [other: string]: unknown;
}

/** Devices have one way to run. */
const notForDevices = ["method", "preset", "init", "schedule", "rounds", "penalty", "tolerance", "categories"];

/** The options that the study of a file stands for. */
export function optionsOfStudy(file: string, said: Said) {
  const study = parseStudy(readStudyText(file));
  checkSaid(study, file, said);
  const { k, alpha, coupling, weighting, features } = study;
  return { study, k, alpha, coupling, weighting, columns: features.map(({ name }) => name) };
}

/** What was said besides the study must not contradict it. */
function checkSaid(study: Study, file: string, said: Said): void {
  const columns = asArgument(study.features.map(({ name }) => name));
  for (const name of ["k", "alpha", "coupling", "weighting"] as const) {
    if (said[name] === undefined || said[name] === study[name]) continue;
    throw new UsageError(`--${name} must be ${study[name]}, as ${file} says, got ${said[name]}`);
  }
  if (said.columns !== undefined && asArgument(said.columns) !== columns)
    throw new UsageError(`--columns must be ${columns}, as ${file} says, got ${asArgument(said.columns)}`);
  if (said.exclude !== undefined)
    throw new UsageError(`--exclude cannot be used with --study: the columns are ${columns}, as ${file} says`);
  if (said.scale !== undefined) {
    const scales = study.features.map(({ name, scale }) => `${name} ${scale}`).join(", ");
    throw new UsageError(`--scale cannot be used with --study: the scales are ${scales}, as ${file} says`);
  }
  if (said.missing !== undefined && said.missing !== "refuse")
    throw new UsageError(`--missing must be refuse with --study, as devices do, got ${said.missing}`);
  const stranger = notForDevices.find((name) => said[name] !== undefined);
  if (stranger !== undefined)
    throw new UsageError(`--${stranger} cannot be used with --study: devices run in one way, see docs/protocol.md`);
}

/** Simulated time after which devices that have not settled are left where they are. */
const LONGEST_MILLISECONDS = 3_600_000;
/** Objectives are written down less and less often: at first an update changes much. */
const FIRST_LOOK_MILLISECONDS = 100;
const LATER_LOOKS = 1.05;

export interface DeviceNetwork {
  readonly names: readonly string[];
  /** In the features' units, rows that count alone. */
  readonly rows: readonly Matrix[];
  readonly graph: Graph;
}

/** What the devices of a study reach on these rows and links. Their first k-means are those of devices elsewhere. */
export async function runDevices(
  study: Study,
  { names, rows, graph }: DeviceNetwork,
  seed: number,
  progress: Progress,
): Promise<Found> {
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
    progress.show(`fedkm  ${duration(network.now())}  objective ${significant(summary.objective, 4)}`);
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
function guardedOf({ privacy, minimum }: Study, network: Simulation, rows: readonly Matrix[]): Pick<Found, "guarded"> {
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
