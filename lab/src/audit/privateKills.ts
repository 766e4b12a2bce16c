// kill -9 around a release: a private device as a process dies at many instants while it writes its ledger and sends for
// the first time. Its ledger must have whatever it had sent, and what it adds after its next start must be the same.

import { watch } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { complete, type Matrix, paperData } from "@fedkm/core";
import {
  contractOf,
  createDevice,
  type Device,
  type DeviceStatus,
  foundedStudy,
  parseStudy,
  realClock,
  type Study,
  volatileMemory,
} from "@fedkm/device";
import { type DeviceFolder, freeMachinePorts, type Link, readHistory } from "@fedkm/device/daemon";
import { createIdentity, type Identity, type Libp2pNetwork, libp2pNetwork } from "@fedkm/device/libp2p";
import { decodeShared, idOf, isKey, nodeSecrets, sumsShape } from "@fedkm/device/shared";
import { makeFolders, startDevice } from "../faults/processes.ts";
import { isHeld, print, progress } from "../measure.ts";

// The neighbours of a device that is killed, in this process: a peer that only listens where clusters are personal, and
// two devices where they are shared. They know what the device has sent.

interface Company {
  /** Founded by all of them and the device. */
  readonly study: Study;
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

async function companyOf(asked: Study, datasets: readonly Matrix[], founder: Identity): Promise<Company> {
  const many = datasets.length;
  const identities = await Promise.all(Array.from({ length: many }, createIdentity));
  const study = foundedStudy(
    asked,
    [founder, ...identities].map(({ peer }) => peer),
  );
  const ports = await freeMachinePorts("127.0.0.1", many);
  const links = identities.map(({ peer }, i) => ({
    name: `guest-${i}`,
    peer,
    addresses: [`/ip4/127.0.0.1/tcp/${ports[i]}`],
  }));
  const contract = await contractOf(study);
  const read = study.clusters === "shared" ? decodeShared(sumsShape(study)) : undefined;
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
    if (message.kind !== "board" && message.kind !== "proof") return;
    const id = idOf(nodeSecrets(victim).key);
    for (const entry of message.entries) {
      if (entry.id !== id) continue;
      // Half of what is above 64 for each version: the rounds that are known.
      const stage = `round ${((message.order.rank % 64) >> 1) + 1}`;
      if (entry.words.length > 0) stages.add(stage);
      else if (entry.seal.length > 0 && isKey(entry)) stages.add(`keys of ${stage}`);
    }
  };

  return {
    study,
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
      if (study.clusters !== "shared") return stages.size > 0;
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

const common = `name: killed
k: 3
privacy: private
typicalRows: 100
epsilon: 4
features: [{ name: x1, unit: "", min: -13, max: 13 }, { name: x2, unit: "", min: -13, max: 13 }]
`;
const studies = {
  personal: parseStudy(`${common}alpha: 0\n`),
  shared: parseStudy(`${common}clusters: shared\ndevices: 3\n`),
};
type Kind = keyof typeof studies;

/** A device ends within this time, or something is wrong. */
const WITHIN_MILLISECONDS = 60_000;
/** What is under way when a process dies still comes. */
const LATE_MILLISECONDS = 200;
/** At its start a device writes its ledger with so many changes of files, and with each release with so many more. */
const FIRST_CHANGES = 8;
const CHANGES = { personal: 8, shared: 14 };
const RELEASES = { personal: 1, shared: 4 };
/** A personal device may make a second release, if its neighbour has come to rest. */
const MOST_RELEASES = { personal: 2, shared: 4 };
/** Without changes for so long a device has made its releases, also on a busy machine. */
const QUIET_MILLISECONDS = 5_000;
/** A device is killed up to this long after one of the changes. */
const MOST_DELAY_MILLISECONDS = 100;

interface Ledger {
  readonly releases: readonly { readonly stage: string }[];
  readonly posted?: readonly { readonly stage: string; readonly of: string; readonly integers: readonly number[] }[];
  readonly summary: unknown;
}

interface Killed {
  readonly released: number;
  readonly hasSent: boolean;
  /** Something was sent that the ledger did not have. */
  readonly isShort: boolean;
  readonly isRepeated: boolean;
  readonly hasEnded: boolean;
}

export async function privateKills(kind: Kind, kills: number): Promise<boolean> {
  const found: Killed[] = [];
  for (let n = 0; n < kills; n++) {
    progress(`kill -9 around a release, ${kind} clusters, ${n + 1} of ${kills}`);
    found.push(await killed(kind, n));
  }
  progress("");
  const many = (isSo: (one: Killed) => boolean) => found.filter(isSo).length;
  const [short, other] = [many(({ isShort }) => isShort), many(({ isRepeated }) => !isRepeated)];
  const ended = many(({ hasEnded }) => hasEnded);
  const when = [
    many(({ released }) => released === 0),
    many(({ released, hasSent }) => released > 0 && !hasSent),
    many(({ hasSent }) => hasSent),
  ];
  print(`A private device with ${kind} clusters, as a process, killed around its releases`, [
    ["kills", "before a release", "released, not sent", "sent", "short", "not the same", "ended"],
    [kills, ...when, short, other, ended].map(String),
  ]);
  const missed = [`${short} short`, `${other} not the same`, `${kills - ended} not ended`];
  return isHeld(
    "the ledger is never short, a release repeats itself, and all devices end",
    missed.filter((one) => !one.startsWith("0 ")),
  );
}

/** Whoever has nothing to say still tells a neighbour what it has heard from it. */
const NO_ROWS = { data: new Float64Array(0), rows: 0, cols: 2 };

/** One device that dies once. */
async function killed(kind: Kind, n: number): Promise<Killed> {
  const identity = await createIdentity();
  const [own, ...others] = paperData("iso", 3, 100, 1 + n).datasets;
  const company = await companyOf(studies[kind], kind === "shared" ? others : [NO_ROWS], identity);
  const { study, links: guests } = company;
  const folders = await makeFolders({ study, datasets: [own], graph: complete(1) }, { guests, identities: [identity] });
  const [folder] = folders.devices;
  try {
    await company.start(folder.identity);
    // Not one instant after the other, so that also a few kills are spread over all releases.
    const changes = FIRST_CHANGES + ((25 * n) % (CHANGES[kind] * RELEASES[kind] + 1));
    await dies(folder, changes, (7 * n) % MOST_DELAY_MILLISECONDS);
    await pause(LATE_MILLISECONDS);
    const atDeath = await ledgerOf(folder);
    const sent = company.heard();
    const again = startDevice(folder);
    const hasEnded = await isSoon(() => company.isDone(again.status()?.device));
    await again.end("SIGTERM");
    return {
      released: atDeath.releases.length,
      hasSent: sent.length > 0,
      isShort: sent.some((stage) => !isWritten(kind, stage, atDeath)),
      isRepeated: isRepeated(kind, atDeath, await ledgerOf(folder)),
      hasEnded,
    };
  } finally {
    await company.close();
    folders.remove();
  }
}

/** Starts a device and kills it after so many changes of its ledger's files and some milliseconds. */
async function dies(folder: DeviceFolder, changes: number, delayMilliseconds: number): Promise<void> {
  let left = changes;
  let lastAt = Number.POSITIVE_INFINITY;
  const watcher = watch(folder.path, (_, name) => {
    if (!name?.startsWith("history")) return;
    left--;
    lastAt = performance.now();
  });
  const device = startDevice(folder);
  // Some releases have fewer changes: those devices die when nothing follows.
  await isSoon(() => left <= 0 || performance.now() - lastAt > QUIET_MILLISECONDS);
  await pause(delayMilliseconds);
  await device.end("SIGKILL");
  watcher.close();
}

async function ledgerOf({ path }: DeviceFolder): Promise<Ledger> {
  return JSON.parse(new TextDecoder().decode(await readHistory(path)));
}

/** Whether the ledger has what was sent: sealed sums as posted, keys and everything else as paid for. */
function isWritten(kind: Kind, sent: string, { releases, posted = [] }: Ledger): boolean {
  const isSealed = kind === "shared" && !sent.startsWith("keys of ");
  const found = isSealed ? posted : releases;
  return found.some(({ stage }) => sent.endsWith(stage));
}

/** Whether what was released before is there again, to the last bit, and no more was paid than its releases. */
function isRepeated(kind: Kind, before: Ledger, after: Ledger): boolean {
  const isPrefix = before.releases.every((one, i) => JSON.stringify(one) === JSON.stringify(after.releases[i]));
  const isKept =
    kind === "personal"
      ? before.releases.length === 0 || JSON.stringify(before.summary) === JSON.stringify(after.summary)
      : (before.posted ?? []).every(
          ({ of, integers }, i) => of === after.posted?.[i].of && `${integers}` === `${after.posted[i].integers}`,
        );
  return isPrefix && isKept && after.releases.length <= MOST_RELEASES[kind];
}

async function isSoon(isSo: () => boolean, withinMilliseconds = WITHIN_MILLISECONDS): Promise<boolean> {
  const end = performance.now() + withinMilliseconds;
  while (!isSo() && performance.now() < end) await pause(1);
  return isSo();
}
