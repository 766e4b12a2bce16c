// Every fault of a network, simulated on many seeds: where the devices end; and many light devices in one process.

import { edges, fit, type PaperKind, paperData, randomStream, smallWorld } from "@fedkm/core";
import { contractOf, type Simulation, type SimulationOptions, simulate } from "@fedkm/device";
import { print } from "../measure.ts";
import { type Problem, problem } from "./processes.ts";

// Many light devices in one process: the same loop on a simulated clock. Time, memory and frames until they agree.

/** Real links are slower than loopback: frames of 20 to 60 ms, an update every 50 ms. */
const weather = { delayMilliseconds: [20, 60] as const };
const LONGEST_MILLISECONDS = 60_000;

/** Prints a line for each number of devices: what it takes to come within 0.1 % of `fit`, twice with the same events. */
export async function manySimulatedDevices({ sizes }: { sizes: readonly number[] }): Promise<boolean> {
  const rows = [
    ["devices", "links", "simulated", "CPU", "frames", "a device heard", "above fit", "memory", "replayed"],
  ];
  let isGood = true;
  for (const size of sizes) {
    const { datasets } = paperData("iso", size, 20, 1);
    const graph = smallWorld(size, 4, 0.3, randomStream(1, "graph"));
    const study = { ...problem("iso", 1).study, name: "many" };
    const { objective } = fit(datasets, graph, { k: study.k, alpha: study.alpha, seed: 1, rounds: 2_000 });
    const contract = await contractOf(study);
    const options = { study, contract, datasets, graph, seed: 1, weather, paceMilliseconds: () => 50 };
    const run = (until: number) => {
      const network = simulate(options);
      network.run(Math.max(until, 1_500));
      while (until === 0 && network.objective() > 1.001 * objective && network.now() < LONGEST_MILLISECONDS)
        network.run(250);
      return network;
    };
    const begun = process.cpuUsage();
    const network = run(0);
    const { user, system } = process.cpuUsage(begun);
    const above = 100 * (network.objective() / objective - 1);
    const again = size <= 1_000 ? run(network.now()).digest() === network.digest() : undefined;
    isGood &&= above <= 0.1 && again !== false;
    rows.push([
      String(size),
      String(graph.neighbours.reduce((sum, others) => sum + others.length, 0) / 2),
      `${(network.now() / 1000).toFixed(2)} s`,
      `${((user + system) / 1e6).toFixed(1)} s`,
      String(network.frames),
      `${(network.frames / size).toFixed(0)} frames`,
      `${above.toFixed(3)} %`,
      `${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`,
      again === undefined ? "" : again ? "bit for bit" : "DIFFERS",
    ]);
  }
  print("Simulation: devices with 20 points, k = 3, small world of degree 4", rows);
  return isGood;
}

interface Fault {
  readonly name: string;
  readonly options?: Partial<SimulationOptions>;
  /** What happens while the devices work; ends with the fault. */
  readonly happens?: (network: Simulation, problem: Problem) => void;
}

/** Half of the time that devices without a fault take to settle. */
const FAULT_MILLISECONDS = 3_000;

const faults: readonly Fault[] = [
  {
    name: "30 % of links down, other ones every 100 ms",
    happens(network, { graph }) {
      const random = randomStream(1, "links");
      const links = Array.from(edges(graph));
      for (let passed = 0; passed < FAULT_MILLISECONDS; passed += 100) {
        for (const [i, j] of links) network.setCut(i, j, random() < 0.3);
        network.run(100);
      }
      for (const [i, j] of links) network.setCut(i, j, false);
    },
  },
  {
    name: "two halves apart",
    happens(network, { graph }) {
      const across = Array.from(edges(graph)).filter(([i, j]) => i < 5 !== j < 5);
      for (const [i, j] of across) network.setCut(i, j, true);
      network.run(FAULT_MILLISECONDS);
      for (const [i, j] of across) network.setCut(i, j, false);
    },
  },
  {
    name: "two halves apart for an hour, each away for the other",
    happens(network, { graph }) {
      const across = Array.from(edges(graph)).filter(([i, j]) => i < 5 !== j < 5);
      network.run(FAULT_MILLISECONDS);
      for (const [i, j] of across) network.setCut(i, j, true);
      network.run(3_600_000);
      for (const [i, j] of across) network.setCut(i, j, false);
    },
  },
  {
    name: "3 of 10 crashed half of the time",
    happens(network) {
      for (const victims of [
        [0, 3, 6],
        [1, 4, 9],
        [2, 3, 8],
      ]) {
        network.run(FAULT_MILLISECONDS / 2);
        for (const victim of victims) network.crash(victim);
        network.run(FAULT_MILLISECONDS / 2);
        for (const victim of victims) network.restart(victim);
      }
    },
  },
  { name: "30 % of frames lost, all the time", options: { weather: { loss: 0.3 } } },
  { name: "every frame 20 rounds late, all the time", options: { weather: { delayMilliseconds: [200, 200] } } },
  {
    name: "3 devices 10 times slower, the others unevenly",
    options: { paceMilliseconds: (device) => (device < 3 ? 100 : 10 + device) },
  },
];

const STAGGER_MILLISECONDS = 20_000;
const FIRST_STAGGERED_SEED = 101;

const kinds: readonly PaperKind[] = ["iso", "var", "aniso"];

/** Prints a line for each fault; the bars are 0.1 % of `fit` without a fault, and 1 % of that with one. */
export async function faultsInSimulation({ seeds }: { seeds: readonly number[] }): Promise<boolean> {
  const cells = kinds.flatMap((kind) => seeds.map((seed) => ({ seed, given: problem(kind, seed, 0.7) })));
  const fitted = cells.map(({ given: { datasets, graph, study }, seed }) => {
    const { k, alpha } = study;
    return fit(datasets, graph, { k, alpha, seed, rounds: 10_000 }).objective;
  });
  const without: number[] = [];
  for (const { given, seed } of cells) without.push(await objectiveWith({ name: "none" }, given, seed));
  const rows = [
    ["fault", "largest change of the objective"],
    ["none, against fit", largest(without, fitted)],
  ];
  let isGood = changes(without, fitted).every((change) => change <= 0.1);
  for (const fault of faults) {
    const found: number[] = [];
    for (const { given, seed } of cells) found.push(await objectiveWith(fault, given, seed));
    isGood &&= changes(found, without).every((change) => change <= 1);
    rows.push([fault.name, largest(found, without)]);
  }
  print(`Faults in simulation: ten devices, ${kinds.join(", ")}, ${seeds.length} seeds each`, rows);
  return isGood;
}

/** Devices that start long after others have settled, on other networks than above; the bar is 0.1 % of `fit`. */
export async function staggeredStarts({ networks }: { networks: number }): Promise<boolean> {
  const above: number[] = [];
  for (let n = 0; n < networks; n++) {
    const seed = FIRST_STAGGERED_SEED + n;
    const given = problem(kinds[n % kinds.length], seed, 0.7);
    const reached = await objectiveWith(
      { name: "none", options: { staggerMilliseconds: STAGGER_MILLISECONDS } },
      given,
      seed,
    );
    const { k, alpha } = given.study;
    const { objective } = fit(given.datasets, given.graph, { k, alpha, seed, rounds: 10_000 });
    above.push(...changes([reached], [objective]));
  }
  const within = above.filter((percent) => percent <= 0.1).length;
  print(`Starts within ${STAGGER_MILLISECONDS / 1000} s of each other in simulation, ten devices`, [
    ["networks", "within 0.1 % of fit", "worst"],
    [String(networks), String(within), `${Math.max(...above).toFixed(4)} %`],
  ]);
  return within === networks;
}

/** In per cent. Less than the reference is a better end, and no fault. */
function changes(found: readonly number[], reference: readonly number[]): number[] {
  return found.map((value, i) => 100 * (value / reference[i] - 1));
}

function largest(found: readonly number[], reference: readonly number[]): string {
  const all = changes(found, reference);
  return `${Math.max(...all).toFixed(4)} % (smallest ${Math.min(...all).toFixed(4)} %)`;
}

async function objectiveWith({ options = {}, happens }: Fault, given: Problem, seed: number): Promise<number> {
  const contract = await contractOf(given.study);
  const network = simulate({ ...given, contract, seed, ...options });
  happens?.(network, given);
  if (!network.settle(3_600_000)) throw new Error(`devices must settle, seed ${seed} did not within an hour`);
  return network.objective();
}
