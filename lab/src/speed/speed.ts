// npm run lab -- speed [--quick] [--only PART,...] [--workload NAME,...]: our k-means and Algorithm 1 against peers in the same run, as ratios; how cost and memory
// grow; what the machine could do at most. Nothing here is asserted: gates stand beside what was measured.

import { parseArgs } from "node:util";
import { scratchFolder } from "../measure.ts";
import { checkNames } from "../parts.ts";
import { findPython } from "../python.ts";
import { compareLloyd, compareThreads, type PointsOf, pointsIn } from "./lloyd.ts";
import { growthWithShape, kernelMemory, roofline } from "./machine.ts";
import { manyDevices } from "./manyDevices.ts";
import { garbage, growthWithNetwork, resultMemory, wholeRun } from "./network.ts";
import { playground } from "./playground.ts";
import { sources } from "./sources.ts";
import { workloads } from "./workloads.ts";

interface SpeedRun {
  readonly isQuick: boolean;
  /** Those of "lloyd": all of them take minutes. */
  readonly workloadNames: readonly string[];
  readonly folder: string;
  readonly pointsOf: PointsOf;
}

const parts: Record<string, (run: SpeedRun) => void | Promise<void>> = {
  lloyd: ({ isQuick, pointsOf, workloadNames }) => compareLloyd(findPython(), isQuick, pointsOf, workloadNames),
  threads: ({ isQuick, pointsOf }) => compareThreads(isQuick, pointsOf),
  network({ isQuick }) {
    wholeRun(findPython());
    growthWithNetwork("growth with the network", [10, 100, 1000, 10_000], isQuick ? 50_000 : 200_000, isQuick ? 2 : 5);
    garbage();
    resultMemory();
  },
  devices: ({ isQuick }) => manyDevices(isQuick),
  machine: ({ isQuick }) => roofline(findPython(), isQuick),
  growth({ isQuick }) {
    growthWithShape(isQuick);
    growthWithNetwork("growth with n", [1000, 2000, 4000, 8000, 16_000], isQuick ? 32_000 : 160_000, isQuick ? 2 : 5);
  },
  memory: ({ isQuick, pointsOf }) => kernelMemory(isQuick, pointsOf),
  web: playground,
  sources: ({ isQuick, folder }) => sources(isQuick, folder),
};

export async function run(args: string[]): Promise<void> {
  const names = Object.keys(parts);
  const workloadNames = workloads(false).map(({ name }) => name);
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", default: names.join(",") },
      workload: { type: "string", default: workloadNames.join(",") },
    },
  });
  const [wanted, wantedWorkloads] = [values.only.split(","), values.workload.split(",")];
  checkNames("a part", wanted, names);
  checkNames("a workload", wantedWorkloads, workloadNames);
  const folder = scratchFolder("speed");
  const all = { isQuick: values.quick, workloadNames: wantedWorkloads, folder, pointsOf: pointsIn(folder) };
  for (const name of wanted) await parts[name](all);
}
