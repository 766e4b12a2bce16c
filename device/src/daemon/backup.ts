// A state folder saved in one file, and made again from it: all of it or nothing.

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isAddress } from "@fedkm/sql/address";
import { durableWrite, makeFolder, realDisk } from "../disk/disk.ts";
import { readEpoch, writeEpoch } from "../disk/store.ts";
import { reasonOf } from "../reason.ts";
import { type Backup, decodeBackup, encodeBackup } from "./backupFile.ts";
import { readFolder } from "./folder.ts";

/** The files of a state folder that a backup holds, and when. The epoch is saved as a number. */
const savedFiles: Readonly<Record<string, "always" | "if there" | "if asked">> = {
  key: "always",
  "device.json": "always",
  "study.yaml": "always",
  "links.json": "always",
  "met.json": "if there",
  "rotation.json": "if there",
  "key.next": "if there",
  "revoked.json": "if there",
  "next.yaml": "if there",
  "state.a": "if asked",
  "state.b": "if asked",
  "next.a": "if asked",
  "next.b": "if asked",
};

/** The keys before, and the audit log, which are as many files as the years made. */
const SAVED_NAMES = /^(key\.old\.\w+|audit[\w.-]*\.jsonl)$/;

export interface BackupSettings {
  /** Encrypts the file; none: whoever reads the file has the key. */
  readonly passphrase: string | undefined;
  /** Saves the device's centroids and its neighbours' last ones too. They can be computed again. */
  readonly withCentroids: boolean;
  readonly at: Date;
}

/** Works whether the device runs or not: each file is only ever replaced whole. Fails where one is damaged. */
export async function backUpFolder(
  path: string,
  out: string,
  { passphrase, withCentroids, at }: BackupSettings,
): Promise<Backup> {
  await readFolder(path);
  const files = new Map<string, Uint8Array>();
  for (const [name, when] of Object.entries(savedFiles)) {
    if (when === "if asked" && !withCentroids) continue;
    const bytes = await realDisk.read(join(path, name));
    if (bytes !== undefined) files.set(name, bytes);
  }
  for (const name of await readdir(path)) if (SAVED_NAMES.test(name)) files.set(name, await readFile(join(path, name)));
  const backup = { savedAt: at.toISOString(), epoch: await readEpoch(path), files };
  const bytes = await encodeBackup(backup, passphrase);
  try {
    await durableWrite(out, bytes);
  } catch (error) {
    throw new Error(`${out} must be a place where a file can be written: ${reasonOf(error)}`, { cause: error });
  }
  return backup;
}

export interface Restored extends Pick<Backup, "savedAt" | "epoch"> {
  readonly name: string;
  /** Data files that do not exist on this machine. */
  readonly missingData: readonly string[];
}

/** Makes a new state folder. Fails where there are files already. */
export async function restoreFolder(file: string, path: string, passphrase?: string): Promise<Restored> {
  if (existsSync(path) && (await readdir(path)).length > 0) {
    throw new Error(`${path} must be a new or empty folder, got one with files`);
  }
  const { savedAt, epoch, files } = await decodeBackup(await readBackup(file), passphrase);
  const stranger = [...files.keys()].find((name) => !Object.hasOwn(savedFiles, name) && !SAVED_NAMES.test(name));
  if (stranger !== undefined) {
    throw new Error(`${file} must hold files of a device only (update fedkm), got ${JSON.stringify(stranger)}`);
  }
  const place = resolve(path);
  // Beside its place, so that one rename makes all of it appear.
  const temporary = join(dirname(place), `.${basename(place)}.${randomBytes(6).toString("hex")}.new`);
  try {
    await makeFolder(temporary);
    for (const [name, bytes] of files) await durableWrite(join(temporary, name), bytes);
    await writeEpoch(temporary, epoch);
    const { name, data } = await readFolder(temporary);
    if (existsSync(place)) await rmdir(place);
    await rename(temporary, place);
    await realDisk.syncFolder(dirname(place));
    return { name, savedAt, epoch, missingData: data.filter((own) => !isAddress(own) && !existsSync(own)) };
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    const reason = reasonOf(error).replaceAll(temporary, place);
    throw new Error(`nothing is restored: ${reason}`, { cause: error });
  }
}

async function readBackup(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new Error(`${file} must be a file that can be read: ${reasonOf(error)}`, { cause: error });
  }
}
