// npm run bench [-- --quick]: our k-means and Algorithm 1 against peers in the same run, as ratios; how cost and memory
// grow; what the machine could do at most. Nothing here is asserted: gates stand beside what was measured.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compareLloyd, pointsIn } from "./lloyd/compare.ts";
import { growthWithShape } from "./machine/growth.ts";
import { kernelMemory } from "./machine/memory.ts";
import { roofline } from "./machine/roofline.ts";
import { garbage, growthWithNetwork, resultMemory } from "./network/devices.ts";
import { manyDevices } from "./network/manyDevices.ts";
import { wholeRun } from "./network/wholeRun.ts";
import { findPython } from "./python.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const isQuick = values.quick;

const folder = mkdtempSync(join(tmpdir(), "fedkm-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

const python = findPython();
const pointsOf = pointsIn(folder);

await compareLloyd(python, isQuick, pointsOf);

wholeRun(python);
growthWithNetwork("growth with the network", [10, 100, 1000, 10_000], isQuick ? 50_000 : 200_000, isQuick ? 2 : 5);
manyDevices(isQuick);
garbage();
resultMemory();

roofline(python, isQuick);

growthWithShape(isQuick);
growthWithNetwork("growth with n", [1000, 2000, 4000, 8000, 16_000], isQuick ? 32_000 : 160_000, isQuick ? 2 : 5);

kernelMemory(isQuick, pointsOf);
