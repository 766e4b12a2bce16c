// A new key for a device because a person asked for it, running or not; and the folder of a device as it starts, with the
// key that has become its own meanwhile.

import { lockFolder } from "../disk/folderLock.ts";
import { readIdentity } from "../disk/identityFile.ts";
import { behind, changeRotation, finishRotation, isDue, prepareRotation, readRotation } from "../disk/keyFiles.ts";
import { changeLinks, readLinksFile } from "../disk/linksFile.ts";
import { followSuccessors } from "../keys/followed.ts";
import { formatSuccessors, latestOf, parseSuccessors } from "../keys/successor.ts";
import { type DeviceFolder, readFolder } from "./folder.ts";
import { revokedFault } from "./revoke.ts";

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
    const lagging = behind(rotation, self, peers);
    return {
      old,
      next,
      isDone: self === next,
      isRunning: unlock === undefined,
      behind: links.filter(({ peer }) => lagging.includes(peer)).map(({ name }) => name),
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

interface OpenedFolder {
  readonly folder: DeviceFolder;
  /** The ids before and after the change of its key, if there was one. */
  readonly rotated: Awaited<ReturnType<typeof finishRotation>>;
}

/** The folder of a device that is about to run, after the change of its key that is due, if one is. */
export async function openFolder(path: string): Promise<OpenedFolder> {
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
