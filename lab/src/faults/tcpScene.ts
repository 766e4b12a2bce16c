// The stage of the attacks: a device as a process of its own, an honest neighbour, and linked keys that attack it.

import { graph } from "@fedkm/core";
import { createIdentity, type Identity, PROTOCOL, provideWithResolvers } from "@fedkm/device/libp2p";
import type { Libp2p, PrivateKey, Stream } from "@libp2p/interface";
import { noise } from "@libp2p/noise";
import { tcp } from "@libp2p/tcp";
import { yamux } from "@libp2p/yamux";
import { multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import { type Folders, makeFolders, type RunningDevice, startDevice } from "./processes.ts";
import { problem } from "./setting.ts";

/** A victim, an honest neighbour of it, and keys that the victim is linked to and that attack it. */
export interface Scene {
  readonly victim: RunningDevice;
  readonly honest: RunningDevice;
  readonly address: string;
  readonly victimPeer: string;
  readonly guests: readonly Identity[];
  readonly folders: Folders;
}

export async function scene(guestCount: number): Promise<Scene> {
  const { study, datasets } = problem("iso", 1);
  const guests = await Promise.all(Array.from({ length: guestCount }, createIdentity));
  const links = guests.map(({ peer }, n) => ({ name: `guest-${n}`, peer, addresses: [] }));
  const folders = await makeFolders(
    { study, datasets: datasets.slice(0, 2), graph: graph(2, [[0, 1]]) },
    { guests: links },
  );
  const [victim, honest] = folders.devices.map((folder) => startDevice(folder));
  await victim.said("listening");
  await honest.said("connected");
  const [{ listen, identity }] = folders.devices;
  return { victim, honest, address: listen[0], victimPeer: identity.peer, guests, folders };
}

export async function leave({ victim, honest, folders }: Scene): Promise<void> {
  await Promise.all([victim.end("SIGTERM"), honest.end("SIGTERM")]);
  folders.remove();
}

/** The honest link all the while: it must never have been down. */
export const isLinked = ({ victim }: Scene) => !victim.log().includes('"link":"device-1","msg":"disconnected"');

/** A peer that keeps to none of our rules. */
export async function rogue(privateKey?: PrivateKey): Promise<Libp2p> {
  provideWithResolvers();
  return createLibp2p({
    ...(privateKey === undefined ? {} : { privateKey }),
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
  });
}

export async function openStream(node: Libp2p, address: string): Promise<Stream | undefined> {
  try {
    return await node.dialProtocol(multiaddr(address), PROTOCOL, { signal: AbortSignal.timeout(2_000) });
  } catch {
    return undefined;
  }
}
