// links.json: the links of a device as its owner made them, in a file that is only ever changed whole. A link follows a
// neighbour to its new key, and the one before may connect until the neighbour has been met under the new one.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, reasonOf } from "../environment.ts";
import { type Contact, peerFault, peerListenFault, peerReachFault, peerRelay } from "../keys/peer.ts";
import { latestSuccessor, type Successor } from "../keys/statements.ts";
import type { PeerAddresses } from "../links/addressBook.ts";
import { MOST_ADDRESSES, MOST_LINKS, STATE_MILLISECONDS } from "../wire/limits.ts";
import { durableWriteJson, explainDamage, latestKeeper } from "./disk.ts";
import { changeUnderMutex } from "./fileMutex.ts";

/** A neighbour, and what its owner calls it. */
export interface Link extends Contact {
  readonly name: string;
  /** The ids that it had before, the latest last. Absent: none. */
  readonly former?: readonly FormerPeer[];
  /** It was not met under its new key yet, so that it may come under the one before as well. */
  readonly isAwaited?: boolean;
}

interface FormerPeer {
  readonly peer: string;
  /** When this device followed it to the next key. */
  readonly until: string;
}

/** What a device or a link may be called. */
export const nameRule = {
  pattern: /^[\w.-]{1,64}$/,
  text: "1 to 64 letters, digits, dots, dashes and underscores",
};

export const LINKS_FILE = "links.json";

/** The links of a device's folder. */
export async function readLinksFile(folder: string): Promise<Link[]> {
  const path = join(folder, LINKS_FILE);
  // Links are never started afresh: a device that forgot them would look healthy and hear nobody.
  const rule = "must be the device's links, restore it from a backup or write [] and link again";
  return explainDamage(path, rule, async () => checkedLinks(JSON.parse(await readFile(path, "utf8"))));
}

/** Writes the links of a device's folder. */
export async function writeLinksFile(folder: string, links: readonly Link[]): Promise<void> {
  checkedLinks(links);
  await durableWriteJson(join(folder, LINKS_FILE), links);
}

/** Changes the links that are there now; commands that change them at the same moment take turns. */
export async function changeLinksFile(folder: string, change: (links: readonly Link[]) => Link[]): Promise<void> {
  await changeUnderMutex(join(folder, "links.lock"), async () => {
    const links = change(await readLinksFile(folder));
    return () => writeLinksFile(folder, links);
  });
}

/** Adds a link, or replaces the one with the same peer: its addresses may have changed. */
export function linksFileWith(links: readonly Link[], link: Link): Link[] {
  if (!nameRule.pattern.test(link.name)) throw new RangeError(`name must be ${nameRule.text}, got "${link.name}"`);
  const namesake = links.find(({ name, peer }) => name === link.name && peer !== link.peer);
  if (namesake !== undefined) {
    throw new RangeError(`name must be new (it is that of ${namesake.peer}), got "${link.name}"`);
  }
  return [...links.filter(({ peer }) => peer !== link.peer), link];
}

/** `which` is a name, a peer id, or how one begins. */
export function linksFileWithout(links: readonly Link[], which: string): Link[] {
  const exact = links.filter(({ name, peer }) => name === which || peer === which);
  const meant = exact.length > 0 ? exact : links.filter(({ peer }) => peer.startsWith(which));
  if (meant.length === 1 && which !== "") return links.filter((link) => link !== meant[0]);
  const known = links.map(({ name }) => name).join(", ") || "none";
  throw new RangeError(`link to remove must be one of the links (${known}), by name or peer id, got "${which}"`);
}

export function checkedLinks(value: unknown): Link[] {
  if (!Array.isArray(value) || value.length > MOST_LINKS) {
    throw new RangeError(`links must be a list of at most ${MOST_LINKS}, got ${JSON.stringify(value)?.slice(0, 60)}`);
  }
  const links = value.map(checkedLink);
  const peers = new Set(links.map(({ peer }) => peer));
  if (peers.size < links.length)
    throw new RangeError(`links must be of different peers, got ${links.length - peers.size} twice`);
  return links;
}

function checkedLink(value: unknown, index: number): Link {
  const { name, peer, addresses } = (value ?? {}) as Partial<Record<keyof Link, unknown>>;
  const where = `links[${index}]`;
  if (typeof name !== "string" || !nameRule.pattern.test(name)) {
    throw new RangeError(`${where}.name must be ${nameRule.text}, got ${name}`);
  }
  if (typeof peer !== "string" || !Array.isArray(addresses) || addresses.length > MOST_ADDRESSES) {
    const rule = `must have a peer and a list of at most ${MOST_ADDRESSES} addresses`;
    throw new RangeError(`${where} ${rule}, got ${JSON.stringify(value)}`);
  }
  const texts = addresses.map(String);
  const fault = peerFault(peer) ?? texts.map(linkFault).find((found) => found !== undefined);
  if (fault !== undefined) throw new RangeError(`${where} ${fault}`);
  return { name, peer, addresses: texts, ...checkedFormer(value as Partial<Link>, where) };
}

function checkedFormer({ former, isAwaited }: Partial<Link>, where: string): Pick<Link, "former" | "isAwaited"> {
  if (former === undefined) return {};
  const isRight =
    Array.isArray(former) &&
    former.every(({ peer, until }) => peerFault(String(peer)) === undefined && !Number.isNaN(Date.parse(until)));
  if (!isRight)
    throw new RangeError(`${where}.former must be a list of peers with dates, got ${JSON.stringify(former)}`);
  return {
    former: former.map(({ peer, until }) => ({ peer, until })),
    ...(isAwaited === true ? { isAwaited } : {}),
  };
}

function linkFault(address: string): string | undefined {
  return peerRelay(address) === undefined ? peerListenFault(address) : peerReachFault(address);
}

/** Of the ids that a neighbour had before, so many are remembered. */
const MOST_FORMER = 8;

/** The same links, each at the latest id that vouched statements lead to. Statements that were used before change nothing. */
export function linksFileFollowing(links: readonly Link[], successors: readonly Successor[], at: Date): Link[] {
  let followed = [...links];
  for (const { peer } of links) {
    const latest = latestSuccessor(peer, successors);
    if (latest === peer) continue;
    // Its owner may have linked the new key by hand.
    followed = followed.filter((link) => link.peer !== latest);
    followed = followed.map((link) => (link.peer === peer ? atNewKey(link, latest, at) : link));
  }
  return followed;
}

function atNewKey(link: Link, peer: string, at: Date): Link {
  const former = [...(link.former ?? []), { peer: link.peer, until: at.toISOString() }].slice(-MOST_FORMER);
  return { ...link, peer, former, isAwaited: true };
}

/** The neighbour has come under its new key: the one before may not connect any more. */
export function linksFileWithoutAwaited(links: readonly Link[], peer: string): Link[] {
  return links.map((link) => {
    if (link.peer !== peer) return link;
    const { isAwaited, ...met } = link;
    return met;
  });
}

/** The ids under which the neighbour of a link may connect now, its own first. */
export function linksFileIds({ peer, former = [], isAwaited = false }: Link): string[] {
  return isAwaited ? [peer, ...former.slice(-1).map((before) => before.peer)] : [peer];
}

/** Everybody that may connect now. */
export function linksFileContacts(links: readonly Link[]): Contact[] {
  return links.flatMap((link) => linksFileIds(link).map((peer) => ({ peer, addresses: link.addresses })));
}

/** The link of a peer that may connect now. */
export function linkInFile(links: readonly Link[], peer: string): Link | undefined {
  return links.find((link) => linksFileIds(link).includes(peer));
}

// met.json: where each neighbour was last met, for the next start. It can be lost: then the links' own addresses are left.

const MET_FILE = "met.json";

export async function readPeerAddresses(folder: string, warn: (line: string) => void): Promise<PeerAddresses> {
  const path = join(folder, MET_FILE);
  try {
    const usable = (addresses: unknown[]) => addresses.map(String).filter((text) => peerReachFault(text) === undefined);
    const entries = Object.entries<unknown[]>(JSON.parse(await readFile(path, "utf8")));
    return Object.fromEntries(entries.map(([peer, addresses]) => [peer, usable(addresses)]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      warn(`${path} is not used, neighbours are looked for at the addresses of their links: ${reasonOf(error)}`);
    }
    return {};
  }
}

/** Writes the latest that it is given, soon and not too often. */
export function peerAddressKeeper(folder: string, clock: Clock, warn: (line: string | undefined) => void) {
  const save = (met: PeerAddresses) => durableWriteJson(join(folder, MET_FILE), met);
  const onSaved = (reason: string | undefined) => warn(reason && `where neighbours were met is not kept: ${reason}`);
  return latestKeeper(clock, save, onSaved, STATE_MILLISECONDS);
}
