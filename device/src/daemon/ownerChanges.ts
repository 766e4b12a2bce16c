// What its owner changes about a device, running or not, by a command or on its page. Each change is a line of the audit log.

import { join } from "node:path";
import { appendAudit } from "../disk/auditLog.ts";
import { durableWrite, realDisk } from "../disk/disk.ts";
import { isLocked } from "../disk/folderLock.ts";
import { changeLinks, type Link, withLink, withoutLink } from "../disk/linksFile.ts";
import { reasonOf } from "../environment.ts";
import type { Contact } from "../keys/peer.ts";
import type { DeviceFolder } from "./folder.ts";
import { followByHand, overruleRevocations, revokedFault, revokePeer, rotateFolder } from "./keyCommands.ts";
import { PAUSED_FILE, resetFolder } from "./ownerFiles.ts";
import { lastStatus } from "./statusFile.ts";
import type { Stranger } from "./strangers.ts";

/** Hears why the audit log could not be written, which does not undo what was done. */
export type Warn = (warning: string) => void;

export interface NewNeighbour extends Contact {
  /** Default: the name it has already, or the end of its id. */
  readonly name?: string | undefined;
  /** Link it although somebody has revoked it. */
  readonly allowRevoked: boolean;
}

/** What a device is called that nobody has named: peer ids begin alike. */
export function shortName(peer: string): string {
  return peer.slice(-8);
}

/** Devices that proved their key and are not linked, as the device last wrote them down. */
export function waitingPeers({ path, links }: DeviceFolder): readonly Stranger[] {
  return (lastStatus(path)?.pending ?? []).filter(({ peer }) => links.every((link) => link.peer !== peer));
}

/** Links back one of those that wait. Returns the link's name. */
export function acceptPeer(folder: DeviceFolder, neighbour: Omit<NewNeighbour, "addresses">, warn: Warn) {
  // Where it came from is no address to dial. It dials again, and says then where it listens.
  return linkPeer(folder, { ...neighbour, addresses: [] }, warn, "accepted");
}

/** Links the device of an invite. Returns the link's name. */
export async function linkPeer(
  { path, links }: DeviceFolder,
  { allowRevoked, peer, addresses, name: wanted }: NewNeighbour,
  warn: Warn,
  event: "linked" | "accepted" = "linked",
): Promise<string> {
  const fault = await revokedFault(path, peer);
  if (fault !== undefined) {
    if (!allowRevoked)
      throw new Error(`peer must not be revoked (--allow-revoked links it nevertheless), and ${fault}`);
    await overruleRevocations(path, peer);
  }
  const name = wanted ?? links.find((link) => link.peer === peer)?.name ?? shortName(peer);
  await changeLinks(path, (now) => withLink(now, { peer, addresses, name }));
  await note(path, event, { link: name, peer }, warn);
  return name;
}

/** `which` is a name, a peer id, or how one begins. Returns what was unlinked. */
export async function unlinkPeer({ path, links }: DeviceFolder, which: string, warn: Warn): Promise<Link[]> {
  const left = withoutLink(links, which);
  await changeLinks(path, (now) => withoutLink(now, which));
  const removed = links.filter((link) => !left.includes(link));
  for (const { name, peer } of removed) await note(path, "unlinked", { link: name, peer }, warn);
  return removed;
}

/** Follows neighbours to their new keys, by the text that their owners have handed over. Returns the names of their links. */
export async function followPeer({ path }: DeviceFolder, successors: string, warn: Warn): Promise<string[]> {
  const names = await followByHand(path, successors, new Date());
  for (const name of names) await note(path, "followed", { link: name }, warn);
  return names;
}

/** Unlinks a peer and tells the network that its key is no longer to be trusted; see `revokePeer`. */
export async function revokeNeighbour({ path, identity }: DeviceFolder, which: string, reason: string, warn: Warn) {
  const result = await revokePeer(path, which, reason, new Date());
  const { peer, unlinked = null } = result;
  await note(path, "revoked", { peer, signer: identity.peer, reason, unlinked }, warn);
  return result;
}

/** A new key for the device; see `rotateFolder`. */
export async function rotateKey({ path }: DeviceFolder, isNow: boolean, warn: Warn) {
  const result = await rotateFolder(path, isNow, new Date());
  await note(path, result.isDone ? "rotated" : "rotating", { from: result.old, to: result.next }, warn);
  return result;
}

/** Begins again from the own rows; see `resetFolder`. */
export async function resetDevice({ path }: DeviceFolder, warn: Warn) {
  const result = await resetFolder(path, new Date());
  await note(path, "reset", {}, warn);
  return result;
}

/** Returns whether the device runs. */
export async function pauseDevice({ path }: DeviceFolder, isPaused: boolean, warn: Warn): Promise<boolean> {
  const file = join(path, PAUSED_FILE);
  if (isPaused) await durableWrite(file, `${new Date().toISOString()}\n`);
  else {
    await realDisk.remove(file);
    await realDisk.syncFolder(path);
  }
  await note(path, isPaused ? "paused" : "resumed", {}, warn);
  return isLocked(path);
}

type Entry = Parameters<typeof appendAudit>[1][number];

async function note(path: string, event: Entry["event"], fields: Entry["fields"], warn: Warn): Promise<void> {
  try {
    await appendAudit(path, [{ at: new Date(), event, fields }]);
  } catch (error) {
    warn(`the audit log was not written: ${reasonOf(error)}`);
  }
}
