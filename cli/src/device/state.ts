// The folder of a device as commands see it: what it last wrote about itself, and whether it runs.

import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { type DaemonStatus, type DeviceFolder, formatInvite, STATUS_FILE } from "@fedkm/device/daemon";

/** What the device last wrote; undefined if it never ran. */
export function lastStatus(folder: string): DaemonStatus | undefined {
  let text: string;
  try {
    text = readFileSync(join(folder, STATUS_FILE), "utf8");
  } catch {
    return undefined;
  }
  const status: DaemonStatus = JSON.parse(text);
  return { ...status, isRunning: status.isRunning && isAlive(status.pid) };
}

/** A process that was killed could not write that it stopped. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** The invite of a device, with addresses that others can dial. */
export function inviteOf({ identity, listen, announce }: DeviceFolder): string {
  return formatInvite({ peer: identity.peer, addresses: announce.length > 0 ? announce : reachable(listen) });
}

/** Listening on all interfaces means: at each address this machine has on its networks, or loopback if it has none. */
function reachable(listen: readonly string[]): string[] {
  const own = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === "IPv4")
    .map(({ address }) => address);
  const hosts = own.length > 0 ? own : ["127.0.0.1"];
  return listen.flatMap((address) =>
    address.startsWith("/ip4/0.0.0.0/") ? hosts.map((host) => address.replace("0.0.0.0", host)) : [address],
  );
}
