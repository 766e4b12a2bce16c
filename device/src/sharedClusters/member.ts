// A device as a member of the board: which generation it is in, what it posts, when a generation is over, and what each
// neighbour must be told. It knows no network and no clock; `now` comes with every call.

import { bytesToHex } from "@noble/hashes/utils.js";
import { idOf, type Secrets } from "../keys/secrets.ts";
import { type Int64s, toInt64s } from "../wire/int64.ts";
import {
  FARTHEST_GENERATION,
  GREETING_MILLISECONDS,
  PATIENCE_MILLISECONDS,
  SILENCE_MILLISECONDS,
  SMALL_INTEGERS,
} from "../wire/limits.ts";
import { Board, type ClosedBoard, closedTree, sumsBelow, treeInt64s } from "./board.ts";
import type { BoardMessage } from "./boardFrame.ts";
import { type Entry, isWellSigned, masked, maskedEntry, ownEntry } from "./entry.ts";
import {
  type Content,
  compareGenerations,
  type Generation,
  type GenerationEnd,
  generation,
  stages,
} from "./generation.ts";
import {
  BoardPartner,
  beginGeneration,
  dueMessages,
  isLeftOut,
  isPending,
  type OutboxState,
  takeMessage,
} from "./outbox.ts";
import { endWithoutSums, nextContent, numberAfter, sizesOf, stirred } from "./plan.ts";
import { mayAdd } from "./release.ts";
import type { SumsShape } from "./shape.ts";

export interface MemberOptions {
  readonly shape: SumsShape;
  /** The hash of the study. */
  readonly study: Uint8Array;
  readonly secrets: Secrets;
  readonly epoch: number;
  /** How many others may put together what they know: a device posts only with more links than that. */
  readonly colluders: number;
  readonly start: { readonly number: number; readonly content: Content };
  /** What this device adds in this generation; undefined: not yet, and `post` is called when it can. */
  readonly integersFor: (content: Content) => Float64Array | undefined;
}

export class Member {
  readonly #options: MemberOptions;
  readonly #id: string;
  readonly #board = new Board();
  readonly #links = new Map<string, BoardPartner>();
  /** Written here only, like the outcome. */
  generation: Generation;
  #hash: string;
  /** Whether others find the numbers of this generation by themselves. */
  #isFound = true;
  #isPosted = false;
  /** With sums over a tree: from whom this device learnt of the generation, none if it opened it; and what it adds. */
  #parent: string | undefined;
  #own: Int64s | undefined;
  #turnedAt = 0;
  isPaused = false;
  /** Undefined: this generation is not over here. */
  outcome: GenerationEnd | undefined;
  /** Of the last generation that was closed here. */
  closed: ClosedBoard | undefined;

  constructor(options: MemberOptions) {
    const { number, content } = options.start;
    this.#options = options;
    this.#id = idOf(options.secrets.key);
    this.generation = this.#made(number, content);
    this.#hash = bytesToHex(this.generation.hash);
    this.outcome = endWithoutSums(content);
  }

  get twofaced() {
    return this.#board.twofaced;
  }

  get counted(): readonly BoardPartner[] {
    return [...this.#links.values()].filter(({ counted }) => counted > 0);
  }

  /** Linked devices that may still come to count, for which this one waits. */
  pending(now: number): readonly BoardPartner[] {
    return [...this.#links.values()].filter((link) => isPending(link, now));
  }

  #made(number: number, content: Content): Generation {
    const { study, secrets } = this.#options;
    return generation(number, content, study, secrets.digest);
  }

  /** Who is linked from now on. Those that were there at the start are waited for. */
  setLinks(peers: readonly string[], now: number, isStart = false): void {
    let isLess = false;
    for (const [peer, { counted }] of this.#links) {
      if (peers.includes(peer)) continue;
      this.#links.delete(peer);
      isLess ||= counted > 0;
    }
    for (const peer of peers) {
      if (this.#links.has(peer)) continue;
      const id = idOf(this.#options.secrets.keyOf(peer));
      this.#links.set(peer, new BoardPartner(peer, id, now, isStart ? SILENCE_MILLISECONDS : 0));
    }
    if (isLess && this.#isBound) this.bump(now);
    else this.post(now);
  }

  connect(peer: string): void {
    const link = this.#links.get(peer);
    if (link === undefined) return;
    // Whatever was under way is lost.
    link.flight.clear();
    const waits = { patience: PATIENCE_MILLISECONDS, greeting: GREETING_MILLISECONDS };
    Object.assign(link, { isConnected: true, toldHash: "", ...waits });
  }

  disconnect(peer: string): void {
    const link = this.#links.get(peer);
    if (link !== undefined) link.isConnected = false;
  }

  /** Something about this device changed: all add up again, a little aside. */
  bump(now: number): void {
    const { shape, secrets, epoch } = this.#options;
    const { number, hash } = this.generation;
    const chance = secrets.digest(new TextEncoder().encode(`${bytesToHex(hash)} ${this.#id} ${epoch}`));
    this.#turn(this.#made(number + 1, stirred(shape, this.generation, chance)), false, now);
  }

  /** Begins again with this content. */
  restart(content: Content, now: number): void {
    this.#turn(this.#made(this.generation.number + 1, content), false, now);
  }

  #turn(next: Generation, isFound: boolean, now: number, parent?: string): void {
    this.generation = next;
    this.#hash = bytesToHex(next.hash);
    this.#isFound = isFound && !this.#options.shape.isTree;
    this.#isPosted = false;
    this.#parent = parent;
    this.#own = undefined;
    this.outcome = endWithoutSums(next);
    this.#turnedAt = now;
    this.#board.clear();
    for (const link of this.#links.values()) beginGeneration(link);
    this.post(now);
    for (const link of this.#links.values()) this.#catchUp(link, now);
  }

  /** What a neighbour said of this generation before this device was in it. */
  #catchUp(link: BoardPartner, now: number): void {
    const { ahead } = link;
    if (ahead === undefined || compareGenerations(ahead, this.generation) > 0) return;
    link.ahead = undefined;
    if (bytesToHex(ahead.hash) === this.#hash) this.#take(link, ahead, now);
  }

  /** Puts the own entry on the board, once a generation, if everything is there that it needs. */
  post(now: number): void {
    if (this.#isPosted || this.outcome !== undefined || this.isPaused || this.pending(now).length > 0) return;
    const { shape, secrets, epoch, colluders, integersFor } = this.#options;
    const partners = this.counted.map(({ peer, id, counted }) => ({ peer, id, epoch: counted }));
    if (partners.length <= colluders) return;
    const isWelcome = mayAdd(shape.releasing, this.generation, this.#id, partners);
    if (!isWelcome) this.bump(now);
    const integers = isWelcome ? integersFor(this.generation) : undefined;
    if (integers === undefined) return;
    this.#isPosted = true;
    if (shape.isTree) this.#own = masked(secrets, this.generation, { epoch, partners, words: treeInt64s(integers) });
    else this.#board.add(maskedEntry(secrets, this.generation, { epoch, partners, words: toInt64s(integers) }));
    this.#step(now);
  }

  /** Whether something rests on the links as they are. */
  get #isBound(): boolean {
    return this.#isPosted || this.generation.stage === stages.rest;
  }

  /** What is known of the sums of all; with sums over a tree the others pass on what they have. */
  #closed(): ClosedBoard | undefined {
    if (this.#own === undefined) return this.#board.closedAround(this.#id);
    const words = sumsBelow(this.#board, this.#own, this.counted, this.#parent);
    if (words === undefined || this.#parent === undefined) return words && closedTree(words);
    const { secrets, epoch } = this.#options;
    if (this.#board.entryOf(this.#id) === undefined) this.#board.add(ownEntry(secrets, this.generation, epoch, words));
    return undefined;
  }

  #step(now: number): void {
    if (!this.#isPosted || this.outcome !== undefined) return;
    const closed = this.#closed();
    if (closed === undefined) return;
    this.closed = closed;
    const { shape } = this.#options;
    const found = nextContent(shape, this.generation, closed, (id) => this.#board.entryOf(id)?.links.keys() ?? []);
    if (typeof found === "string") this.outcome = found;
    else this.#turn(this.#made(numberAfter(this.generation, found), found), true, now);
  }

  hear(peer: string, message: BoardMessage, now: number): void {
    const link = this.#links.get(peer);
    if (link === undefined || message.stamp.epoch < link.epoch) return;
    const { epoch } = this.#options;
    link.heardAt = now;
    link.isKnown = message.knows === epoch;
    link.isDropped = message.isDropped;
    if (message.stamp.epoch > link.epoch) {
      link.epoch = message.stamp.epoch;
      link.ahead = undefined;
      beginGeneration(link);
    }
    if (message.isAsking) link.owedAt ??= now;
    this.#recount(link, now);
    // Who comes with a later generation must be in what is posted for it, or two parts of a network that meet again
    // would both answer for the same centroids.
    if (link.counted === 0) return;
    this.#follow(link, message, now);
    const order = compareGenerations(message, this.generation);
    if (order === 0) this.#take(link, message, now);
    if (order < 0) link.needsNumbers = true;
    if (order < 0 && message.isAsking) link.toldHash = "";
    this.post(now);
  }

  /** Goes to a later generation, if its numbers are known. */
  #follow(link: BoardPartner, message: BoardMessage, now: number): void {
    const { number, content } = message;
    if (compareGenerations(message, this.generation) <= 0) return;
    if (this.generation.number > 0 && number > this.generation.number + FARTHEST_GENERATION) return;
    if (content === undefined) {
      link.ahead = message;
      link.owedAt ??= now;
      return;
    }
    const next = this.#made(number, content);
    if (compareGenerations(next, message) === 0) this.#turn(next, false, now, link.id);
  }

  /** What a neighbour has and brings, in the same generation. */
  #take(link: BoardPartner, message: BoardMessage, now: number): void {
    const { isTree } = this.#options.shape;
    let isNews = isTree && link.isBelow !== message.isBelow;
    link.needsNumbers = false;
    link.confirmed.clear();
    for (const mark of message.have) link.confirmed.add(mark);
    link.isBelow = message.isBelow;
    link.hasHeard = message.hasHeard;
    if (isTree && !message.hasHeard) link.owedAt ??= now;
    const hash = this.#hash;
    for (const entry of message.entries) {
      // One of the entries may have shown a start, and opened a generation that the others are not of.
      if (this.#hash !== hash) return;
      if (isTree && entry.id !== link.id) continue;
      link.confirmed.add(entry.mark);
      if (this.#board.has(entry.mark)) continue;
      // What a device says itself comes over a link that only its key can open; the check is for those further away.
      if (entry.id !== link.id && !isWellSigned(this.#options.secrets, this.generation, entry)) continue;
      if (!this.#board.add(entry)) continue;
      isNews = true;
      this.#hearOf(entry, now);
    }
    if (message.entries.length > 0) link.owedAt ??= now;
    if (isNews) this.#step(now);
  }

  /** What a linked device has signed says its epoch too, if its own frame was lost. */
  #hearOf({ id, epoch, links }: Entry, now: number): void {
    const link = [...this.#links.values()].find((one) => one.id === id);
    if (link === undefined || link.epoch >= epoch) return;
    link.epoch = epoch;
    link.heardAt = now;
    link.isKnown = links.get(this.#id) === this.#options.epoch;
    this.#recount(link, now);
  }

  /** Whether a link counts, on both ends and under these epochs. */
  #recount(link: BoardPartner, now: number): void {
    const counted = link.isDropped || isLeftOut(link, this.isPaused, now) ? 0 : link.epoch;
    if (counted === link.counted) return;
    link.counted = counted;
    // Who has been there is not waited for.
    link.waitUntil = now;
    // Without the one from whom it learnt of it, a device would pass its sums on to nobody.
    if (this.#isBound || (this.#options.shape.isTree && link.id === this.#parent)) this.bump(now);
  }

  /** Looks for neighbours that have fallen silent. */
  look(now: number): void {
    for (const link of this.#links.values()) this.#recount(link, now);
    this.post(now);
  }

  /** Neighbours that must be told something now, and when the next one must be. */
  due(now: number): { readonly links: readonly BoardPartner[]; readonly nextAt: number } {
    return dueMessages(this.#place, [...this.#links.values()], now);
  }

  /** What this neighbour is told now; it counts as told. */
  messageFor(link: BoardPartner, now: number): Omit<BoardMessage, "kind" | "stamp"> {
    return takeMessage(this.#place, link, now);
  }

  get #place(): OutboxState {
    const { shape } = this.#options;
    return {
      self: this.#id,
      generation: this.generation,
      hash: this.#hash,
      board: this.#board,
      isFound: this.#isFound,
      isSmall: sizesOf(shape, this.generation.stage).integers <= SMALL_INTEGERS,
      isPaused: this.isPaused,
      tree: shape.isTree ? { parent: this.#parent } : undefined,
      turnedAt: this.#turnedAt,
    };
  }
}
