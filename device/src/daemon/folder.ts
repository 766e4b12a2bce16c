// The state folder of a device: what its owner decided, in files that a person can read.

import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { absoluteAddress, isAddress } from "@fedkm/sql/address";
import { durableWrite, durableWriteJson, explainDamage, makeFolder } from "../disk/disk.ts";
import { createIdentityFile, KEY_FILE, readIdentity } from "../disk/identityFile.ts";
import { writeLinksFile } from "../disk/linksFile.ts";
import { type Identity, peerFault } from "../keys/peer.ts";
import { FOUNDERS_RULE, keepsHistory, needsFounders, parseStudy, type Study } from "../study/study.ts";
import {
  checkSettings,
  type DeviceSettings,
  type LinkedFolder,
  readLinkedFolder,
  SETTINGS_FILE,
  STUDY_FILE,
} from "./folderFacts.ts";

/** Everything that is in a state folder before a device runs. */
export interface DeviceFolder extends LinkedFolder {
  readonly study: Study;
}

/** The same study, if a device can take part in it: its founders must be named where it needs some, by their keys. */
export function foundedInFile(study: Study): Study {
  if (needsFounders(study)) throw new RangeError(`founders ${FOUNDERS_RULE}, got none`);
  const fault = study.founders?.map(peerFault).find((found) => found !== undefined);
  if (fault !== undefined) throw new RangeError(`a founder ${fault}`);
  return study;
}

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
  if (keepsHistory(study)) {
    // Loaded here: whoever only reads a folder does without it.
    const { createHistoryStore } = await import("../disk/historyStore.ts");
    await createHistoryStore(path, study);
  }
  await writeSettings(path, settings);
  return { path, identity, study, links: [], ...settings };
}

/** Settings are the last file of a new folder, so a folder that has them is whole. */
export async function writeSettings(path: string, settings: DeviceSettings): Promise<void> {
  const { name, listen, announce, relay = false, limits = {} } = settings;
  const data = settings.data.map((file) => (isAddress(file) ? absoluteAddress(file) : resolve(file)));
  const owner = Object.keys(limits).length > 0 ? { limits } : {};
  await durableWriteJson(join(path, SETTINGS_FILE), {
    ...{ name, data, listen, announce },
    ...(relay && { relay }),
    ...owner,
  });
}

/** Throws one line that names the file which is damaged or missing, and what to do about it. */
export async function readFolder(path: string): Promise<DeviceFolder> {
  const linked = await readLinkedFolder(path);
  const studyFile = join(path, STUDY_FILE);
  const studyRule = "must be the study of the device's neighbours, copy it from one of them or from a backup";
  const study = await explainDamage(studyFile, studyRule, async () =>
    foundedInFile(parseStudy(await readFile(studyFile, "utf8"))),
  );
  return { ...linked, study };
}
