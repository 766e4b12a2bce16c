// The invite by which a device is made known to others: its id and its addresses, as text and as QR code.

import { type Contact, peerFault, peerReachFault } from "./peer.ts";

const SCHEME = "fedkm:";

/** fedkm:PEER@ADDRESS,ADDRESS: one word, safe in a shell and in a chat. */
export function formatInvite({ peer, addresses }: Contact): string {
  return `${SCHEME}${peer}${addresses.length > 0 ? "@" : ""}${addresses.join(",")}`;
}

export function parseInvite(text: string): Contact {
  const match = /^fedkm:([^@\s]+)(?:@(\S+))?$/.exec(text.trim());
  if (match === null) throw new RangeError(`invite must look like fedkm:PEER@ADDRESS,ADDRESS, got "${text}"`);
  const [, peer, list] = match;
  const addresses = list === undefined ? [] : list.split(",");
  const fault = peerFault(peer) ?? addresses.map(peerReachFault).find((found) => found !== undefined);
  if (fault !== undefined) throw new RangeError(`invite ${fault}`);
  return { peer, addresses };
}

/** An invite to be photographed from a terminal. */
export async function drawInvite(invite: string): Promise<string> {
  // Loaded here: most programs that know invites draw none.
  return (await import("uqr")).renderUnicodeCompact(invite);
}
