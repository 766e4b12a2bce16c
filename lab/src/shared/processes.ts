// Ten real processes over TCP with shared clusters: killed, stopped for long and parted. The end is that of all rows
// together, the same bits on each.

import { setTimeout as pause } from "node:timers/promises";
import { matrix } from "@fedkm/core";
import { readLinks, writeLinks } from "@fedkm/device/daemon";
import { makeFolders, type RunningDevice, startDevice } from "../faults/processes.ts";
import { print } from "../measure.ts";
import { judge, sharedProblem } from "./setting.ts";

/** A device that is stopped for longer is silent for its neighbours, which go on without it. */
const STOPPED_MILLISECONDS = 75_000;
const SETTLE_MILLISECONDS = 240_000;

type Folders = Awaited<ReturnType<typeof makeFolders>>;

interface Scene {
  readonly folders: Folders;
  readonly running: RunningDevice[];
}

const scenes: Record<string, (scene: Scene) => Promise<void>> = {
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
    const before = await Promise.all(folders.devices.map(({ path }) => readLinks(path)));
    for (const [i, { path }] of folders.devices.entries()) {
      const side = folders.devices.slice(i < 5 ? 0 : 5, i < 5 ? 5 : 10).map(({ identity }) => identity.peer);
      await writeLinks(
        path,
        before[i].filter(({ peer }) => side.includes(peer)),
      );
    }
    await pause(STOPPED_MILLISECONDS);
    for (const [i, { path }] of folders.devices.entries()) await writeLinks(path, before[i]);
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
