// fedkm demo: ten devices as programs that agree over encrypted sockets, beside other methods in this program.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  edges,
  erdosRenyi,
  type Graph,
  type Matrix,
  type Method,
  matrix,
  methods,
  paperData,
  randomStream,
} from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import {
  hasDaemonSettled,
  localNetworkOfPoints,
  prepareLocalNetwork,
  runProcesses,
  type Statuses,
} from "@fedkm/device/daemon";
import { compareMethods, drawComparison, outcomeLines } from "@fedkm/experiments";
import { wrap } from "@fedkm/pictures/terminal";
import { boldOn, type Console, printAnswer } from "../../console.ts";
import { ownProgram } from "../../package.ts";
import { type ProgressLine, withProgress } from "../../progress.ts";
import { stoppable } from "../../stop.ts";
import { writeResultFile } from "../../write.ts";

/** `out` is the picture's file. */
export type DemoFlags = Readonly<{ seed: number; out: string; json?: boolean }>;

const [DEVICES, ROWS, LINK_PROBABILITY, K, ALPHA] = [10, 100, 0.7, 3, 1];
/** Moves below this share of the range are agreement enough to look at; devices go on to 1e-6. */
const AGREED_MOVE = 1e-5;
/** On a very busy machine. */
const WITHIN_MILLISECONDS = 180_000;

export async function runDemoCommand({ seed, out, json }: DemoFlags, io: Console): Promise<void> {
  const { datasets } = paperData("iso", DEVICES, ROWS, seed);
  const graph = erdosRenyi(DEVICES, LINK_PROBABILITY, randomStream(seed, "graph"));
  const outcomes = await withProgress(io, async (progress) => {
    const begun = performance.now();
    const moments = await stoppable((signal) => runDevices(datasets, graph, signal, progress));
    const milliseconds = performance.now() - begun;
    progress.announce("fedkm  other methods on the same rows");
    const { local, fedkm, consensus, distributed, pooled } = methods;
    const table = { devices: replayed(moments), local, fedkm, consensus, distributed, pooled };
    // As many as in fedkm compare, and no fewer than the devices have sent.
    const messages = Math.max(DEVICES * defaults.rounds, moments[moments.length - 1].messages);
    const problem = { datasets, graph, k: K, alpha: ALPHA, seed, messages };
    return compareMethods(problem, table).outcomes.map((outcome) =>
      outcome.method === "devices" ? { ...outcome, milliseconds } : outcome,
    );
  });
  await writeResultFile(out, drawComparison(outcomes, "Ten devices agree by sending centroids to their neighbours"));
  const links = Array.from(edges(graph)).length;
  const problem = { seed, devices: DEVICES, links, rows: DEVICES * ROWS, k: K, alpha: ALPHA };
  printAnswer(io, json, { ...problem, methods: outcomes, picture: out }, () => [
    `${DEVICES} devices with ${ROWS} rows each, ${links} links, k = ${K}, alpha = ${ALPHA}, seed ${seed}`,
    "",
    ...outcomeLines(outcomes, boldOn(io.stdout, io.env)),
    "",
    ...wrap(explanation, 80),
    "",
    `compare more methods: fedkm compare --dataset iso --typical-rows ${ROWS} --seed ${seed}`,
    "run your own devices: fedkm up --help",
    `picture: ${out}`,
  ]);
}

const explanation =
  "devices: ten programs on this machine, linked over TCP, encrypted; all are stopped again. They run the update of " +
  "fedkm whenever they hear from a neighbour, without a coordinator. GCD is the mean squared distance from a device's " +
  "centroids to those of pooled k-means, CV to its neighbours' (0: the same); cost is relative to pooled. pooled moves " +
  "every row to one device; fedkm, consensus and distributed send only centroids and counts; local sends nothing.";

/** What the devices had come to, and sent for it, at one moment. */
type Moment = Readonly<{ centroids: readonly Matrix[]; messages: number; bytes: number }>;

async function runDevices(datasets: readonly Matrix[], graph: Graph, signal: AbortSignal, progress: ProgressLine) {
  const until = performance.now() + WITHIN_MILLISECONDS;
  const base = mkdtempSync(join(tmpdir(), "fedkm-demo-"));
  const moments: Moment[] = [];
  try {
    const data = localNetworkOfPoints(datasets, join(base, "data"), { k: K, alpha: ALPHA });
    const folders = await prepareLocalNetwork({ base, graph, ...data });
    const last = await runProcesses(folders, [...ownProgram, "device", "run", "--state"], signal, (statuses) => {
      if (performance.now() > until) throw new Error("the devices have not agreed within 3 minutes");
      const agreed = statuses.filter((status) => hasDaemonSettled(status, AGREED_MOVE)).length;
      progress.show(`fedkm  ${agreed} of ${statuses.length} devices agree with their neighbours`);
      moments.push(...momentOf(statuses));
      return agreed === statuses.length;
    });
    signal.throwIfAborted();
    return [...moments, ...momentOf(last)];
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** None before every device has centroids. */
function momentOf(statuses: Statuses): Moment[] {
  const centroids = statuses.flatMap((status) => (status?.device.centroids ? [matrix(status.device.centroids)] : []));
  if (centroids.length < statuses.length) return [];
  // What is sent to all neighbours at once is one message, as in the methods beside it.
  const messages = statuses.map((own) =>
    Math.ceil((own?.device.framesSent ?? 0) / Math.max(1, own?.links.length ?? 0)),
  );
  const bytes = statuses.flatMap((status) => status?.links.map(({ sent }) => sent.bytes) ?? []);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, own) => total + own, 0);
  return [{ centroids, messages: sum(messages), bytes: sum(bytes) }];
}

/** The devices' run as a method: a round is one of some moments at which they were looked at. */
function replayed(all: readonly Moment[]): Method {
  const step = Math.ceil(all.length / defaults.rounds);
  const moments = all.filter((_, i) => (all.length - 1 - i) % step === 0);
  const start = { round: 0, objective: 0, totalVariation: 0, largestMove: 0, messages: 0, bytes: 0 };
  // Moments cost nothing, so that the last of them is within every budget.
  const history = [start, { ...start, round: 1 }];
  const unjudged = { objective: 0, inertia: 0, converged: true, history, labels: () => [] };
  return (_datasets, _graph, { rounds = defaults.rounds }) => {
    const round = Math.min(rounds, moments.length - 1);
    return { ...unjudged, ...moments[round], rounds: round };
  };
}
