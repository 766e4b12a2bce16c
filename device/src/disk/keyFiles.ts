// A new key for a device, on disk. `key.next` and `rotation.json` prepare it, one rename makes it the device's own, and
// the key before stays for neighbours that only know that one. Whenever power fails, `key` is a whole key.

import { join } from "node:path";
import { createIdentity, type Identity } from "../keys/peer.ts";
import { formatSuccessors, makeSuccessor, parseSuccessors, type Successor } from "../keys/successor.ts";
import { reasonOf } from "../reason.ts";
import { type Disk, durableWrite, realDisk } from "./disk.ts";
import { changeUnderMutex } from "./fileMutex.ts";
import { KEY_FILE, provedIdentity } from "./identityFile.ts";

export const ROTATION_FILE = "rotation.json";
const NEXT_KEY_FILE = "key.next";

export interface Rotation {
  /** Every new key that the device has had or prepares, in order. */
  readonly successors: readonly Successor[];
  /** By which id neighbours are known to know the device. One that is not named knows the one it was linked with. */
  readonly knows: Readonly<Record<string, string>>;
  /** The new key for which its owner does not want to wait for neighbours any more. */
  readonly due: string | null;
}

/** Nothing there: nothing was ever rotated. */
export async function readRotation(folder: string, disk: Disk = realDisk): Promise<Rotation> {
  const path = join(folder, ROTATION_FILE);
  const bytes = await disk.read(path);
  if (bytes === undefined) return { successors: [], knows: {}, due: null };
  try {
    const { successors, knows, due } = JSON.parse(new TextDecoder().decode(bytes));
    const isRight = typeof knows === "object" && knows !== null && (due === null || typeof due === "string");
    if (!isRight) throw new RangeError("knows and due must be an object and a peer or null");
    return { successors: successors === "" ? [] : parseSuccessors(successors), knows, due };
  } catch (error) {
    const rule = "must be what device rotate wrote, restore it from a backup";
    throw new Error(`${path} ${rule}: ${reasonOf(error)}`, { cause: error });
  }
}

async function writeRotation(folder: string, rotation: Rotation, disk: Disk): Promise<void> {
  const { successors, knows, due } = rotation;
  const content = { successors: successors.length === 0 ? "" : formatSuccessors(successors), knows, due };
  await durableWrite(
    join(folder, ROTATION_FILE),
    new TextEncoder().encode(`${JSON.stringify(content, undefined, 2)}\n`),
    disk,
  );
}

/** Changes what is there now; a command and a running device take turns. */
export async function changeRotation(folder: string, change: (rotation: Rotation) => Rotation): Promise<void> {
  await changeUnderMutex(join(folder, "rotation.lock"), async () => {
    const changed = change(await readRotation(folder));
    return () => writeRotation(folder, changed, realDisk);
  });
}

/** The new key that the device of this id prepares, if it does. */
export function preparedBy({ successors }: Rotation, self: string): string | undefined {
  return successors.find(({ old }) => old === self)?.next;
}

/** Neighbours that do not let the device in under the key that it has now or prepares. */
export function behind(rotation: Rotation, self: string, neighbours: readonly string[]): string[] {
  const next = preparedBy(rotation, self);
  return neighbours.filter((peer) => {
    const known = rotation.knows[peer] ?? self;
    return known !== (next ?? self);
  });
}

/** Whether the prepared key can become the device's own: all neighbours let it in, or its owner does not wait. */
export function isDue(rotation: Rotation, self: string, neighbours: readonly string[]): boolean {
  const next = preparedBy(rotation, self);
  return next !== undefined && (rotation.due === next || behind(rotation, self, neighbours).length === 0);
}

/** Makes a new key and the statement that the old one vouches for it. Returns it; the one that is prepared already, if one is. */
export async function prepareRotation(folder: string, time: number, disk: Disk = realDisk): Promise<Successor> {
  const own = await readKey(folder, KEY_FILE, disk);
  const rotation = await readRotation(folder, disk);
  const prepared = rotation.successors.find(({ old }) => old === own.peer);
  if (prepared !== undefined) return prepared;
  // One that was left by a command that ended here is as good as any: nobody has heard of it.
  const next = (await disk.read(join(folder, NEXT_KEY_FILE)))
    ? await readKey(folder, NEXT_KEY_FILE, disk)
    : await createIdentity();
  await durableWrite(join(folder, NEXT_KEY_FILE), next.key, disk);
  const successor = makeSuccessor(own, next, time);
  await writeRotation(folder, { ...rotation, successors: [...rotation.successors, successor], due: null }, disk);
  return successor;
}

/** Makes the prepared key the device's own, if it is due. Returns the ids before and now; undefined: nothing was due. */
export async function finishRotation(
  folder: string,
  neighbours: readonly string[],
  disk: Disk = realDisk,
): Promise<{ readonly from: string; readonly to: string } | undefined> {
  const rotation = await readRotation(folder, disk);
  if (rotation.successors.length === 0) return undefined;
  const own = await readKey(folder, KEY_FILE, disk);
  if (!isDue(rotation, own.peer, neighbours)) return undefined;
  const next = await readKey(folder, NEXT_KEY_FILE, disk);
  const to = preparedBy(rotation, own.peer);
  if (next.peer !== to) {
    throw new Error(`${join(folder, NEXT_KEY_FILE)} must be the key of ${to}, got that of ${next.peer}`);
  }
  // Who was not asked or has not answered knows the key that is about to be the old one.
  const knows = Object.fromEntries(neighbours.map((peer) => [peer, rotation.knows[peer] ?? own.peer]));
  await writeRotation(folder, { ...rotation, knows }, disk);
  await durableWrite(join(folder, oldKeyFile(own.peer)), own.key, disk);
  await disk.rename(join(folder, NEXT_KEY_FILE), join(folder, KEY_FILE));
  await disk.syncFolder(folder);
  return { from: own.peer, to };
}

/** Peer ids begin alike. */
const oldKeyFile = (peer: string) => `key.old.${peer.slice(-8)}`;

/** The key that the device had under this id; undefined: it is not kept. */
export async function readOldKey(folder: string, peer: string): Promise<Identity | undefined> {
  const name = oldKeyFile(peer);
  return (await realDisk.read(join(folder, name))) && readKey(folder, name, realDisk);
}

/** Old keys under which nobody knows the device any more are of use to thieves only. */
export async function removeOldKeys(folder: string, stillKnown: readonly string[]): Promise<void> {
  const kept = stillKnown.map(oldKeyFile);
  for (const name of await realDisk.list(folder)) {
    if (name.startsWith("key.old.") && !kept.includes(name)) await realDisk.remove(join(folder, name));
  }
}

async function readKey(folder: string, name: string, disk: Disk): Promise<Identity> {
  const path = join(folder, name);
  const bytes = await disk.read(path);
  return provedIdentity(path, new Uint8Array(bytes ?? []));
}
