// One device as a long-running program: its folder, its data, its loop and its network in one place, watched and reported.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Clock, realClock } from "../clock.ts";
import { createDevice, type Device } from "../device.ts";
import { type Libp2pNetwork, libp2pNetwork } from "../libp2p.ts";
import { LINKS_FILE, type Link, readLinks } from "../linksFile.ts";
import type { Network } from "../network.ts";
import { reasonOf } from "../reason.ts";
import { openStore } from "../store.ts";
import { contractOf, studyId } from "../study.ts";
import { DELAY_RESOLUTION_MILLISECONDS, describe, type Parts, type Surroundings } from "./describe.ts";
import { type DeviceFolder, readFolder, readRows } from "./folder.ts";
import { pendingList } from "./pending.ts";
import { reportStatus } from "./report.ts";
import { RESET_FILE } from "./reset.ts";
import { serveStatus } from "./server.ts";
import { type DaemonStatus, STATUS_FILE } from "./status.ts";
import { lookOf, MISSING, watchFiles } from "./watch.ts";

/** Where lines go; a pino logger is one. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface DaemonOptions {
  readonly folder: string;
  readonly log: Log;
  readonly surroundings: Surroundings;
  /** Serves numbers there, on loopback; none: nowhere. */
  readonly metricsPort?: number;
  /** See Libp2pOptions. */
  readonly isDiscoverable?: boolean;
  readonly clock?: Clock;
}

export interface Daemon {
  status(): DaemonStatus;
  /** Keeps the latest state and says goodbye. */
  stop(): Promise<void>;
}

export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  // What was opened, to be closed in the opposite order.
  const closers: (() => unknown)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    return { status: await compose(options, (close) => closers.push(close)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Puts a daemon together; `opened` learns how to undo each step. Returns how it is doing, at any time. */
async function compose(options: DaemonOptions, opened: (close: () => unknown) => void): Promise<() => DaemonStatus> {
  const { log, metricsPort, isDiscoverable = false, clock = realClock } = options;
  const delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MILLISECONDS });
  delays.enable();
  opened(() => delays.disable());
  const folder = await readFolder(options.folder);
  const contract = await contractOf(folder.study);
  const parts: Parts = {
    name: folder.name,
    surroundings: options.surroundings,
    startedAt: new Date().toISOString(),
    studyHash: studyId(contract),
    pending: pendingList(),
    delays,
    isRunning: true,
    links: folder.links,
    notice: null,
  };
  const warn = (line: string) => {
    parts.notice = line;
    log.warn({}, line);
  };
  let hasStarted = false;
  opened(() => hasStarted && log.info({}, "stopped"));
  // Before anything else: two devices in one folder would send the same stamps twice.
  const memory = await openStore(folder.path, warn);
  opened(() => memory.close());
  const looks = { data: await lookOf(folder.data), links: await lookOf([linksFile(folder)]) };
  const rows = await readRows(folder);

  const network = connect(folder, parts, { log, clock, warn, isDiscoverable });
  const device = createDevice({
    study: folder.study,
    contract,
    network: logged(network, log, (peer) => nameOf(parts, peer)),
    clock,
    memory,
    links: peersOf(parts.links),
    rows,
    notice: (line) => warn(line.replace(/\b12D3KooW\w+/g, (peer) => nameOf(parts, peer))),
  });
  const status = () => describe(parts, device, network);
  if (metricsPort !== undefined) {
    const server = await serveStatus(metricsPort, status);
    opened(server.close);
    log.info({ metrics: server.port }, "serving metrics");
  }
  opened(() => network.close());
  opened(() => device.stop());
  await device.start();
  hasStarted = true;
  log.info({ peer: folder.identity.peer, addresses: network.addresses(), rows: rows.rows }, "listening");

  const lastSecond = () => {
    const now = status();
    delays.reset();
    return now;
  };
  const stopReporting = reportStatus(join(folder.path, STATUS_FILE), clock, lastSecond, warn);
  opened(() => {
    parts.isRunning = false;
    return stopReporting();
  });
  const follow = following(folder, parts, { device, network, log, warn });
  opened(watchFiles([linksFile(folder)], looks.links, clock, follow.links));
  opened(watchFiles(folder.data, looks.data, clock, follow.data));
  // One that was left by a device that could not follow any more counts as well.
  opened(watchFiles([resetFile(folder)], MISSING, clock, follow.reset));
  return status;
}

interface Followers {
  readonly device: Device;
  readonly network: Libp2pNetwork;
  readonly log: Log;
  warn(line: string): void;
}

/** What happens when the owner changes a file. One that cannot be used changes nothing but the notice. */
function following(folder: DeviceFolder, parts: Parts, { device, network, log, warn }: Followers) {
  const orWarn = (change: () => Promise<void>, what: string) => {
    let said: string | undefined;
    return async () => {
      try {
        await change();
        // What was wrong with the file is right again; a notice about something else stays.
        if (parts.notice === said) parts.notice = null;
      } catch (error) {
        said = `${what} as before: ${reasonOf(error)}`;
        warn(said);
      }
    };
  };
  return {
    links: orWarn(async () => {
      parts.links = await readLinks(folder.path);
      for (const { peer } of parts.links) parts.pending.remove(peer);
      // The device first: it must know a neighbour that connects.
      device.setLinks(peersOf(parts.links));
      network.setLinks(parts.links);
      log.info({ links: parts.links.length }, "links changed");
    }, "links stay"),
    data: orWarn(async () => {
      const rows = await readRows(folder);
      device.setRows(rows);
      log.info({ rows: rows.rows }, "data changed");
    }, "data stays"),
    reset: orWarn(async () => {
      // Removing the file is a change as well.
      if ((await lookOf([resetFile(folder)])) === MISSING) return;
      await rm(resetFile(folder), { force: true });
      device.reset();
      log.info({}, "begins again from its own rows");
    }, "nothing is reset, all stays"),
  };
}

const linksFile = ({ path }: DeviceFolder) => join(path, LINKS_FILE);
const resetFile = ({ path }: DeviceFolder) => join(path, RESET_FILE);
const peersOf = (links: readonly Link[]) => links.map(({ peer }) => peer);
const nameOf = ({ links }: Parts, peer: string) => links.find((link) => link.peer === peer)?.name ?? peer;

interface Wiring {
  readonly log: Log;
  readonly clock: Clock;
  readonly isDiscoverable: boolean;
  warn(line: string): void;
}

function connect(folder: DeviceFolder, parts: Parts, wiring: Wiring): Libp2pNetwork {
  const { log, clock, warn, isDiscoverable } = wiring;
  return libp2pNetwork({
    isDiscoverable,
    identity: folder.identity,
    listen: folder.listen,
    links: parts.links,
    clock,
    onStranger(peer, address) {
      // A linked peer that is kept away for a while is no stranger.
      if (parts.links.some((link) => link.peer === peer)) return;
      if (parts.pending.note(peer, address, new Date(), clock.now()))
        log.info({ peer, address }, "a stranger was refused");
    },
    onRefuse: (peer, reason) => warn(`${nameOf(parts, peer)} is kept away for a while: ${reason}`),
  });
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
    send: (peer, frame) => network.send(peer, frame),
    close: () => network.close(),
  };
}
