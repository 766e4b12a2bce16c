// Members that join with other data or with lies and then leave: what stays behind of them, on many networks.

import { setTimeout as pause } from "node:timers/promises";
import { fit, graph, matrix, objective, paperData, type Random, randomStream, ring } from "@fedkm/core";
import {
  type Contract,
  contractOf,
  encodeCentroidsFrame,
  type Simulation,
  type SimulationOptions,
  simulate,
  studyOfPoints,
} from "@fedkm/device";
import { linksFileWithout, readLinksFile, writeLinksFile } from "@fedkm/device/daemon";
import { print } from "../measure.ts";
import { type GhostNetwork, ghostNetwork } from "./change.ts";
import { makeFolders, type RunningDevice, settle, startDevice } from "./processes.ts";

const HOUR = 3_600_000;
const HEARTBEAT = 30_000;
/** Seeds this far apart are of no other network. */
const OTHER_MOMENTS = 1_000_000;

interface Scenario {
  readonly name: string;
  readonly ghosts: number;
  readonly isLying?: boolean;
}

const scenarios: readonly Scenario[] = [
  { name: "joins with other data and leaves", ghosts: 1 },
  { name: "lies and leaves", ghosts: 1, isLying: true },
  { name: "three such, one after the other", ghosts: 3 },
];

interface Outcome {
  /** Above a network that never had the ghosts, and above `fit`, in per cent. */
  readonly aboveFresh: number;
  readonly aboveFit: number;
  /** Updates of the busiest device from the leaving until the objective stays within 0.1 %. */
  readonly rounds: number;
  /** Whether it is where one of the networks without ghosts is, and as soon. */
  readonly isThere: boolean;
  readonly isLate: boolean;
  /** Frames in ten quiet minutes beyond heartbeats; infinite: it never settled. */
  readonly restless: number;
}

/**
 * Where one network without ghosts ends, and how soon, is a matter of chance: the same rows and links end 0.2 % apart or
 * need ten times as many rounds if only the devices start at other moments. What a network would be without ghosts is
 * therefore what one of so many is that differ in nothing else.
 */
const FRESH_NETWORKS = 5;

/**
 * Prints a line for each scenario. The bars: 0.1 % of a fresh network everywhere, within 200 rounds or a fifth more
 * than a fresh network needs, and in the end not a frame beyond heartbeats.
 */
export async function ghosts({ first, last }: { first: number; last: number }): Promise<boolean> {
  const rows = [
    [
      "a member",
      "networks",
      `within 0.1 % of one of ${FRESH_NETWORKS} without it`,
      "of the first",
      "worst",
      "of fit",
      "worst",
      "rounds, median",
      "most",
      "above 200",
      "late",
      "restless",
    ],
  ];
  let isGood = true;
  for (const [index, scenario] of scenarios.entries()) {
    const found: Outcome[] = [];
    for (let seed = first + index; seed <= last; seed += scenarios.length) found.push(await haunt(scenario, seed));
    const within = (of: "aboveFresh" | "aboveFit") => found.filter((outcome) => outcome[of] <= 0.1).length;
    const worst = (of: "aboveFresh" | "aboveFit") => Math.max(...found.map((outcome) => outcome[of]));
    const rounds = found.map((outcome) => outcome.rounds).sort((a, b) => a - b);
    const restless = found.filter((outcome) => outcome.restless > 0).length;
    const late = found.filter(({ isLate }) => isLate).length;
    const there = found.filter(({ isThere }) => isThere).length;
    isGood &&= there === found.length && restless === 0 && late === 0;
    rows.push([
      scenario.name,
      String(found.length),
      String(there),
      String(within("aboveFresh")),
      `${worst("aboveFresh").toFixed(3)} %`,
      String(within("aboveFit")),
      `${worst("aboveFit").toFixed(3)} %`,
      String(rounds[Math.floor(rounds.length / 2)]),
      String(rounds.at(-1)),
      String(rounds.filter((count) => count > 200).length),
      String(late),
      String(restless),
    ]);
  }
  print("Ghosts in simulation: 3 to 8 devices, k 2 to 5, alpha 0.1 to 10, ring, path, star and random graphs", rows);
  return isGood;
}

async function haunt({ ghosts: count, isLying = false }: Scenario, seed: number): Promise<Outcome> {
  const given = ghostNetwork(seed, count);
  const { study, datasets, members, links, ghostLinks, all } = given;
  const contract = await contractOf(study);
  const random = randomStream(seed, "haunting");
  const own = datasets.slice(0, members);
  const first = datasets.map((_, i) => (i < members ? links.neighbours[i] : []));
  const absent = ghostLinks.map((_, ghost) => members + ghost);
  const network = simulate({ study, contract, datasets, graph: all, seed, links: first, absent });
  const { k, alpha, coupling, weighting } = study;
  const reached = () => objective(own, network.centroids().slice(0, members), links, { alpha, coupling, weighting });
  const withoutGhosts = (of: number) => fresh({ study, contract, datasets: own, graph: links, seed: of });
  const without = [withoutGhosts(seed)];
  let isSettled = without[0].isSettled && network.settle(HOUR);
  for (const ghost of absent) {
    join(network, given, ghost);
    network.run(500 + 10_000 * random());
    if (isLying) lie(network, given, { ghost, contract, random });
    leave(network, given, { ghost, random });
    if (ghost !== absent.at(-1)) network.run(2_000 * random());
  }
  const since = roundsOf(network, members);
  const rounds = roundsUntil(network, since, () => reached() <= 1.001 * without[0].objective);
  isSettled = network.settle(HOUR) && isSettled;
  const isThere = () => without.some(({ objective }) => reached() <= 1.001 * objective);
  const isLate = () => rounds > Math.max(200, ...without.map((one) => 1.2 * one.rounds));
  while (without.length < FRESH_NETWORKS && (!isThere() || isLate()))
    without.push(withoutGhosts(seed + OTHER_MOMENTS * without.length));
  const best = fit(own, links, { k, alpha, seed: 1, rounds: 5_000 }).objective;
  const above = (reference: number) => 100 * (reached() / reference - 1);
  return {
    aboveFresh: above(without[0].objective),
    aboveFit: above(best),
    rounds,
    isThere: isThere(),
    isLate: isLate(),
    restless: isSettled ? restlessFrames(network, links) : Number.POSITIVE_INFINITY,
  };
}

/** Where a network ends that never had a ghost, and the rounds that it needs from its first start. */
function fresh(options: SimulationOptions): { isSettled: boolean; objective: number; rounds: number } {
  const settling = simulate(options);
  const isSettled = settling.settle(HOUR);
  const objective = settling.objective();
  const again = simulate(options);
  again.run(1_000);
  const since = options.datasets.map(() => 0);
  const rounds = roundsUntil(again, since, () => again.objective() <= 1.001 * objective);
  return { isSettled, objective, rounds };
}

function join(network: Simulation, { members, links, ghostLinks }: GhostNetwork, ghost: number): void {
  const others = ghostLinks[ghost - members];
  network.setLinks(ghost, others);
  for (const i of others) network.setLinks(i, [...links.neighbours[i], ghost]);
  network.restart(ghost);
}

/** Frames at the edge of the bounds: once with sketches of nobody, once with a far higher number, once without a seed. */
function lie(
  network: Simulation,
  { study, members, ghostLinks }: GhostNetwork,
  { ghost, contract, random }: { ghost: number; contract: Contract; random: Random },
): void {
  const word = () => Math.floor(random() * 2 ** 32);
  for (const [sequence, kind] of ["sketches", "number", "no seed"].entries()) {
    const centroids = Float64Array.from({ length: 2 * study.k }, (_, i) => study.features[i % 2].max - random());
    const number = network.status(ghost).opening + (kind === "number" ? 1_000 : 0);
    const tag = { number, table: word(), start: kind === "no seed" ? 0 : word() };
    const sketches = Array.from({ length: 3 }, () => ({
      origin: word(),
      version: 2 ** 50,
      shares: new Uint8Array(study.k).fill(255),
      centroids,
    }));
    const present = new Array<boolean>(study.k).fill(true);
    const frame = encodeCentroidsFrame(contract, { epoch: 2 ** 40, sequence }, { tag, centroids, present, sketches });
    for (const i of ghostLinks[ghost - members]) network.forge(ghost, i, frame);
    network.run(1_000);
  }
}

/** It is gone, and its neighbours unlink it, at once or later, one after the other. */
function leave(
  network: Simulation,
  { members, links, ghostLinks }: GhostNetwork,
  { ghost, random }: { ghost: number; random: Random },
): void {
  network.crash(ghost);
  if (random() < 0.5) network.run(20_000 * random());
  for (const [n, i] of ghostLinks[ghost - members].entries()) {
    if (n > 0 && random() < 0.5) network.run(3_000 * random());
    network.setLinks(i, Array.from(links.neighbours[i]));
  }
}

function roundsOf(network: Simulation, members: number): number[] {
  return Array.from({ length: members }, (_, i) => network.status(i).round);
}

function roundsUntil(network: Simulation, since: readonly number[], isThere: () => boolean): number {
  let most = 0;
  // Devices wait a moment before they begin again: what is right at first may still have to change.
  for (let look = 0; look < 3_000 && (look < 30 || !isThere()); look++) {
    if (!isThere()) most = Math.max(...roundsOf(network, since.length).map((round, i) => round - since[i]));
    network.run(100);
  }
  return most;
}

/**
 * Differences below the threshold even out with heartbeats, in strongly coupled networks for hours. Then ten minutes
 * must come with nothing but heartbeats.
 */
function restlessFrames(network: Simulation, { neighbours }: GhostNetwork["links"]): number {
  const ways = neighbours.reduce((sum, others) => sum + others.length, 0);
  let restless = 0;
  for (let hour = 0; hour < 12; hour++) {
    network.run(HOUR);
    const before = network.frames;
    network.run(20 * HEARTBEAT);
    restless = Math.max(0, network.frames - before - 21 * ways);
    if (restless === 0) break;
  }
  return restless;
}

// The same with processes: a fifth device joins four, is killed and unlinked, and the four must be as if it had never been.

const MEMBERS = 4;
const WITHIN_MILLISECONDS = 60_000;

/** Prints a line for each network; the bar is 0.1 % of `fit` without the fifth. */
export async function ghostsAsProcesses({ seeds }: { seeds: readonly number[] }): Promise<boolean> {
  const rows = [["network", "with the fifth, above fit without it", "after it has left", "seconds"]];
  let isGood = true;
  for (const seed of seeds) {
    const { during, after, seconds } = await hauntProcesses(seed);
    isGood &&= after <= 0.1;
    rows.push([`seed ${seed}`, `${during.toFixed(1)} %`, `${after.toFixed(4)} %`, seconds.toFixed(0)]);
  }
  print(
    "Ghosts as processes: four devices in a ring, and a fifth with other data that joins, is killed and unlinked",
    rows,
  );
  return isGood;
}

async function hauntProcesses(seed: number) {
  const { datasets: own } = paperData("iso", MEMBERS, 100, seed);
  const other = matrix(Array.from({ length: 100 }, (_, i) => [24 + (i % 10) / 10, 24 + (i % 7) / 7]));
  const links = ring(MEMBERS);
  const datasets = [...own, other];
  const study = studyOfPoints(datasets, ["x1", "x2"], { name: `ghost ${seed}` });
  const edgesOfRing: [number, number][] = [0, 1, 2, 3].map((i) => [i, (i + 1) % MEMBERS]);
  const folders = await makeFolders({ study, datasets, graph: graph(MEMBERS + 1, [...edgesOfRing, [0, MEMBERS]]) });
  const [first] = folders.devices;
  const joined = await readLinksFile(first.path);
  const before = linksFileWithout(joined, `device-${MEMBERS}`);
  const { k, alpha, coupling, weighting } = study;
  const best = fit(own, links, { k, alpha, seed, rounds: 5_000 }).objective;
  const running: RunningDevice[] = [];
  const above = () => {
    const centroids = running.slice(0, MEMBERS).map((device) => matrix(device.status()?.device.centroids ?? []));
    return 100 * (objective(own, centroids, links, { alpha, coupling, weighting }) / best - 1);
  };
  try {
    await writeLinksFile(first.path, before);
    for (const folder of folders.devices.slice(0, MEMBERS)) running.push(startDevice(folder));
    await settle(running);
    await writeLinksFile(first.path, joined);
    running.push(startDevice(folders.devices[MEMBERS]));
    await running[MEMBERS].said('"connected"');
    await settle(running);
    const during = above();
    await running.pop()?.end("SIGKILL");
    await writeLinksFile(first.path, before);
    const left = performance.now();
    do await pause(500);
    while (above() > 0.1 && performance.now() < left + WITHIN_MILLISECONDS);
    const seconds = (performance.now() - left) / 1_000;
    await settle(running);
    return { during, after: above(), seconds };
  } finally {
    await Promise.all(running.map((device) => device.end("SIGTERM")));
    folders.remove();
  }
}
