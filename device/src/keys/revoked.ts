// revoked.json: the revocations that a device knows, what it did about each, and which ones its owner has overruled.

import { join } from "node:path";
import { durableWrite, realDisk } from "../disk/disk.ts";
import { changeUnderMutex } from "../disk/fileMutex.ts";
import { checkedLinks, type Link } from "../disk/linksFile.ts";
import { reasonOf } from "../reason.ts";
import { linkOf } from "./followed.ts";
import { MOST_REVOCATIONS, MOST_UNLINKED, UNLINKED_MILLISECONDS } from "./limits.ts";
import { isSigned, type Revocation, readRevocations } from "./revocation.ts";

export const REVOKED_FILE = "revoked.json";

export interface KnownRevocation {
  readonly revocation: Revocation;
  readonly heardAt: string;
  /** The neighbour that brought it; null: it was made here. */
  readonly via: string | null;
  /** The link that was removed because of it; null: none was. */
  readonly unlinked: Link | null;
  /** The owner of this device has linked the peer nevertheless. */
  readonly isOverruled: boolean;
}

export async function readRevoked(folder: string): Promise<KnownRevocation[]> {
  const path = join(folder, REVOKED_FILE);
  const bytes = await realDisk.read(path);
  if (bytes === undefined) return [];
  try {
    return JSON.parse(new TextDecoder().decode(bytes)).map(checkedRevocation);
  } catch (error) {
    const rule = "must be what devices said about others, restore it from a backup or write [] to forget all of it";
    throw new Error(`${path} ${rule}: ${reasonOf(error)}`, { cause: error });
  }
}

function checkedRevocation({
  statement,
  heardAt,
  via,
  unlinked,
  isOverruled,
}: Record<string, unknown>): KnownRevocation {
  const [revocation] = readRevocations(Buffer.from(String(statement), "base64url"), 1) ?? [];
  if (revocation === undefined || !isSigned(revocation)) {
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
export async function changeRevoked(
  folder: string,
  change: (list: readonly KnownRevocation[]) => KnownRevocation[],
): Promise<void> {
  await changeUnderMutex(join(folder, "revoked.lock"), async () => {
    const list = change(await readRevoked(folder)).map(({ revocation, ...rest }) => {
      const { signer, revoked, reason, bytes } = revocation;
      return { signer, revoked, reason, ...rest, statement: Buffer.from(bytes).toString("base64url") };
    });
    const text = `${JSON.stringify(list, undefined, 2)}\n`;
    return () => durableWrite(join(folder, REVOKED_FILE), new TextEncoder().encode(text));
  });
}

/** Where a device stands that hears a revocation. */
export interface Standpoint {
  readonly links: readonly Link[];
  /** The neighbour that brought it; null: it is made here. */
  readonly via: string | null;
  readonly at: Date;
}

/** Whether it says something that is not known yet. A revocation that comes again changes nothing. */
export function isNewRevocation(list: readonly KnownRevocation[], { signer, revoked, time }: Revocation): boolean {
  return !list.some(({ revocation: known }) => {
    return known.signer === signer && known.revoked === revoked && known.time >= time;
  });
}

/** Takes a revocation that is news and signed into the list, with the link that is to be removed because of it, if one is. */
export function withRevocation(
  list: readonly KnownRevocation[],
  revocation: Revocation,
  standpoint: Standpoint,
): KnownRevocation[] {
  const { signer, revoked } = revocation;
  const { links, via, at } = standpoint;
  const isSame = ({ revocation: known }: KnownRevocation) => known.signer === signer && known.revoked === revoked;
  const isOverruled = list.find(isSame)?.isOverruled ?? false;
  const link = isOverruled ? undefined : linkOf(links, revoked);
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
  return linkOf(links, signer) !== undefined && recent.length < MOST_UNLINKED;
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
  const isOurs = [revocation.signer, revocation.revoked].some((peer) => linkOf(links, peer) !== undefined);
  return isOurs || unlinked !== null ? 1 : 0;
}

/** What was said about a peer and is not overruled. */
export function saidAbout(list: readonly KnownRevocation[], peer: string): KnownRevocation[] {
  return list.filter(({ revocation, isOverruled }) => revocation.revoked === peer && !isOverruled);
}

/** The owner links the peer nevertheless: what was said so far does not count, now and when it comes again. */
export function overrule(list: readonly KnownRevocation[], peer: string): KnownRevocation[] {
  return list.map((entry) => (entry.revocation.revoked === peer ? { ...entry, isOverruled: true } : entry));
}
