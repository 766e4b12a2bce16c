// The loop of one device, asynchronous Algorithm 1: hear, update, keep, send.

import { type Matrix, toRows } from "@fedkm/core";
import { clockAlarm, type NetworkListener } from "../environment.ts";
import { limitedStudy } from "../study/limitedStudy.ts";
import type { RemoteRows } from "../study/remoteRows.ts";
import { type DeviceRows, isRemote } from "../study/remoteRows.ts";
import { studyId } from "../wire/frames.ts";
import * as limits from "../wire/limits.ts";
import type { CentroidsFrame } from "../wire/studyFrames.ts";
import type { DeviceOptions, HistoryDevice } from "./device.ts";
import { filterFrame } from "./frameFilter.ts";
import {
  checkNeighbourAway,
  connectNeighbour,
  forgiveOpenings,
  Neighbour,
  noteRejected,
  registerFrame,
} from "./neighbours.ts";
import { OpeningSync } from "./openingSync.ts";
import { answerRefusedFrame, sendRefusedOrder } from "./refusedFrames.ts";
import { type SavedState, usableState } from "./savedState.ts";
import { Sender } from "./sender.ts";
import { type DeviceStatus, personalStatus } from "./status.ts";
import { UpdateModel } from "./updateModel.ts";

/**
 * Makes the second release if it is due. A network that never rests must not keep a device from its better answer, so it
 * is made wherever the centroids are after some patience. Returns the milliseconds after which to look again: nothing
 * else may wake a device that has come to rest.
 */
export function followPersonalReleases(model: UpdateModel, sinceStart: number, isOpening: () => boolean): number {
  model.followReleases();
  const { centroids } = model;
  if (model.private?.awaitsCentroids !== true || centroids === undefined) return Number.POSITIVE_INFINITY;
  const least = limits.RELEASE_MILLISECONDS - sinceStart;
  if (least > 0) return least;
  const patience = least + limits.RELEASE_PATIENCE_MILLISECONDS;
  const isAtRest = !model.isMoving && !isOpening();
  if (!isAtRest && patience > 0) return Math.min(patience, limits.HEARTBEAT_MILLISECONDS);
  model.private.releaseAround(centroids);
  return Number.POSITIVE_INFINITY;
}

export class PersonalLoop implements HistoryDevice, NetworkListener {
  readonly #options: DeviceOptions;
  readonly #model: UpdateModel;
  readonly #openingSync: OpeningSync;
  readonly #neighbours = new Map<string, Neighbour>();
  readonly #sender: Sender;
  #restUntil = 0;
  readonly #alarm;
  #cancelHeartbeat: (() => void) | undefined;
  #isStopped = false;
  #isPaused: boolean;
  readonly #pendingQuery: PendingQuery;
  readonly #startedAt: number;

  constructor(options: DeviceOptions) {
    const { study, contract, network, memory, links, clock, rows, seed = 0 } = options;
    this.#options = options;
    this.#isPaused = options.isPaused ?? false;
    this.#alarm = clockAlarm(clock, () => this.#work());
    const saved = usableState(memory.saved, contract);
    const history = { memory: memory.history, onKept: () => this.#wake(), wallClock: options.wallClock ?? clock.now };
    this.#startedAt = clock.now();
    this.#model = new UpdateModel(limitedStudy(study, options.limits ?? {}), rows, seed, saved, history);
    const [{ self }, { ranges }] = [network, this.#model];
    this.#openingSync = new OpeningSync({ self, epoch: memory.epoch, k: study.k, ranges, alpha: study.alpha, saved });
    const parts = { model: this.#model, openingSync: this.#openingSync };
    this.#sender = new Sender({ contract, network, clock, epoch: memory.epoch, ...parts });
    this.#pendingQuery = new PendingQuery({
      now: () => clock.now(),
      rows: () => this.#model.remoteRows,
      onAnswer: (milliseconds) => {
        this.#setRest(milliseconds);
        this.#wake();
      },
      onLost: (reason) => !this.#isStopped && options.onRowsLost?.(reason),
    });
    for (const peer of links) {
      const known = saved?.neighbours.find((neighbour) => neighbour.peer === peer);
      const neighbour = new Neighbour(peer, clock.now(), known);
      neighbour.heardRound = this.#model.round;
      if (known !== undefined) neighbour.heardIn = this.#openingSync.tag.number;
      this.#neighbours.set(peer, neighbour);
    }
    // Who was unlinked while the device was not running has left as well.
    if (saved?.neighbours.some(({ peer }) => !links.includes(peer))) this.#openingSync.raise(clock.now());
  }

  async start(): Promise<void> {
    this.#wake();
    this.#waitForHeartbeat();
    await this.#options.network.start(this);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#model.centroids !== undefined) this.#options.memory.keep(() => this.#state());
    this.#alarm.cancel();
    this.#cancelHeartbeat?.();
  }

  status(): DeviceStatus {
    const { study, network, clock, memory } = this.#options;
    const now = clock.now();
    const neighbours = [...this.#neighbours.values()];
    const isOpening = this.#sender.isHeldBack || this.#openingSync.isOpening(neighbours, now);
    const opening = this.#openingSync.tag.number;
    const origin = { study, peer: network.self, epoch: memory.epoch, now };
    const phase = { opening, isOpening, isPaused: this.#isPaused };
    return personalStatus({ ...origin, ...phase }, this.#model, neighbours, this.#sender.framesSent);
  }

  setRows(rows: DeviceRows): void {
    this.#pendingQuery.renew();
    // Rows elsewhere may be others though they look the same, and they may have been lost.
    if (this.#model.setRows(rows) || isRemote(rows)) this.#wake();
  }

  setLinks(peers: readonly string[]): void {
    const { clock } = this.#options;
    const wanted = new Set(peers);
    const linked = this.#neighbours.size;
    for (const [peer, neighbour] of this.#neighbours) {
      if (wanted.has(peer)) continue;
      this.#neighbours.delete(peer);
      this.#part(neighbour);
    }
    // What the others passed on for a liar must not count against them when it is gone.
    if (this.#neighbours.size < linked) for (const neighbour of this.#neighbours.values()) forgiveOpenings(neighbour);
    for (const peer of wanted) {
      if (!this.#neighbours.has(peer)) this.#neighbours.set(peer, new Neighbour(peer, clock.now()));
    }
    this.#wake();
  }

  reset(rows?: DeviceRows): void {
    if (rows !== undefined) this.#pendingQuery.renew();
    this.#model.reset(rows);
    this.#openingSync.raise(this.#options.clock.now());
    this.#wake();
  }

  loseHistory(rows: DeviceRows): void {
    this.#model.loseHistory(rows);
    this.reset();
  }

  /** Personal clusters are no sums of all, and have no members. */
  openBooks(): void {}

  approve(): void {}
  addStatements(): void {}

  setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    // What was computed since the last frame is held back like noise.
    this.#sender.isHeldBack = isPaused && this.#sender.hasSent;
    if (isPaused) this.#alarm.cancel();
    else this.#wake();
  }

  /** What a neighbour that has left brought in must not stay, here or further away. */
  #part({ heardIn }: Neighbour): void {
    if (heardIn === this.#openingSync.tag.number) this.#openingSync.raise(this.#options.clock.now());
  }

  onConnect(peer: string): void {
    const neighbour = this.#neighbours.get(peer);
    if (neighbour === undefined || this.#isStopped) return;
    connectNeighbour(neighbour);
    sendRefusedOrder(this.#options, neighbour);
    if (this.#sender.hasSent) this.#sender.sendTo([neighbour]);
  }

  onDisconnect(peer: string): void {
    const neighbour = this.#neighbours.get(peer);
    if (neighbour !== undefined) neighbour.isConnected = false;
  }

  onFrame(peer: string, frame: Uint8Array): void {
    const neighbour = this.#neighbours.get(peer);
    if (neighbour === undefined || this.#isStopped) return;
    const { contract, clock } = this.#options;
    const verdict = filterFrame(contract, neighbour.filter, frame, clock.now());
    if (verdict.kind === "centroids") this.#hear(neighbour, verdict);
    answerRefusedFrame(this.#options, neighbour, verdict);
  }

  #hear(neighbour: Neighbour, heard: CentroidsFrame): void {
    const { clock, notice } = this.#options;
    const isNew = (neighbour.centroids?.rows ?? 0) < heard.centroids.rows;
    const wasRefused = neighbour.refusal !== undefined;
    neighbour.refusal = undefined;
    if (wasRefused && this.#sender.hasSent) this.#sender.sendTo([neighbour]);
    const isNews = this.#openingSync.hear(neighbour, heard, clock.now());
    if (isNews === undefined && !neighbour.opensTooOften) {
      neighbour.opensTooOften = true;
      notice?.(`${neighbour.peer} asks for a new opening too often, and is not followed for a while`);
    }
    neighbour.heardIn = this.#openingSync.tag.number;
    const isChanged = registerFrame(neighbour, heard, clock.now(), this.#model.round);
    if (isChanged && isNew) this.#model.openAgain();
    if (isNews || isChanged || !this.#openingSync.isAgreed(neighbour)) this.#wake();
  }

  /** Sees to it that an update comes after this time, but not sooner than the pace allows. */
  #wake(after = 0): void {
    if (!this.#isStopped && !this.#isPaused)
      this.#alarm.set(Math.max(after, this.#restUntil - this.#options.clock.now()));
  }

  #work(): void {
    const { clock } = this.#options;
    const model = this.#model;
    const begun = clock.now();
    const neighbours = [...this.#neighbours.values()];
    const isOpening = () => this.#openingSync.isOpening(neighbours, begun);
    const release = followPersonalReleases(model, begun - this.#startedAt, isOpening);
    if (Number.isFinite(release)) this.#wake(release);
    if (!this.#pendingQuery.isBusy) this.#pendingQuery.use(model.restart(this.#openingSync.own), () => {});
    const isReady = this.#open(begun);
    if (isReady) this.#update();
    const ended = clock.now();
    if (isReady) this.#setRest(ended - begun);
    const lacking = neighbours.filter((neighbour) => this.#openingSync.agreeWait(neighbour, ended) === 0);
    if (lacking.length > 0) this.#sender.sendTo(lacking);
    if (model.isMoving && !this.#pendingQuery.isBusy) this.#wake();
    if (this.#sender.isHeldBack) this.#wake(limits.NOISE_QUIET_MILLISECONDS);
    if (this.#openingSync.isSeeking) this.#wake(this.#openingSync.wait(ended));
    const agreement = this.#openingSync.nextAgreement(neighbours, ended);
    if (Number.isFinite(agreement)) this.#wake(agreement);
  }

  /** On large data the update itself sets the pace: half of the time is left to the rest of the process. */
  #setRest(updateMilliseconds: number): void {
    const { clock, paceMilliseconds = limits.PACE_MILLISECONDS } = this.#options;
    this.#restUntil = clock.now() + Math.max(paceMilliseconds, updateMilliseconds);
  }

  /** Everything of an opening but the updates, a step at a time. Returns whether an update can follow. */
  #open(now: number): boolean {
    const model = this.#model;
    const openingSync = this.#openingSync;
    if (model.isRestarting) return model.centroids !== undefined;
    openingSync.renew(model.sketch(openingSync.own), now);
    if (!openingSync.isSeeking || openingSync.wait(now) > 0) return true;
    const found = openingSync.step(now);
    if (found !== undefined) model.openAt(found);
    return found !== undefined || !openingSync.isSeeking;
  }

  #update(): void {
    if (this.#pendingQuery.isBusy) return;
    const counting = this.#counting();
    this.#pendingQuery.use(this.#model.update([...counting.values()]), (isUpdated) => {
      if (isUpdated && !this.#isStopped && !this.#isPaused) this.#spread(counting);
    });
  }

  /** Keeps and sends what an update has found. */
  #spread(counting: ReadonlyMap<Neighbour, Matrix>): void {
    noteRejected(counting.keys(), this.#model.last);
    // What nobody is sent need not be on the disk either: the next start computes it again.
    if (!this.#sender.weigh()) return;
    this.#options.memory.keep(() => this.#state());
    this.#sender.sendAll(this.#neighbours.values());
  }

  #counting(): Map<Neighbour, Matrix> {
    const { study, clock, notice } = this.#options;
    const counting = new Map<Neighbour, Matrix>();
    for (const neighbour of this.#neighbours.values()) {
      if (checkNeighbourAway(neighbour, clock.now(), this.#model.round)) {
        notice?.(`${neighbour.peer} is away: silent for long`);
        this.#part(neighbour);
        this.#wake();
      }
      const centroids = neighbour.isAway ? undefined : this.#openingSync.placeOf(neighbour, clock.now());
      if (centroids === undefined) continue;
      // One permutation needs as many centroids as ours.
      if (study.coupling === "nearest" || centroids.rows === study.k) counting.set(neighbour, centroids);
    }
    return counting;
  }

  /** Says that the device lives, and lets differences below the threshold even out. */
  #waitForHeartbeat(): void {
    const { clock } = this.#options;
    const isDue = () => clock.now() >= this.#sender.sentAt + limits.HEARTBEAT_MILLISECONDS;
    this.#cancelHeartbeat = clock.after(
      Math.max(0, this.#sender.sentAt + limits.HEARTBEAT_MILLISECONDS - clock.now()),
      () => {
        if (this.#model.followDeletions()) this.#wake();
        if (isDue() && !this.#isPaused && !this.#model.isStarting) this.#update();
        if (isDue()) {
          this.#sender.sentAt = clock.now();
          this.#sender.sendAll(this.#neighbours.values());
        }
        this.#waitForHeartbeat();
      },
    );
  }

  /** What a device keeps of itself, for the next start to go on from. */
  #state(): SavedState {
    const { centroids, present, round } = this.#model;
    return {
      study: studyId(this.#options.contract),
      round,
      centroids: centroids === undefined ? [] : toRows(centroids),
      present,
      ...this.#openingSync.saved(),
      own: this.#model.savedOwn(),
      neighbours: Array.from(this.#neighbours.values()).flatMap(
        ({ peer, filter: { last }, start, centroids: heard }) =>
          last === undefined || heard === undefined ? [] : [{ peer, ...last, start, centroids: toRows(heard) }],
      ),
    };
  }
}

// What a device with remote rows waits for: their answer, or rows that answer again. It asks one thing at a time.

export interface PendingQueryOptions {
  now(): number;
  /** The rows that the device has now. */
  rows(): RemoteRows | undefined;
  /** An answer took so many milliseconds, whether it was of use or not. */
  onAnswer(milliseconds: number): void;
  /** The rows do not answer, and nothing is asked before there are others. */
  onLost(reason: unknown): void;
}

export class PendingQuery {
  readonly #options: PendingQueryOptions;
  #awaits: "answer" | "rows" | undefined;

  constructor(options: PendingQueryOptions) {
    this.#options = options;
  }

  /** Nothing may be computed. */
  get isBusy(): boolean {
    return this.#awaits !== undefined;
  }

  /** The device has other rows. What was asked of those before is answered to nobody. */
  renew(): void {
    if (this.#awaits === "rows") this.#awaits = undefined;
  }

  /** Uses an answer, at once if it is there. */
  use<T>(answer: T | Promise<T>, use: (result: T) => void): void {
    if (!(answer instanceof Promise)) {
      use(answer);
      return;
    }
    const { now, rows, onAnswer, onLost } = this.#options;
    const [asked, begun] = [rows(), now()];
    this.#awaits = "answer";
    const end = (reason?: unknown) => {
      // Rows that were replaced meanwhile may fail.
      const isLost = reason !== undefined && asked === rows();
      this.#awaits = isLost ? "rows" : undefined;
      if (isLost) onLost(reason);
      else onAnswer(now() - begun);
    };
    void answer.then(use).then(() => end(), end);
  }
}
