// Devices of one process that talk over real TCP, each link through a proxy that can misbehave.

import { setTimeout as pause } from "node:timers/promises";
import { edges, type Graph, type Matrix, matrix, objective, randomStream } from "@fedkm/core";
import {
  contractOf,
  createDevice,
  type Device,
  isSettled,
  type Network,
  realClock,
  type Study,
  volatileMemory,
} from "@fedkm/device";
import { createIdentity, type Identity, type Libp2pNetwork, libp2pNetwork } from "@fedkm/device/libp2p";
import { type TcpProxy, tcpProxy } from "./tcpProxy.ts";

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

interface Place {
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
  const places = await Promise.all(
    datasets.map(
      async (): Promise<Place> => ({ identity: await createIdentity(), port: 0, memory: volatileMemory(1) }),
    ),
  );
  const proxies = new Map<string, TcpProxy>();
  for (const [i, j] of edges(graph)) proxies.set(linkKey(i, j), await tcpProxy(() => places[Math.min(i, j)].port));
  const chance = randomStream(seed, "loss");

  const start = async (i: number) => {
    const place = places[i];
    const links = Array.from(graph.neighbours[i], (j) => ({
      peer: places[j].identity.peer,
      // The later one dials, through the proxy.
      addresses: j < i ? [`/ip4/127.0.0.1/tcp/${proxies.get(linkKey(i, j))?.port}`] : [],
    }));
    const network = libp2pNetwork({
      identity: place.identity,
      listen: ["/ip4/127.0.0.1/tcp/0"],
      links,
      onStranger: () => {},
      onRefuse: (peer, reason) => console.error(`  device ${i} refused ${peer}: ${reason}`),
    });
    const latest = place.memory.latest();
    place.memory = volatileMemory(place.memory.epoch + 1, latest);
    place.network = network;
    place.device = createDevice({
      study,
      contract,
      network: altered(network, (frame) => (chance() < loss ? undefined : (disguise?.(i, frame) ?? frame))),
      clock: realClock,
      memory: place.memory,
      links: links.map(({ peer }) => peer),
      rows: datasets[i],
      seed: seed * 1_000_003 + i * 101,
      ...(paceMilliseconds === undefined ? {} : { paceMilliseconds: paceMilliseconds(i) }),
    });
    await place.device.start();
    place.port = Number(network.addresses()[0].split("/").at(-1));
  };
  const crash = async (i: number) => {
    const { device, network } = places[i];
    device?.stop();
    await network?.close();
  };
  const areSettled = () =>
    places.every(({ device }) => {
      const status = device?.status();
      return status !== undefined && isSettled(status, status.neighbours);
    });
  return {
    proxies,
    get devices() {
      return places.flatMap(({ device }) => device ?? []);
    },
    start,
    crash,
    async settled(withinMilliseconds) {
      const end = performance.now() + withinMilliseconds;
      // Nobody may have sent anything for a while: a frame may be under way.
      for (let quiet = 0, last = -1; quiet < 3; ) {
        if (performance.now() > end) return false;
        await pause(400);
        const sent = places.reduce((sum, { device }) => sum + (device?.status().framesSent ?? 0), 0);
        quiet = areSettled() && sent === last ? quiet + 1 : 0;
        last = sent;
      }
      return true;
    },
    objective: () =>
      objective(
        datasets,
        places.map(({ device }) => matrix(device?.status().centroids ?? [])),
        graph,
        { alpha, coupling, weighting },
      ),
    async close() {
      await Promise.all(places.map((_, i) => crash(i)));
      await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
    },
  };
}

/** A network that sends something else, or nothing. */
function altered(network: Network, alter: (frame: Uint8Array) => Uint8Array | undefined): Network {
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
