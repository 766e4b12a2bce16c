// What goes into a device's invite: addresses at which others can dial it, never one that only it understands.

import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import { reachableAddresses } from "../links/announcedAddresses.ts";
import type { DeviceSettings } from "./folder.ts";

type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

/**
 * The addresses of an invite. `running`: where the device listens now, if it runs. Undefined: the port is any that is
 * free, so that it is known only while the device runs.
 */
export function invitedAddresses(
  { listen, announce }: Pick<DeviceSettings, "listen" | "announce">,
  running: readonly string[] | undefined,
  interfaces: Interfaces = networkInterfaces(),
): readonly string[] | undefined {
  if (announce.length > 0) return announce;
  if (running !== undefined) return reachableAddresses(running);
  if (listen.some((address) => /\/tcp\/0(\/|$)/.test(address))) return undefined;
  const hosts = Object.values(interfaces).flatMap((list) => list ?? []);
  return reachableAddresses(listen.flatMap((address) => onEveryInterface(address, hosts)));
}

/** Listening on all interfaces means: at each address of this machine, of the same kind. */
function onEveryInterface(address: string, hosts: readonly NetworkInterfaceInfo[]): string[] {
  const [, kind, host] = /^\/(ip[46])\/([^/]+)\//.exec(address) ?? [];
  if (host !== "0.0.0.0" && !/^[0:]+$/.test(host ?? "-")) return [address];
  return hosts
    .filter(({ family }) => family === (kind === "ip4" ? "IPv4" : "IPv6"))
    .map((own) => address.replace(`/${host}/`, `/${own.address}/`));
}

/** Where a new device listens: on every interface, with IPv6 where this machine has it. */
export function everyInterface(port: number, interfaces: Interfaces = networkInterfaces()): string[] {
  const outside = Object.values(interfaces).flatMap((list) => list?.filter(({ internal }) => !internal) ?? []);
  const hasIpv6 = outside.some(({ family, scopeid }) => family === "IPv6" && scopeid === 0);
  return [`/ip4/0.0.0.0/tcp/${port}`, ...(hasIpv6 ? [`/ip6/::/tcp/${port}`] : [])];
}
