// The state folder of a device: what its owner decided, in files that a person can read.

import { mkdir, readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Matrix, stack } from "@fedkm/core";
import { durableWrite } from "../disk.ts";
import { makeIdentity, readIdentity } from "../identity.ts";
import { type Link, nameRule, readLinks, writeLinks } from "../linksFile.ts";
import { addressFault, dialFault, type Identity } from "../peer.ts";
import { parseStudy, type Study } from "../study.ts";
import { readPoints } from "./points.ts";

/** What a device is set up with. */
export interface DeviceSettings {
  /** What others may call it. */
  readonly name: string;
  /** Files of rows. */
  readonly data: readonly string[];
  /** Multiaddresses to listen on. */
  readonly listen: readonly string[];
  /** Multiaddresses for the invite, where others see this machine otherwise than it sees itself; none: as it listens. */
  readonly announce: readonly string[];
}

/** Everything that is in a state folder before a device runs. */
export interface DeviceFolder extends DeviceSettings {
  readonly path: string;
  readonly identity: Identity;
  readonly study: Study;
  readonly links: readonly Link[];
}

const SETTINGS_FILE = "device.json";
const STUDY_FILE = "study.yaml";

/** A new state folder with a key of its own. Fails where a device already lives. */
export async function createFolder(path: string, studyText: string, settings: DeviceSettings): Promise<DeviceFolder> {
  const study = parseStudy(studyText);
  checkSettings(settings);
  await mkdir(path, { recursive: true, mode: 0o700 });
  if ((await readdir(path)).length > 0) throw new Error(`${path} must be a new or empty folder, got one with files`);
  const identity = await makeIdentity(path);
  await writeLinks(path, []);
  await durableWrite(join(path, STUDY_FILE), new TextEncoder().encode(studyText));
  await writeSettings(path, settings);
  return { path, identity, study, links: [], ...settings };
}

/** Settings are the last file of a new folder, so a folder that has them is whole. */
export async function writeSettings(path: string, settings: DeviceSettings): Promise<void> {
  const { name, listen, announce } = settings;
  const data = settings.data.map((file) => resolve(file));
  const text = JSON.stringify({ name, data, listen, announce }, undefined, 2);
  await durableWrite(join(path, SETTINGS_FILE), new TextEncoder().encode(`${text}\n`));
}

export async function readFolder(path: string): Promise<DeviceFolder> {
  const settings = await readSettings(path);
  const text = await readFile(join(path, STUDY_FILE), "utf8");
  return {
    path,
    ...settings,
    identity: await readIdentity(path),
    study: parseStudy(text),
    links: await readLinks(path),
  };
}

/** All rows of the device's files, in the features' units. */
export async function readRows({ data, study }: DeviceFolder): Promise<Matrix> {
  const files = await Promise.all(data.map((file) => readPoints(file, study)));
  return files.length > 0 ? stack(files) : { data: new Float64Array(0), rows: 0, cols: study.features.length };
}

async function readSettings(path: string): Promise<DeviceSettings> {
  let text: string;
  try {
    text = await readFile(join(path, SETTINGS_FILE), "utf8");
  } catch (error) {
    throw new Error(`${path} must be a folder that "fedkm device init" made, got no ${SETTINGS_FILE} in it`, {
      cause: error,
    });
  }
  const settings: DeviceSettings = JSON.parse(text);
  checkSettings(settings);
  return settings;
}

function checkSettings({ name, data, listen, announce }: DeviceSettings): void {
  if (typeof name !== "string" || !nameRule.pattern.test(name)) {
    throw new RangeError(`name must be ${nameRule.text}, got "${name}"`);
  }
  for (const [field, list] of Object.entries({ data, listen, announce })) {
    if (!Array.isArray(list)) throw new RangeError(`${field} must be a list, got ${JSON.stringify(list)}`);
  }
  const fault = [...listen.map(addressFault), ...announce.map(dialFault)].find((found) => found !== undefined);
  if (fault !== undefined) throw new RangeError(`an address ${fault}`);
}
