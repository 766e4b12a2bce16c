// fedkm device accept: links back a device that has linked this one and waits, without its invite.

import { changeLinks, type DeviceFolder, readFolder, type Stranger, withLink } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { agreeToOpen } from "../../devices/openStudy.ts";
import { lastStatus } from "../../devices/state.ts";

export interface AcceptOptions {
  readonly state: string;
  readonly name?: string;
  readonly acceptOpen?: boolean;
}

export async function acceptDevice(
  which: string | undefined,
  { state, name, acceptOpen = false }: AcceptOptions,
  io: Console,
): Promise<void> {
  const { stdout } = io;
  const folder = await readFolder(state);
  const waiting = waitingFor(folder);
  if (which === undefined) {
    const lines = waiting.length > 0 ? describeWaiting(waiting, state).slice(1) : ["no device waits to be linked back"];
    stdout.write(`${lines.join("\n")}\n`);
    return;
  }
  const peer = chosen(waiting, which);
  await agreeToOpen(folder.study, acceptOpen, io);
  // Where it came from is no address to dial. It dials again, and says then where it listens.
  const link = { peer, name: name ?? shortName(peer), addresses: [] };
  await changeLinks(state, (links) => withLink(links, link));
  stdout.write(`linked ${link.name}, which had linked this device; it connects within half a minute\n`);
}

/** Devices that proved their key and are not linked, as the device last wrote them down. */
export function waitingFor({ path, links }: DeviceFolder): readonly Stranger[] {
  return (lastStatus(path)?.pending ?? []).filter(({ peer }) => links.every((link) => link.peer !== peer));
}

export function describeWaiting(waiting: readonly Stranger[], state: string): string[] {
  if (waiting.length === 0) return [];
  return [
    "",
    "these have linked this device and wait to be linked back:",
    ...waiting.map(({ peer, address, attempts }) => `  ${peer} from ${address}, ${attempts} times`),
    `to link one back: fedkm device accept ${shortName(waiting[0].peer)} --state ${state}`,
    "Compare the id with its owner first: anybody can knock.",
  ];
}

/** `which` is a peer id, or how one begins or ends. */
function chosen(waiting: readonly Stranger[], which: string): string {
  const meant = waiting.filter(({ peer }) => which !== "" && (peer.startsWith(which) || peer.endsWith(which)));
  if (meant.length === 1) return meant[0].peer;
  const known = waiting.map(({ peer }) => shortName(peer)).join(", ");
  throw new RangeError(
    `device to accept must be one of those that wait (${known === "" ? "none" : known}), by peer id, got "${which}"`,
  );
}

/** Peer ids begin alike. */
function shortName(peer: string): string {
  return peer.slice(-8);
}
