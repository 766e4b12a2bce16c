// What an owner asks of a device by files in its folder (reset, paused, consent, links, data): how a command writes them,
// and what a running device does when they change. It uses them, or everything stays and a notice says why.

import { join } from "node:path";
import type { ChangingDevice } from "../change/changingDevice.ts";
import { durableWrite, realDisk } from "../disk/disk.ts";
import { ifFolderLocked, isLocked } from "../disk/folderLock.ts";
import { type Link, linksFileContacts, readLinksFile } from "../disk/linksFile.ts";
import { copyAside, STATE_FILES } from "../disk/stateFile.ts";
import { reasonOf } from "../environment.ts";
import type { Libp2pNetwork } from "../links/libp2pNetwork.ts";
import type { AuditKeeper } from "./auditKeeper.ts";
import { MISSING, watchedFilesNow } from "./fileWatch.ts";
import type { DeviceFolder } from "./folder.ts";
import { STATUS_FILE } from "./lastStatus.ts";
import type { Log } from "./notices.ts";
import type { RowSource } from "./rowSource.ts";
import type { DaemonParts } from "./status.ts";
import { nextRowsOfSource } from "./studyChange.ts";

/** While this file is there, the device is paused. */
export const PAUSED_FILE = "paused";

/** A device that finds this file, now or when it is started, forgets its history and removes the file. */
export const CONSENT_FILE = "consent";
/** A running device that finds this file opens its books and removes it. */
export const BOOKS_FILE = "books";

/** Of an open study: the hash of the closed one that the owner has approved of. It stays, so that a restart knows it. */
export const APPROVED_FILE = "approved";

/** The study that the owner has approved; undefined where there is none. */
export async function readApproval(path: string): Promise<string | undefined> {
  const bytes = await realDisk.read(join(path, APPROVED_FILE));
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes).trim();
}

/** Returns whether the device runs: it follows within a few seconds. */
export async function approveInFolder(path: string, studyHash: string): Promise<boolean> {
  await durableWrite(join(path, APPROVED_FILE), `${studyHash}\n`);
  return isLocked(path);
}

/** Returns whether the device runs. */
export async function consentInFolder(path: string, at: Date, file = CONSENT_FILE): Promise<boolean> {
  await durableWrite(join(path, file), `${at.toISOString()}\n`);
  return isLocked(path);
}

/** A running device that finds this file begins again and removes it. */
export const RESET_FILE = "reset";

/** Works whether the device runs or not. A running one follows within a few seconds. Returns where the state is now, if there was one. */
export async function resetFolder(path: string, at: Date) {
  const setAside = await copyAside(path, STATE_FILES, at);
  const isRunning = await ifFolderLocked(path, {
    running: () => durableWrite(join(path, RESET_FILE), `${at.toISOString()}\n`),
    async stopped() {
      // What it last said was of the state that is gone.
      for (const name of [...STATE_FILES, STATUS_FILE]) await realDisk.remove(join(path, name));
    },
  });
  return { setAside, isRunning };
}

interface Followers {
  readonly device: ChangingDevice;
  readonly source: RowSource;
  readonly network: Libp2pNetwork;
  readonly log: Log;
  readonly audit: AuditKeeper;
}

/** Each returns whether the file could be used. */
// Long: one entry for each file.
export function ownerFileFollowers(
  folder: DeviceFolder,
  parts: DaemonParts,
  { device, source, network, log, audit }: Followers,
) {
  const { notices } = parts;
  const command = `fedkm device resume --state ${folder.path} ends that`;
  const orNotice = (cause: "links" | "data" | "reset", stays: string, use: () => Promise<void>) => async () => {
    try {
      await use();
      notices.set(cause, undefined);
      return true;
    } catch (error) {
      notices.set(cause, `${stays} as before: ${reasonOf(error)}`);
      return false;
    }
  };
  return {
    links: orNotice("links", "links stay", async () => {
      const before = parts.links;
      parts.links = await readLinksFile(folder.path);
      // What the device itself has changed is in use already.
      if (JSON.stringify(before) === JSON.stringify(parts.links)) return;
      for (const { peer } of linksFileContacts(parts.links)) parts.pending.remove(peer);
      // The device first: it must know a neighbour that connects.
      device.setLinks(peersOf(parts.links));
      network.setLinks(linksFileContacts(parts.links));
      log.info({ links: parts.links.length }, "links changed");
      const without = (all: readonly Link[], some: readonly Link[]) =>
        all.filter(({ peer }) => !some.some((other) => other.peer === peer)).map(({ name }) => name);
      const [added, removed] = [without(parts.links, before), without(before, parts.links)];
      if (added.length + removed.length > 0) audit.note("links", { count: parts.links.length, added, removed });
    }),
    data: orNotice("data", "data stays", async () => {
      const { study, next } = parts;
      const { rows, counts, fault } = await source.open(study);
      device.setRows(rows, next && (await nextRowsOfSource(source, study, next)));
      parts.dataReadAt = new Date().toISOString();
      log.info({ rows: counts.rows }, "data changed");
      audit.note("data", { rows: counts.rows });
      notices.set("rows", fault);
    }),
    reset: orNotice("reset", "nothing is reset, all stays", async () => {
      const file = join(folder.path, RESET_FILE);
      // Removing the file is a change as well.
      if (watchedFilesNow(file) === MISSING) return;
      await realDisk.remove(file);
      device.reset();
      log.info({}, "begins again from its own rows");
    }),
    approved: orNotice("reset", "nothing is approved, all stays", async () => {
      const hash = await readApproval(folder.path);
      if (hash === undefined || hash === parts.approved) return;
      parts.approved = hash;
      // Written down before anything follows from it.
      audit.note("approved", { study: hash });
      device.approve(hash);
      log.info({ study: hash }, "its owner approves of the closed study");
    }),
    paused: async () => {
      const isPaused = watchedFilesNow(join(folder.path, PAUSED_FILE)) !== MISSING;
      device.setPaused(isPaused);
      notices.set("paused", isPaused ? `it makes no update and sends nothing new: ${command}` : undefined);
      return true;
    },
    books: orNotice("reset", "no books are opened", async () => {
      const file = join(folder.path, BOOKS_FILE);
      if (watchedFilesNow(file) === MISSING) return;
      await realDisk.remove(file);
      device.openBooks();
      log.info({}, "asks for the books of the answer, as a person consents, and opens its own");
    }),
    consent: orNotice("reset", "all stays as it is", async () => {
      const file = join(folder.path, CONSENT_FILE);
      if (watchedFilesNow(file) === MISSING) return;
      const { rows } = await source.open(parts.study);
      await realDisk.remove(file);
      device.reset(rows);
      log.info({}, "begins again from its own rows, as a person consents");
    }),
  };
}

/** Everybody that may connect now. */
export const peersOf = (links: readonly Link[]) => linksFileContacts(links).map(({ peer }) => peer);
