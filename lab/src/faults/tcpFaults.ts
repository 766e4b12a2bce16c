// Every fault of a network over real TCP, processes that are killed, clocks that jump, disks that fail: where devices end.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { edges, fit, graph, matrix, objective, type PaperKind, randomStream } from "@fedkm/core";
import { print } from "../measure.ts";
import { tryDurability } from "./durability.ts";
import { makeFolders, type Problem, problem, type RunningDevice, settle, startDevice } from "./processes.ts";
import { linkKey, type TcpNetwork, type TcpNetworkOptions, tcpNetwork } from "./tcpNetwork.ts";

// What a device's store finds after losses of power, flipped bytes and failing writes, on a simulated disk.

/** The bar: nothing lost, nothing unnoticed, no epoch that goes back. */
export async function durability(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-durability-"));
  try {
    const { crashes, flips, failures } = await tryDurability(folder);
    print("The store on a simulated disk", [
      ["what happened", "tried", "found at the next start", "epochs that went back"],
      [
        "power lost after every call of a session",
        `${crashes.states} states of the disk`,
        `${crashes.loadOld} exactly old, ${crashes.loadNew} exactly new, ${crashes.undone} undone`,
        String(crashes.epochsBack),
      ],
      [
        "every byte of every copy flipped, three ways",
        `${flips.tried} flips of ${flips.bytes} bytes`,
        `${flips.detected} detected, ${flips.otherUsed} times the other copy used`,
        String(flips.epochsBack),
      ],
      [
        "disk full at every call, for once and for ever",
        `${failures.tried} failures`,
        `${failures.losses} losses of the old state`,
        String(failures.epochsBack),
      ],
    ]);
    const isWhole = crashes.loadOld + crashes.loadNew === crashes.states && crashes.undone === 0;
    const isNoticed = flips.detected === flips.tried && flips.otherUsed === flips.tried;
    return isWhole && isNoticed && crashes.epochsBack + flips.epochsBack + failures.epochsBack + failures.losses === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Wall clocks that jump by ten years while devices work: nothing may notice.

const TEN_YEARS_MILLISECONDS = 10 * 365.25 * 86_400_000;

export async function clockSteps(): Promise<boolean> {
  const steady = await runTo(() => 0);
  let steps = 0;
  const stepped = await runTo(() => {
    steps += 1;
    return steps % 2 === 0 ? TEN_YEARS_MILLISECONDS : -TEN_YEARS_MILLISECONDS;
  });
  const change = (100 * (stepped.objective - steady.objective)) / steady.objective;
  print("Wall clock stepped by +-10 years, ten devices over TCP", [
    ["steps", "rounds without", "rounds with", "links lost", "objective"],
    [String(steps), String(steady.rounds), String(stepped.rounds), String(stepped.lost), `${change.toFixed(4)} %`],
  ]);
  return stepped.isSettled && stepped.lost === 0 && Math.abs(change) < 0.1;
}

async function runTo(step: () => number) {
  const given = problem("iso", 2);
  const network = await tcpNetwork({ ...given, seed: 2 });
  const realNow = Date.now;
  let offset = 0;
  Date.now = () => realNow() + offset;
  const stepping = setInterval(() => {
    offset = step();
  }, 250);
  try {
    await Promise.all(given.datasets.map((_, i) => network.start(i)));
    const isSettled = await network.settled(60_000);
    const statuses = network.devices.map((device) => device.status());
    const rounds = statuses.reduce((sum, { round }) => sum + round, 0);
    const lost = statuses.flatMap(({ neighbours }) => neighbours).filter(({ isConnected }) => !isConnected).length;
    return { isSettled, rounds, lost, objective: network.objective() };
  } finally {
    clearInterval(stepping);
    Date.now = realNow;
    await network.close();
  }
}

// Ten real processes without a coordinator, against fit; and one process that is killed again and again.

const kinds: readonly PaperKind[] = ["iso", "var", "aniso"];

/** Prints the relative difference of the objective to that of `fit`; the bar is 0.1 %. */
export async function agreement({ seeds }: { seeds: readonly number[] }): Promise<boolean> {
  const rows: string[][] = [["data", ...seeds.map((seed) => `seed ${seed}`)]];
  let isGood = true;
  for (const kind of kinds) {
    const cells: string[] = [];
    for (const seed of seeds) {
      const { difference, seconds } = await agree(kind, seed);
      // Below fit is better than fit: another optimum.
      isGood &&= difference <= 1e-3;
      cells.push(`${(100 * difference).toFixed(4)} % in ${seconds.toFixed(0)} s`);
    }
    rows.push([kind, ...cells]);
  }
  print("Ten processes, staggered starts, G(10, 0.7), alpha 1: objective against fit (cyclic, converged)", rows);
  return isGood;
}

async function agree(kind: PaperKind, seed: number) {
  const given = problem(kind, seed, 0.7);
  const { study, datasets, graph: links } = given;
  const { alpha, coupling, weighting } = study;
  const model = fit(datasets, links, { k: study.k, alpha: study.alpha, schedule: "cyclic", rounds: 5_000, seed });
  const folders = await makeFolders(given);
  const random = randomStream(seed, "stagger");
  const begun = performance.now();
  const running: RunningDevice[] = [];
  try {
    for (const folder of folders.devices) {
      running.push(startDevice(folder));
      await pause(400 * random());
    }
    await settle(running);
    const centroids = running.map((device) => matrix(device.status()?.device.centroids ?? []));
    const reached = objective(datasets, centroids, links, { alpha, coupling, weighting });
    return { difference: (reached - model.objective) / model.objective, seconds: (performance.now() - begun) / 1000 };
  } finally {
    await Promise.all(running.map((device) => device.end("SIGTERM")));
    folders.remove();
  }
}

/** Kills a device that is linked to another one at random instants; counts what the next start finds. */
export async function kills({ times }: { times: number }): Promise<boolean> {
  const { study, datasets } = problem("iso", 1);
  const folders = await makeFolders({ study, datasets: datasets.slice(0, 2), graph: graph(2, [[0, 1]]) });
  const random = randomStream(1, "kills");
  const neighbour = startDevice(folders.devices[0]);
  const found = { corrupt: 0, regressions: 0, failures: 0 };
  const starts: number[] = [];
  const handshakes: number[] = [];
  const relinks: number[] = [];
  let epoch = 0;
  try {
    await neighbour.said("listening");
    for (let n = 0; n < times; n++) {
      const victim = startDevice(folders.devices[1]);
      // Half of them early, while it starts and writes its epoch; half after it is linked.
      if (n % 2 === 0) await pause(1_500 * random());
      else {
        const listening = await victim.said("listening");
        const connected = await victim.said("connected");
        starts.push(listening);
        handshakes.push(connected - listening);
        relinks.push(connected);
        await pause(500 * random());
      }
      const now = victim.status()?.device.epoch;
      await victim.end("SIGKILL");
      if (/damaged/.test(victim.log())) found.corrupt += 1;
      if (/^fedkm:/m.test(victim.log())) found.failures += 1;
      if (now !== undefined && now <= epoch) found.regressions += 1;
      epoch = now ?? epoch;
    }
  } finally {
    await neighbour.end("SIGTERM");
    folders.remove();
  }
  print(`kill -9, ${times} times at random instants`, [
    ["corrupt states", "epoch regressions", "failed starts"],
    [String(found.corrupt), String(found.regressions), String(found.failures)],
  ]);
  print("From a start after a kill, in seconds (the bar is 3)", [
    ["", "median", "p90", "worst"],
    ["start to listening", ...spread(starts)],
    ["listening to linked", ...spread(handshakes)],
    ["start to linked", ...spread(relinks)],
  ]);
  return found.corrupt + found.regressions + found.failures === 0 && Math.max(...relinks) < 3_000;
}

function spread(milliseconds: readonly number[]): string[] {
  const sorted = [...milliseconds].sort((a, b) => a - b);
  return [0.5, 0.9, 1].map((share) => (sorted[Math.floor(share * (sorted.length - 1))] / 1000).toFixed(2));
}

interface Fault {
  readonly name: string;
  readonly options?: Partial<TcpNetworkOptions>;
  /** What happens while the devices work; ends with the fault. */
  readonly happens?: (network: TcpNetwork, problem: Problem) => Promise<void>;
}

const FAULT_MILLISECONDS = 6_000;

const faults: readonly Fault[] = [
  { name: "none" },
  {
    name: "30 % of links down, other ones every second",
    async happens({ proxies }) {
      const random = randomStream(1, "links");
      for (let end = performance.now() + FAULT_MILLISECONDS; performance.now() < end; await pause(1_000)) {
        for (const proxy of proxies.values()) proxy.setDown(random() < 0.3);
      }
      for (const proxy of proxies.values()) proxy.setDown(false);
    },
  },
  {
    name: "two halves apart",
    async happens({ proxies }, { graph }) {
      const across = Array.from(edges(graph)).filter(([i, j]) => i < 5 !== j < 5);
      for (const [i, j] of across) proxies.get(linkKey(i, j))?.setDown(true);
      await pause(FAULT_MILLISECONDS);
      for (const [i, j] of across) proxies.get(linkKey(i, j))?.setDown(false);
    },
  },
  {
    name: "3 of 10 crash, twice",
    async happens({ crash, start }) {
      for (const victims of [
        [0, 3, 6],
        [1, 4, 9],
      ]) {
        await pause(FAULT_MILLISECONDS / 4);
        for (const victim of victims) await crash(victim);
        await pause(FAULT_MILLISECONDS / 4);
        for (const victim of victims) await start(victim);
      }
    },
  },
  { name: "30 % of frames lost, all the time", options: { loss: 0.3 } },
  {
    name: "every frame 20 rounds late, all the time",
    async happens({ proxies }) {
      // A device updates every 10 ms at most.
      for (const proxy of proxies.values()) proxy.latencyMilliseconds = 200;
    },
  },
  { name: "3 devices 10 times slower", options: { paceMilliseconds: (device) => (device < 3 ? 100 : 10) } },
  {
    name: "links of 256 kbit/s, 2 s late",
    async happens({ proxies }) {
      for (const proxy of proxies.values()) {
        proxy.latencyMilliseconds = 2_000;
        proxy.rate = 32_000;
      }
      await pause(FAULT_MILLISECONDS);
      for (const proxy of proxies.values()) {
        proxy.latencyMilliseconds = 0;
        proxy.rate = Number.POSITIVE_INFINITY;
      }
    },
  },
];

/** Prints one line for each fault; the bar is 1 %. */
export async function faultsOverTcp({ seeds }: { seeds: readonly number[] }): Promise<boolean> {
  let isGood = true;
  const rows: string[][] = [["fault", ...seeds.map((seed) => `seed ${seed}`)]];
  const without: number[] = [];
  for (const fault of faults) {
    const cells: string[] = [];
    for (const [index, seed] of seeds.entries()) {
      const { objective, seconds, isSettled } = await runWith(fault, problem("iso", seed), seed);
      if (fault.happens === undefined && fault.options === undefined) without[index] = objective;
      const change = (100 * (objective - without[index])) / without[index];
      isGood &&= Math.abs(change) <= 1;
      cells.push(`${change.toFixed(4)} % in ${seconds.toFixed(0)} s${isSettled ? "" : ", not settled"}`);
    }
    rows.push([fault.name, ...cells]);
  }
  print("Faults over TCP: ten devices, every link through a proxy; objective against the run without faults", rows);
  return isGood;
}

async function runWith({ options = {}, happens }: Fault, given: Problem, seed: number) {
  const begun = performance.now();
  const network = await tcpNetwork({ ...given, seed, ...options });
  try {
    await Promise.all(given.datasets.map((_, i) => network.start(i)));
    await happens?.(network, given);
    const isSettled = await network.settled(60_000);
    return { objective: network.objective(), seconds: (performance.now() - begun) / 1000, isSettled };
  } finally {
    await network.close();
  }
}
