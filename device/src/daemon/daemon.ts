// One device as a long-running program: its folder, its data, its loop and its network in one place, watched and reported.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { ChangingDevice } from "../change/changingDevice.ts";
import { explainDamage } from "../disk/disk.ts";
import { REVOKED_FILE, ROTATION_FILE } from "../disk/keyFiles.ts";
import { LINKS_FILE, linkInFile, linksFileContacts, peerAddressKeeper, readPeerAddresses } from "../disk/linksFile.ts";
import { openStore } from "../disk/store.ts";
import { type Clock, realClock, reasonOf } from "../environment.ts";
import { nodeSecrets } from "../keys/nodeSecrets.ts";
import { type Libp2pNetwork, type Libp2pOptions, libp2pNetwork } from "../links/libp2pNetwork.ts";
import { nodeWebSockets, selfSignedCertificate } from "../links/webSockets.ts";
import { contractOf, keepsHistory } from "../study/study.ts";
import { studyId } from "../wire/frames.ts";
import { WATCH_MILLISECONDS } from "../wire/limits.ts";
import { recordedNetwork } from "../wire/recording.ts";
import { auditDaemonStatus, auditKeeper, departureKeeper } from "./auditKeeper.ts";
import { MISSING, watchedFilesNow, watchFiles } from "./fileWatch.ts";
import { type DeviceFolder, readFolder } from "./folder.ts";
import { SETTINGS_FILE } from "./folderFacts.ts";
import { lastStatus, STATUS_FILE } from "./lastStatus.ts";
import { addToMemberFile, MEMBERS_FILE, readMemberFile } from "./memberFile.ts";
import { type LinkProblem, type Log, noticeBoard } from "./notices.ts";
import {
  APPROVED_FILE,
  BOOKS_FILE,
  CONSENT_FILE,
  ownerFileFollowers,
  PAUSED_FILE,
  peersOf,
  RESET_FILE,
  readApproval,
} from "./ownerFiles.ts";
import { limitsNotice, linkProblems, privacyNotices, pulledNotice, silenceOfLinks, sumsNotice } from "./problems.ts";
import { daemonBusyShare, daemonDelays, MEMORY_MILLISECONDS, quietClock, quietReading } from "./quiet.ts";
import { recordToFile } from "./recordingFile.ts";
import { rowSource, rowSourceRemarks } from "./rowSource.ts";
import { openFolder, startKeys } from "./runningKeys.ts";
import { serveStatus } from "./server.ts";
import { type DaemonHost, type DaemonParts, type DaemonStatus, daemonStatus } from "./status.ts";
import { reportStatus } from "./statusFile.ts";
import { strangerList } from "./strangers.ts";
import { completeSwitch, NEXT_FILE, NOW_FILE, studyChange } from "./studyChange.ts";
import { withTrendPoint } from "./trend.ts";

interface DaemonOptions {
  readonly folder: string;
  readonly log: Log;
  readonly host: DaemonHost;
  /** Serves numbers there, on loopback; none: nowhere. */
  readonly metricsPort?: number;
  /** See Libp2pOptions. */
  readonly isDiscoverable?: boolean;
  readonly onRelayed?: NonNullable<Libp2pOptions["onRelayed"]>;
  /** Every frame is added to this file; none: nowhere. */
  readonly record?: string;
  readonly clock?: Clock;
}

/** A device that runs as a program. */
export interface Daemon {
  status(): DaemonStatus;
  /** Resolves when the device must be stopped and started again, with a new key or with a new guarded study. */
  readonly restart: Promise<void>;
  /** Keeps the latest state and says goodbye. */
  stop(): Promise<void>;
}

/** Starts the device of a folder. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  // What was opened, to be closed in the opposite order.
  const closers: (() => unknown)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  let onDue = () => {};
  const restart = new Promise<void>((resolve) => {
    onDue = resolve;
  });
  try {
    return { status: await compose(options, (close) => closers.push(close), onDue), restart, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Puts a daemon together; `opened` learns how to undo each step. Returns how it is doing, at any time. */
// Long: the order of the steps is what matters here, and each is a line or two.
async function compose(
  options: DaemonOptions,
  opened: (close: () => unknown) => void,
  onDue: () => void,
): Promise<() => DaemonStatus> {
  const { log, metricsPort, clock = realClock } = options;
  const delays = daemonDelays(daemonBusyShare(options.host.cpuMicroseconds));
  opened(() => delays.disable());
  const { folder, rotated } = await openFolder(options.folder);
  const contract = await contractOf(folder.study);
  const study = studyId(contract);
  const parts = partsOf(folder, delays, options);
  const { notices } = parts;
  parts.approved = await readApproval(folder.path);
  let hasStarted = false;
  opened(() => hasStarted && log.info({}, "stopped"));
  // Before anything else: two devices in one folder would send the same stamps twice.
  const memory = await openStore(folder.path, notices.set, { hasHistory: keepsHistory(folder.study) });
  opened(() => memory.close());
  await completeSwitch(folder.path);
  const { limits = {} } = folder;
  const source = rowSource(folder.data, options.host.env, limits);
  opened(() => source.close());
  const change = studyChange(folder, parts, memory, { log, source, restart: onDue });
  opened(() => change.close());
  const audit = auditKeeper(folder.path, clock, (line) => notices.set("audit", line));
  opened(() => audit.close());
  if (rotated !== undefined) {
    audit.note("rotated", rotated);
    log.info(rotated, "has a new key");
  }
  const lookAt = (...names: string[]) => watchedFilesNow(...names.map((name) => join(folder.path, name)));
  const keyFiles = [ROTATION_FILE, REVOKED_FILE];
  const looks = {
    data: await source.look(),
    links: lookAt(LINKS_FILE),
    keys: lookAt(...keyFiles),
    members: lookAt(MEMBERS_FILE),
    settings: lookAt(SETTINGS_FILE),
  };
  const { rows, counts, fault } = await source.open(folder.study);
  notices.set("rows", fault);
  for (const remark of rowSourceRemarks(folder.data, folder.study)) log.info({}, remark);

  const warnAddresses = (line: string | undefined) => notices.set("met", line);
  const addressKeeper = peerAddressKeeper(folder.path, clock, warnAddresses);
  opened(() => addressKeeper.close());
  const places = {
    peerAddresses: await readPeerAddresses(folder.path, warnAddresses),
    onPeerAddresses: addressKeeper.keep,
  };
  const webSockets = nodeWebSockets(options.host.env, await folderCertificate(folder));
  const network = connect(folder, parts, options, { ...places, webSockets });
  const nameOf = (peer: string) => linkInFile(parts.links, peer)?.name ?? peer;
  const departures = departureKeeper(audit, clock, nameOf);
  opened(() => departures.close());
  const logged = recordedNetwork(departures.network(network), clock, ({ kind, peer }) => {
    const isAboutLink = kind === "connected" || kind === "disconnected";
    if (isAboutLink) log.info({ link: nameOf(peer) }, kind);
  });
  const recorded = await recordToFile(options.record, logged, { clock, notices, study, opened });
  const keys = await startKeys({
    folder,
    parts,
    audit,
    clock,
    peerAddresses: places.peerAddresses,
    webSockets,
    network: recorded,
    useLinks: () => follow.links(),
    onDue,
  });
  const device: ChangingDevice = new ChangingDevice({
    study: folder.study,
    contract,
    network: keys.network,
    secrets: nodeSecrets(folder.identity),
    clock,
    wallClock: Date.now,
    memory,
    links: peersOf(parts.links),
    rows,
    statements: await readMemberFile(folder.path),
    onStatements(said) {
      addToMemberFile(folder.path, said).then(
        () => notices.set("keys", undefined),
        (error) => notices.set("keys", `what is known about members is not kept: ${reasonOf(error)}`),
      );
    },
    limits,
    onAdded: departures.added,
    isPaused: lookAt(PAUSED_FILE) !== MISSING,
    ...(parts.approved !== undefined && { approved: parts.approved }),
    onAgreed: () => void change.finish(device),
    onRowsLost: (reason) => notices.set("data", source.lose(reason)),
  });
  const status = () => daemonStatus(parts, device, network, memory);
  if (metricsPort !== undefined) {
    const server = await serveStatus(metricsPort, status);
    opened(server.close);
    log.info({ metrics: server.port }, "serving metrics");
  }
  opened(() => keys.network.close());
  opened(() => keys.close());
  opened(() => device.stop());
  const follow = ownerFileFollowers(folder, parts, { device, source, network, log, audit });
  await device.start();
  keys.start();
  await change.follow(device);
  hasStarted = true;
  const from = memory.saved?.study;
  audit.note("started", { version: parts.host.version, peer: network.self, study });
  if (from !== undefined && from !== study) audit.note("study", { from, to: study });
  audit.note("data", { rows: counts.rows });
  opened(() => audit.note("stopped", {}));
  log.info({ peer: folder.identity.peer, addresses: network.addresses(), rows: counts.rows }, "listening");

  const tick = quietClock(clock, WATCH_MILLISECONDS);
  const look = auditDaemonStatus(audit, clock);
  opened(
    reportEachSecond(folder, parts, { clock: tick, log, status, look, goOn: change.goOn, keyProblems: keys.problems }),
  );
  const watch = (names: string[], known: string, use: () => Promise<boolean>) =>
    opened(watchFiles(() => lookAt(...names), known, tick, use));
  // Without a neighbour that was waited for, a new key may be due.
  watch([LINKS_FILE], looks.links, async () => (await follow.links()) && keys.reload());
  opened(watchFiles(source.look, looks.data, tick, follow.data));
  // One that was left by a device that could not follow any more counts as well.
  watch([RESET_FILE], MISSING, follow.reset);
  watch(keyFiles, looks.keys, keys.reload);
  watch([MEMBERS_FILE], looks.members, async () => {
    device.addStatements(await readMemberFile(folder.path));
    return true;
  });
  watch([NEXT_FILE, NOW_FILE], "", () => change.follow(device));
  await follow.paused();
  watch([PAUSED_FILE], lookAt(PAUSED_FILE), follow.paused);
  watch([SETTINGS_FILE], looks.settings, async () => {
    const now = await readFolder(folder.path).catch(() => undefined);
    // With its rows, or without them.
    if (now !== undefined && JSON.stringify(now.limits) !== JSON.stringify(folder.limits)) onDue();
    return now !== undefined;
  });
  watch([CONSENT_FILE], MISSING, follow.consent);
  watch([APPROVED_FILE], lookAt(APPROVED_FILE), follow.approved);
  watch([BOOKS_FILE], MISSING, follow.books);
  return status;
}

function partsOf(
  { path, name, links, study }: DeviceFolder,
  delays: DaemonParts["delays"],
  { log, host, clock = realClock }: DaemonOptions,
): DaemonParts {
  const startedAt = new Date().toISOString();
  const memoryBytes = quietReading(clock, MEMORY_MILLISECONDS, () => host.memoryBytes());
  return {
    name,
    host: { ...host, memoryBytes },
    startedAt,
    pending: strangerList(),
    notices: noticeBoard(log, () => new Date()),
    bans: new Map(),
    delays,
    trend: lastStatus(path)?.trend ?? [],
    stoppedAt: null,
    dataReadAt: startedAt,
    statusFailures: 0,
    links,
    study,
    next: undefined,
    approved: undefined,
  };
}

interface Reporting {
  readonly clock: Clock;
  readonly log: Log;
  status(): DaemonStatus;
  /** Writes down what the status has for the audit log. */
  look(status: DaemonStatus): void;
  /** Goes over to the closed study when everybody has approved of it. */
  goOn(status: DaemonStatus): void;
  keyProblems(): LinkProblem[];
}

/** Looks every few seconds at what is wrong, and writes the status. Returns how to stop. */
function reportEachSecond(
  folder: DeviceFolder,
  parts: DaemonParts,
  { clock, log, status, look, goOn, keyProblems }: Reporting,
): () => Promise<void> {
  const { notices, bans, host, delays } = parts;
  const silenceOf = silenceOfLinks(clock);
  const lastSecond = () => {
    const before = status();
    const { links, device } = before;
    parts.trend = withTrendPoint(parts.trend, Date.now(), device);
    for (const { peer, isConnected } of links) if (isConnected) bans.delete(peer);
    notices.setLinks([...linkProblems(links, bans, silenceOf(links)), ...keyProblems()]);
    const { history, waiting } = privacyNotices(before, folder.path);
    notices.set("history", history);
    notices.set("waiting", waiting);
    notices.set("pulled", pulledNotice(device.pulledBy, links));
    notices.set("sums", sumsNotice(device.shared));
    notices.set("limits", limitsNotice(parts.study, folder));
    look(before);
    goOn(before);
    const failure = host.logFailure();
    notices.set("log", failure && `lines of the log are lost: ${failure}`);
    // A quiet device would not notice that there is room again.
    if (failure !== undefined) log.warn({}, "lines were lost before this one");
    delays.reset();
    // Described once: only what is wrong can be another thing now.
    return { ...before, notices: notices.list(), trend: parts.trend };
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

/** A certificate that others may vouch for, and its key; without them one is made at each start. */
const CERTIFICATE_FILES = ["tls.crt", "tls.key"] as const;

/** What answers TLS where the device listens with it; undefined: it does not. */
async function folderCertificate({ path, listen }: Pick<DeviceFolder, "path" | "listen">) {
  if (!listen.some((address) => /\/(?:tls|wss)(?:\/|$)/.test(address))) return undefined;
  const files = CERTIFICATE_FILES.map((name) => join(path, name));
  if (!files.some((file) => existsSync(file))) return selfSignedCertificate();
  const rule = "must be there and be PEM beside the other of tls.crt and tls.key, or take both away";
  return explainDamage(files.join(" and "), rule, async () => {
    const [cert, key] = await Promise.all(files.map((file) => readFile(file, "utf8")));
    createSecureContext({ cert, key });
    return { cert, key };
  });
}

function connect(
  folder: DeviceFolder,
  parts: DaemonParts,
  { log, isDiscoverable = false, onRelayed, clock = realClock }: DaemonOptions,
  given: Pick<Libp2pOptions, "peerAddresses" | "onPeerAddresses" | "webSockets">,
): Libp2pNetwork {
  return libp2pNetwork({
    isDiscoverable,
    ...given,
    isRelay: folder.relay ?? false,
    ...(onRelayed && { onRelayed }),
    ...(folder.announce.length > 0 ? { announce: folder.announce } : {}),
    identity: folder.identity,
    listen: folder.listen,
    links: linksFileContacts(parts.links),
    clock,
    onStranger(peer, address) {
      // A linked peer that is kept away for a while is no stranger.
      if (linkInFile(parts.links, peer) !== undefined) return;
      if (parts.pending.note(peer, address, new Date(), clock.now()))
        log.info({ peer, address }, "a stranger was refused");
    },
    onRefuse: (peer, reason) => parts.bans.set(peer, reason),
  });
}
