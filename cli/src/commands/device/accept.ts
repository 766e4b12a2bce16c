// fedkm device accept: links back a device that has linked this one and waits, without its invite.

import { readFolder, type Stranger } from "@fedkm/device/daemon";
import type { Console } from "../../console.ts";
import { acceptPeer, shortName, waitingFor } from "../../devices/changes.ts";
import { agreeToOpen } from "../../devices/openStudy.ts";

export interface AcceptOptions {
  readonly state: string;
  readonly name?: string;
  readonly evenRevoked?: boolean;
  readonly acceptOpen?: boolean;
}

export async function acceptDevice(
  which: string | undefined,
  { state, name, evenRevoked = false, acceptOpen = false }: AcceptOptions,
  io: Console,
): Promise<void> {
  const { stdout, stderr } = io;
  const folder = await readFolder(state);
  const waiting = waitingFor(folder);
  if (which === undefined) {
    const lines = waiting.length > 0 ? describeWaiting(waiting, state).slice(1) : ["no device waits to be linked back"];
    stdout.write(`${lines.join("\n")}\n`);
    return;
  }
  const peer = chosen(waiting, which);
  const agree = () => agreeToOpen(folder.study, acceptOpen, io);
  const linked = await acceptPeer(folder, { peer, name, evenRevoked, agree }, stderr);
  stdout.write(`linked ${linked}, which had linked this device; it connects within half a minute\n`);
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
