// A whole network of devices in one process: the same loop, a simulated clock, links in memory. Seeded, so it can be rerun.

import { edges, type Graph, type Matrix, matrix, randomStream, takeRows } from "@fedkm/core";
import { type ChangeStatus, ChangingDevice } from "../change/changingDevice.ts";
import type { StudyPart } from "../change/studyLoop.ts";
import type { PeerNetwork } from "../environment.ts";
import { type SavedState, type SimulatedHeads, volatileMemory } from "../loop/savedState.ts";
import { type DeviceStatus, isSettled } from "../loop/status.ts";
import { firstHeads } from "../privacy/historyHeads.ts";
import { encodeLedger, newLedger } from "../privacy/ledger.ts";
import type { OwnerLimits } from "../study/ownerLimits.ts";
import type { MemoryRows } from "../study/remoteRows.ts";
import { foundedStudy, type Study } from "../study/study.ts";
import { studyObjective } from "../study/studyOfPoints.ts";
import { rowsThatCount, scaleRows } from "../study/units.ts";
import type { Contract } from "../wire/frames.ts";
import { HEAD_MARK_BYTES } from "../wire/historyFrames.ts";
import { type RecordedEvent, recordedNetwork } from "../wire/recording.ts";
import { simulatedClock } from "./clock.ts";
import { type SimulatedEvent, simulatedEventLog, simulatedLinks, simulatedPeer, type Weather } from "./links.ts";
import { simulatedSecrets } from "./simulatedSecrets.ts";

/** What a simulated network is made of. */
export interface SimulationOptions {
  /** What all devices agreed on. */
  readonly study: Study;
  /** Of `study`: `await contractOf(study)`. */
  readonly contract: Contract;
  /** In the features' units, one for each device of the graph. */
  readonly datasets: readonly MemoryRows[];
  /** Every link that there may be. */
  readonly graph: Graph;
  /** All chance follows from it. */
  readonly seed: number;
  /** Of the first k-means of every device. Default: another one for each, drawn from `seed`. */
  readonly kmeansSeed?: number;
  /** Who is linked to whom at first. Default: as the graph says. */
  readonly links?: readonly ArrayLike<number>[];
  /** What the owners of some devices allow, whatever the study says. Default: everything. */
  readonly limits?: ReadonlyMap<number, OwnerLimits>;
  /** Devices that come later, by `restart`. Default none. */
  readonly absent?: readonly number[];
  /** Default: 5 to 15 ms a frame, none lost. */
  readonly weather?: Partial<Weather>;
  /** Devices start within this time. Default 1000. */
  readonly staggerMilliseconds?: number;
  /** Between two updates of a device. Default 10. */
  readonly paceMilliseconds?: (device: number) => number;
  /** With shared clusters: nothing is masked. Default false. */
  readonly isBare?: boolean;
  /** Devices tell each other how far their histories have come, as those do that have a folder. Default false. */
  readonly tellsHistory?: boolean;
  /** Called with all that happens, in its order. */
  readonly onEvent?: (event: SimulatedEvent) => void;
  /** Learns of everything that passes through a device's network, as in a recording of that device. */
  readonly record?: (device: number, event: RecordedEvent) => void;
  /** What a device sends in place of its frame. */
  readonly disguise?: (device: number, frame: Uint8Array) => Uint8Array;
}

/** A simulated network that runs on. */
export type Simulation = ReturnType<typeof simulate>;

/** A study with the contract of it, and the rows of a device in its features. */
export interface NextStudy extends Pick<StudyPart, "study" | "contract"> {
  readonly rows: Matrix;
}

/** Between two looks at whether all have settled. */
const LOOK_MILLISECONDS = 100;

/** A device's place in the network: it may be down, what it had kept is not. */
interface SimulatedDevice {
  device: ChangingDevice | undefined;
  readonly part: SimulatedPart;
  /** In a change of study. */
  readonly next: SimulatedPart | undefined;
}

/** What a device has kept. */
interface SimulatedSnapshot {
  readonly state: SavedState | undefined;
  readonly history: Uint8Array | undefined;
  readonly heads: SimulatedHeads | undefined;
}

interface SimulatedPart extends StudyPart {
  readonly rows: Matrix;
  readonly memory: ReturnType<typeof volatileMemory>;
}

// Long: one closure over the devices, with an entry for each thing that can happen to one.
/**
 * A whole network in one process, with a clock and links in memory: the same loop as on a real network.
 * @example const network = simulate({ study, contract: await contractOf(study), datasets, graph, seed: 1 });
 */
export function simulate(options: SimulationOptions) {
  const { graph, seed, staggerMilliseconds = 1000, absent = [] } = options;
  const peers = options.datasets.map((_, i) => simulatedPeer(i));
  const study = foundedStudy(options.study, peers);
  const datasets = [...options.datasets];
  const weather: Weather = { delayMilliseconds: [5, 15], loss: 0, ...options.weather };
  const random = randomStream(seed, "simulation");
  const clock = simulatedClock();
  const log = simulatedEventLog(clock.now, options.onEvent);
  const links = simulatedLinks({ neighbours: graph.neighbours, clock, weather, random, log });
  const { record, disguise } = options;
  const networks = datasets.map((_, i) => {
    const plain = links.network(i);
    const network: PeerNetwork =
      disguise === undefined ? plain : { ...plain, send: (peer, frame) => plain.send(peer, disguise(i, frame)) };
    return record === undefined ? network : recordedNetwork(network, clock, (event) => record(i, event));
  });
  const places: (SimulatedDevice | undefined)[] = datasets.map(() => undefined);
  const wanted = (options.links ?? graph.neighbours).map((others) => new Set(Array.from(others)));
  const cut = new Set<string>();
  const paused = new Set<number>();
  const approved = new Map<number, string>();
  const applyCut = (i: number, j: number) => {
    const isLinked = wanted[i].has(j) && wanted[j].has(i);
    links.setCut(i, j, !isLinked || cut.has(pairOf(i, j)));
  };
  if (options.links !== undefined) for (const [i, j] of edges(graph)) applyCut(i, j);
  const statements: Uint8Array[][] = datasets.map(() => []);
  const start = (i: number, epochs = 1) => {
    log.note("start", i);
    const before = places[i];
    const epoch = (before?.part.memory.epoch ?? 0) + epochs;
    const { study: current, contract } = before?.part ?? { ...options, study };
    const again = ({ memory }: SimulatedPart) =>
      volatileMemory(epoch, memory.latest(), memory.latestHistory(), memory.latestHeads());
    const memory = before === undefined ? firstMemory(epoch, options, i) : again(before.part);
    const part = { study: current, contract, rows: datasets[i], memory };
    const next = before?.next && { ...before.next, memory: again(before.next) };
    const others = Array.from(wanted[i], (j) => networks[j].self);
    const isPaused = paused.has(i);
    const secrets = simulatedSecrets(networks[i].self, options.isBare);
    const onStatements = (said: readonly Uint8Array[]) => statements[i].push(...said);
    const members = { statements: statements[i], onStatements };
    const own = { network: networks[i], clock, secrets, links: others, isPaused, ...approvalOf(approved.get(i)) };
    const around = { ...own, ...members, limits: options.limits?.get(i) ?? {}, onAgreed: () => finish(i) };
    const pace = options.paceMilliseconds && { paceMilliseconds: options.paceMilliseconds(i) };
    // Far enough apart for the ten starts of each.
    const kmeansSeed = options.kmeansSeed ?? seed * 1_000_003 + i * 101;
    const device = new ChangingDevice({ ...around, ...pace, seed: kmeansSeed, ...part });
    places[i] = { device, part, next };
    void device.start();
    if (next !== undefined) device.begin(next);
  };
  const finish = (i: number) => {
    const { device, next } = places[i] ?? {};
    if (next === undefined) return;
    device?.finish();
    places[i] = { device, part: next, next: undefined };
    datasets[i] = next.rows;
  };
  for (let i = 0; i < datasets.length; i++) {
    const after = staggerMilliseconds * random();
    if (!absent.includes(i)) clock.after(after, () => start(i));
  }

  const running = (i: number) => {
    const { device, part, next } = places[i] ?? {};
    if (device === undefined || part === undefined)
      throw new RangeError(`device ${i} must be running to have a status`);
    return { device, part, next };
  };
  const run = (milliseconds: number) => {
    const until = clock.now() + milliseconds;
    while (clock.step(until));
  };
  // Links that are cut and devices that are down or paused are part of the experiment: nobody waits for them.
  const isAtRest = ({ device }: SimulatedDevice) => {
    const next = device?.change().next;
    if (device === undefined || device.status().phase === "paused") return true;
    return isSettled(device.status(), []) && (next == null || isSettled(next.device, []));
  };
  const centroids = () =>
    places.map((place) => {
      const saved = place?.part.memory.latest();
      const isEmpty = saved === undefined || (study.clusters === "shared" && !saved.present.includes(true));
      return matrix(isEmpty ? [] : saved.centroids);
    });
  return {
    now: clock.now,
    /** Lets this much time pass. */
    run,
    /** Until every device is settled and no frame is under way; returns whether that came within this time. */
    settle(withinMilliseconds: number, lookMilliseconds = LOOK_MILLISECONDS) {
      for (const end = clock.now() + withinMilliseconds; clock.now() < end; ) {
        run(Math.min(lookMilliseconds, end - clock.now()));
        if (links.underWay() === 0 && places.every((place, i) => (place ? isAtRest(place) : absent.includes(i))))
          return true;
      }
      return false;
    },
    /** As it is from now on. */
    weather,
    setCut(i: number, j: number, isCut: boolean) {
      if (isCut) cut.add(pairOf(i, j));
      else cut.delete(pairOf(i, j));
      applyCut(i, j);
    },
    /** The process of a device ends without warning; it starts again from what it had kept, under the next epoch. */
    crash(i: number) {
      const place = places[i];
      if (place?.device === undefined) return;
      log.note("crash", i);
      place.device.stop();
      place.device = undefined;
      void networks[i].close();
    },
    /** `epochs`: how far its epoch goes ahead, more than 1 where the machine's clock was set forward. Default 1. */
    restart(i: number, epochs?: number) {
      if (places[i]?.device === undefined) start(i, epochs);
    },
    /** What a device had kept is lost; it must not be running. */
    forget(i: number) {
      const place = places[i];
      if (place === undefined || place.device !== undefined) return;
      const forgotten = (kept: SimulatedPart) => ({ ...kept, memory: volatileMemory(kept.memory.epoch) });
      places[i] = { ...place, part: forgotten(place.part), next: place.next && forgotten(place.next) };
    },
    /** Its owner changes its links, of those in the graph. A link carries frames if both ends have it. */
    setLinks(i: number, others: readonly number[]) {
      wanted[i] = new Set(others);
      places[i]?.device?.setLinks(others.map((j) => networks[j].self));
      for (const j of graph.neighbours[i]) applyCut(i, j);
    },
    setRows(i: number, rows: MemoryRows) {
      datasets[i] = rows;
      places[i]?.device?.setRows(rows);
    },
    /** A copy of what a device has kept, and its return to it; it must not be running. Its epochs go on growing. */
    snapshot(i: number): SimulatedSnapshot {
      const { memory } = running(i).part;
      return { state: memory.latest(), history: memory.latestHistory(), heads: memory.latestHeads() };
    },
    restore(i: number, { state, history, heads }: SimulatedSnapshot) {
      const place = places[i];
      if (place === undefined || place.device !== undefined) return;
      const memory = volatileMemory(place.part.memory.epoch, state, history, heads);
      places[i] = { ...place, part: { ...place.part, memory } };
    },
    /** Its owner says who is a member, in a study with founders. */
    addStatements(i: number, said: readonly Uint8Array[]) {
      statements[i].push(...said);
      places[i]?.device?.addStatements(said);
    },
    reset: (i: number) => places[i]?.device?.reset(),
    /** Its owner agrees that its rows are published anew. */
    consent: (i: number) => places[i]?.device?.reset(datasets[i]),
    /** Its owner asks for the books of the answer, and opens its own. */
    openBooks: (i: number) => places[i]?.device?.openBooks(),
    /** Its owner approves of the closed study with this hash. It stays so if the device is restarted. */
    approve(i: number, hash: string) {
      approved.set(i, hash);
      places[i]?.device?.approve(hash);
    },
    /** It stays so if the device is restarted. */
    setPaused(i: number, isPaused: boolean) {
      if (isPaused) paused.add(i);
      else paused.delete(i);
      places[i]?.device?.setPaused(isPaused);
    },
    /** Its owner accepts another study. It changes to it when its neighbours have, or when its owner says so (`finish`). */
    begin(i: number, given: NextStudy) {
      const place = running(i);
      const { epoch } = place.part.memory;
      const next = { ...given, study: foundedStudy(given.study, peers) };
      const kept = { ...next, memory: volatileMemory(epoch) };
      places[i] = { ...place, next: kept };
      place.device.begin(kept);
    },
    withdraw(i: number) {
      const place = running(i);
      place.device.withdraw();
      places[i] = { ...place, next: undefined };
    },
    finish,
    change: (i: number): ChangeStatus => running(i).device.change(),
    /** A frame from outside, as if another device had sent it. */
    forge: links.forge,
    status: (i: number): DeviceStatus => running(i).device.status(),
    /** What a device has written down of its guarded rows. */
    history: (i: number) => places[i]?.part.memory.latestHistory(),
    /** As all devices have them now, in the scaled units of the study. */
    centroids,
    /** GTVMin at `centroids()`. */
    objective: () =>
      studyObjective(
        study,
        datasets.map((rows) => scaleRows(study, takeRows(rows, rowsThatCount(study, rows)))),
        centroids(),
        graph,
      ),
    get frames() {
      return links.frames();
    },
    get bytes() {
      return links.bytes();
    },
    /** Number and hash of all events so far. */
    digest: log.digest,
  };
}

/** The noise of a private device is as the seed says, so that a network can be run again. */
function firstMemory(epoch: number, { study, seed, tellsHistory = false }: SimulationOptions, i: number) {
  const own = firstHeads(epoch, i.toString(16).padStart(2 * HEAD_MARK_BYTES, "0"));
  const heads = tellsHistory ? { own, neighbours: new Map() } : undefined;
  if (study.privacy !== "private") return volatileMemory(epoch, undefined, undefined, heads);
  const random = randomStream(seed, "secret", i);
  const secret = Uint8Array.from({ length: 32 }, () => Math.floor(256 * random()));
  return volatileMemory(epoch, undefined, encodeLedger(newLedger(secret)), heads);
}

const approvalOf = (hash: string | undefined) => (hash === undefined ? {} : { approved: hash });

const pairOf = (i: number, j: number) => `${Math.min(i, j)} ${Math.max(i, j)}`;
