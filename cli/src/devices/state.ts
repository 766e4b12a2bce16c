// The folder of a device as commands see it: what it last wrote about itself, and its invite.

import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { isSettled } from "@fedkm/device";
import { type DaemonStatus, type DeviceFolder, formatInvite, STATUS_FILE, STATUS_VERSION } from "@fedkm/device/daemon";

/** What the device last wrote; undefined if it never ran, or if the power failed before its words were on the disk. */
export function lastStatus(folder: string): DaemonStatus | undefined {
  try {
    const status: DaemonStatus = JSON.parse(readFileSync(join(folder, STATUS_FILE), "utf8"));
    return status.version === STATUS_VERSION ? status : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a device has settled that may not have written anything yet; see `isSettled` for `enoughMove`. */
export function hasSettled(status: DaemonStatus | undefined, enoughMove?: number): boolean {
  return status !== undefined && isSettled(status.device, status.links, enoughMove);
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
