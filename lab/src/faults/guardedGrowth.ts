// Guarded devices as processes whose files grow by tens: their clusters stay those of k-means, and after kill -9 at any instant
// rows are in the groups that were written down, of which neighbours have seen no later ones.

import { appendFileSync, watch } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { complete, distortion, kmeans, type Matrix, matrix, normalStream, randomStream, stack } from "@fedkm/core";
import { pointsAsCsv, type Study } from "@fedkm/device";
import { type DeviceFolder, readHistory } from "@fedkm/device/daemon";
import { decodeHistory } from "@fedkm/device/inspect";
import { isHeld, print, progress } from "../measure.ts";
import { type Folders, makeFolders, type RunningDevice, seconds, settle, startDevice } from "./processes.ts";

const FIRST_ROWS = 300;
const BY = 10;
const personal: Study = {
  name: "grows",
  k: 3,
  features: ["x1", "x2"].map((name) => ({ name, unit: "", min: -60, max: 60, scale: 1 })),
  alpha: 1,
  coupling: "nearest",
  weighting: "device",
  typicalRows: null,
  privacy: "guarded",
  minimum: 10,
};
const shared: Study = { ...personal, clusters: "shared" };
const features = personal.features.map(({ name }) => name);

/** Rows of three clusters, always the same ones for a device. */
function drawing(seed: number): (many: number) => Matrix {
  const random = randomStream(seed, "grows");
  const normal = normalStream(random);
  const draw = () => {
    const angle = (2 * Math.PI * Math.floor(3 * random())) / 3;
    return [8 * Math.cos(angle) + normal(), 8 * Math.sin(angle) + normal()];
  };
  return (many) => matrix(Array.from({ length: many }, draw));
}

/** Devices that hold their rows, as few as can: with shared clusters each needs two neighbours. More can be given to each. */
async function growingDevices(study: Study) {
  const draws = (study === shared ? [1, 2, 3] : [1, 2]).map(drawing);
  const datasets = draws.map((draw) => draw(FIRST_ROWS));
  const folders: Folders = await makeFolders({ study, datasets, graph: complete(datasets.length) });
  return {
    folders,
    datasets,
    grow(i: number) {
      const more = draws[i](BY);
      const [file] = folders.devices[i].data;
      // Without the line of names.
      appendFileSync(file, pointsAsCsv(personal, more).replace(/^.*\n/, ""));
      datasets[i] = stack([datasets[i], more]);
    },
  };
}

/** The cost of a device's rows at its centroids to that at those of k-means on all rows. */
function ratioOf(device: RunningDevice, own: Matrix, all: readonly Matrix[]): number {
  const centroids = matrix((device.status()?.device.centroids ?? [[0, 0]]).map((row) => [...row]));
  const best = kmeans(stack(all), { k: personal.k, restarts: 10 }).centroids;
  return distortion([own], [centroids]) / distortion([own], [best]);
}

/** Of the rows of a file, those that a device has seen. */
function rowsSeen(device: RunningDevice): number {
  const { rows = 0, rowsLeftOut = 0 } = device.status()?.device ?? {};
  return rows + rowsLeftOut;
}

/** All files double by tens while their devices run. */
async function doubled(study: Study): Promise<{ line: string[]; isGood: boolean }> {
  const { folders, datasets, grow } = await growingDevices(study);
  const devices = folders.devices.map((folder) => startDevice(folder));
  try {
    await settle(devices);
    for (let step = 0; step < FIRST_ROWS / BY; step++) {
      progress(`files that grow, ${step + 1} of ${FIRST_ROWS / BY}`);
      for (const i of devices.keys()) grow(i);
      await seconds(() => devices.every((device, i) => rowsSeen(device) >= datasets[i].rows));
    }
    await settle(devices);
    const ratios = devices.map((device, i) => ratioOf(device, datasets[i], datasets));
    const waiting = devices.map((device) => device.status()?.device.guarded?.rowsWaiting.fresh ?? 0);
    const line = [
      `${study.clusters ?? "personal"}, ${FIRST_ROWS} to ${2 * FIRST_ROWS} rows, ${BY} at a time`,
      ratios.map((ratio) => ratio.toFixed(4)).join(", "),
      waiting.join(", "),
      "",
    ];
    return { line, isGood: ratios.every((ratio) => ratio <= 1.02) };
  } finally {
    for (const device of devices) await device.end("SIGTERM");
    folders.remove();
  }
}

/** Of every counted row, by its values, the class that it is in. */
async function groupsOf({ path }: DeviceFolder): Promise<Map<string, number> | undefined> {
  const bytes = await readHistory(path);
  const history = bytes && decodeHistory(bytes, features);
  if (history === undefined) return undefined;
  const { rows, classes } = history.counted;
  return new Map(Array.from(classes.ids, (id, r) => [rows.data.subarray(2 * r, 2 * r + 2).join(" "), id]));
}

/** Whether rows that were told apart still are, and all that counted do: classes are only ever divided. */
function areSameGroups(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): boolean {
  const from = new Map<number, number>();
  for (const [row, id] of before) {
    const now = after.get(row);
    if (now === undefined || (from.get(now) ?? id) !== id) return false;
    from.set(now, id);
  }
  return true;
}

/** A device's files of its history change so often after rows came, about. */
const CHANGES = 30;
const MOST_DELAY_MILLISECONDS = 60;
const MOST_MILLISECONDS = 12_000;

/** Starts a device and kills it after so many changes of its history's files and some milliseconds. */
async function dies(folder: DeviceFolder, changes: number, delayMilliseconds: number): Promise<void> {
  let left = changes;
  const watcher = watch(folder.path, (_, name) => {
    if (name?.startsWith("history")) left--;
  });
  const device = startDevice(folder);
  // Some rounds have fewer changes: those devices die later.
  const end = performance.now() + MOST_MILLISECONDS;
  while (left > 0 && performance.now() < end) await pause(1);
  await pause(delayMilliseconds);
  await device.end("SIGKILL");
  watcher.close();
}

/** One of two devices dies again and again around what it writes of new rows, while its neighbour listens. */
async function killed(times: number): Promise<{ line: string[]; isGood: boolean }> {
  const { folders, datasets, grow } = await growingDevices(personal);
  const [neighbour, victim] = folders.devices;
  const other = startDevice(neighbour);
  let [same, torn, entered] = [0, 0, 0];
  try {
    const first = startDevice(victim);
    await settle([other, first]);
    await first.end("SIGKILL");
    let before = await groupsOf(victim);
    if (before === undefined) throw new Error("a device that has settled must have a history, got none");
    for (let n = 0; n < times; n++) {
      progress(`kill -9 around a round of new rows, ${n + 1} of ${times}`);
      grow(1);
      await dies(victim, 1 + (n % CHANGES), (7 * n) % MOST_DELAY_MILLISECONDS);
      const after = await groupsOf(victim);
      if (after === undefined) {
        torn++;
        continue;
      }
      if (areSameGroups(before, after)) same++;
      if (after.size > before.size) entered++;
      before = after;
    }
    const again = startDevice(victim);
    await seconds(() => rowsSeen(again) >= datasets[1].rows);
    await settle([other, again]);
    const witness = again.status()?.device.history?.witness ?? null;
    const groups = await groupsOf(victim);
    const ratio = ratioOf(again, datasets[1], datasets);
    await again.end("SIGTERM");
    const isLast = groups !== undefined && areSameGroups(before, groups);
    const line = [
      `${times} kills, ${datasets[1].rows} rows at last`,
      ratio.toFixed(4),
      String(datasets[1].rows - (groups?.size ?? 0)),
      `${same} of ${times} the same, ${torn} torn, rows had entered in ${entered}; ${witness === null ? "nothing" : "something"} sent that was not written`,
    ];
    return { line, isGood: isLast && same === times && witness === null && ratio <= 1.02 };
  } finally {
    await other.end("SIGTERM");
    folders.remove();
  }
}

export async function guardedFiles({ kills }: { readonly kills: number }): Promise<boolean> {
  const found = [await doubled(personal), await doubled(shared), await killed(kills)];
  progress("");
  print("Guarded devices, as processes, whose files grow: cost to that of k-means, minimum 10, k 3", [
    ["what happens", "ratio", "rows that wait", "groups after a kill"],
    ...found.map(({ line }) => line),
  ]);
  return isHeld(
    "within 2 % of k-means, and the same groups or none after every kill",
    found.filter(({ isGood }) => !isGood).map(({ line }) => line[0]),
  );
}
