// The loop of one device, asynchronous Algorithm 1: hear, update, keep, send.

import { type Matrix, matrix, toRows } from "@fedkm/core";
import type { Clock } from "./clock.ts";
import { keepOrder, sendOrder } from "./conflict.ts";
import { examine } from "./guard.ts";
import { type Memory, type SavedState, usable } from "./memory.ts";
import { Model } from "./model.ts";
import { checkAway, createNeighbour, hear, meet, type Neighbour } from "./neighbour.ts";
import type { Network, NetworkListener } from "./network.ts";
import { HEARTBEAT_MILLISECONDS, PACE_MILLISECONDS } from "./pace.ts";
import { type Contract, encodeCentroids, encodeStudy } from "./protocol.ts";
import { type DeviceStatus, describe } from "./status.ts";
import { canonicalStudy, differenceFrom, type Study, studyId } from "./study.ts";

export interface DeviceOptions {
  readonly study: Study;
  /** Of `study`: `await contractOf(study)`. */
  readonly contract: Contract;
  readonly network: Network;
  readonly clock: Clock;
  readonly memory: Memory;
  /** The linked peers at the start. */
  readonly links: readonly string[];
  /** Own data, in the features' units. */
  readonly rows: Matrix;
  /** Of the first k-means. Default 0. */
  readonly seed?: number;
  /** Between two updates, at least. Default 10. */
  readonly paceMilliseconds?: number;
  /** What a person should know, one line each; never data. */
  readonly notice?: (line: string) => void;
}

export interface Device {
  start(): Promise<void>;
  /** New data, whole. It is folded in; nothing restarts. */
  setRows(rows: Matrix): void;
  setLinks(peers: readonly string[]): void;
  status(): DeviceStatus;
  /** Stops updating and sending; the network and the memory are their owners' to close. */
  stop(): void;
}

export function createDevice(options: DeviceOptions): Device {
  const { privacy } = options.study;
  if (privacy !== "open") {
    throw new RangeError(`privacy must be "open" (this version keeps no other promise), got "${privacy}"`);
  }
  return new Loop(options);
}

class Loop implements Device, NetworkListener {
  readonly #options: DeviceOptions;
  readonly #studyId: string;
  readonly #model: Model;
  readonly #neighbours = new Map<string, Neighbour>();
  /** As last sent to all. */
  #sent: { readonly centroids: Float64Array; readonly present: readonly boolean[] } | undefined;
  #sentAt: number;
  #sequence = 0;
  #framesSent = 0;
  #restUntil = 0;
  #cancelUpdate: (() => void) | undefined;
  #cancelHeartbeat: (() => void) | undefined;
  #isStopped = false;

  constructor(options: DeviceOptions) {
    const { study, contract, memory, links, clock, rows, seed = 0 } = options;
    this.#options = options;
    this.#studyId = studyId(contract);
    this.#sentAt = clock.now();
    const saved = usable(memory.saved, this.#studyId, contract.k, contract.d);
    this.#model = new Model(study, rows, seed, saved);
    for (const peer of links) {
      const known = saved?.neighbours.find((neighbour) => neighbour.peer === peer);
      const neighbour = createNeighbour(peer, clock.now(), known, known && matrix(known.centroids));
      neighbour.heardRound = this.#model.round;
      this.#neighbours.set(peer, neighbour);
    }
  }

  async start(): Promise<void> {
    this.#wake();
    this.#waitForHeartbeat();
    await this.#options.network.start(this);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#model.centroids !== undefined) this.#options.memory.keep(() => this.#state());
    this.#cancelUpdate?.();
    this.#cancelHeartbeat?.();
  }

  status(): DeviceStatus {
    const { study, network, clock, memory } = this.#options;
    const origin = { study, peer: network.self, epoch: memory.epoch, now: clock.now() };
    return describe(origin, this.#model, [...this.#neighbours.values()], this.#framesSent);
  }

  setRows(rows: Matrix): void {
    this.#model.setRows(rows);
    this.#wake();
  }

  setLinks(peers: readonly string[]): void {
    const wanted = new Set(peers);
    for (const peer of this.#neighbours.keys()) if (!wanted.has(peer)) this.#neighbours.delete(peer);
    for (const peer of wanted) {
      if (this.#neighbours.has(peer)) continue;
      this.#neighbours.set(peer, createNeighbour(peer, this.#options.clock.now()));
    }
    this.#wake();
  }

  onConnect(peer: string): void {
    const neighbour = this.#neighbours.get(peer);
    if (neighbour === undefined || this.#isStopped) return;
    meet(neighbour);
    sendOrder(this.#options, neighbour);
    if (this.#sent !== undefined) this.#sendTo([neighbour]);
  }

  onDisconnect(peer: string): void {
    const neighbour = this.#neighbours.get(peer);
    if (neighbour !== undefined) neighbour.isConnected = false;
  }

  onFrame(peer: string, frame: Uint8Array): void {
    const neighbour = this.#neighbours.get(peer);
    if (neighbour === undefined || this.#isStopped) return;
    const { contract, clock } = this.#options;
    const verdict = examine(contract, neighbour.guard, frame, clock.now());
    if (verdict.kind === "centroids") this.#hear(neighbour, verdict.centroids);
    if (verdict.kind === "study") this.#refuse(neighbour, verdict.text);
    if (verdict.kind === "refused" && verdict.reason === "study") this.#sendStudy(neighbour);
    keepOrder(this.#options, neighbour, verdict);
  }

  #hear(neighbour: Neighbour, centroids: Matrix): void {
    const { clock } = this.#options;
    const isNew = (neighbour.centroids?.rows ?? 0) < centroids.rows;
    const wasRefused = neighbour.refusal !== undefined;
    neighbour.refusal = undefined;
    if (wasRefused && this.#sent !== undefined) this.#sendTo([neighbour]);
    if (!hear(neighbour, centroids, clock.now(), this.#model.round)) return;
    if (isNew) this.#model.openAgain();
    this.#wake();
  }

  /** A neighbour of another study is sent ours, so that it can say what differs. */
  #sendStudy(neighbour: Neighbour): void {
    const { study, contract, network } = this.#options;
    if (neighbour.studySent || !neighbour.isConnected) return;
    neighbour.studySent = true;
    network.send(neighbour.peer, encodeStudy(contract, canonicalStudy(study)));
  }

  /** It is sent nothing more until it has our study. */
  #refuse(neighbour: Neighbour, theirs: string): void {
    // One text a connection: reading it costs more than a frame.
    if (neighbour.studyHeard) return;
    const difference = differenceFrom(this.#options.study, theirs);
    if (difference === undefined) return;
    this.#sendStudy(neighbour);
    neighbour.studyHeard = true;
    neighbour.refusal = `another study, ${difference}`;
    this.#options.notice?.(`${neighbour.peer} is refused: ${neighbour.refusal}`);
  }

  /** Sees to it that an update comes, not sooner than the pace allows. */
  #wake(): void {
    if (this.#cancelUpdate !== undefined || this.#isStopped) return;
    const { clock, paceMilliseconds = PACE_MILLISECONDS } = this.#options;
    this.#cancelUpdate = clock.after(Math.max(0, this.#restUntil - clock.now()), () => {
      this.#cancelUpdate = undefined;
      const begun = clock.now();
      this.#model.restart();
      if (!this.#model.isStarting) this.#update();
      const ended = clock.now();
      // On large data the update itself sets the pace: half of the time is left to the rest of the process.
      if (!this.#model.isStarting) this.#restUntil = ended + Math.max(paceMilliseconds, ended - begun);
      if (this.#model.isMoving) this.#wake();
    });
  }

  #update(): void {
    const model = this.#model;
    if (!model.update(this.#counting())) return;
    // What nobody is sent need not be on the disk either: the next start computes it again.
    if (!this.#isWorthSending()) return;
    this.#options.memory.keep(() => this.#state());
    this.#sendAll();
  }

  #isWorthSending(): boolean {
    const { centroids, present, threshold } = this.#model;
    const sent = this.#sent;
    if (centroids === undefined || sent === undefined) return true;
    return (
      present.some((is, c) => is !== sent.present[c]) ||
      this.#model.distance(sent.centroids, centroids.data) > threshold
    );
  }

  /** The centroids of the neighbours that count now. */
  #counting(): Matrix[] {
    const { study, clock, notice } = this.#options;
    const counting: Matrix[] = [];
    for (const neighbour of this.#neighbours.values()) {
      if (checkAway(neighbour, clock.now(), this.#model.round)) notice?.(`${neighbour.peer} is away: silent for long`);
      const { centroids, isAway } = neighbour;
      if (centroids === undefined || isAway) continue;
      // One permutation needs as many centroids as ours.
      if (study.coupling === "nearest" || centroids.rows === study.k) counting.push(centroids);
    }
    return counting;
  }

  #sendAll(): void {
    const { centroids, present } = this.#model;
    if (centroids === undefined) return;
    this.#sent = { centroids: centroids.data, present };
    this.#sentAt = this.#options.clock.now();
    this.#sendTo(this.#neighbours.values());
  }

  #sendTo(to: Iterable<Neighbour>): void {
    const { contract, network, memory } = this.#options;
    const { centroids, present } = this.#model;
    if (centroids === undefined || !present.includes(true)) return;
    const stamp = { epoch: memory.epoch, sequence: this.#sequence++ };
    // One and the same frame for all: what each learns more than the others could be used against the device.
    const frame = encodeCentroids(contract, stamp, centroids.data, present);
    for (const { peer, isConnected, refusal } of to) {
      if (!isConnected || refusal !== undefined) continue;
      this.#framesSent++;
      network.send(peer, frame);
    }
  }

  /** Says that the device lives, and lets differences below the threshold even out. */
  #waitForHeartbeat(): void {
    const { clock } = this.#options;
    const isDue = () => clock.now() >= this.#sentAt + HEARTBEAT_MILLISECONDS;
    this.#cancelHeartbeat = clock.after(Math.max(0, this.#sentAt + HEARTBEAT_MILLISECONDS - clock.now()), () => {
      if (isDue() && !this.#model.isStarting) this.#update();
      if (isDue()) {
        this.#sentAt = clock.now();
        this.#sendAll();
      }
      this.#waitForHeartbeat();
    });
  }

  #state(): SavedState {
    const { centroids, present, round } = this.#model;
    return {
      study: this.#studyId,
      round,
      centroids: centroids === undefined ? [] : toRows(centroids),
      present,
      neighbours: Array.from(this.#neighbours.values()).flatMap(({ peer, guard: { last }, centroids: heard }) =>
        last === undefined || heard === undefined ? [] : [{ peer, ...last, centroids: toRows(heard) }],
      ),
    };
  }
}
