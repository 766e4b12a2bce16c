// What a device's folder says to programs that only look at it: its settings and links, who waits to be linked, what is known about
// keys, and whether it has enough links. Light to load.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { explainDamage } from "../disk/disk.ts";
import { readIdentity } from "../disk/identityFile.ts";
import * as keyFiles from "../disk/keyFiles.ts";
import { type Link, nameRule, readLinksFile } from "../disk/linksFile.ts";
import { type Identity, peerDialFault, peerListenFault } from "../keys/peer.ts";
import { checkLimits, type OwnerLimits } from "../study/ownerLimits.ts";
import { lastStatus } from "./lastStatus.ts";
import type { Stranger } from "./strangers.ts";

/** What a device is set up with. */
export interface DeviceSettings {
  /** What others may call it. */
  readonly name: string;
  /** Files of rows, and addresses of sources. */
  readonly data: readonly string[];
  readonly listen: readonly string[];
  /** Multiaddresses for the invite, where others see this machine otherwise than it sees itself; none: as it listens. */
  readonly announce: readonly string[];
  /** Relays between its neighbours. Default false. */
  readonly relay?: boolean;
  /** What its owner allows, whatever the study says. Default: everything. */
  readonly limits?: OwnerLimits;
}

/** What is in a state folder but for the study. */
export interface LinkedFolder extends DeviceSettings {
  readonly path: string;
  readonly identity: Identity;
  readonly links: readonly Link[];
}

export const SETTINGS_FILE = "device.json";
export const STUDY_FILE = "study.yaml";

/** Throws one line that names the file which is damaged or missing, and what to do about it. */
export async function readLinkedFolder(path: string): Promise<LinkedFolder> {
  const settings = await readSettings(path);
  return { path, ...settings, identity: await readIdentity(path), links: await readLinksFile(path) };
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
      limits = {},
    } = (JSON.parse(await readFile(file, "utf8")) ?? {}) as DeviceSettings;
    const settings = { name, data, listen, announce, relay, limits };
    checkSettings(settings);
    return settings;
  });
}

export function checkSettings({ name, data, listen, announce, relay = false, limits = {} }: DeviceSettings): void {
  checkLimits(limits);
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

/** Whether it has few links, which a device that has run with as many links has written down. */
export async function remarksOfFolder({ path, links }: LinkedFolder): Promise<readonly string[]> {
  const status = lastStatus(path);
  if (status?.links.length === links.length) return status.linkRemarks;
  // Loaded here: to read a study takes longer than everything else.
  const { linkRemarks, parseStudy } = await import("../study/study.ts");
  return linkRemarks(
    parseStudy(await readFile(join(path, STUDY_FILE), "utf8")),
    links.length,
    status?.device.shared?.members,
  );
}

/** Devices that proved their key and are not linked, as the device last wrote them down. */
export function waitingPeers({ path, links }: LinkedFolder): readonly Stranger[] {
  return (lastStatus(path)?.pending ?? []).filter(({ peer }) => links.every((link) => link.peer !== peer));
}

/** What is known of a device's keys. */
export type KeyFacts = Awaited<ReturnType<typeof keyFacts>>;

/** What a device's folder says of its keys and those of its links. */
export async function keyFacts({ path, identity, links }: LinkedFolder) {
  const rotation = await keyFiles.readRotationFile(path);
  const nameOf = (peer: string) =>
    peer === identity.peer ? "this device" : (links.find((link) => link.peer === peer)?.name ?? peer);
  return {
    /** The id under the new key that is prepared; null: none is. */
    next: keyFiles.preparedRotation(rotation, identity.peer) ?? null,
    /** Names of neighbours that do not know the device's new key yet. */
    behind: namesBehind(rotation, identity.peer, links),
    /** What is said about whom; neighbours by their names. */
    revoked: (await keyFiles.readRevokedFile(path)).map(({ revocation, heardAt, isOverruled }) => {
      const { signer, revoked, reason } = revocation;
      return { signer: nameOf(signer), peer: nameOf(revoked), reason, heardAt, isOverruled };
    }),
  };
}

/** Names of neighbours that know the device by an earlier key. */
export function namesBehind(rotation: keyFiles.Rotation, self: string, links: readonly Link[]): string[] {
  return links.filter(({ peer }) => keyFiles.behindRotation(rotation, self, [peer]).length > 0).map(({ name }) => name);
}
