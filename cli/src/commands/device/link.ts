// fedkm device link: links and unlinks, in the device's folder; a running device sees it within a few seconds.

import { readFileSync } from "node:fs";
import { whatNeighboursLearn, whatTrustMeans } from "@fedkm/device";
import { changeLinks, type DeviceFolder, followByHand, parseInvite, readFolder, withLink } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { noteInLog } from "../../devices/audit.ts";
import { refuseRevoked, shortName, unlinkPeer } from "../../devices/changes.ts";
import { inviteOf, NO_INVITE } from "../../devices/invite.ts";
import { agreeToOpen } from "../../devices/openStudy.ts";
import { UsageError } from "../../failure.ts";

export interface LinkOptions {
  readonly state: string;
  readonly name?: string;
  readonly remove?: string;
  readonly successor?: string;
  readonly evenRevoked?: boolean;
  readonly acceptOpen?: boolean;
}

export async function linkDevice(invite: string | undefined, options: LinkOptions, io: Console): Promise<void> {
  const { state, remove, successor } = options;
  if ([invite, remove, successor].filter((one) => one !== undefined).length !== 1) {
    throw new UsageError("either an invite, --remove or --successor must be given, got several or none of them");
  }
  const folder = await readFolder(state);
  if (remove !== undefined) await unlink(folder, remove, io);
  else if (successor !== undefined) await follow(folder, successor, io);
  else await link(folder, invite ?? "", options, io);
}

async function link(
  folder: DeviceFolder,
  invite: string,
  { state, name, evenRevoked = false, acceptOpen = false }: LinkOptions,
  io: Console,
): Promise<void> {
  const { stdout, stderr } = io;
  const neighbour = parseInvite(invite);
  const { peer } = neighbour;
  if (peer === folder.identity.peer) throw new UsageError("invite must be of another device, got this one's own");
  // What is refused must change nothing, and --even-revoked overrules a revocation.
  await agreeToOpen(folder.study, acceptOpen, io);
  await refuseRevoked(state, peer, evenRevoked);
  const known = folder.links.find((one) => one.peer === peer);
  const added = { ...neighbour, name: name ?? known?.name ?? shortName(peer) };
  await changeLinks(state, (links) => withLink(links, added));
  await noteInLog(state, "linked", { link: added.name, peer }, stderr);
  const { privacy, neighbours } = folder.study;
  stdout.write(`linked ${added.name} (${privacy}: ${whatNeighboursLearn[privacy]})\n`);
  if (neighbours === "trusted") stdout.write(`${whatTrustMeans}\n`);
  stdout.write(`it must link back with\n${(await inviteOf(folder)) ?? NO_INVITE}\n`);
}

async function unlink(folder: DeviceFolder, which: string, { stdout, stderr }: Console): Promise<void> {
  await unlinkPeer(folder, which, stderr);
  stdout.write(`unlinked ${which}\n`);
}

async function follow({ path }: DeviceFolder, file: string, { stdout, stderr }: Console): Promise<void> {
  const names = await followByHand(path, readFileSync(file, "utf8"), new Date());
  for (const name of names) await noteInLog(path, "followed", { link: name }, stderr);
  const nobody = "no link has followed: none is of a peer that it names, or all have followed before";
  stdout.write(`${names.length > 0 ? `${names.join(", ")} is linked by its new key` : nobody}\n`);
}
