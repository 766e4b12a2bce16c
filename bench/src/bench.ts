// npm run bench [-- --quick] [-- --only lloyd,threads] [-- --workload E,F]: our k-means and Algorithm 1 against peers in the same run, as ratios; how cost and memory
// grow; what the machine could do at most. Nothing here is asserted: gates stand beside what was measured.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compareLloyd, pointsIn } from "./lloyd/compare.ts";
import { compareThreads } from "./lloyd/threads.ts";
import { workloads } from "./lloyd/workloads.ts";
import { growthWithShape } from "./machine/growth.ts";
import { kernelMemory } from "./machine/memory.ts";
import { roofline } from "./machine/roofline.ts";
import { garbage, growthWithNetwork, resultMemory } from "./network/devices.ts";
import { manyDevices } from "./network/manyDevices.ts";
import { wholeRun } from "./network/wholeRun.ts";
import { findPython, type Python } from "./python.ts";
import { sources } from "./sources/sources.ts";
import { playground } from "./web/playground.ts";

const sections: Record<string, (isQuick: boolean) => void | Promise<void>> = {
  lloyd: (isQuick) => compareLloyd(python(), isQuick, pointsOf, workload),
  threads: (isQuick) => compareThreads(isQuick, pointsOf),
  network(isQuick) {
    wholeRun(python());
    growthWithNetwork("growth with the network", [10, 100, 1000, 10_000], isQuick ? 50_000 : 200_000, isQuick ? 2 : 5);
    garbage();
    resultMemory();
  },
  devices: manyDevices,
  machine: (isQuick) => roofline(python(), isQuick),
  growth(isQuick) {
    growthWithShape(isQuick);
    growthWithNetwork("growth with n", [1000, 2000, 4000, 8000, 16_000], isQuick ? 32_000 : 160_000, isQuick ? 2 : 5);
  },
  memory: (isQuick) => kernelMemory(isQuick, pointsOf),
  web: playground,
  sources: (isQuick) => sources(isQuick, folder),
};

const names = Object.keys(sections);
const workloadNames = workloads(false).map(({ name }) => name);
const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: names.join(",") },
    workload: { type: "string", default: workloadNames.join(",") },
  },
});
const wanted = values.only.split(",");
const unknown = wanted.find((name) => !names.includes(name));
if (unknown !== undefined) {
  console.error(`bench: --only must list some of ${names.join(", ")}, got "${unknown}"`);
  process.exit(2);
}
/** Those of "lloyd": all of them take minutes. */
const workload = values.workload.split(",");
const other = workload.find((name) => !workloadNames.includes(name));
if (other !== undefined) {
  console.error(`bench: --workload must list some of ${workloadNames.join(", ")}, got "${other}"`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "fedkm-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

let found: Python | undefined;
/** Looked for, and completed, only when a section needs it. */
function python(): Python {
  found ??= findPython();
  return found;
}
const pointsOf = pointsIn(folder);

for (const name of wanted) await sections[name](values.quick);
