// One device as a long-running program: its folder, its data, its loop and its network in one place, watched and reported.

import { join } from "node:path";
import { type Matrix, stack } from "@fedkm/core";
import { type Clock, realClock } from "../clock.ts";
import { createDevice, type Device } from "../device.ts";
import { type Libp2pNetwork, libp2pNetwork } from "../libp2p.ts";
import { LINKS_FILE, type Link, readLinks } from "../links.ts";
import type { Memory } from "../memory.ts";
import type { Network } from "../network.ts";
import { LARGEST_FRAME } from "../protocol.ts";
import { openStore } from "../store.ts";
import { contractOf } from "../study.ts";
import { type DeviceFolder, readFolder } from "./folder.ts";
import { pendingList } from "./pending.ts";
import { readPoints } from "./points.ts";
import { reportStatus } from "./report.ts";
import { serveStatus } from "./server.ts";
import { type DaemonStatus, STATUS_FILE } from "./status.ts";
import { watchFiles } from "./watch.ts";

/** Where lines go; a pino logger is one. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What only the program around a daemon knows. */
export interface Surroundings {
  readonly pid: number;
  memoryBytes(): number;
}

export interface DaemonOptions {
  readonly folder: string;
  readonly log: Log;
  readonly surroundings: Surroundings;
  /** Serves numbers there, on loopback; none: nowhere. */
  readonly metricsPort?: number;
  readonly clock?: Clock;
}

export interface Daemon {
  status(): DaemonStatus;
  /** Keeps the latest state and says goodbye. */
  stop(): Promise<void>;
}

export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { log, clock = realClock } = options;
  const folder = await readFolder(options.folder);
  // Before anything else: two devices in one folder would tell the same stamps twice.
  const store = await openStore(folder.path, (line) => log.warn({}, line));
  try {
    const running = await startDevice({ ...options, clock }, folder, store);
    return {
      status: running.status,
      async stop() {
        await running.stop();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function startDevice(
  { log, surroundings, metricsPort, clock }: DaemonOptions & { clock: Clock },
  folder: DeviceFolder,
  memory: Memory,
): Promise<Daemon> {
  const { identity, study, listen, path } = folder;
  const startedAt = new Date().toISOString();
  const pending = pendingList();
  let { links } = folder;
  let notice: string | null = null;
  const nameOf = (peer: string) => links.find((link) => link.peer === peer)?.name ?? peer;
  const warn = (line: string) => {
    notice = line;
    log.warn({}, line);
  };

  const rows = await readAll(folder);
  const network = libp2pNetwork({
    identity,
    listen,
    links,
    maxFrame: LARGEST_FRAME,
    clock,
    onStranger(peer, address) {
      // A linked peer that is kept away for a while is no stranger.
      if (links.some((link) => link.peer === peer)) return;
      if (pending.note(peer, address, new Date(), clock.now())) log.info({ peer, address }, "a stranger was refused");
    },
    onRefuse: (peer, reason) => warn(`${nameOf(peer)} is kept away for a while: ${reason}`),
  });
  const device = createDevice({
    study,
    contract: await contractOf(study),
    network: logged(network, log, nameOf),
    clock,
    memory,
    links: links.map(({ peer }) => peer),
    rows,
    notice: (line) => warn(line.replace(/\b12D3KooW\w+/g, nameOf)),
  });
  let isRunning = true;
  const status = (): DaemonStatus => ({
    version: 1,
    isRunning,
    pid: surroundings.pid,
    name: folder.name,
    startedAt,
    writtenAt: new Date().toISOString(),
    addresses: network.addresses(),
    memoryBytes: surroundings.memoryBytes(),
    ...describeLinks(device, network, links),
    pending: pending.list(),
    notice,
  });

  await device.start();
  const server = metricsPort === undefined ? undefined : await serveStatus(metricsPort, status);
  log.info({ peer: identity.peer, addresses: network.addresses(), rows: rows.rows }, "listening");

  const stopWatchingLinks = watchFiles([join(path, LINKS_FILE)], clock, async () => {
    try {
      links = await readLinks(path);
    } catch (error) {
      warn(`links stay as they were: ${messageOf(error)}`);
      return;
    }
    for (const { peer } of links) pending.remove(peer);
    // The device first: it must know a neighbour that connects.
    device.setLinks(links.map(({ peer }) => peer));
    network.setLinks(links);
    log.info({ links: links.length }, "links changed");
  });
  const stopWatchingData = watchFiles(folder.data, clock, async () => {
    try {
      const changed = await readAll(folder);
      device.setRows(changed);
      log.info({ rows: changed.rows }, "data changed");
    } catch (error) {
      warn(`data stays as it was: ${messageOf(error)}`);
    }
  });
  const stopReporting = reportStatus(join(path, STATUS_FILE), clock, status, warn);

  return {
    status,
    async stop() {
      stopWatchingLinks();
      stopWatchingData();
      device.stop();
      server?.close();
      server?.closeAllConnections();
      await network.close();
      isRunning = false;
      await stopReporting();
      log.info({ round: device.status().round }, "stopped");
    },
  };
}

async function readAll({ data, study }: DeviceFolder): Promise<Matrix> {
  const files = await Promise.all(data.map((file) => readPoints(file, study)));
  return files.length > 0 ? stack(files) : { data: new Float64Array(0), rows: 0, cols: study.features.length };
}

/** The network, with a line in the log for each link that comes and goes. */
function logged(network: Network, log: Log, nameOf: (peer: string) => string): Network {
  return {
    self: network.self,
    start: (listener) =>
      network.start({
        onFrame: (peer, frame) => listener.onFrame(peer, frame),
        onConnect(peer) {
          log.info({ link: nameOf(peer) }, "connected");
          listener.onConnect(peer);
        },
        onDisconnect(peer) {
          log.info({ link: nameOf(peer) }, "disconnected");
          listener.onDisconnect(peer);
        },
      }),
    tell: (peer, frame) => network.tell(peer, frame),
    close: () => network.close(),
  };
}

/** The device's neighbours and the network's links are the same peers: one entry for each. */
function describeLinks(
  device: Device,
  network: Libp2pNetwork,
  links: readonly Link[],
): Pick<DaemonStatus, "device" | "links"> {
  const { neighbours, ...own } = device.status();
  const described = neighbours.flatMap((neighbour) => {
    const link = links.find(({ peer }) => peer === neighbour.peer);
    const traffic = network.traffic(neighbour.peer);
    if (link === undefined || traffic === undefined) return [];
    const { name, addresses } = link;
    return [{ name, addresses, ...neighbour, ...traffic, failure: traffic.failure ?? null }];
  });
  return { device: own, links: described };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
