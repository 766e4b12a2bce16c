// Shared clusters and every fault there is, simulated and as processes: the end must be exact, no pad may be used twice,
// and no centroids may be answered for two sets of devices.

import { setTimeout as pause } from "node:timers/promises";
import { observeBoards } from "@fedkm/audit";
import { type Matrix, matrix, type PaperKind, type Random, randomStream, takeRows } from "@fedkm/core";
import { contractOf, type Simulation } from "@fedkm/device";
import { readLinksFile, writeLinksFile } from "@fedkm/device/daemon";
import { simulatedSecrets } from "@fedkm/device/inspect";
import { makeFolders, type RunningDevice, startDevice } from "../faults/processes.ts";
import { print } from "../measure.ts";
import { judge, network, type SharedProblem, settledAt, sharedProblem } from "./sharedNetwork.ts";
import { answersTwice, padsTwice } from "./usedTwice.ts";

// Ten real processes over TCP with shared clusters: killed, stopped for long and parted. The end is that of all rows
// together, the same bits on each.

/** A device that is stopped for longer is silent for its neighbours, which go on without it. */
const STOPPED_MILLISECONDS = 75_000;
const SETTLE_MILLISECONDS = 240_000;

type Folders = Awaited<ReturnType<typeof makeFolders>>;

interface ProcessScene {
  readonly folders: Folders;
  readonly running: RunningDevice[];
}

const scenes: Record<string, (scene: ProcessScene) => Promise<void>> = {
  "no fault": async () => {},
  async "kill -9 of three, one after the other"({ folders, running }) {
    for (const victim of [2, 5, 8]) {
      await running[victim].end("SIGKILL");
      await pause(500);
      running[victim] = startDevice(folders.devices[victim]);
      await pause(1_500);
    }
  },
  async "SIGSTOP for 75 s"({ running }) {
    running[4].child.kill("SIGSTOP");
    await pause(STOPPED_MILLISECONDS);
    running[4].child.kill("SIGCONT");
  },
  async "two halves apart for 75 s"({ folders }) {
    const before = await Promise.all(folders.devices.map(({ path }) => readLinksFile(path)));
    for (const [i, { path }] of folders.devices.entries()) {
      const side = folders.devices.slice(i < 5 ? 0 : 5, i < 5 ? 5 : 10).map(({ identity }) => identity.peer);
      await writeLinksFile(
        path,
        before[i].filter(({ peer }) => side.includes(peer)),
      );
    }
    await pause(STOPPED_MILLISECONDS);
    for (const [i, { path }] of folders.devices.entries()) await writeLinksFile(path, before[i]);
    await pause(5_000);
  },
};

export async function sharedProcesses({
  names = Object.keys(scenes),
}: {
  names?: readonly string[];
}): Promise<boolean> {
  const given = sharedProblem("iso", 1);
  const folders = await makeFolders(given);
  const running = folders.devices.map((folder) => startDevice(folder));
  const rows = [["fault", "settled after", "devices in the sums", "same bits", "step of pooled k-means"]];
  let isGood = true;
  try {
    await settled(running);
    for (const name of names) {
      await scenes[name]({ folders, running });
      const begun = performance.now();
      const isSettled = await settled(running);
      const answers = running.map((device) => matrix(device.status()?.device.centroids ?? []));
      const { isSame, step } = judge(answers, given.datasets);
      const devices = running.map((device) => device.status()?.device.shared?.devices ?? 0);
      isGood &&= isSettled && isSame && step < 1e-9;
      const seconds = isSettled ? `${((performance.now() - begun) / 1000).toFixed(1)} s` : "never";
      rows.push([name, seconds, String(Math.min(...devices)), isSame ? "yes" : "no", step.toExponential(1)]);
    }
  } finally {
    await Promise.all(running.map((device) => device.end("SIGTERM")));
    folders.remove();
  }
  print("Ten processes over TCP, shared clusters", rows);
  return isGood;
}

/** All have settled on sums over all ten, and on the same answer. */
async function settled(running: readonly RunningDevice[]): Promise<boolean> {
  const end = performance.now() + SETTLE_MILLISECONDS;
  while (performance.now() < end) {
    await pause(250);
    const found = running.map((device) => device.status()?.device);
    const isRest = found.every((device) => device?.phase === "settled" && device.shared?.devices === running.length);
    const texts = new Set(found.map((device) => JSON.stringify(device?.centroids)));
    if (isRest && texts.size === 1) return true;
  }
  return false;
}

interface Scene {
  readonly simulated: Simulation;
  readonly given: SharedProblem;
  readonly random: Random;
  /** As they are at the end. */
  readonly datasets: SharedProblem["datasets"][number][];
  /** Who is there at the end. */
  readonly there: Set<number>;
}

const everyone = Array.from({ length: 10 }, (_, i) => i);
/** Longer than the time after which a silent neighbour does not count any more. */
const LONG_MILLISECONDS = 100_000;
const pick = (random: Random) => Math.floor(10 * random());
/** Half of the rows of another device: within the study's bounds for sure. */
function otherRows({ random, given }: Scene): Matrix {
  const rows = given.datasets[pick(random)];
  return takeRows(
    rows,
    Array.from({ length: rows.rows / 2 }, (_, r) => r + Math.floor((rows.rows / 2) * random())),
  );
}

const faults: Record<string, (scene: Scene) => void> = {
  "ten kills"({ simulated, random }) {
    for (let n = 0; n < 10; n++) {
      const i = pick(random);
      simulated.run(100 * random());
      simulated.crash(i);
      simulated.run(300 * random());
      simulated.restart(i);
    }
  },
  "all killed"({ simulated, random }) {
    simulated.run(400 * random());
    for (const i of everyone) simulated.crash(i);
    simulated.run(100);
    for (const i of everyone) simulated.restart(i);
  },
  "rows changed while down"(scene) {
    const { simulated, random, datasets } = scene;
    const i = pick(random);
    simulated.run(400 * random());
    simulated.crash(i);
    datasets[i] = otherRows(scene);
    simulated.setRows(i, datasets[i]);
    simulated.run(500 * random());
    simulated.restart(i);
  },
  "rows changed"(scene) {
    const { simulated, random, datasets } = scene;
    for (let n = 0; n < 3; n++) {
      const i = pick(random);
      simulated.run(300 * random());
      datasets[i] = otherRows(scene);
      simulated.setRows(i, datasets[i]);
    }
  },
  "cut for long"({ simulated, given, random }) {
    simulated.run(400 * random());
    const across = (isCut: boolean) => {
      for (const i of everyone)
        for (const j of given.graph.neighbours[i]) if (i < 5 && j >= 5) simulated.setCut(i, j, isCut);
    };
    across(true);
    simulated.run(LONG_MILLISECONDS);
    across(false);
  },
  leave({ simulated, given, random, there }) {
    simulated.run(400 * random());
    const leaver = mayLeave(given, random);
    if (leaver === undefined) return;
    there.delete(leaver);
    simulated.crash(leaver);
    simulated.run(LONG_MILLISECONDS);
  },
  join({ simulated, random }) {
    simulated.run(LONG_MILLISECONDS + 400 * random());
    simulated.restart(9);
  },
  "late by 20 rounds"({ simulated, random }) {
    simulated.weather.delayMilliseconds = [600, 600];
    simulated.run(2_000 * random());
  },
};

/** Somebody without whom all others still have two links. */
function mayLeave({ graph }: SharedProblem, random: Random): number | undefined {
  const first = pick(random);
  const isFree = (i: number) => Array.from(graph.neighbours[i]).every((j) => graph.neighbours[j].length > 2);
  return everyone.map((n) => (first + n) % 10).find(isFree);
}

async function run(name: string, kind: PaperKind, seed: number, isTree: boolean) {
  const plain = sharedProblem(kind, seed);
  const given: SharedProblem = isTree
    ? { ...plain, study: { ...plain.study, sums: "tree", neighbours: "trusted" } }
    : plain;
  const seen = observeBoards(given.study, await contractOf(given.study), simulatedSecrets("observer"));
  const options = { weather: { loss: 0.3 }, ...(name === "join" && { absent: [9] }) };
  const simulated = await network(given, { ...options, onEvent: ({ frame }) => frame.length > 0 && seen.see(frame) });
  const scene = {
    simulated,
    given,
    random: randomStream(seed, name),
    datasets: [...given.datasets],
    there: new Set(everyone),
  };
  faults[name](scene);
  const there = [...scene.there];
  // Parts that have settled apart may not have met yet.
  simulated.run(1_000);
  const at = settledAt(simulated, there, 600_000);
  simulated.settle(120_000);
  const answers = simulated.centroids().filter((_, i) => scene.there.has(i));
  const rows = scene.datasets.filter((_, i) => scene.there.has(i));
  // Over a tree entries are sums of several devices, of which nobody can say whose they are.
  const twice = isTree ? { pads: 0, answers: 0 } : { pads: padsTwice(seen), answers: answersTwice(seen) };
  return { at, ...twice, ...judge(answers, rows) };
}

/** `only`: the names of faults, instead of all. `isTree`: with sums over a tree. */
export async function sharedFaults({
  networks,
  only,
  isTree = false,
}: {
  networks: number;
  only?: readonly string[];
  isTree?: boolean;
}): Promise<boolean> {
  const rows = [["fault", "networks", "settled", "exact, same bits", "pads used twice", "answers twice"]];
  const kinds: readonly PaperKind[] = ["iso", "var", "aniso"];
  let isGood = true;
  const names = only ?? Object.keys(faults);
  for (const [n, name] of names.entries()) {
    const many = Math.ceil((networks - n) / names.length);
    const runs = [];
    for (let i = 0; i < many; i++) runs.push(await run(name, kinds[i % 3], 1 + i, isTree));
    const settled = runs.filter(({ at }) => at !== undefined).length;
    const exact = runs.filter(({ isSame, step }) => isSame && step < 1e-9).length;
    const pads = runs.reduce((sum, one) => sum + one.pads, 0);
    const answers = runs.reduce((sum, one) => sum + one.answers, 0);
    isGood &&= settled === many && exact === many && pads === 0 && answers === 0;
    const twice = isTree ? ["-", "-"] : [String(pads), String(answers)];
    rows.push([name, String(many), String(settled), String(exact), ...twice]);
  }
  print(`Shared clusters${isTree ? " over a tree" : ""} and faults: ten devices, 30 % of frames lost`, rows);
  return isGood;
}
