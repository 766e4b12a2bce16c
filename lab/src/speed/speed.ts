// npm run lab -- speed [--quick] [--only PART,...] [--workload NAME,...]: our k-means and Algorithm 1 against peers in the same run, as ratios; how cost and memory
// grow; what the machine could do at most. Nothing here is asserted: gates stand beside what was measured.

import { parseArgs } from "node:util";
import { scratchFolder } from "../measure.ts";
import { checkNames } from "../parts.ts";
import { findPython } from "../python.ts";
import { compareLloyd, type PointsOf, pointsIn } from "./lloyd/compare.ts";
import { compareThreads } from "./lloyd/threads.ts";
import { workloads } from "./lloyd/workloads.ts";
import { growthWithShape } from "./machine/growth.ts";
import { kernelMemory } from "./machine/memory.ts";
import { roofline } from "./machine/roofline.ts";
import { garbage, growthWithNetwork, resultMemory } from "./network/devices.ts";
import { manyDevices } from "./network/manyDevices.ts";
import { wholeRun } from "./network/wholeRun.ts";
import { sources } from "./sources/sources.ts";
import { playground } from "./web/playground.ts";

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
