// Revocations that a person makes or overrules, in a device's folder; a running device sends them within a few seconds.

import { readIdentity } from "../disk/identityFile.ts";
import { changeLinks, type Link, readLinksFile, withoutLink } from "../disk/linksFile.ts";
import { peerFault } from "../keys/peer.ts";
import { makeRevocation } from "../keys/revocation.ts";
import { changeRevoked, overrule, readRevoked, saidAbout, withRevocation } from "../keys/revoked.ts";

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
