// One device as a long-running program: its folder, its data, its loop and its network in one place, watched and reported.

import { join } from "node:path";
import { type Clock, realClock } from "../clock.ts";
import { createDevice } from "../device.ts";
import { type Libp2pNetwork, type Libp2pOptions, libp2pNetwork } from "../libp2p.ts";
import { LINKS_FILE } from "../linksFile.ts";
import type { Network } from "../network.ts";
import { WATCH_MILLISECONDS } from "../pace.ts";
import { openStore } from "../store.ts";
import { contractOf, studyId } from "../study.ts";
import { onTheBeat } from "./beat.ts";
import { busyDelays } from "./delays.ts";
import { type DescribedLinks, describe, describeLinks, type Parts, type Surroundings } from "./describe.ts";
import { type DeviceFolder, readFolder, readRows } from "./folder.ts";
import { following, peersOf } from "./follow.ts";
import { metKeeper, readMet } from "./met.ts";
import { type Log, noticeBoard } from "./notices.ts";
import { pendingList } from "./pending.ts";
import { linkProblems } from "./problems.ts";
import { reportStatus } from "./report.ts";
import { RESET_FILE } from "./reset.ts";
import { rowsFault } from "./rows.ts";
import { MEMORY_MILLISECONDS, seldom } from "./seldom.ts";
import { serveStatus } from "./server.ts";
import { type DaemonStatus, STATUS_FILE } from "./status.ts";
import { lookAtOnce, lookOf, MISSING, watchFiles } from "./watch.ts";

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
  const delays = busyDelays();
  opened(() => delays.disable());
  const folder = await readFolder(options.folder);
  const contract = await contractOf(folder.study);
  const parts = partsOf(folder, studyId(contract), delays, options);
  const { notices } = parts;
  let hasStarted = false;
  opened(() => hasStarted && log.info({}, "stopped"));
  // Before anything else: two devices in one folder would send the same stamps twice.
  const memory = await openStore(folder.path, notices.set);
  opened(() => memory.close());
  const looks = { data: await lookOf(folder.data), links: lookAtOnce(linksFile(folder)) };
  const rows = await readRows(folder);
  notices.set("rows", rowsFault(folder.study, rows));

  const notMet = (line: string | undefined) => notices.set("met", line);
  const met = metKeeper(folder.path, clock, notMet);
  opened(() => met.close());
  const places = { met: await readMet(folder.path, notMet), onMet: met.keep };
  const network = connect(folder, parts, { log, clock, isDiscoverable, places });
  const device = createDevice({
    study: folder.study,
    contract,
    network: logged(network, log, (peer) => nameOf(parts, peer)),
    clock,
    memory,
    links: peersOf(parts.links),
    rows,
  });
  const now = () => describeLinks(device, network, parts.links);
  const status = (described = now()) => describe(parts, described, network, memory);
  if (metricsPort !== undefined) {
    const server = await serveStatus(metricsPort, () => status());
    opened(server.close);
    log.info({ metrics: server.port }, "serving metrics");
  }
  opened(() => network.close());
  opened(() => device.stop());
  await device.start();
  hasStarted = true;
  log.info({ peer: folder.identity.peer, addresses: network.addresses(), rows: rows.rows }, "listening");

  const beat = onTheBeat(clock, WATCH_MILLISECONDS);
  opened(report(folder, parts, { clock: beat, log, now, status }));
  const follow = following(folder, parts, { device, network, log });
  opened(watchFiles(() => lookAtOnce(linksFile(folder)), looks.links, beat, follow.links));
  opened(watchFiles(() => lookOf(folder.data), looks.data, beat, follow.data));
  // One that was left by a device that could not follow any more counts as well.
  opened(watchFiles(() => lookAtOnce(join(folder.path, RESET_FILE)), MISSING, beat, follow.reset));
  return status;
}

function partsOf(
  { name, links }: DeviceFolder,
  studyHash: string,
  delays: Parts["delays"],
  { log, surroundings, clock = realClock }: DaemonOptions,
): Parts {
  const startedAt = new Date().toISOString();
  const memoryBytes = seldom(clock, MEMORY_MILLISECONDS, () => surroundings.memoryBytes());
  return {
    name,
    surroundings: { ...surroundings, memoryBytes },
    startedAt,
    studyHash,
    pending: pendingList(),
    notices: noticeBoard(log, () => new Date()),
    bans: new Map(),
    delays,
    stoppedAt: null,
    dataReadAt: startedAt,
    statusFailures: 0,
    links,
  };
}

interface Reported {
  readonly clock: Clock;
  readonly log: Log;
  readonly now: () => DescribedLinks;
  /** With these links, which are described once for both. */
  readonly status: (described: DescribedLinks) => DaemonStatus;
}

/** Looks every few seconds at what is wrong, and writes the status. Returns how to stop. */
function report(folder: DeviceFolder, parts: Parts, { clock, log, now, status }: Reported): () => Promise<void> {
  const { notices, bans, surroundings, delays } = parts;
  const lastSecond = () => {
    const described = now();
    for (const { peer, isConnected } of described.links) if (isConnected) bans.delete(peer);
    notices.setLinks(linkProblems(described.links, bans));
    const failure = surroundings.logFailure();
    notices.set("log", failure && `lines of the log are lost: ${failure}`);
    // A quiet device would not notice that there is room again.
    if (failure !== undefined) log.warn({}, "lines were lost before this one");
    const whole = status(described);
    delays.reset();
    return whole;
  };
  const stop = reportStatus(join(folder.path, STATUS_FILE), clock, lastSecond, (failure) => {
    if (failure !== undefined) parts.statusFailures += 1;
    notices.set("status", failure && `the status cannot be written: ${failure}`);
  });
  return () => {
    parts.stoppedAt = new Date().toISOString();
    return stop();
  };
}

const linksFile = ({ path }: DeviceFolder) => join(path, LINKS_FILE);
const nameOf = ({ links }: Parts, peer: string) => links.find((link) => link.peer === peer)?.name ?? peer;

interface Wiring {
  readonly log: Log;
  readonly clock: Clock;
  readonly isDiscoverable: boolean;
  /** Where neighbours were met, and what to do with news of it. */
  readonly places: Pick<Libp2pOptions, "met" | "onMet">;
}

function connect(folder: DeviceFolder, parts: Parts, wiring: Wiring): Libp2pNetwork {
  const { log, clock, isDiscoverable, places } = wiring;
  return libp2pNetwork({
    isDiscoverable,
    ...places,
    ...(folder.announce.length > 0 ? { announce: folder.announce } : {}),
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
    onRefuse: (peer, reason) => parts.bans.set(peer, reason),
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
