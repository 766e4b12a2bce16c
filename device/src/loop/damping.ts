// Smaller steps for a device that goes to and fro, so that it comes to rest. The gate and the labels of single rows change
// with the centroids, so that an update can lead away from where the next one leads back, although nobody says anything new.

import type { Matrix } from "@fedkm/core";
import { DAMPING_TURNS, DAMPING_UPDATES } from "../wire/limits.ts";

/** The largest difference of a coordinate, as a share of its feature's range. */
export type Distance = (a: Float64Array, b: Float64Array) => number;

/** The room that some centroids take: the lowest and the highest of each coordinate. */
export class Room {
  readonly low: Float64Array;
  readonly high: Float64Array;

  constructor(first: Float64Array) {
    this.low = first.slice();
    this.high = first.slice();
  }

  add(centroids: Float64Array): void {
    for (let i = 0; i < centroids.length; i++) {
      this.low[i] = Math.min(this.low[i], centroids[i]);
      this.high[i] = Math.max(this.high[i], centroids[i]);
    }
  }
}

export class Damping {
  readonly #distance: Distance;
  #step = 1;
  #room = new Room(new Float64Array(0));
  #path = 0;
  /** Since a neighbour last said something new, within a block. */
  #updates = 0;
  #neighbours: readonly Matrix[] = [];
  /** When the steps became smaller: a neighbour that has moved further than the room is news. */
  #since: { readonly neighbours: readonly Matrix[]; readonly room: number } | undefined;
  /** How far neighbours had to move when steps were last made whole by that. */
  #lastRoom = 0;

  constructor(distance: Distance) {
    this.#distance = distance;
  }

  /** Nothing of before counts: the device begins again. */
  reset(): void {
    this.#lastRoom = 0;
    this.#makeWhole();
  }

  #makeWhole(): void {
    this.#step = 1;
    this.#updates = 0;
    this.#since = undefined;
  }

  /** Where an update against these neighbours ends that led from one place to another. */
  apply(from: Matrix, to: Matrix, neighbours: readonly Matrix[]): Matrix {
    if (!this.#isAsBefore(neighbours)) this.#updates = 0;
    this.#neighbours = neighbours;
    if (this.#since !== undefined && this.#isNews(neighbours, this.#since.neighbours, this.#since.room)) {
      this.#lastRoom = this.#since.room;
      this.#makeWhole();
    }
    const step = this.#step;
    const end =
      step === 1 ? to : { ...to, data: to.data.map((value, i) => from.data[i] + step * (value - from.data[i])) };
    this.#note(from.data, end.data);
    if (this.#updates === DAMPING_UPDATES) this.#judge();
    return end;
  }

  /** The device went to and fro together with others, within this room, and it has just become quiet. */
  quieten(room: number): void {
    this.#step /= 2;
    // Twice as far each time: else neighbours who go to and fro together would wake each other for ever.
    this.#since ??= { neighbours: this.#neighbours, room: Math.max(room, 2 * this.#lastRoom) };
  }

  #isAsBefore(neighbours: readonly Matrix[]): boolean {
    const before = this.#neighbours;
    return neighbours.length === before.length && neighbours.every((neighbour, n) => neighbour === before[n]);
  }

  /** Whether a neighbour has moved further than the device itself goes to and fro. */
  #isNews(neighbours: readonly Matrix[], before: readonly Matrix[], room: number): boolean {
    if (neighbours.length !== before.length) return true;
    return neighbours.some(
      ({ data }, n) => data.length !== before[n].data.length || this.#distance(data, before[n].data) > room,
    );
  }

  #note(from: Float64Array, to: Float64Array): void {
    if (this.#updates === 0) {
      this.#room = new Room(from);
      this.#path = 0;
    }
    this.#updates++;
    this.#path += this.#distance(from, to);
    this.#room.add(to);
  }

  /** What converges goes one way, and its path is about as long as the room that it takes. */
  #judge(): void {
    const room = this.#distance(this.#room.low, this.#room.high);
    this.#updates = 0;
    if (this.#path > DAMPING_TURNS * room) this.quieten(room);
  }
}
