// fedkm device link: links and unlinks, in the device's folder; a running device sees it within a second.

import { changeLinks, parseInvite, readFolder, withLink, withoutLink } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { inviteOf, NO_INVITE } from "../../devices/invite.ts";
import { UsageError } from "../../failure.ts";

export interface LinkOptions {
  readonly state: string;
  readonly name?: string;
  readonly remove?: string;
}

export async function linkDevice(
  invite: string | undefined,
  { state, name, remove }: LinkOptions,
  { stdout }: Console,
): Promise<void> {
  if ((invite === undefined) === (remove === undefined)) {
    throw new UsageError("either an invite or --remove must be given, got both or neither");
  }
  const folder = await readFolder(state);
  if (remove !== undefined) {
    await changeLinks(state, (links) => withoutLink(links, remove));
    stdout.write(`unlinked ${remove}\n`);
    return;
  }
  const neighbour = parseInvite(invite ?? "");
  if (neighbour.peer === folder.identity.peer)
    throw new UsageError("invite must be of another device, got this one's own");
  const known = folder.links.find(({ peer }) => peer === neighbour.peer);
  const link = { ...neighbour, name: name ?? known?.name ?? neighbour.peer.slice(-8) };
  await changeLinks(state, (links) => withLink(links, link));
  stdout.write(`linked ${link.name}; it must link back with\n${(await inviteOf(folder)) ?? NO_INVITE}\n`);
}
