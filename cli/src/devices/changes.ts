// What a person changes about a device, by a command or on its page. Each change is written down in the audit log.

import {
  changeLinks,
  type DeviceFolder,
  type Link,
  overruleRevocations,
  pauseFolder,
  resetFolder,
  resumeFolder,
  revokedFault,
  type Stranger,
  withLink,
  withoutLink,
} from "@fedkm/device/daemon";
import type { Console } from "../console.ts";
import { noteInLog } from "./audit.ts";
import { lastStatus } from "./state.ts";

type Warnings = Console["stderr"];

/** Devices that proved their key and are not linked, as the device last wrote them down. */
export function waitingFor({ path, links }: DeviceFolder): readonly Stranger[] {
  return (lastStatus(path)?.pending ?? []).filter(({ peer }) => links.every((link) => link.peer !== peer));
}

/** What a device is called that nobody has named: peer ids begin alike. */
export function shortName(peer: string): string {
  return peer.slice(-8);
}

/** A peer that somebody has revoked is linked only if its new neighbour says that it knows so. */
export async function refuseRevoked(state: string, peer: string, evenRevoked: boolean): Promise<void> {
  const fault = await revokedFault(state, peer);
  if (fault === undefined) return;
  if (!evenRevoked) throw new Error(`peer must not be revoked (--even-revoked links it nevertheless), and ${fault}`);
  await overruleRevocations(state, peer);
}

export interface Acceptance {
  /** One of those that wait. */
  readonly peer: string;
  readonly name?: string | undefined;
  readonly evenRevoked: boolean;
  /** Rejects unless a person agrees to what neighbours can learn. */
  agree(): Promise<void>;
}

/** Links back a device that has linked this one. Returns the link's name. */
export async function acceptPeer(
  { path }: DeviceFolder,
  { peer, name = shortName(peer), evenRevoked, agree }: Acceptance,
  warnings: Warnings,
): Promise<string> {
  // What is refused must change nothing, and --even-revoked overrules a revocation.
  await agree();
  await refuseRevoked(path, peer, evenRevoked);
  // Where it came from is no address to dial. It dials again, and says then where it listens.
  await changeLinks(path, (links) => withLink(links, { peer, name, addresses: [] }));
  await noteInLog(path, "accepted", { link: name, peer }, warnings);
  return name;
}

/** `which` is a name, a peer id, or how one begins. Returns what was unlinked. */
export async function unlinkPeer({ path, links }: DeviceFolder, which: string, warnings: Warnings): Promise<Link[]> {
  const left = withoutLink(links, which);
  await changeLinks(path, (now) => withoutLink(now, which));
  const removed = links.filter((link) => !left.includes(link));
  for (const { name, peer } of removed) await noteInLog(path, "unlinked", { link: name, peer }, warnings);
  return removed;
}

/** Begins again from the own rows; see `resetFolder`. */
export async function resetDevice({ path }: DeviceFolder, warnings: Warnings): ReturnType<typeof resetFolder> {
  const result = await resetFolder(path, new Date());
  await noteInLog(path, "reset", {}, warnings);
  return result;
}

/** Returns whether the device runs. */
export async function pauseDevice({ path }: DeviceFolder, isPaused: boolean, warnings: Warnings): Promise<boolean> {
  const isRunning = isPaused ? await pauseFolder(path, new Date()) : await resumeFolder(path);
  await noteInLog(path, isPaused ? "paused" : "resumed", {}, warnings);
  return isRunning;
}
