// What a person does about keys, whether the device runs or not: a new key, following a neighbour to its new one, and
// revocations; and what a device's folder says about keys.

import { lockFolder } from "../disk/folderLock.ts";
import { readIdentity } from "../disk/identityFile.ts";
import {
  behind,
  changeRevoked,
  changeRotation,
  finishRotation,
  isDue,
  overrule,
  preparedBy,
  prepareRotation,
  type Rotation,
  readRevoked,
  readRotation,
  saidAbout,
  withRevocation,
} from "../disk/keyFiles.ts";
import { changeLinks, followSuccessors, type Link, readLinksFile, withoutLink } from "../disk/linksFile.ts";
import { peerFault } from "../keys/peer.ts";
import { formatSuccessors, latestOf, makeRevocation, parseSuccessors } from "../keys/statements.ts";
import { type DeviceFolder, readFolder } from "./folder.ts";

export interface KeyFacts {
  /** The id under the new key that is prepared; null: none is. */
  readonly next: string | null;
  /** Names of neighbours that do not know the device's new key yet. */
  readonly behind: readonly string[];
  /** What is said about whom; neighbours by their names. */
  readonly revoked: readonly {
    readonly signer: string;
    readonly peer: string;
    readonly reason: string;
    readonly heardAt: string;
    readonly isOverruled: boolean;
  }[];
}

export async function keyFacts({ path, identity, links }: DeviceFolder): Promise<KeyFacts> {
  const rotation = await readRotation(path);
  const nameOf = (peer: string) =>
    peer === identity.peer ? "this device" : (links.find((link) => link.peer === peer)?.name ?? peer);
  return {
    next: preparedBy(rotation, identity.peer) ?? null,
    behind: namesBehind(rotation, identity.peer, links),
    revoked: (await readRevoked(path)).map(({ revocation, heardAt, isOverruled }) => {
      const { signer, revoked, reason } = revocation;
      return { signer: nameOf(signer), peer: nameOf(revoked), reason, heardAt, isOverruled };
    }),
  };
}

function namesBehind(rotation: Rotation, self: string, links: readonly Link[]): string[] {
  return links.filter(({ peer }) => behind(rotation, self, [peer]).length > 0).map(({ name }) => name);
}

export interface RevokeResult {
  readonly peer: string;
  /** The name of the link that was removed; undefined: there was none. */
  readonly unlinked: string | undefined;
  /** The device has revoked its own key. */
  readonly isSelf: boolean;
}

/** `which` is a link by its name, its peer id or how one begins, or the id of any peer, also of the device itself. */
export async function revokePeer(path: string, which: string, reason: string, at: Date): Promise<RevokeResult> {
  const identity = await readIdentity(path);
  const links = await readLinksFile(path);
  const link = meantBy(links, which);
  const peer = link?.peer ?? which;
  const revocation = makeRevocation(identity, peer, reason, at.getTime());
  // Before the link goes: after a crash in between, the running device or the next command still knows why.
  await changeRevoked(path, (list) => withRevocation(list, revocation, { links, via: null, at }));
  if (link !== undefined) await changeLinks(path, (now) => now.filter((one) => one.peer !== peer));
  return { peer, unlinked: link?.name, isSelf: peer === identity.peer };
}

/** Undefined: it is the id of a peer that is not linked. */
function meantBy(links: readonly Link[], which: string): Link | undefined {
  if (peerFault(which) === undefined && links.every(({ peer }) => peer !== which)) return undefined;
  const others = withoutLink(links, which);
  return links.find((link) => !others.includes(link));
}

/** Why a peer should not be linked, in the words of whoever said so; undefined: nobody says so. */
export async function revokedFault(path: string, peer: string): Promise<string | undefined> {
  const [entry] = saidAbout(await readRevoked(path), peer);
  if (entry === undefined) return undefined;
  const { signer, reason } = entry.revocation;
  const { peer: self } = await readIdentity(path);
  const name = (await readLinksFile(path)).find((link) => link.peer === signer)?.name;
  const who = signer === self ? "this device" : signer === peer ? "it itself" : (name ?? signer);
  return `${who} said at ${entry.heardAt} that it is no longer to be trusted${reason === "" ? "" : `: ${reason}`}`;
}

/** The owner links a peer although others say that it is not to be trusted. */
export async function overruleRevocations(path: string, peer: string): Promise<void> {
  await changeRevoked(path, (list) => overrule(list, peer));
}

export interface RotateResult {
  readonly old: string;
  readonly next: string;
  /** Whether the new key is the device's own already. */
  readonly isDone: boolean;
  readonly isRunning: boolean;
  /** Names of neighbours that do not know the new key yet. */
  readonly behind: readonly string[];
  /** What to give them, if they cannot be reached. */
  readonly successors: string;
}

/** Works whether the device runs or not. `isNow`: without waiting for neighbours that have not answered. */
export async function rotateFolder(path: string, isNow: boolean, at: Date): Promise<RotateResult> {
  const unlock = await lockFolder(path).catch(() => undefined);
  try {
    const { old, next } = await prepareRotation(path, at.getTime());
    if (isNow) await changeRotation(path, (rotation) => ({ ...rotation, due: next }));
    const links = await readLinksFile(path);
    const peers = links.map(({ peer }) => peer);
    // A running device does it itself, when it has stopped using the old key.
    if (unlock !== undefined) await finishRotation(path, peers);
    const rotation = await readRotation(path);
    const { peer: self } = await readIdentity(path);
    return {
      old,
      next,
      isDone: self === next,
      isRunning: unlock === undefined,
      behind: namesBehind(rotation, self, links),
      successors: formatSuccessors(rotation.successors),
    };
  } finally {
    await unlock?.();
  }
}

/** Follows a neighbour to its new key by what its owner has handed over. Returns the names of the links that have followed. */
export async function followByHand(path: string, text: string, at: Date): Promise<string[]> {
  const successors = parseSuccessors(text);
  const before = await readLinksFile(path);
  for (const { peer } of before) {
    const fault = latestOf(peer, successors) === peer ? undefined : await revokedFault(path, peer);
    if (fault !== undefined) throw new Error(`successor must not be of a revoked peer, and ${fault}`);
  }
  await changeLinks(path, (links) => followSuccessors(links, successors, at));
  const after = await readLinksFile(path);
  return after.filter(({ peer }) => !before.some((link) => link.peer === peer)).map(({ name }) => name);
}

/** The folder of a device that is about to run, after the change of its key that is due, if one is: from which id to which. */
export async function openFolder(path: string) {
  const folder = await readFolder(path);
  const peers = folder.links.map(({ peer }) => peer);
  if (!isDue(await readRotation(path), folder.identity.peer, peers)) return { folder, rotated: undefined };
  // Not under a device that runs: it would go on with the key before.
  const unlock = await lockFolder(path);
  try {
    const rotated = await finishRotation(path, peers);
    return { folder: await readFolder(path), rotated };
  } finally {
    await unlock();
  }
}
