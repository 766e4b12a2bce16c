// What happens when the owner changes a file of a running device: it is used, or everything stays and a notice says why.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ChangingDevice } from "../change/changingDevice.ts";
import { type Link, readLinksFile } from "../disk/linksFile.ts";
import { contactsOf } from "../keys/followed.ts";
import type { Libp2pNetwork } from "../links/libp2pNetwork.ts";
import { reasonOf } from "../reason.ts";
import type { AuditKeeper } from "./auditKeeper.ts";
import { CONSENT_FILE } from "./consent.ts";
import type { DaemonParts } from "./describe.ts";
import { lookAtOnce, lookOf, MISSING } from "./fileWatch.ts";
import type { DeviceFolder } from "./folder.ts";
import type { Log } from "./notices.ts";
import { RESET_FILE } from "./ownerFiles.ts";
import { PAUSED_FILE } from "./paused.ts";
import type { RowSource } from "./rowSource.ts";
import { rowsFault } from "./rows.ts";
import { rowsOfNext } from "./studyChange.ts";

interface Followers {
  readonly device: ChangingDevice;
  readonly desk: RowSource;
  readonly network: Libp2pNetwork;
  readonly log: Log;
  readonly audit: AuditKeeper;
}

/** Each returns whether the file could be used. */
export function ownerFileFollowers(
  folder: DeviceFolder,
  parts: DaemonParts,
  { device, desk, network, log, audit }: Followers,
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
      for (const { peer } of contactsOf(parts.links)) parts.pending.remove(peer);
      // The device first: it must know a neighbour that connects.
      device.setLinks(peersOf(parts.links));
      network.setLinks(contactsOf(parts.links));
      log.info({ links: parts.links.length }, "links changed");
      const without = (all: readonly Link[], some: readonly Link[]) =>
        all.filter(({ peer }) => !some.some((other) => other.peer === peer)).map(({ name }) => name);
      const [added, removed] = [without(parts.links, before), without(before, parts.links)];
      if (added.length + removed.length > 0) audit.note("links", { count: parts.links.length, added, removed });
    }),
    data: orNotice("data", "data stays", async () => {
      const { study, next } = parts;
      const { rows, counts } = await desk.open(study);
      device.setRows(rows, next && (await rowsOfNext(desk, study, next)));
      parts.dataReadAt = new Date().toISOString();
      log.info({ rows: counts.rows }, "data changed");
      audit.note("data", { rows: counts.rows });
      notices.set("rows", rowsFault(study, counts));
    }),
    reset: orNotice("reset", "nothing is reset, all stays", async () => {
      const file = join(folder.path, RESET_FILE);
      // Removing the file is a change as well.
      if ((await lookOf([file])) === MISSING) return;
      await rm(file, { force: true });
      device.reset();
      log.info({}, "begins again from its own rows");
    }),
    paused: async () => {
      const isPaused = lookAtOnce(join(folder.path, PAUSED_FILE)) !== MISSING;
      device.setPaused(isPaused);
      notices.set("paused", isPaused ? `it makes no update and sends nothing new: ${command}` : undefined);
      return true;
    },
    consent: orNotice("reset", "nothing is forgotten, all stays", async () => {
      const file = join(folder.path, CONSENT_FILE);
      if ((await lookOf([file])) === MISSING) return;
      const { rows } = await desk.open(parts.study);
      await rm(file, { force: true });
      device.reset(rows);
      log.info({}, "forgets what it has published, as a person consents, and begins again from its own rows");
    }),
  };
}

/** Everybody that may connect now. */
export const peersOf = (links: readonly Link[]) => contactsOf(links).map(({ peer }) => peer);
