// fedkm device link: links and unlinks, in the device's folder; a running device sees it within a second.

import { whatNeighboursLearn } from "@fedkm/device";
import { changeLinks, parseInvite, readFolder, withLink, withoutLink } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { inviteOf, NO_INVITE } from "../../devices/invite.ts";
import { agreeToOpen } from "../../devices/openStudy.ts";
import { UsageError } from "../../failure.ts";

export interface LinkOptions {
  readonly state: string;
  readonly name?: string;
  readonly remove?: string;
  readonly acceptOpen?: boolean;
}

export async function linkDevice(
  invite: string | undefined,
  { state, name, remove, acceptOpen = false }: LinkOptions,
  io: Console,
): Promise<void> {
  const { stdout } = io;
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
  await agreeToOpen(folder.study, acceptOpen, io);
  const known = folder.links.find(({ peer }) => peer === neighbour.peer);
  const link = { ...neighbour, name: name ?? known?.name ?? neighbour.peer.slice(-8) };
  await changeLinks(state, (links) => withLink(links, link));
  const { privacy } = folder.study;
  stdout.write(`linked ${link.name} (${privacy}: ${whatNeighboursLearn[privacy]})\n`);
  stdout.write(`it must link back with\n${(await inviteOf(folder)) ?? NO_INVITE}\n`);
}
