// What the devices of a study reach on given rows and links, when they are simulated with the loop that devices run.

import {
  complete,
  connectedComponents,
  edges,
  type FitModel,
  type Graph,
  judgingOptions,
  type Matrix,
  type Method,
  type MethodOptions,
  methodOfAnswer,
  totalVariation,
} from "@fedkm/core";
import { approvedStudy, type ChosenStatus, type DescribedStatus } from "../loop/status.ts";
import type { MemoryRows } from "../study/remoteRows.ts";
import { contractOf, contractWith, hasOpenColumns, isOpenStudy, parseStudy, type Study } from "../study/study.ts";
import { studyObjective, studyOfPoints } from "../study/studyOfPoints.ts";
import { type TableRows, tableFeatures } from "../study/tableRows.ts";
import { scaleRows } from "../study/units.ts";
import { type Simulation, simulate } from "./simulate.ts";

/** Devices by name, with the rows that count and their links. */
export interface StudyNetwork {
  readonly names: readonly string[];
  readonly rows: readonly MemoryRows[];
  readonly graph: Graph;
}

type StudyRound = Pick<FitModel["history"][number], "round" | "objective" | "totalVariation" | "messages" | "bytes">;

/** Simulated time after which devices that have not settled are left where they are. */
const LONGEST_MILLISECONDS = 3_600_000;
/** Objectives are written down less and less often: at first an update changes much. */
const FIRST_LOOK_MILLISECONDS = 100;
const LATER_LOOKS = 1.05;
/** Between two looks at whether columns are described. */
const LOOK_MILLISECONDS = 1_000;

/** What the devices of a study reach on these rows and links. Their first k-means are those of devices elsewhere. */
export async function simulateStudy(
  study: Study,
  { names, rows, graph }: StudyNetwork,
  seed: number,
  onLook: (milliseconds: number, objective: number) => void = () => {},
) {
  checkRows(study, { names, rows, graph });
  const contract = await contractOf(study);
  const network = simulate({ study, contract, datasets: rows, graph, seed, kmeansSeed: 0 });
  const scaled = rows.map((own) => scaleRows(study, own));
  const history: StudyRound[] = [];
  let converged = false;
  for (let now = 0; !converged && now < LONGEST_MILLISECONDS; now = network.now()) {
    converged = network.settle(Math.max(FIRST_LOOK_MILLISECONDS, (LATER_LOOKS - 1) * now));
    if (network.centroids().some((own) => own.rows < study.k)) continue;
    const summary = summaryOf(study, network, scaled, graph);
    history.push(summary);
    onLook(network.now(), summary.objective);
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

/** What was found out on the way from an open study to the closed one. */
interface ClosedByDevices {
  readonly closed: Study;
  /** At every device; empty: the study leaves no column open. */
  readonly described: readonly DescribedStatus[];
  /** Undefined: the study says k. */
  readonly chosen: ChosenStatus | undefined;
  readonly generations: number;
  readonly bytes: number;
}

/**
 * What the devices of an open study find out together about rows as they stand in files, if all owners approve; of several
 * k of the first.
 */
export async function simulateQuestions(
  study: Study,
  names: readonly string[],
  rows: readonly TableRows[],
  seed: number,
): Promise<ClosedByDevices> {
  const least = (study.colluders ?? 1) + 2;
  if (rows.length < least)
    throw new RangeError(`devices of a study that leaves questions open must be ${least} or more, got ${rows.length}`);
  let found: ClosedByDevices = { closed: study, described: [], chosen: undefined, generations: 0, bytes: 0 };
  while (isOpenStudy(found.closed)) found = await answerQuestion(found, names, rows, seed);
  return found;
}

/** The next question of the study: its columns, then k. */
async function answerQuestion(
  before: ClosedByDevices,
  names: readonly string[],
  tables: readonly TableRows[],
  seed: number,
): Promise<ClosedByDevices> {
  const { closed: study } = before;
  const isDescribed = !hasOpenColumns(study);
  const datasets = !isDescribed ? tables : tables.map((table) => tableFeatures(study, table));
  const contract = await contractOf(study);
  const network = simulate({ study, contract, datasets, graph: complete(names.length), seed, staggerMilliseconds: 0 });
  const shared = () => names.flatMap((_, i) => network.status(i).shared ?? []);
  const answers = () =>
    shared().map(({ described, chosen }) => described?.studyHash ?? chosen?.candidates[0]?.studyHash);
  network.run(LOOK_MILLISECONDS);
  while (shared().some(({ described, chosen }) => described === null && chosen === null)) {
    const why = shared().flatMap(({ waiting }) => waiting ?? [])[0];
    if (network.now() > LONGEST_MILLISECONDS)
      throw new Error(
        `questions were not answered within a simulated hour${why === undefined ? "" : `: one device ${why}`}`,
      );
    network.run(LOOK_MILLISECONDS);
  }
  const { chosen } = shared()[0];
  for (const [i, hash] of answers().entries()) network.approve(i, hash ?? "");
  if (!network.settle(LONGEST_MILLISECONDS)) throw new Error("all owners approved, and the study was not closed");
  const described = shared().flatMap((one) => one.described ?? []);
  const [{ generation }] = shared();
  const text = approvedStudy(shared()[0]);
  if (text === undefined) throw new Error(`no column can be used: ${described[0].remarks.join("; ")}`);
  return {
    closed: parseStudy(text),
    described: isDescribed ? before.described : described,
    chosen: chosen ?? undefined,
    generations: before.generations + generation,
    bytes: before.bytes + network.bytes,
  };
}

/** What the guards of all devices cost, and what they kept. */
function guardedOf(
  { privacy, minimum }: Study,
  network: Simulation,
  rows: readonly Matrix[],
): Pick<FitModel, "guarded"> {
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

function summaryOf(study: Study, network: Simulation, scaled: readonly Matrix[], graph: Graph): StudyRound {
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

/** Somebody in every part of the network must have rows. */
function checkRows({ k, minimum }: Study, { names, rows, graph }: StudyNetwork): void {
  const parts = connectedComponents(graph);
  const without = names.findIndex((_, i) => rows.every((own, j) => parts[j] !== parts[i] || own.rows === 0));
  if (without < 0) return;
  const rule = `${k * minimum} rows within the study's bounds (k ${k} x minimum ${minimum})`;
  throw new Error(`${names[without]} must have ${rule}, or links that lead to a device that has, got neither`);
}

// Shared clusters as a method among others: the devices of a study made for the points, simulated to their end.

const COLLUDERS = 1;

/**
 * Bounds are those of the points, guarded rows those of `privacy` and `minimum`, private ones those of `epsilon`. Needs
 * two links for each device.
 */
export const sharedMethod: Method = methodOfAnswer(answer, {
  travels: "masked sums",
  takes: { ...judgingOptions, privacy: ["open", "guarded", "private"], minimum: ["number"], epsilon: ["number"] },
});

function answer(datasets: readonly Matrix[], graph: Graph, options: MethodOptions) {
  checkLinks(graph);
  const study = studyFor(datasets, options as SharedOptions);
  const { seed = 0 } = options;
  const contract = contractWith(study, new Uint8Array(16));
  const network = simulate({ study, contract, datasets, graph, seed, staggerMilliseconds: 0 });
  if (!network.settle(LONGEST_MILLISECONDS)) {
    const why = network.status(0).shared?.waiting;
    throw new Error(`devices must settle, and did not within a simulated hour${why == null ? "" : `: one ${why}`}`);
  }
  return { centroids: network.centroids(), traffic: { messages: network.frames, bytes: network.bytes } };
}

type SharedOptions = Omit<MethodOptions, "privacy"> & Partial<Pick<Study, "privacy" | "epsilon">>;

/** Checked like any study, so that what no study may say is refused here as well. */
function studyFor(datasets: readonly Matrix[], options: SharedOptions): Study {
  const { k, privacy = "open", minimum = 10, epsilon } = options;
  const names = Array.from({ length: datasets[0].cols }, (_, column) => `x${column + 1}`);
  const choices = { k, alpha: 0, privacy, minimum: privacy === "guarded" ? minimum : 1 };
  const study = studyOfPoints(datasets, names, { name: "shared", ...choices });
  const common = { ...study, clusters: "shared", colluders: COLLUDERS } as const;
  if (privacy !== "private") return common;
  const rows = datasets.reduce((sum, own) => sum + own.rows, 0) / datasets.length;
  const sizes = { devices: datasets.length, typicalRows: Math.max(1, Math.round(rows)) };
  return parseStudy(JSON.stringify({ ...common, ...sizes, ...(epsilon !== undefined && { epsilon }) }));
}

/** Whether every device has more links than colluders. */
export function canSimulateShared(graph: Graph): boolean {
  return graph.neighbours.every(({ length }) => length > COLLUDERS);
}

function checkLinks(graph: Graph): void {
  if (canSimulateShared(graph)) return;
  const weak = graph.neighbours.findIndex(({ length }) => length <= COLLUDERS);
  const links = Array.from(edges(graph)).filter(([i, j]) => i === weak || j === weak).length;
  throw new RangeError(
    `graph must give every device ${COLLUDERS + 1} links for shared clusters, got ${links} for device ${weak}`,
  );
}
