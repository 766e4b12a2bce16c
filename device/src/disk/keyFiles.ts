// What a folder holds about keys. `key.next` and `rotation.json` prepare a new key, one rename makes it the device's own, and
// the key before stays for neighbours that only know that one: whenever power fails, `key` is a whole key. `revoked.json`
// has the revocations that are known, what was done about each, and which ones the owner has overruled.

import { join } from "node:path";
import { createIdentity, type Identity } from "../keys/peer.ts";
import * as statements from "../keys/statements.ts";
import { MOST_REVOCATIONS, MOST_UNLINKED, UNLINKED_MILLISECONDS } from "../wire/limits.ts";
import { type Disk, durableWrite, durableWriteJson, explainDamage, realDisk } from "./disk.ts";
import { changeUnderMutex } from "./fileMutex.ts";
import { identityInFile, KEY_FILE } from "./identityFile.ts";
import { checkedLinks, type Link, linkInFile } from "./linksFile.ts";

export const REVOKED_FILE = "revoked.json";

export interface KnownRevocation {
  readonly revocation: statements.Revocation;
  readonly heardAt: string;
  /** The neighbour that brought it; null: it was made here. */
  readonly via: string | null;
  /** The link that was removed because of it; null: none was. */
  readonly unlinked: Link | null;
  /** The owner of this device has linked the peer nevertheless. */
  readonly isOverruled: boolean;
}

export async function readRevokedFile(folder: string): Promise<KnownRevocation[]> {
  const path = join(folder, REVOKED_FILE);
  const bytes = await realDisk.read(path);
  if (bytes === undefined) return [];
  const rule = "must be what devices said about others, restore it from a backup or write [] to forget all of it";
  return explainDamage(path, rule, () => JSON.parse(new TextDecoder().decode(bytes)).map(checkedRevocation));
}

function checkedRevocation(entry: Record<string, unknown>): KnownRevocation {
  const { statement, heardAt, via, unlinked, isOverruled } = entry;
  const [revocation] = statements.revocationStatements(Buffer.from(String(statement), "base64url"), 1) ?? [];
  if (revocation === undefined || !statements.isSigned(revocation)) {
    throw new RangeError(`a statement must be whole and signed, got ${String(statement).slice(0, 20)}...`);
  }
  return {
    revocation,
    heardAt: new Date(String(heardAt)).toISOString(),
    via: via === null ? null : String(via),
    unlinked: unlinked == null ? null : checkedLinks([unlinked])[0],
    isOverruled: isOverruled === true,
  };
}

/** Changes what is there now; commands and a running device take turns. */
export async function changeRevokedFile(
  folder: string,
  change: (list: readonly KnownRevocation[]) => KnownRevocation[],
): Promise<void> {
  await changeUnderMutex(join(folder, "revoked.lock"), async () => {
    const list = change(await readRevokedFile(folder)).map(({ revocation, ...rest }) => {
      const { signer, revoked, reason, bytes } = revocation;
      return { signer, revoked, reason, ...rest, statement: Buffer.from(bytes).toString("base64url") };
    });
    return () => durableWriteJson(join(folder, REVOKED_FILE), list);
  });
}

/** Where a device stands that hears a revocation. */
interface Standpoint {
  readonly links: readonly Link[];
  /** The neighbour that brought it; null: it is made here. */
  readonly via: string | null;
  readonly at: Date;
}

/** Whether it says something that is not known yet. A revocation that comes again changes nothing. */
export function isUnknownRevocation(
  list: readonly KnownRevocation[],
  { signer, revoked, time }: statements.Revocation,
): boolean {
  return !list.some(({ revocation: known }) => {
    return known.signer === signer && known.revoked === revoked && known.time >= time;
  });
}

/** Takes a revocation that is news and signed into the list, with the link that is to be removed because of it, if one is. */
export function withKnownRevocation(
  list: readonly KnownRevocation[],
  revocation: statements.Revocation,
  standpoint: Standpoint,
): KnownRevocation[] {
  const { signer, revoked } = revocation;
  const { links, via, at } = standpoint;
  const isSame = ({ revocation: known }: KnownRevocation) => known.signer === signer && known.revoked === revoked;
  const isOverruled = list.find(isSame)?.isOverruled ?? false;
  const link = isOverruled ? undefined : linkInFile(links, revoked);
  const isHeeded = via === null || signer === revoked || isTrusted(list, signer, standpoint);
  const unlinked = isHeeded ? (link ?? null) : null;
  const entry = { revocation, heardAt: at.toISOString(), via, unlinked, isOverruled };
  return bounded([...list.filter((one) => !isSame(one)), entry], links);
}

/** A neighbour's word counts, but a few times a day only: one that revokes everybody must not take all links away. */
function isTrusted(list: readonly KnownRevocation[], signer: string, { links, at }: Standpoint): boolean {
  const recent = list.filter(({ revocation, unlinked, heardAt }) => {
    const isRecent = at.getTime() - Date.parse(heardAt) < UNLINKED_MILLISECONDS;
    return unlinked !== null && isRecent && revocation.signer === signer && revocation.revoked !== signer;
  });
  return linkInFile(links, signer) !== undefined && recent.length < MOST_UNLINKED;
}

/** Of those that matter least, the neighbour that brought most loses its oldest one: floods push out themselves. */
function bounded(list: readonly KnownRevocation[], links: readonly Link[]): KnownRevocation[] {
  if (list.length <= MOST_REVOCATIONS) return [...list];
  const weights = list.map((entry) => weightOf(entry, links));
  const light = list.filter((_, i) => weights[i] === Math.min(...weights));
  const brought = (entry: KnownRevocation) => light.filter(({ via }) => via === entry.via).length;
  const [dropped] = light.sort((a, b) => brought(b) - brought(a) || a.heardAt.localeCompare(b.heardAt));
  return list.filter((entry) => entry !== dropped);
}

function weightOf({ revocation, via, unlinked }: KnownRevocation, links: readonly Link[]): number {
  if (via === null) return 2;
  const isOurs = [revocation.signer, revocation.revoked].some((peer) => linkInFile(links, peer) !== undefined);
  return isOurs || unlinked !== null ? 1 : 0;
}

/** What was said about a peer and is not overruled. */
export function knownRevocationsOf(list: readonly KnownRevocation[], peer: string): KnownRevocation[] {
  return list.filter(({ revocation, isOverruled }) => revocation.revoked === peer && !isOverruled);
}

/** The owner links the peer nevertheless: what was said so far does not count, now and when it comes again. */
export function overruleKnownRevocations(list: readonly KnownRevocation[], peer: string): KnownRevocation[] {
  return list.map((entry) => (entry.revocation.revoked === peer ? { ...entry, isOverruled: true } : entry));
}

export const ROTATION_FILE = "rotation.json";
const NEXT_KEY_FILE = "key.next";

export interface Rotation {
  /** Every new key that the device has had or prepares, in order. */
  readonly successors: readonly statements.Successor[];
  /** By which id neighbours are known to know the device. One that is not named knows the one it was linked with. */
  readonly knows: Readonly<Record<string, string>>;
  /** The new key for which its owner does not want to wait for neighbours any more. */
  readonly due: string | null;
}

/** Nothing there: nothing was ever rotated. */
export async function readRotationFile(folder: string, disk: Disk = realDisk): Promise<Rotation> {
  const path = join(folder, ROTATION_FILE);
  const bytes = await disk.read(path);
  if (bytes === undefined) return { successors: [], knows: {}, due: null };
  return explainDamage(path, "must be what device rotate wrote, restore it from a backup", () => {
    const { successors, knows, due } = JSON.parse(new TextDecoder().decode(bytes));
    const isRight = typeof knows === "object" && knows !== null && (due === null || typeof due === "string");
    if (!isRight) throw new RangeError("knows and due must be an object and a peer or null");
    return { successors: successors === "" ? [] : statements.parseSuccessorStatements(successors), knows, due };
  });
}

async function writeRotation(folder: string, rotation: Rotation, disk: Disk): Promise<void> {
  const { successors, knows, due } = rotation;
  const content = {
    successors: successors.length === 0 ? "" : statements.successorStatementText(successors),
    knows,
    due,
  };
  await durableWriteJson(join(folder, ROTATION_FILE), content, disk);
}

/** Changes what is there now; a command and a running device take turns. */
export async function changeRotationFile(folder: string, change: (rotation: Rotation) => Rotation): Promise<void> {
  await changeUnderMutex(join(folder, "rotation.lock"), async () => {
    const changed = change(await readRotationFile(folder));
    return () => writeRotation(folder, changed, realDisk);
  });
}

/** The new key that the device of this id prepares, if it does. */
export function preparedRotation({ successors }: Rotation, self: string): string | undefined {
  return successors.find(({ old }) => old === self)?.next;
}

/** Neighbours that do not let the device in under the key that it has now or prepares. */
export function behindRotation(rotation: Rotation, self: string, neighbours: readonly string[]): string[] {
  const next = preparedRotation(rotation, self);
  return neighbours.filter((peer) => (rotation.knows[peer] ?? self) !== (next ?? self));
}

/** Whether the prepared key can become the device's own: all neighbours let it in, or its owner does not wait. */
export function isRotationDue(rotation: Rotation, self: string, neighbours: readonly string[]): boolean {
  const next = preparedRotation(rotation, self);
  return next !== undefined && (rotation.due === next || behindRotation(rotation, self, neighbours).length === 0);
}

/** Makes a new key and the statement that the old one vouches for it. Returns it; the one that is prepared already, if one is. */
export async function prepareRotationFile(
  folder: string,
  time: number,
  disk: Disk = realDisk,
): Promise<statements.Successor> {
  const own = await readKey(folder, KEY_FILE, disk);
  const rotation = await readRotationFile(folder, disk);
  const prepared = rotation.successors.find(({ old }) => old === own.peer);
  if (prepared !== undefined) return prepared;
  // One that was left by a command that ended here is as good as any: nobody has heard of it.
  const next = (await disk.read(join(folder, NEXT_KEY_FILE)))
    ? await readKey(folder, NEXT_KEY_FILE, disk)
    : await createIdentity();
  await durableWrite(join(folder, NEXT_KEY_FILE), next.key, disk);
  const successor = statements.makeSuccessor(own, next, time);
  await writeRotation(folder, { ...rotation, successors: [...rotation.successors, successor], due: null }, disk);
  return successor;
}

/** Makes the prepared key the device's own, if it is due. Returns the ids before and now; undefined: nothing was due. */
export async function finishRotationFile(
  folder: string,
  neighbours: readonly string[],
  disk: Disk = realDisk,
): Promise<{ readonly from: string; readonly to: string } | undefined> {
  const rotation = await readRotationFile(folder, disk);
  if (rotation.successors.length === 0) return undefined;
  const own = await readKey(folder, KEY_FILE, disk);
  if (!isRotationDue(rotation, own.peer, neighbours)) return undefined;
  const next = await readKey(folder, NEXT_KEY_FILE, disk);
  const to = preparedRotation(rotation, own.peer);
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
export async function readOldKeyFile(folder: string, peer: string): Promise<Identity | undefined> {
  const name = oldKeyFile(peer);
  return (await realDisk.read(join(folder, name))) && readKey(folder, name, realDisk);
}

/** Old keys under which nobody knows the device any more are of use to thieves only. */
export async function removeOldKeyFiles(folder: string, stillKnown: readonly string[]): Promise<void> {
  const kept = stillKnown.map(oldKeyFile);
  for (const name of await realDisk.list(folder)) {
    if (name.startsWith("key.old.") && !kept.includes(name)) await realDisk.remove(join(folder, name));
  }
}

async function readKey(folder: string, name: string, disk: Disk): Promise<Identity> {
  const path = join(folder, name);
  return identityInFile(path, new Uint8Array((await disk.read(path)) ?? []));
}
