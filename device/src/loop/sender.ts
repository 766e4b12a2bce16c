// What a device sends its neighbours, and when it is worth it: one frame for all, with the sketches that one lacks.

import type { Clock, PeerNetwork } from "../environment.ts";
import type { Contract } from "../wire/frames.ts";
import { NOISE_GROWTH, NOISE_MARGIN, NOISE_PROGRESS, NOISE_QUIET_MILLISECONDS, NOISE_UPDATES } from "../wire/limits.ts";
import { type DeviceSketch, encodeCentroidsFrame, isSameTag, type OpeningTag } from "../wire/studyFrames.ts";
import { type Distance, Room } from "./damping.ts";
import type { Neighbour } from "./neighbours.ts";
import type { OpeningSync } from "./openingSync.ts";
import type { UpdateModel } from "./updateModel.ts";

export interface SenderOptions {
  readonly contract: Contract;
  readonly network: PeerNetwork;
  readonly clock: Clock;
  readonly epoch: number;
  readonly model: UpdateModel;
  readonly openingSync: OpeningSync;
}

export class Sender {
  readonly #options: SenderOptions;
  readonly #noise: MoveNoise;
  #sequence = 0;
  /** As last sent to all. */
  #sent:
    | { readonly centroids: Float64Array; readonly present: readonly boolean[]; readonly tag: OpeningTag }
    | undefined;
  /** The device is somewhere else than it last said, and the difference is noise so far. */
  isHeldBack = false;
  /** When all were last sent something, or the start. */
  sentAt: number;
  framesSent = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
    const { model } = options;
    this.#noise = new MoveNoise(
      (a, b) => model.distance(a, b),
      (level) => model.damping.quieten(level),
    );
    this.sentAt = options.clock.now();
  }

  get hasSent(): boolean {
    return this.#sent !== undefined;
  }

  /** After every update: whether its result is worth sending. */
  weigh(): boolean {
    const { model, openingSync, clock } = this.#options;
    if (!model.release()) return false;
    const { outgoing, threshold } = model;
    const sent = this.#sent;
    if (outgoing === undefined || sent === undefined) return true;
    const isSameOpening = isSameTag(sent.tag, openingSync.tag);
    if (!isSameOpening) this.#noise.forget();
    const level = this.#noise.level(clock.now());
    if (model.move > threshold) this.#noise.note(outgoing.data, clock.now());
    const change = model.distance(sent.centroids, outgoing.data);
    const isShown = isSameOpening && outgoing.present.every((is, c) => is === sent.present[c]);
    this.isHeldBack = isShown && change > threshold && change <= level;
    return !isShown || (change > threshold && !this.isHeldBack);
  }

  sendAll(neighbours: Iterable<Neighbour>): void {
    const { model, openingSync, clock } = this.#options;
    const { outgoing } = model;
    if (outgoing === undefined) return;
    if (!this.isHeldBack) this.#sent = { centroids: outgoing.data, present: outgoing.present, tag: openingSync.tag };
    this.sentAt = clock.now();
    this.sendTo(neighbours);
  }

  sendTo(neighbours: Iterable<Neighbour>): void {
    const { contract, network, epoch, clock, model, openingSync } = this.#options;
    const { outgoing } = model;
    if (outgoing === undefined || !outgoing.present.includes(true)) return;
    // A heartbeat must not bring what is held back.
    const centroids = (this.isHeldBack ? this.#sent?.centroids : undefined) ?? outgoing.data;
    const { present } = outgoing;
    const stamp = { epoch, sequence: this.#sequence++ };
    const { tag } = openingSync;
    const frameWith = (sketches: readonly DeviceSketch[]) =>
      encodeCentroidsFrame(contract, stamp, { tag, centroids, present, sketches });
    // The same centroids for all: what each learns more than the others could be used against the device.
    const plain = frameWith([]);
    for (const neighbour of neighbours) {
      if (!neighbour.isConnected || neighbour.refusal !== undefined) continue;
      const sketches = openingSync.sketchesFor(neighbour, clock.now());
      this.framesSent++;
      network.send(neighbour.peer, sketches.length === 0 ? plain : frameWith(sketches));
    }
  }
}

// How much of a device's moves is noise: a change has to be larger than that to be worth sending. A neighbour that
// jitters or drifts for ever moves the device with each of its frames, and what is sent on would move the whole network.

/**
 * Moves are looked at in blocks of many updates. What converges needs half of the room from one block to the next, and
 * all of it is worth sending. Where a block needs as much room as one before it, the device gets nowhere: it goes to and
 * fro, or it follows something that never rests. Then only a move out of that room is news.
 */
export class MoveNoise {
  readonly #distance: Distance;
  readonly #onQuiet: (level: number) => void;
  #block = new Room(new Float64Array(0));
  #updates = 0;
  #notedAt = Number.NEGATIVE_INFINITY;
  /** The room of the last block, and the least that any has needed. */
  #room = 0;
  #least = Number.POSITIVE_INFINITY;
  #isStalled = false;
  #hasGrown = false;
  #level = 0;

  /** `onQuiet`: a noise of this level is over, because the device was quiet for long enough. */
  constructor(distance: Distance, onQuiet: (level: number) => void = () => {}) {
    this.#distance = distance;
    this.#onQuiet = onQuiet;
  }

  /** A smaller change is noise; 0: there is none. */
  level(now: number): number {
    if (now - this.#notedAt >= NOISE_QUIET_MILLISECONDS) {
      if (this.#level > 0) this.#onQuiet(this.#level);
      this.forget();
    }
    return this.#level;
  }

  /** Where the device is after an update that has moved it. */
  note(centroids: Float64Array, now: number): void {
    this.#notedAt = now;
    if (this.#updates === 0) this.#block = new Room(centroids);
    else this.#block.add(centroids);
    this.#updates++;
    if (this.#updates === NOISE_UPDATES) this.#judge();
  }

  /** Nothing of before counts: it has been quiet, or the device has begun again. */
  forget(): void {
    this.#updates = 0;
    this.#room = 0;
    this.#isStalled = false;
    this.#hasGrown = false;
    this.#least = Number.POSITIVE_INFINITY;
    this.#level = 0;
  }

  #judge(): void {
    const room = this.#distance(this.#block.low, this.#block.high);
    // A network that was nearly at rest sets out again when somebody leaves. Only once, so that noise that comes and goes
    // is not something new each time.
    const isNew = !this.#hasGrown && room > NOISE_GROWTH * this.#least;
    if (isNew) this.#hasGrown = true;
    const isProgress = isNew || room < NOISE_PROGRESS * this.#least;
    // Two blocks in a row, so that a turn on the way is no noise, and noise that comes and goes is.
    const isNoise = !isProgress && this.#isStalled;
    this.#level = isNoise ? NOISE_MARGIN * Math.max(room, this.#room) : 0;
    if (isProgress) this.#least = room;
    this.#isStalled = !isProgress;
    this.#room = room;
    this.#updates = 0;
  }
}
