// Devices that talk over real TCP, each link through a proxy that can misbehave, and the stage of the attacks.

import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { edges, type Graph, graph, type Matrix, matrix, objective, randomStream } from "@fedkm/core";
import {
  contractOf,
  createDevice,
  type Device,
  isSettled,
  type PeerNetwork,
  realClock,
  type Study,
  volatileMemory,
} from "@fedkm/device";
import {
  createIdentity,
  type Identity,
  type Libp2pNetwork,
  libp2pNetwork,
  PROTOCOL,
  provideWithResolvers,
} from "@fedkm/device/libp2p";
import type { Libp2p, PrivateKey, Stream } from "@libp2p/interface";
import { noise } from "@libp2p/noise";
import { tcp } from "@libp2p/tcp";
import { yamux } from "@libp2p/yamux";
import { multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import { type Folders, makeFolders, problem, type RunningDevice, startDevice } from "./processes.ts";

// The stage of the attacks: a device as a process of its own, an honest neighbour, and linked keys that attack it.

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

// A TCP proxy that misbehaves on request: late, narrow, or down. What passes is counted, byte for byte.

interface TcpProxy {
  readonly port: number;
  /** How late every byte is. */
  latencyMilliseconds: number;
  /** Bytes a second and direction. */
  rate: number;
  /** Down: connections are reset, and new ones are as well. */
  setDown(isDown: boolean): void;
  /** Passed since the start, both directions. */
  readonly bytes: number;
  close(): Promise<void>;
}

/** Passes connections on to a port of this machine; 0: there is none yet. */
export async function tcpProxy(target: () => number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isDown = false;
  let bytes = 0;
  const server = createServer((near) => {
    if (isDown || target() === 0) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(target(), "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // A reset on one side is one on the other.
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        (socket === near ? far : near).destroy();
      });
    }
    carry(near, far);
    carry(far, near);
  });
  const carry = (from: Socket, to: Socket) => {
    let freeAt = 0;
    from.on("data", (chunk) => {
      bytes += chunk.length;
      const now = performance.now();
      freeAt = Math.max(now, freeAt) + (1000 * chunk.length) / proxy.rate;
      const wait = freeAt + proxy.latencyMilliseconds - now;
      if (wait <= 0) to.write(chunk);
      else setTimeout(() => to.writable && to.write(chunk), wait);
    });
    from.on("end", () => setTimeout(() => to.end(), proxy.latencyMilliseconds));
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    latencyMilliseconds: 0,
    rate: Number.POSITIVE_INFINITY,
    setDown(value) {
      isDown = value;
      if (isDown) for (const socket of sockets) socket.resetAndDestroy();
    },
    get bytes() {
      return bytes;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

export interface TcpNetworkOptions {
  readonly study: Study;
  readonly datasets: readonly Matrix[];
  readonly graph: Graph;
  readonly seed: number;
  /** Between two updates. */
  readonly paceMilliseconds?: (device: number) => number;
  /** Share of frames that are not sent. */
  readonly loss?: number;
  /** What a device sends in place of its frame. */
  readonly disguise?: (device: number, frame: Uint8Array) => Uint8Array;
}

export interface TcpNetwork {
  /** By the two ends, smaller one first. */
  readonly proxies: ReadonlyMap<string, TcpProxy>;
  readonly devices: readonly Device[];
  start(device: number): Promise<void>;
  /** Without a word to anybody; `start` begins again from what was kept. */
  crash(device: number): Promise<void>;
  /** Until all are settled and hear all their neighbours, or this time has passed: then false. */
  settled(withinMilliseconds: number): Promise<boolean>;
  objective(): number;
  close(): Promise<void>;
}

export const linkKey = (i: number, j: number) => (i < j ? `${i}-${j}` : `${j}-${i}`);

interface DeviceSlot {
  readonly identity: Identity;
  /** Where it listens since its last start. */
  port: number;
  memory: ReturnType<typeof volatileMemory>;
  network?: Libp2pNetwork;
  device?: Device;
}

export async function tcpNetwork(options: TcpNetworkOptions): Promise<TcpNetwork> {
  const { study, datasets, graph, seed, paceMilliseconds, loss = 0, disguise } = options;
  const { alpha, coupling, weighting } = study;
  const contract = await contractOf(study);
  const slots = await Promise.all(
    datasets.map(
      async (): Promise<DeviceSlot> => ({ identity: await createIdentity(), port: 0, memory: volatileMemory(1) }),
    ),
  );
  const proxies = new Map<string, TcpProxy>();
  for (const [i, j] of edges(graph)) proxies.set(linkKey(i, j), await tcpProxy(() => slots[Math.min(i, j)].port));
  const chance = randomStream(seed, "loss");

  const start = async (i: number) => {
    const slot = slots[i];
    const links = Array.from(graph.neighbours[i], (j) => ({
      peer: slots[j].identity.peer,
      // The later one dials, through the proxy.
      addresses: j < i ? [`/ip4/127.0.0.1/tcp/${proxies.get(linkKey(i, j))?.port}`] : [],
    }));
    const network = libp2pNetwork({
      identity: slot.identity,
      listen: ["/ip4/127.0.0.1/tcp/0"],
      links,
      onStranger: () => {},
      onRefuse: (peer, reason) => console.error(`  device ${i} refused ${peer}: ${reason}`),
    });
    const latest = slot.memory.latest();
    slot.memory = volatileMemory(slot.memory.epoch + 1, latest);
    slot.network = network;
    slot.device = createDevice({
      study,
      contract,
      network: altered(network, (frame) => (chance() < loss ? undefined : (disguise?.(i, frame) ?? frame))),
      clock: realClock,
      memory: slot.memory,
      links: links.map(({ peer }) => peer),
      rows: datasets[i],
      seed: seed * 1_000_003 + i * 101,
      ...(paceMilliseconds === undefined ? {} : { paceMilliseconds: paceMilliseconds(i) }),
    });
    await slot.device.start();
    slot.port = Number(network.addresses()[0].split("/").at(-1));
  };
  const crash = async (i: number) => {
    const { device, network } = slots[i];
    device?.stop();
    await network?.close();
  };
  const areSettled = () =>
    slots.every(({ device }) => {
      const status = device?.status();
      return status !== undefined && isSettled(status, status.neighbours);
    });
  return {
    proxies,
    get devices() {
      return slots.flatMap(({ device }) => device ?? []);
    },
    start,
    crash,
    async settled(withinMilliseconds) {
      const end = performance.now() + withinMilliseconds;
      // Nobody may have sent anything for a while: a frame may be under way.
      for (let quiet = 0, last = -1; quiet < 3; ) {
        if (performance.now() > end) return false;
        await pause(400);
        const sent = slots.reduce((sum, { device }) => sum + (device?.status().framesSent ?? 0), 0);
        quiet = areSettled() && sent === last ? quiet + 1 : 0;
        last = sent;
      }
      return true;
    },
    objective: () =>
      objective(
        datasets,
        slots.map(({ device }) => matrix(device?.status().centroids ?? [])),
        graph,
        { alpha, coupling, weighting },
      ),
    async close() {
      await Promise.all(slots.map((_, i) => crash(i)));
      await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
    },
  };
}

/** A network that sends something else, or nothing. */
function altered(network: PeerNetwork, alter: (frame: Uint8Array) => Uint8Array | undefined): PeerNetwork {
  return {
    self: network.self,
    start: (listener) => network.start(listener),
    send(peer, frame) {
      const sent = alter(frame);
      if (sent !== undefined) network.send(peer, sent);
    },
    close: () => network.close(),
  };
}
