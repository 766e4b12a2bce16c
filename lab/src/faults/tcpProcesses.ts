// Ten real processes without a coordinator, against fit; and one process that is killed again and again.

import { setTimeout as pause } from "node:timers/promises";
import { fit, graph, matrix, objective, type PaperKind, randomStream } from "@fedkm/core";
import { print } from "../measure.ts";
import { makeFolders, type RunningDevice, settle, startDevice } from "./processes.ts";
import { problem } from "./setting.ts";

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
