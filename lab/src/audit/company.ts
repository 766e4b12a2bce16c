// The neighbours of a device that is killed, in this process: a peer that only listens where clusters are personal, and
// two devices where they are shared. They know what the device has sent.

import type { Matrix } from "@fedkm/core";
import {
  contractOf,
  createDevice,
  type Device,
  type DeviceStatus,
  realClock,
  type Study,
  volatileMemory,
} from "@fedkm/device";
import { freePorts, type Link } from "@fedkm/device/daemon";
import { createIdentity, type Identity, type Libp2pNetwork, libp2pNetwork } from "@fedkm/device/libp2p";
import { decodeShared, idOf, nodeSecrets, shapeOf } from "@fedkm/device/shared";

export interface Company {
  /** As the device knows them. */
  readonly links: readonly Link[];
  start(identity: Identity): Promise<void>;
  /** Stages of releases that have shown in what came from the device. */
  heard(): readonly string[];
  /** Whether all has come that was to come since `heard` was last asked, and the device is where they are. */
  isDone(status: Pick<DeviceStatus, "phase" | "centroids"> | undefined): boolean;
  close(): Promise<void>;
}

/** Where a frame of centroids says which ones are there, and how many sketches follow. */
const [TYPE_AT, SKETCHES_AT, PRESENT_AT] = [5, 10, 60];
const CENTROIDS = 1;

export async function companyOf(study: Study, datasets: readonly Matrix[]): Promise<Company> {
  const many = Math.max(1, datasets.length);
  const identities = await Promise.all(Array.from({ length: many }, createIdentity));
  const ports = await freePorts("127.0.0.1", many);
  const links = identities.map(({ peer }, i) => ({
    name: `guest-${i}`,
    peer,
    addresses: [`/ip4/127.0.0.1/tcp/${ports[i]}`],
  }));
  const contract = await contractOf(study);
  const read = study.clusters === "shared" ? decodeShared(shapeOf(study)) : undefined;
  const networks: Libp2pNetwork[] = [];
  const devices: Device[] = [];
  let stages = new Set<string>();
  let victim: Identity | undefined;

  /** The stage of a release that rests in a frame, if any. */
  const hear = (peer: string, frame: Uint8Array) => {
    if (victim === undefined) return;
    if (read === undefined) {
      const isOwn = frame[SKETCHES_AT] > 0 || frame[PRESENT_AT] > 0;
      if (peer === victim.peer && frame[TYPE_AT] === CENTROIDS && isOwn) stages.add("cells");
      return;
    }
    const message = read(contract, frame);
    if (message.kind !== "board") return;
    const id = idOf(nodeSecrets(victim).key);
    for (const entry of message.entries) {
      // A census has no integers, the second release has k counts and sums.
      const integers = entry.words.length / 2;
      if (entry.id === id && integers > 0) stages.add(integers === study.k * 3 ? "means" : "cells");
    }
  };

  return {
    links,
    async start(identity) {
      victim = identity;
      for (const [i, own] of identities.entries()) {
        const others = [...links.filter((_, j) => j < i), { peer: identity.peer, addresses: [] }];
        const later = links.filter((_, j) => j > i).map(({ peer }) => ({ peer, addresses: [] }));
        const network = libp2pNetwork({
          identity: own,
          listen: links[i].addresses,
          links: [...others, ...later],
          onStranger: () => {},
          onRefuse: () => {},
        });
        networks.push(network);
        const heard: Libp2pNetwork = {
          ...network,
          start: (listener) =>
            network.start({
              ...boundTo(listener),
              onFrame(peer, frame) {
                hear(peer, frame);
                listener.onFrame(peer, frame);
              },
            }),
        };
        if (datasets.length === 0) {
          await heard.start({ onConnect: () => {}, onDisconnect: () => {}, onFrame: () => {} });
          continue;
        }
        const device = createDevice({
          study,
          contract,
          network: heard,
          clock: realClock,
          memory: volatileMemory(1),
          links: [...others, ...later].map(({ peer }) => peer),
          rows: datasets[i],
          secrets: nodeSecrets(own),
        });
        devices.push(device);
        await device.start();
      }
    },
    heard() {
      const before = [...stages];
      stages = new Set();
      return before;
    },
    isDone(status) {
      if (devices.length === 0) return stages.size > 0;
      const answers = [status, ...devices.map((device) => device.status())].map((one) => ({
        isSettled: one?.phase === "settled",
        text: JSON.stringify(one?.centroids),
      }));
      return answers.every(({ isSettled, text }) => isSettled && text === answers[0].text);
    },
    async close() {
      for (const device of devices) device.stop();
      await Promise.all(networks.map((network) => network.close()));
    },
  };
}

/** Listeners are objects with methods, of which one is replaced. */
function boundTo(listener: Parameters<Libp2pNetwork["start"]>[0]) {
  return {
    onConnect: (peer: string) => listener.onConnect(peer),
    onDisconnect: (peer: string) => listener.onDisconnect(peer),
  };
}
