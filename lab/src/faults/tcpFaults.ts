// Every fault of a network, over real TCP: where the devices end, against where they end without it.

import { setTimeout as pause } from "node:timers/promises";
import { edges, randomStream } from "@fedkm/core";
import { print } from "../measure.ts";
import { type Problem, problem } from "./setting.ts";
import { linkKey, type TcpNetwork, type TcpNetworkOptions, tcpNetwork } from "./tcpNetwork.ts";

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
