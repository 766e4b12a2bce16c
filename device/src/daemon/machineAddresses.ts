// Addresses of this machine: those of an invite, at which others can dial a device, and ports that nobody uses.

import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import { isLocked } from "../disk/folderLock.ts";
import { formatInvite } from "../keys/peer.ts";
import { reachableAddresses } from "../links/announcedAddresses.ts";
import type { DeviceSettings, LinkedFolder } from "./folderFacts.ts";
import { lastStatus } from "./lastStatus.ts";

/** Below the ports that systems give to outgoing connections: one of those could be taken between finding and using it. */
const LOWEST = 10_000;
const HIGHEST = 32_000;
const MOST_TRIES = 1_000;

/** So many different ones. All are held until the last is found. */
export async function freeMachinePorts(host: string, wanted: number): Promise<number[]> {
  const held = new Map<number, Server>();
  try {
    for (let tries = 0; held.size < wanted; tries++) {
      const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
      try {
        held.set(port, await listenOn(host, port));
      } catch (error) {
        const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
        if (!isTaken || tries > MOST_TRIES) throw error;
      }
    }
    return [...held.keys()];
  } finally {
    await Promise.all([...held.values()].map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

async function listenOn(host: string, port: number): Promise<Server> {
  const server = createServer().listen(port, host);
  await once(server, "listening");
  return server;
}

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

/** The invite of a device for its neighbours. Undefined: its port is not known before it runs. */
export async function folderInvite(folder: LinkedFolder): Promise<string | undefined> {
  const { path, identity } = folder;
  const addresses = invitedAddresses(folder, (await isLocked(path)) ? lastStatus(path)?.addresses : undefined);
  return addresses && formatInvite({ peer: identity.peer, addresses });
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
export function everyMachineInterface(port: number, interfaces: Interfaces = networkInterfaces()): string[] {
  const outside = Object.values(interfaces).flatMap((list) => list?.filter(({ internal }) => !internal) ?? []);
  const hasIpv6 = outside.some(({ family, scopeid }) => family === "IPv6" && scopeid === 0);
  return [`/ip4/0.0.0.0/tcp/${port}`, ...(hasIpv6 ? [`/ip6/::/tcp/${port}`] : [])];
}
