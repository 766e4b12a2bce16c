// Many light devices in one process: the same loop on a simulated clock. Time, memory and frames until they agree.

import { fit, paperData, randomStream, smallWorld } from "@fedkm/core";
import { contractOf, simulate } from "@fedkm/device";
import { print } from "../measure.ts";
import { problem } from "./setting.ts";

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
