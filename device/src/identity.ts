// Who a device is on disk, and how it is made known to others: the key's file, and the invite as text and as QR code.

import { open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { renderUnicodeCompact } from "uqr";
import { type Contact, createIdentity, dialFault, type Identity, identityOf, peerFault } from "./peer.ts";

const KEY_FILE = "key";

/** Makes a key that never existed, for its owner's eyes only. Fails where there is one already. */
export async function makeIdentity(folder: string): Promise<Identity> {
  const identity = await createIdentity();
  const file = await open(join(folder, KEY_FILE), "wx", 0o600);
  try {
    await file.writeFile(identity.key);
    await file.sync();
  } finally {
    await file.close();
  }
  return identity;
}

export async function readIdentity(folder: string): Promise<Identity> {
  const path = join(folder, KEY_FILE);
  const { mode } = await stat(path);
  const isShared = (mode & 0o077) !== 0;
  if (isShared) {
    const shown = (mode & 0o777).toString(8);
    throw new Error(`${path} must be readable by its owner only (chmod 600), got mode ${shown}`);
  }
  const bytes = new Uint8Array(await readFile(path));
  try {
    return identityOf(bytes);
  } catch (error) {
    throw new Error(`${path} must hold the key that device init wrote, got ${bytes.length} other bytes`, {
      cause: error,
    });
  }
}

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
  const fault = peerFault(peer) ?? addresses.map(dialFault).find((found) => found !== undefined);
  if (fault !== undefined) throw new RangeError(`invite ${fault}`);
  return { peer, addresses };
}

/** An invite to be photographed from a terminal. */
export function drawInvite(invite: string): string {
  return renderUnicodeCompact(invite);
}
