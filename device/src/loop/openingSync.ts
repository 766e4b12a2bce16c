// How a device takes part in openings: its own sketch, what it hears of others' sketches, what a neighbour still lacks,
// and which neighbours have begun from the same start. It knows no clock; `now` comes with every call that needs it.

import type { Matrix } from "@fedkm/core";
import { originHash } from "../wire/hashes.ts";
import * as limits from "../wire/limits.ts";
import { type CentroidsFrame, type DeviceSketch, type OpeningTag, sketchFrameBytes } from "../wire/studyFrames.ts";
import type { Neighbour } from "./neighbours.ts";
import { sketchNumberedLike } from "./numbering.ts";
import { type CommonStart, Opening } from "./opening.ts";
import type { SavedOpening, SavedState } from "./savedState.ts";
import { restoredSketch, savedSketch } from "./sketch.ts";

export interface OpeningSyncOptions {
  readonly self: string;
  /** Of this start: newer sketches have larger versions. */
  readonly epoch: number;
  readonly k: number;
  /** Of the features, in the units of the centroids. */
  readonly ranges: Float64Array;
  /** Without a pull there is nothing to begin together. */
  readonly alpha: number;
  readonly saved: SavedState | undefined;
}

export class OpeningSync {
  readonly #origin: number;
  readonly #epoch: number;
  readonly #isAlone: boolean;
  readonly #sketchBytes: number;
  readonly #opening: Opening;
  /** The sketch of the own rows; undefined: there are none. */
  own: DeviceSketch | undefined;
  #start: Matrix | undefined;
  #openedAt = Number.NEGATIVE_INFINITY;
  /** Where the next frame takes up the sketches that do not all fit in one. */
  #turn = 0;

  constructor({ self, epoch, k, ranges, alpha, saved }: OpeningSyncOptions) {
    this.#origin = originHash(self);
    this.#epoch = epoch;
    this.#isAlone = alpha === 0;
    this.#sketchBytes = sketchFrameBytes({ k, d: ranges.length });
    const resolution = ranges.map((range) => range * limits.START_RESOLUTION);
    const before = saved?.sketch ? restoredSketch(saved.sketch) : undefined;
    // Under another key the sketch would be another device's, and there would be two of the same rows.
    this.own = before && { ...before, origin: this.#origin };
    this.#opening = new Opening(k, resolution, saved?.opening && renamed(saved.opening, before?.origin, this.#origin));
  }

  get tag(): OpeningTag {
    return this.#opening.tag;
  }

  get isSeeking(): boolean {
    return this.#opening.isSeeking;
  }

  wait(now: number): number {
    return this.#opening.wait(now);
  }

  /** What the own rows say now; undefined: there are none. */
  renew(content: Pick<DeviceSketch, "shares" | "centroids"> | undefined, now: number): void {
    if (this.#isAlone || content === this.own) return;
    if (content === undefined) {
      this.own = undefined;
      this.raise(now);
      return;
    }
    const version = Math.max((this.own?.version ?? 0) + 1, this.#epoch);
    this.own = { origin: this.#origin, version, shares: content.shares, centroids: content.centroids };
    this.#opening.add([this.own], now);
  }

  /** Somebody has left: all begin to collect again. */
  raise(now: number): void {
    if (!this.#isAlone) this.#raiseTo(this.tag.number + 1, now);
  }

  /** All sketches are sent again then, so that it costs nothing to send the own one in the order of the numbers. */
  #raiseTo(number: number, now: number): void {
    if (this.own !== undefined && this.#start !== undefined) this.own = sketchNumberedLike(this.own, this.#start);
    this.#opening.raise(number, this.own, now);
  }

  /** What a frame says of openings. Returns whether it was news; undefined: too much of it, and it was not heard. */
  hear(neighbour: Neighbour, { tag, sketches }: CentroidsFrame, now: number): boolean | undefined {
    if (this.#isAlone) return false;
    const before = neighbour.tag;
    neighbour.tag = tag;
    if (before?.number !== tag.number) neighbour.has.clear();
    for (const { origin, version } of sketches) neighbour.has.set(origin, version);
    const { number } = this.tag;
    if (tag.number < number || (tag.number === number && !this.#opening.lacks(sketches))) return false;
    if (number > 0 && tag.number > number + limits.FARTHEST_OPENING) return undefined;
    if (!neighbour.openings.take(now)) return undefined;
    if (tag.number > number) this.#raiseTo(tag.number, now);
    this.#opening.add(sketches, now);
    this.#defendOwn(sketches, now);
    return true;
  }

  /** The network may know a sketch of this device from before it lost its state, or one that somebody made up. */
  #defendOwn(sketches: readonly DeviceSketch[], now: number): void {
    const mine = sketches.find(({ origin }) => origin === this.#origin);
    const own = this.own;
    if (mine === undefined || own === undefined || mine.version < own.version) return;
    if (mine.version === own.version && isSame(mine, own)) return;
    this.own = { ...own, version: mine.version + 1 };
    this.#opening.add([this.own], now);
  }

  /** One step of the search for the start; returns the start if it, or the numbers of its clusters, are others than before. */
  step(now: number): CommonStart | undefined {
    const found = this.#opening.step();
    if (found === undefined) return undefined;
    const { start, isNew } = found;
    const before = this.#start;
    this.#start = start;
    if (isNew) this.#openedAt = now;
    if (start === undefined) return undefined;
    const isNumberedAsBefore = before?.data.every((value, i) => value === start.data[i]);
    return isNew || !isNumberedAsBefore ? { start, isNew } : undefined;
  }

  /** Whether the neighbour is known to have the same sketches. */
  isAgreed({ tag }: Neighbour): boolean {
    const own = this.tag;
    return this.#isAlone || (tag !== undefined && tag.number === own.number && tag.table === own.table);
  }

  /** Milliseconds until the neighbour should get a frame again because it lacks sketches; infinite: it need not. */
  agreeWait(neighbour: Neighbour, now: number): number {
    const { isConnected, refusal, tag, agreeAt } = neighbour;
    const isPossible = isConnected && refusal === undefined && tag !== undefined && !this.isAgreed(neighbour);
    if (!isPossible || this.#attemptsLeft(neighbour) === 0) return Number.POSITIVE_INFINITY;
    return Math.max(0, agreeAt + limits.AGREE_MILLISECONDS - now);
  }

  /** The same for the next of several. */
  nextAgreement(neighbours: Iterable<Neighbour>, now: number): number {
    return Math.min(...Array.from(neighbours, (neighbour) => this.agreeWait(neighbour, now)));
  }

  /** They begin anew with every change of what either side knows. */
  #attemptsLeft(neighbour: Neighbour): number {
    const { number, table } = this.tag;
    const difference = [number, table, neighbour.tag?.number, neighbour.tag?.table].join(" ");
    if (neighbour.difference !== difference) {
      neighbour.difference = difference;
      neighbour.agreeLeft = limits.AGREE_ATTEMPTS;
    }
    return neighbour.agreeLeft;
  }

  /** The sketches that a frame to this neighbour carries. */
  sketchesFor(neighbour: Neighbour, now: number): DeviceSketch[] {
    if (this.isAgreed(neighbour)) return [];
    neighbour.agreeAt = now;
    neighbour.agreeLeft = Math.max(0, this.#attemptsLeft(neighbour) - 1);
    const isSameNumber = neighbour.tag?.number === this.tag.number;
    const lacking = Array.from(this.#opening.sketches).filter(
      ({ origin, version }) => !isSameNumber || (neighbour.has.get(origin) ?? -1) < version,
    );
    const room = Math.max(1, Math.floor(limits.FRAME_SKETCHES_BYTES / this.#sketchBytes));
    if (lacking.length <= room) return lacking;
    this.#turn += room;
    return Array.from({ length: room }, (_, n) => lacking[(this.#turn + n) % lacking.length]);
  }

  /** Where a neighbour counts as being. Undefined: nowhere, because it has not begun from the same start. */
  placeOf({ centroids, start, heardAt }: Neighbour, now: number): Matrix | undefined {
    if (centroids === undefined || start === this.tag.start) return centroids;
    // It is about to begin from the start too. Where it is until then leads nowhere, and its neighbours would follow it.
    if (now < this.#openedAt + limits.HEARTBEAT_MILLISECONDS) return this.#start;
    // One that has not done so by its next heartbeat is left out, unless it has no start and stands on its own rows.
    return start === 0 && heardAt >= this.#openedAt ? centroids : undefined;
  }

  /** Whether there is something to come: sketches, a start, or the first frames of neighbours that begin from it. */
  isOpening(neighbours: readonly Neighbour[], now: number): boolean {
    if (this.isSeeking || Number.isFinite(this.nextAgreement(neighbours, now))) return true;
    return neighbours.some(
      (neighbour) =>
        neighbour.isConnected &&
        !neighbour.isAway &&
        neighbour.centroids !== undefined &&
        this.placeOf(neighbour, now) !== neighbour.centroids &&
        now < this.#openedAt + limits.HEARTBEAT_MILLISECONDS,
    );
  }

  saved(): Pick<SavedState, "opening" | "sketch"> {
    return { opening: this.#opening.saved(), sketch: this.own === undefined ? null : savedSketch(this.own) };
  }
}

/** The same opening after a change of this device's key. */
function renamed(opening: SavedOpening, from: number | undefined, to: number): SavedOpening {
  if (from === undefined || from === to) return opening;
  return { ...opening, sketches: opening.sketches.map((one) => (one.origin === from ? { ...one, origin: to } : one)) };
}

function isSame(a: DeviceSketch, b: DeviceSketch): boolean {
  return (
    a.shares.every((share, c) => share === b.shares[c]) && a.centroids.every((value, i) => value === b.centroids[i])
  );
}
