// What its owner changes about a device, running or not, by a command or on its page: links, keys, study, reset and pause.
// Changes of links and keys are lines of the audit log.

import { join } from "node:path";
import { appendAudit } from "../disk/auditLog.ts";
import { durableWrite, realDisk } from "../disk/disk.ts";
import { isLocked, lockFolder } from "../disk/folderLock.ts";
import { readIdentity } from "../disk/identityFile.ts";
import * as keyFiles from "../disk/keyFiles.ts";
import * as linksFile from "../disk/linksFile.ts";
import { reasonOf } from "../environment.ts";
import { type Contact, peerFault } from "../keys/peer.ts";
import * as statements from "../keys/statements.ts";
import { contractOf, parseStudy, type Study } from "../study/study.ts";
import { studyId } from "../wire/frames.ts";
import type { DeviceFolder } from "./folder.ts";
import { namesBehind } from "./folderFacts.ts";
import { lastStatus } from "./lastStatus.ts";
import { leaveMembers, succeedMember, voteOnMember } from "./memberFile.ts";
import { approveInFolder, PAUSED_FILE, resetFolder } from "./ownerFiles.ts";
import { type Stranger, strangerName } from "./strangers.ts";
import { readNextInFolder, writeNextInFolder } from "./studyChange.ts";

/** Hears why the audit log could not be written, which does not undo what was done. */
export type Warn = (warning: string) => void;

export interface NewNeighbour extends Contact {
  /** Default: the name it has already, or the end of its id. */
  readonly name?: string | undefined;
  /** Link it although somebody has revoked it. */
  readonly allowRevoked: boolean;
}

/** The device that is meant among those that wait; `which` is a peer id, or how one begins or ends. */
export function meantStranger(waiting: readonly Stranger[], which: string): string {
  const meant = waiting.filter(({ peer }) => which !== "" && (peer.startsWith(which) || peer.endsWith(which)));
  if (meant.length === 1) return meant[0].peer;
  const known = waiting.map(({ peer }) => strangerName(peer)).join(", ");
  throw new RangeError(
    `device to accept must be one of those that wait (${known === "" ? "none" : known}), by peer id, got "${which}"`,
  );
}

/** Links back one of those that wait. Returns the link's name. */
export function acceptStranger(folder: DeviceFolder, neighbour: Omit<NewNeighbour, "addresses">, warn: Warn) {
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
  const fault = await revokedFaultInFolder(path, peer);
  if (fault !== undefined) {
    if (!allowRevoked)
      throw new Error(`peer must not be revoked (--accept revoked links it nevertheless), and ${fault}`);
    await keyFiles.changeRevokedFile(path, (list) => keyFiles.overruleKnownRevocations(list, peer));
  }
  const name = wanted ?? links.find((link) => link.peer === peer)?.name ?? strangerName(peer);
  await linksFile.changeLinksFile(path, (now) => linksFile.linksFileWith(now, { peer, addresses, name }));
  await note(path, event, { link: name, peer }, warn);
  return name;
}

/** `which` is a name, a peer id, or how one begins. Returns what was unlinked. */
export async function unlinkPeer({ path, links }: DeviceFolder, which: string, warn: Warn): Promise<linksFile.Link[]> {
  const left = linksFile.linksFileWithout(links, which);
  await linksFile.changeLinksFile(path, (now) => linksFile.linksFileWithout(now, which));
  const removed = links.filter((link) => !left.includes(link));
  for (const { name, peer } of removed) await note(path, "unlinked", { link: name, peer }, warn);
  return removed;
}

/** Why a peer should not be linked, in the words of whoever said so; undefined: nobody says so. */
export async function revokedFaultInFolder(path: string, peer: string): Promise<string | undefined> {
  const [entry] = keyFiles.knownRevocationsOf(await keyFiles.readRevokedFile(path), peer);
  if (entry === undefined) return undefined;
  const { signer, reason } = entry.revocation;
  const { peer: self } = await readIdentity(path);
  const name = (await linksFile.readLinksFile(path)).find((link) => link.peer === signer)?.name;
  const who = signer === self ? "this device" : signer === peer ? "it itself" : (name ?? signer);
  return `${who} said at ${entry.heardAt} that it is no longer to be trusted${reason === "" ? "" : `: ${reason}`}`;
}

/** Follows neighbours to their new keys, by the text that their owners have handed over. Returns the names of their links. */
export async function followKeyInFolder({ path }: DeviceFolder, text: string, warn: Warn): Promise<string[]> {
  const successors = statements.parseSuccessorStatements(text);
  const before = await linksFile.readLinksFile(path);
  for (const { peer } of before) {
    const fault =
      statements.latestSuccessor(peer, successors) === peer ? undefined : await revokedFaultInFolder(path, peer);
    if (fault !== undefined) throw new Error(`successor must not be of a revoked peer, and ${fault}`);
  }
  await linksFile.changeLinksFile(path, (links) => linksFile.linksFileFollowing(links, successors, new Date()));
  const after = await linksFile.readLinksFile(path);
  const names = after.filter(({ peer }) => !before.some((link) => link.peer === peer)).map(({ name }) => name);
  for (const name of names) await note(path, "followed", { link: name }, warn);
  return names;
}

/**
 * Unlinks a peer and tells the network that its key is no longer to be trusted. `which` is a link by its name, its peer id
 * or how one begins, or the id of any peer, also of the device itself.
 */
export async function revokePeer(folder: DeviceFolder, which: string, reason: string, warn: Warn) {
  const { path, identity, links } = folder;
  const link = meantBy(links, which);
  const peer = link?.peer ?? which;
  const at = new Date();
  const revocation = statements.makeRevocation(identity, peer, reason, at.getTime());
  // Before the link goes: after a crash in between, the running device or the next command still knows why.
  await keyFiles.changeRevokedFile(path, (list) =>
    keyFiles.withKnownRevocation(list, revocation, { links, via: null, at }),
  );
  if (link !== undefined) await linksFile.changeLinksFile(path, (now) => now.filter((one) => one.peer !== peer));
  // Whoever does not trust its own key any more wants no part in the sums either.
  if (peer === identity.peer) await leaveMembers(folder);
  await note(path, "revoked", { peer, signer: identity.peer, reason, unlinked: link?.name ?? null }, warn);
  return { peer, unlinked: link?.name, isSelf: peer === identity.peer };
}

/** Vouches for a key, or says that it is to go; `which` as above. Returns what came of it. */
export async function changeMember(
  folder: DeviceFolder,
  kind: "admit" | "remove",
  which: string,
  mostRows: number | undefined,
  warn: Warn,
) {
  const peer = meantBy(folder.links, which)?.peer ?? which;
  const vote = await voteOnMember(folder, kind, peer, mostRows);
  await note(folder.path, kind === "admit" ? "admitted" : "removed", { peer }, warn);
  return { peer, ...vote };
}

/** Undefined: it is the id of a peer that is not linked. */
function meantBy(links: readonly linksFile.Link[], which: string): linksFile.Link | undefined {
  if (peerFault(which) === undefined && links.every(({ peer }) => peer !== which)) return undefined;
  const others = linksFile.linksFileWithout(links, which);
  return links.find((link) => !others.includes(link));
}

/**
 * A new key for the device, whether it runs or not. `isNow`: without waiting for neighbours that have not answered. Returns
 * also the names of those that do not know the new key yet, and what to give them if they cannot be reached.
 */
export async function rotateKey({ path, study }: Pick<DeviceFolder, "path" | "study">, isNow: boolean, warn: Warn) {
  const unlock = await lockFolder(path).catch(() => undefined);
  try {
    const { old, next } = await keyFiles.prepareRotationFile(path, Date.now());
    if (isNow) await keyFiles.changeRotationFile(path, (rotation) => ({ ...rotation, due: next }));
    const links = await linksFile.readLinksFile(path);
    // A running device does it itself, when it has stopped using the old key.
    if (unlock !== undefined)
      await keyFiles.finishRotationFile(
        path,
        links.map(({ peer }) => peer),
      );
    const rotation = await keyFiles.readRotationFile(path);
    const identity = await readIdentity(path);
    const { peer: self } = identity;
    const isDone = self === next;
    if (isDone) await succeedMember({ path, identity, study }, old);
    await note(path, isDone ? "rotated" : "rotating", { from: old, to: next }, warn);
    const successors = statements.successorStatementText(rotation.successors);
    return {
      old,
      next,
      isDone,
      isRunning: unlock === undefined,
      behind: namesBehind(rotation, self, links),
      successors,
    };
  } finally {
    await unlock?.();
  }
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

// A change of study.

/** Makes another study the next one. Throws where there is none to change to, or a change to a third one is under way. */
export async function proposeInFolder({ path, name, study }: DeviceFolder, next: Study): Promise<void> {
  const id = await idOf(next);
  if (id === (await idOf(study))) throw new Error(`study must be another one than that of ${name}, got the same`);
  const under = await readNextInFolder(path);
  if (under !== undefined && (await idOf(under)) !== id) {
    const title = `${JSON.stringify(under.name)} (${(await idOf(under)).slice(0, 8)})`;
    throw new Error(`${name} must not be changing already (see fedkm device study withdraw), got a change to ${title}`);
  }
  await writeNextInFolder(path, next);
}

/** What an owner accepts by a hash, or by how it begins: what the network has found out, or a study that neighbours propose. */
export async function acceptInFolder(
  path: string,
  hash: string,
): Promise<{ readonly approved: string; readonly isRunning: boolean } | { readonly study: Study }> {
  const status = lastStatus(path);
  const { described, chosen } = status?.device.shared ?? {};
  const isMeant = (id: string | null | undefined) => hash !== "" && id?.startsWith(hash.toLowerCase()) === true;
  const offered = [described?.studyHash, ...(chosen?.candidates.map(({ studyHash }) => studyHash) ?? [])];
  const approved = offered.find(isMeant);
  if (approved != null) return { approved, isRunning: await approveInFolder(path, approved) };
  const proposals = status?.proposals ?? [];
  const meant = proposals.filter(({ studyHash }) => isMeant(studyHash));
  if (meant.length !== 1) {
    const known = proposals.map(({ studyHash }) => studyHash.slice(0, 8)).join(", ");
    throw new RangeError(`study to accept must be one that is proposed (${known || "none is"}), got "${hash}"`);
  }
  const [{ studyHash, text }] = meant;
  const study = parseStudy(text);
  // A neighbour names the hash. Who accepts it means the text that hash stands for.
  const id = await idOf(study);
  if (id !== studyHash)
    throw new Error(`study ${studyHash.slice(0, 8)} must have its own hash, got the text of ${id.slice(0, 8)}`);
  return { study };
}

async function idOf(study: Study): Promise<string> {
  return studyId(await contractOf(study));
}
