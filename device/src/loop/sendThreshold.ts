// How much of a device's moves is noise: a change has to be larger than that to be worth sending. A neighbour that
// jitters or drifts for ever moves the device with each of its frames, and what is sent on would move the whole network.

import { NOISE_GROWTH, NOISE_MARGIN, NOISE_PROGRESS, NOISE_QUIET_MILLISECONDS, NOISE_UPDATES } from "../wire/limits.ts";
import { type Distance, Room } from "./damping.ts";

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
