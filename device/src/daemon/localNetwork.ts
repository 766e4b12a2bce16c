// A network on one machine: the folders of its devices, with keys of their own, linked along a graph over loopback.

import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Graph, Matrix } from "@fedkm/core";
import { durableWrite } from "../disk/disk.ts";
import { lockFolder } from "../disk/folderLock.ts";
import { KEY_FILE, readIdentity } from "../disk/identityFile.ts";
import { writeLinksFile } from "../disk/linksFile.ts";
import { createIdentity, type Identity } from "../keys/peer.ts";
import { compareStudies, formatStudy, foundedStudy, needsFounders, parseStudy, type Study } from "../study/study.ts";
import { pointsAsCsv, studyOfPoints } from "../study/studyOfPoints.ts";
import { createFolder, type DeviceFolder, readFolder, writeSettings } from "./folder.ts";
import { STATUS_FILE } from "./lastStatus.ts";
import { freeMachinePorts } from "./machineAddresses.ts";

/** A file of rows, with its text if it is still to be written. */
interface DataFile {
  readonly path: string;
  readonly text?: string;
}

/** The study of a network, and one file of rows for each of its devices. */
export interface NetworkData {
  readonly studyText: string;
  readonly data: readonly DataFile[];
}

export interface NetworkPlan extends NetworkData {
  readonly base: string;
  readonly graph: Graph;
}

/** Device 0 of the graph is called 1: people count from there. */
export function localNetworkName(index: number, devices: number): string {
  return `device-${String(index + 1).padStart(String(devices).length, "0")}`;
}

/** Points that exist in memory only, as the study and the files that devices need. */
export function localNetworkOfPoints(
  datasets: readonly Matrix[],
  folder: string,
  choices: Partial<Study> = {},
): NetworkData {
  const names = Array.from({ length: datasets[0].cols }, (_, column) => `x${column + 1}`);
  const study = studyOfPoints(datasets, names, { name: "demo", ...choices });
  const data = datasets.map((points, index) => ({
    path: join(folder, `${localNetworkName(index, datasets.length)}.csv`),
    text: pointsAsCsv(study, points),
  }));
  return { studyText: formatStudy(study), data };
}

/**
 * Makes the folders, or takes those that are there from an earlier run; ports are new each time, keys and state stay.
 * Nothing is written before it is known that all of them are free and of the same study.
 */
export async function prepareLocalNetwork(plan: NetworkPlan): Promise<string[]> {
  const { base, data, graph } = plan;
  const paths = data.map((_, index) => join(base, localNetworkName(index, data.length)));
  const identities = await Promise.all(
    paths.map((path) => (existsSync(join(path, KEY_FILE)) ? readIdentity(path) : createIdentity())),
  );
  const studyText = foundedText(plan.studyText, identities);
  const unlocks: (() => Promise<void>)[] = [];
  try {
    for (const path of paths.filter((path) => existsSync(path))) {
      const [difference] = compareStudies((await readFolder(path)).study, parseStudy(studyText));
      if (difference !== undefined)
        throw new Error(`${path} must be of the same study (or use another --state): ${difference}`);
      unlocks.push(await lockFolder(path));
    }
    await mkdir(base, { recursive: true });
    for (const { path, text } of data) {
      if (text === undefined) continue;
      await mkdir(dirname(path), { recursive: true });
      await durableWrite(path, text);
    }
    const folders = await writeFolders(paths, identities, { ...plan, studyText });
    for (const [index, { path }] of folders.entries()) {
      const links = Array.from(graph.neighbours[index], (other) => {
        const { name, identity, listen } = folders[other];
        // One side dials: where both did at the same moment, two connections would be made for every link.
        return { name, peer: identity.peer, addresses: other < index ? listen : [] };
      });
      await writeLinksFile(path, links);
      // A status of an earlier run would look like one of this.
      await rm(join(path, STATUS_FILE), { force: true });
    }
  } finally {
    for (const unlock of unlocks) await unlock();
  }
  return paths;
}

/** A study that must have founders and names none is founded by the devices of this machine. */
function foundedText(text: string, identities: readonly Identity[]): string {
  const study = parseStudy(text);
  if (!needsFounders(study)) return text;
  return formatStudy(
    foundedStudy(
      study,
      identities.map(({ peer }) => peer),
    ),
  );
}

async function writeFolders(
  paths: readonly string[],
  identities: readonly Identity[],
  { studyText, data }: NetworkPlan,
): Promise<DeviceFolder[]> {
  const ports = await freeMachinePorts("127.0.0.1", paths.length);
  const folders: DeviceFolder[] = [];
  for (const [index, path] of paths.entries()) {
    const listen = [`/ip4/127.0.0.1/tcp/${ports[index]}`];
    const settings = { name: basename(path), data: [data[index].path], listen, announce: [] };
    if (existsSync(path)) {
      await writeSettings(path, settings);
      folders.push(await readFolder(path));
    } else folders.push(await createFolder(path, studyText, settings, identities[index]));
  }
  return folders;
}
