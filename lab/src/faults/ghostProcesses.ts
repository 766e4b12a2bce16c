// The same with processes: a fifth device joins four, is killed and unlinked, and the four must be as if it had never been.

import { setTimeout as pause } from "node:timers/promises";
import { fit, graph, matrix, objective, paperData, ring } from "@fedkm/core";
import { studyOfPoints } from "@fedkm/device";
import { readLinks, withoutLink, writeLinks } from "@fedkm/device/daemon";
import { print } from "../measure.ts";
import { makeFolders, type RunningDevice, settle, startDevice } from "./processes.ts";

const MEMBERS = 4;
const WITHIN_MILLISECONDS = 60_000;

/** Prints a line for each network; the bar is 0.1 % of `fit` without the fifth. */
export async function ghostsAsProcesses({ seeds }: { seeds: readonly number[] }): Promise<boolean> {
  const rows = [["network", "with the fifth, above fit without it", "after it has left", "seconds"]];
  let isGood = true;
  for (const seed of seeds) {
    const { during, after, seconds } = await haunt(seed);
    isGood &&= after <= 0.1;
    rows.push([`seed ${seed}`, `${during.toFixed(1)} %`, `${after.toFixed(4)} %`, seconds.toFixed(0)]);
  }
  print(
    "Ghosts as processes: four devices in a ring, and a fifth with other data that joins, is killed and unlinked",
    rows,
  );
  return isGood;
}

async function haunt(seed: number) {
  const { datasets: own } = paperData("iso", MEMBERS, 100, seed);
  const other = matrix(Array.from({ length: 100 }, (_, i) => [24 + (i % 10) / 10, 24 + (i % 7) / 7]));
  const links = ring(MEMBERS);
  const datasets = [...own, other];
  const study = studyOfPoints(datasets, ["x1", "x2"], { name: `ghost ${seed}` });
  const edgesOfRing: [number, number][] = [0, 1, 2, 3].map((i) => [i, (i + 1) % MEMBERS]);
  const folders = await makeFolders({ study, datasets, graph: graph(MEMBERS + 1, [...edgesOfRing, [0, MEMBERS]]) });
  const [first] = folders.devices;
  const joined = await readLinks(first.path);
  const before = withoutLink(joined, `device-${MEMBERS}`);
  const { k, alpha, coupling, weighting } = study;
  const best = fit(own, links, { k, alpha, seed, rounds: 5_000 }).objective;
  const running: RunningDevice[] = [];
  const above = () => {
    const centroids = running.slice(0, MEMBERS).map((device) => matrix(device.status()?.device.centroids ?? []));
    return 100 * (objective(own, centroids, links, { alpha, coupling, weighting }) / best - 1);
  };
  try {
    await writeLinks(first.path, before);
    for (const folder of folders.devices.slice(0, MEMBERS)) running.push(startDevice(folder));
    await settle(running);
    await writeLinks(first.path, joined);
    running.push(startDevice(folders.devices[MEMBERS]));
    await running[MEMBERS].said('"connected"');
    await settle(running);
    const during = above();
    await running.pop()?.end("SIGKILL");
    await writeLinks(first.path, before);
    const left = performance.now();
    do await pause(500);
    while (above() > 0.1 && performance.now() < left + WITHIN_MILLISECONDS);
    const seconds = (performance.now() - left) / 1_000;
    await settle(running);
    return { during, after: above(), seconds };
  } finally {
    await Promise.all(running.map((device) => device.end("SIGTERM")));
    folders.remove();
  }
}
