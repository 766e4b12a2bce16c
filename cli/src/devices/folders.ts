// The folders of a network on this machine: a device each, with keys of their own, linked along a graph over loopback.

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Graph } from "@fedkm/core";
import { compareStudies, parseStudy } from "@fedkm/device";
import {
  createFolder,
  type DeviceFolder,
  freePorts,
  lockFolder,
  readFolder,
  STATUS_FILE,
  writeLinksFile,
  writeSettings,
} from "@fedkm/device/daemon";
import { writeWhole } from "../write.ts";

/** A file of rows, with its text if it is still to be written. */
export interface DataFile {
  readonly path: string;
  readonly text?: string;
}

export interface NetworkPlan {
  readonly base: string;
  readonly studyText: string;
  /** One file of rows for each device. */
  readonly data: readonly DataFile[];
  readonly graph: Graph;
}

/** Device 0 of the graph is called 1: people count from there. */
export function deviceName(index: number, devices: number): string {
  return `device-${String(index + 1).padStart(String(devices).length, "0")}`;
}

/**
 * Makes the folders, or takes those that are there from an earlier run; ports are new each time, keys and state stay.
 * Nothing is written before it is known that all of them are free and of the same study.
 */
export async function prepareFolders(plan: NetworkPlan): Promise<string[]> {
  const { base, studyText, data, graph } = plan;
  const paths = data.map((_, index) => join(base, deviceName(index, data.length)));
  const unlocks: (() => Promise<void>)[] = [];
  try {
    for (const path of paths.filter((path) => existsSync(path))) {
      await checkStudy(path, studyText);
      unlocks.push(await lockFolder(path));
    }
    mkdirSync(base, { recursive: true });
    for (const { path, text } of data) {
      if (text === undefined) continue;
      mkdirSync(dirname(path), { recursive: true });
      await writeWhole(path, text);
    }
    const folders = await writeFolders(paths, plan);
    for (const [index, { path }] of folders.entries()) {
      const links = Array.from(graph.neighbours[index], (other) => {
        const { name, identity, listen } = folders[other];
        // One side dials: where both did at the same moment, two connections would be made for every link.
        return { name, peer: identity.peer, addresses: other < index ? listen : [] };
      });
      await writeLinksFile(path, links);
      // A status of an earlier run would look like one of this.
      rmSync(join(path, STATUS_FILE), { force: true });
    }
  } finally {
    for (const unlock of unlocks) await unlock();
  }
  return paths;
}

async function checkStudy(path: string, studyText: string): Promise<void> {
  const [difference] = compareStudies((await readFolder(path)).study, parseStudy(studyText));
  if (difference !== undefined)
    throw new Error(`${path} must be of the same study (or use another --state): ${difference}`);
}

async function writeFolders(paths: readonly string[], { studyText, data }: NetworkPlan): Promise<DeviceFolder[]> {
  const ports = await freePorts("127.0.0.1", paths.length);
  const folders: DeviceFolder[] = [];
  for (const [index, path] of paths.entries()) {
    const listen = [`/ip4/127.0.0.1/tcp/${ports[index]}`];
    const settings = { name: basename(path), data: [data[index].path], listen, announce: [] };
    if (existsSync(path)) {
      await writeSettings(path, settings);
      folders.push(await readFolder(path));
    } else folders.push(await createFolder(path, studyText, settings));
  }
  return folders;
}
