// The state folder of a device: what its owner decided, in files that a person can read.

import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Matrix, stack } from "@fedkm/core";
import { absoluteAddress, isAddress } from "@fedkm/sql/address";
import { durableWrite, durableWriteJson, explainDamage, makeFolder } from "../disk/disk.ts";
import { createHistoryStore } from "../disk/historyStore.ts";
import { createIdentityFile, KEY_FILE, readIdentity } from "../disk/identityFile.ts";
import { LINKS_FILE, type Link, nameRule, readLinksFile, writeLinksFile } from "../disk/linksFile.ts";
import { type Identity, peerDialFault, peerListenFault } from "../keys/peer.ts";
import { keepsHistory, parseStudy, type Study } from "../study/study.ts";
import type { EnvironmentVariables } from "./fileWatch.ts";
import { rowSourcePoints } from "./rowSource.ts";
import { foundedInFile } from "./studyFile.ts";

/** What a device is set up with. */
export interface DeviceSettings {
  /** What others may call it. */
  readonly name: string;
  /** Files of rows, and addresses of sources. */
  readonly data: readonly string[];
  /** Multiaddresses to listen on. */
  readonly listen: readonly string[];
  /** Multiaddresses for the invite, where others see this machine otherwise than it sees itself; none: as it listens. */
  readonly announce: readonly string[];
  /** Relays between its neighbours. Default false. */
  readonly relay?: boolean;
}

/** Everything that is in a state folder before a device runs. */
export interface DeviceFolder extends DeviceSettings {
  readonly path: string;
  readonly identity: Identity;
  readonly study: Study;
  readonly links: readonly Link[];
}

const SETTINGS_FILE = "device.json";
export const STUDY_FILE = "study.yaml";

/** The key of a device that is still to be made there, or of the one that is. Studies name the keys of their founders. */
export async function createKeyFolder(path: string): Promise<Identity> {
  await makeFolder(path);
  const names = await readdir(path);
  if (names.includes(KEY_FILE)) return readIdentity(path);
  if (names.length > 0) throw new Error(`${path} must be a new or empty folder, or that of a device, got other files`);
  return createIdentityFile(path);
}

/** A new state folder, with the key that is there or a key of its own. Fails where a device already lives. */
export async function createFolder(
  path: string,
  studyText: string,
  settings: DeviceSettings,
  given?: Identity,
): Promise<DeviceFolder> {
  const study = foundedInFile(parseStudy(studyText));
  checkSettings(settings);
  await makeFolder(path);
  if ((await readdir(path)).some((name) => name !== KEY_FILE))
    throw new Error(`${path} must be a new or empty folder, got one with files`);
  const identity = given === undefined ? await createKeyFolder(path) : await createIdentityFile(path, given);
  await writeLinksFile(path, []);
  await durableWrite(join(path, STUDY_FILE), studyText);
  if (keepsHistory(study)) await createHistoryStore(path, study);
  await writeSettings(path, settings);
  return { path, identity, study, links: [], ...settings };
}

/** Settings are the last file of a new folder, so a folder that has them is whole. */
export async function writeSettings(path: string, settings: DeviceSettings): Promise<void> {
  const { name, listen, announce, relay = false } = settings;
  const data = settings.data.map((file) => (isAddress(file) ? absoluteAddress(file) : resolve(file)));
  await durableWriteJson(join(path, SETTINGS_FILE), { name, data, listen, announce, ...(relay && { relay }) });
}

/** Throws one line that names the file which is damaged or missing, and what to do about it. */
export async function readFolder(path: string): Promise<DeviceFolder> {
  const settings = await readSettings(path);
  const studyFile = join(path, STUDY_FILE);
  const studyRule = "must be the study of the device's neighbours, copy it from one of them or from a backup";
  const study = await explainDamage(studyFile, studyRule, async () =>
    foundedInFile(parseStudy(await readFile(studyFile, "utf8"))),
  );
  const linksRule = "must be the device's links, restore it from a backup or write [] and link again";
  const links = await explainDamage(join(path, LINKS_FILE), linksRule, () => readLinksFile(path));
  return { path, ...settings, identity: await readIdentity(path), study, links };
}

/** All rows of the device's files and sources in memory, in the features' units. */
export async function readFolderRows(
  { data, study }: Pick<DeviceFolder, "data" | "study">,
  env: EnvironmentVariables,
): Promise<Matrix> {
  const files = await Promise.all(data.map((file) => rowSourcePoints(file, study, env)));
  return files.length > 0 ? stack(files) : { data: new Float64Array(0), rows: 0, cols: study.features.length };
}

async function readSettings(path: string): Promise<DeviceSettings> {
  const file = join(path, SETTINGS_FILE);
  if (!existsSync(file)) {
    throw new Error(`${path} must be a folder that "fedkm device init" made, got no ${SETTINGS_FILE} in it`);
  }
  const rule = "must hold name, data, listen and announce, restore it from a backup or write it again";
  return explainDamage(file, rule, async () => {
    const {
      name,
      data,
      listen,
      announce,
      relay = false,
    } = (JSON.parse(await readFile(file, "utf8")) ?? {}) as DeviceSettings;
    const settings = { name, data, listen, announce, relay };
    checkSettings(settings);
    return settings;
  });
}

function checkSettings({ name, data, listen, announce, relay = false }: DeviceSettings): void {
  if (typeof name !== "string" || !nameRule.pattern.test(name)) {
    throw new RangeError(`name must be ${nameRule.text}, got "${name}"`);
  }
  for (const [field, list] of Object.entries({ data, listen, announce })) {
    if (!Array.isArray(list) || list.some((entry) => typeof entry !== "string")) {
      throw new RangeError(`${field} must be a list of texts, got ${JSON.stringify(list)}`);
    }
  }
  if (typeof relay !== "boolean") throw new RangeError(`relay must be true or false, got ${JSON.stringify(relay)}`);
  if (relay && listen.length === 0) throw new RangeError("listen must have an address if the device relays, got none");
  const fault = [...listen.map(peerListenFault), ...announce.map(peerDialFault)].find((found) => found !== undefined);
  if (fault !== undefined) throw new RangeError(`an address ${fault}`);
}
