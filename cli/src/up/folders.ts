// The folders of a network on this machine: a device each, with keys of their own, linked along a graph over loopback.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Graph } from "@fedkm/core";
import { compareStudies, parseStudy } from "@fedkm/device";
import { createFolder, type DeviceFolder, readFolder, writeLinks, writeSettings } from "@fedkm/device/daemon";
import { freePorts } from "../ports.ts";

export interface NetworkPlan {
  readonly base: string;
  readonly studyText: string;
  /** One file of rows for each device. */
  readonly data: readonly string[];
  readonly graph: Graph;
}

/** Device 0 of the graph is called 1: people count from there. */
export function deviceName(index: number, devices: number): string {
  return `device-${String(index + 1).padStart(String(devices).length, "0")}`;
}

/** Makes the folders, or takes those that are there from an earlier run; ports are new each time, keys and state stay. */
export async function prepareFolders({ base, studyText, data, graph }: NetworkPlan): Promise<string[]> {
  mkdirSync(base, { recursive: true });
  const ports = await freePorts("127.0.0.1", data.length);
  const folders: DeviceFolder[] = [];
  for (const [index, file] of data.entries()) {
    const name = deviceName(index, data.length);
    const path = join(base, name);
    const settings = { name, data: [file], listen: [`/ip4/127.0.0.1/tcp/${ports[index]}`], announce: [] };
    if (existsSync(path)) {
      await writeSettings(path, settings);
      const folder = await readFolder(path);
      const [difference] = compareStudies(folder.study, parseStudy(studyText));
      if (difference !== undefined)
        throw new Error(`${path} must be of the same study (or use another --state): ${difference}`);
      folders.push(folder);
    } else folders.push(await createFolder(path, studyText, settings));
  }
  for (const [index, { path }] of folders.entries()) {
    const links = Array.from(graph.neighbours[index], (other) => {
      const { name, identity, listen } = folders[other];
      return { name, peer: identity.peer, addresses: listen };
    });
    await writeLinks(path, links);
  }
  return folders.map(({ path }) => path);
}
