// What a device sends its neighbours, and when it is worth it: one frame for all, with the sketches that one lacks.

import type { Clock, PeerNetwork } from "../environment.ts";
import type { Contract } from "../wire/frames.ts";
import { type DeviceSketch, encodeCentroidsFrame, isSameTag, type OpeningTag } from "../wire/studyFrames.ts";
import type { Neighbour } from "./neighbours.ts";
import type { OpeningSync } from "./openingSync.ts";
import { MoveNoise } from "./sendThreshold.ts";
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
