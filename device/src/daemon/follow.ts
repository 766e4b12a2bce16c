// What happens when the owner changes a file of a running device: it is used, or everything stays and a notice says why.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Device } from "../device.ts";
import type { Libp2pNetwork } from "../libp2p.ts";
import { type Link, readLinks } from "../linksFile.ts";
import { reasonOf } from "../reason.ts";
import { CONSENT_FILE } from "./consent.ts";
import type { Parts } from "./describe.ts";
import { type DeviceFolder, readRows } from "./folder.ts";
import type { Log } from "./notices.ts";
import { RESET_FILE } from "./reset.ts";
import { rowsFault } from "./rows.ts";
import { lookOf, MISSING } from "./watch.ts";

interface Followers {
  readonly device: Device;
  readonly network: Libp2pNetwork;
  readonly log: Log;
}

/** Each returns whether the file could be used. */
export function following(folder: DeviceFolder, parts: Parts, { device, network, log }: Followers) {
  const { notices } = parts;
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
      parts.links = await readLinks(folder.path);
      for (const { peer } of parts.links) parts.pending.remove(peer);
      // The device first: it must know a neighbour that connects.
      device.setLinks(peersOf(parts.links));
      network.setLinks(parts.links);
      log.info({ links: parts.links.length }, "links changed");
    }),
    data: orNotice("data", "data stays", async () => {
      const rows = await readRows(folder);
      device.setRows(rows);
      parts.dataReadAt = new Date().toISOString();
      log.info({ rows: rows.rows }, "data changed");
      notices.set("rows", rowsFault(folder.study, rows));
    }),
    reset: orNotice("reset", "nothing is reset, all stays", async () => {
      const file = join(folder.path, RESET_FILE);
      // Removing the file is a change as well.
      if ((await lookOf([file])) === MISSING) return;
      await rm(file, { force: true });
      device.reset();
      log.info({}, "begins again from its own rows");
    }),
    consent: orNotice("reset", "nothing is forgotten, all stays", async () => {
      const file = join(folder.path, CONSENT_FILE);
      if ((await lookOf([file])) === MISSING) return;
      const rows = await readRows(folder);
      await rm(file, { force: true });
      device.reset(rows);
      log.info({}, "forgets what it has published, as a person consents, and begins again from its own rows");
    }),
  };
}

export const peersOf = (links: readonly Link[]) => links.map(({ peer }) => peer);
