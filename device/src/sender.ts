// What a device sends its neighbours, and when it is worth it: one frame for all, with the sketches that one lacks.

import type { Clock } from "./clock.ts";
import type { Gathering } from "./gathering.ts";
import type { Model } from "./model.ts";
import type { Neighbour } from "./neighbour.ts";
import type { Network } from "./network.ts";
import { type Contract, encodeCentroids, isSameTag, type Tag } from "./protocol.ts";
import type { Sketch } from "./sketch.ts";

export interface SenderOptions {
  readonly contract: Contract;
  readonly network: Network;
  readonly clock: Clock;
  readonly epoch: number;
  readonly model: Model;
  readonly gathering: Gathering;
}

export class Sender {
  readonly #options: SenderOptions;
  #sequence = 0;
  /** As last sent to all. */
  #sent: { readonly centroids: Float64Array; readonly present: readonly boolean[]; readonly tag: Tag } | undefined;
  /** When all were last sent something, or the start. */
  sentAt: number;
  framesSent = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.sentAt = options.clock.now();
  }

  get hasSent(): boolean {
    return this.#sent !== undefined;
  }

  isWorthSending(): boolean {
    const { model, gathering } = this.#options;
    if (!model.release()) return false;
    const { outgoing, threshold } = model;
    const sent = this.#sent;
    if (outgoing === undefined || sent === undefined) return true;
    return (
      !isSameTag(sent.tag, gathering.tag) ||
      outgoing.present.some((is, c) => is !== sent.present[c]) ||
      model.distance(sent.centroids, outgoing.data) > threshold
    );
  }

  sendAll(neighbours: Iterable<Neighbour>): void {
    const { model, gathering, clock } = this.#options;
    const { outgoing } = model;
    if (outgoing === undefined) return;
    this.#sent = { centroids: outgoing.data, present: outgoing.present, tag: gathering.tag };
    this.sentAt = clock.now();
    this.sendTo(neighbours);
  }

  sendTo(neighbours: Iterable<Neighbour>): void {
    const { contract, network, epoch, clock, model, gathering } = this.#options;
    const { outgoing } = model;
    if (outgoing === undefined || !outgoing.present.includes(true)) return;
    const stamp = { epoch, sequence: this.#sequence++ };
    const { tag } = gathering;
    const frameWith = (sketches: readonly Sketch[]) =>
      encodeCentroids(contract, stamp, { tag, centroids: outgoing.data, present: outgoing.present, sketches });
    // The same centroids for all: what each learns more than the others could be used against the device.
    const plain = frameWith([]);
    for (const neighbour of neighbours) {
      if (!neighbour.isConnected || neighbour.refusal !== undefined) continue;
      const sketches = gathering.sketchesFor(neighbour, clock.now());
      this.framesSent++;
      network.send(neighbour.peer, sketches.length === 0 ? plain : frameWith(sketches));
    }
  }
}
