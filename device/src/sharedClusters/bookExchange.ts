// Disputes about what members add: who doubts an answer, whose books are open, what they show, and whom evidence removes.
// What is known is passed on to neighbours until they say that they have it.

import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import type { Secrets } from "../keys/secrets.ts";
import { BOARD_BEAT_MILLISECONDS, PATIENCE_MILLISECONDS } from "../wire/limits.ts";
import { type BookMessage, FRAME_ITEMS_BYTES, MOST_ITEMS } from "./boardFrame.ts";
import {
  accusedIn,
  type BookItem,
  type BookRules,
  type Doubt,
  decodeItem,
  doubterOf,
  type Evidence,
  encodeItem,
  isDoubtSigned,
  provenFault,
  readBooks,
  type ShownSeeds,
} from "./books.ts";
import { MARK_BYTES, padSeeds, seedMark } from "./entry.ts";
import type { ToldBoard } from "./outbox.ts";

/** Of a neighbour: what it says it has, what it was sent, and when. */
interface ToldItems {
  readonly confirmed: Set<string>;
  readonly sent: Set<string>;
  sentAt: number;
  patience: number;
  /** It brought something, and is to hear that it arrived. */
  isOwed: boolean;
}

/** Whether a message keeps to the rules, and whom it removes. */
interface HeardBooks {
  readonly fault?: string;
  readonly removed: readonly string[];
}

export class BookExchange {
  readonly #rules: BookRules;
  /** Everything that is passed on, by the first bytes of its hash. */
  readonly #items = new Map<string, { readonly item: BookItem; readonly bytes: Uint8Array }>();
  readonly #told = new Map<string, ToldItems>();
  /** Seeds of the board in dispute, by the ids of both ends. */
  readonly #seeds = new Map<string, Uint8Array>();
  /** Members that evidence is against, and what they did. */
  readonly removed = new Map<string, string>();
  /** The board whose books are asked for; undefined: none. */
  dispute: ToldBoard | undefined;
  /** How many rows members added to it, as far as their books are open. */
  readonly opened = new Map<string, number>();

  constructor(rules: BookRules, saved: readonly string[] = []) {
    this.#rules = rules;
    for (const hex of saved) {
      const item = /^([0-9a-f]{2})+$/.test(hex) ? decodeItem(rules, hexToBytes(hex)) : undefined;
      if (item?.kind === "two entries" || item?.kind === "false books") this.addEvidence(item);
    }
  }

  /** Evidence as it is kept in a file. */
  get evidence(): string[] {
    const isEvidence = ({ item }: { item: BookItem }) => item.kind === "two entries" || item.kind === "false books";
    return Array.from(this.#items.values())
      .filter(isEvidence)
      .map(({ bytes }) => bytesToHex(bytes));
  }

  /** Devices that doubt the base where this one is. */
  get doubters(): Set<string> {
    return new Set(
      Array.from(this.#items.values()).flatMap(({ item }) => (item.kind === "doubt" ? doubterOf(item) : [])),
    );
  }

  #markOf(bytes: Uint8Array): string {
    return bytesToHex(this.#rules.secrets.digest(bytes).subarray(0, MARK_BYTES));
  }

  #keep(item: BookItem): void {
    const bytes = encodeItem(item);
    this.#items.set(this.#markOf(bytes), { item, bytes });
  }

  #forget(isOld: (item: BookItem) => boolean): void {
    for (const [mark, { item }] of this.#items) if (isOld(item)) this.#items.delete(mark);
  }

  /** Returns whether somebody is removed by it that was not. */
  addEvidence(item: Evidence): boolean {
    if (this.removed.has(accusedIn(item))) return false;
    const found = provenFault(this.#rules, item);
    if (found === undefined) return false;
    this.removed.set(found.id, found.text);
    this.#keep(item);
    return true;
  }

  addDoubt(doubt: Doubt): void {
    if (!this.doubters.has(doubterOf(doubt))) this.#keep(doubt);
  }

  /** At another base doubts and books are of the past. What they showed stays. */
  turn(): void {
    this.dispute = undefined;
    this.#forget(({ kind }) => kind === "doubt" || kind === "seeds");
  }

  /** Asks for the books of this board. Returns whether they were not asked for before. */
  begin(board: ToldBoard): boolean {
    if (this.dispute?.hash === board.hash) return false;
    this.dispute = board;
    this.#seeds.clear();
    this.opened.clear();
    this.#forget((item) => item.kind === "seeds");
    return true;
  }

  /** Shows the seeds of the own links on the board in dispute. Returns whom that removes. */
  show(secrets: Secrets, self: string, peerOf: (id: string) => string | undefined): string[] {
    const own = this.dispute?.entryOf(self);
    if (this.dispute === undefined || own === undefined) return [];
    const { hash } = this.dispute.generation;
    const partners = Array.from(own.links).flatMap(([id, epoch]) => {
      const peer = peerOf(id);
      return peer === undefined ? [] : [{ peer, id, epoch }];
    });
    const seeds = padSeeds(secrets, hash, { epoch: own.epoch, partners });
    return this.#addSeeds({ kind: "seeds", generation: hash, id: self, seeds });
  }

  /** Seeds that both ends have signed for. Returns whom the books that they open remove. */
  #addSeeds(item: ShownSeeds): string[] {
    const { dispute } = this;
    const entry = dispute?.entryOf(item.id);
    if (dispute === undefined || entry === undefined || bytesToHex(item.generation) !== dispute.hash) return [];
    const isRight = ([other, seed]: [string, Uint8Array]) =>
      entry.seedMarks.get(other) === seedMark(this.#rules.secrets, seed);
    const isNews = [...item.seeds.keys()].some((other) => !this.#seeds.has(pairName(item.id, other)));
    if (!isNews || ![...item.seeds].every(isRight)) return [];
    for (const [other, seed] of item.seeds) this.#seeds.set(pairName(item.id, other), seed);
    this.#keep(item);
    return dispute.entries.flatMap((one) => {
      const links = Array.from(one.links.keys(), (other) => [other, this.#seeds.get(pairName(one.id, other))] as const);
      const seeds = new Map(links.flatMap(([other, seed]) => (seed === undefined ? [] : [[other, seed] as const])));
      if (this.opened.has(one.id) || seeds.size < one.links.size) return [];
      const read = readBooks(this.#rules, dispute.generation, one, seeds);
      if (read === undefined) return [];
      this.opened.set(one.id, read.rows);
      if (read.fault === undefined) return [];
      const { base, openings: signed } = dispute.generation;
      const openings = [...signed.values()];
      const members = this.#rules.membership?.list ?? new Uint8Array(0);
      return this.addEvidence({ kind: "false books", base, members, openings, entry: one, seeds }) ? [one.id] : [];
    });
  }

  /** Members on the board in dispute whose books are not open. */
  get unopened(): string[] {
    return this.dispute?.entries.flatMap(({ id }) => (this.opened.has(id) ? [] : [id])) ?? [];
  }

  connect(peer: string): void {
    this.#told.delete(peer);
  }

  /**
   * `mayCheck`: whether this neighbour may cost another signature. `mayDoubt`: who may doubt the base here. `mayAccuse`:
   * against whom evidence counts; whatever else a neighbour passes on is no fault of its own.
   */
  hear(
    peer: string,
    { have, items }: BookMessage,
    mayCheck: () => boolean,
    mayDoubt: (id: string, base: Uint8Array) => boolean,
    mayAccuse: (id: string) => boolean,
  ): HeardBooks {
    const told = this.#toldOf(peer);
    told.confirmed.clear();
    for (const mark of have) told.confirmed.add(mark);
    told.isOwed ||= items.length > 0;
    const removed: string[] = [];
    for (const bytes of items) {
      const mark = this.#markOf(bytes);
      told.confirmed.add(mark);
      if (this.#items.has(mark)) continue;
      const item = decodeItem(this.#rules, bytes);
      if (item === undefined) return { fault: "sent what is neither doubt, books nor evidence", removed };
      if (item.kind === "seeds") {
        removed.push(...this.#addSeeds(item));
        continue;
      }
      if (item.kind === "doubt" && !mayDoubt(doubterOf(item), item.base)) continue;
      if (item.kind !== "doubt" && (this.removed.has(accusedIn(item)) || !mayAccuse(accusedIn(item)))) continue;
      if (!mayCheck()) break;
      if (item.kind === "doubt") {
        if (!isDoubtSigned(this.#rules.secrets, item))
          return { fault: "sent a doubt that is not signed by the device it names", removed };
        this.addDoubt(item);
      } else if (this.addEvidence(item)) removed.push(accusedIn(item));
      else return { fault: "sent evidence that proves nothing", removed };
    }
    return { removed };
  }

  #toldOf(peer: string): ToldItems {
    const told = this.#told.get(peer) ?? {
      ...{ confirmed: new Set<string>(), sent: new Set<string>(), sentAt: Number.NEGATIVE_INFINITY },
      ...{ patience: PATIENCE_MILLISECONDS, isOwed: false },
    };
    this.#told.set(peer, told);
    return told;
  }

  #lacking({ confirmed }: ToldItems): string[] {
    return [...this.#items.keys()].filter((mark) => !confirmed.has(mark));
  }

  /** When this neighbour must be told something: news and thanks at once, the rest again later. */
  dueAt(peer: string): number {
    const told = this.#toldOf(peer);
    const lacking = this.#lacking(told);
    if (told.isOwed || lacking.some((mark) => !told.sent.has(mark))) return Number.NEGATIVE_INFINITY;
    return lacking.length === 0 ? Number.POSITIVE_INFINITY : told.sentAt + told.patience;
  }

  /** What it is told now; it counts as told. */
  messageFor(peer: string, now: number): Omit<BookMessage, "stamp"> {
    const told = this.#toldOf(peer);
    const lacking = this.#lacking(told);
    const isNews = lacking.some((mark) => !told.sent.has(mark));
    told.patience = isNews ? PATIENCE_MILLISECONDS : Math.min(2 * told.patience, BOARD_BEAT_MILLISECONDS);
    told.sentAt = now;
    told.isOwed = false;
    let room = FRAME_ITEMS_BYTES;
    // What was never sent comes first.
    const inOrder = lacking.sort((a, b) => Number(told.sent.has(a)) - Number(told.sent.has(b))).slice(0, MOST_ITEMS);
    const items = inOrder.flatMap((mark, n) => {
      const bytes = this.#items.get(mark)?.bytes;
      room -= bytes?.length ?? 0;
      if (bytes === undefined || (n > 0 && room < 0)) return [];
      told.sent.add(mark);
      return [bytes];
    });
    return { kind: "books", have: [...this.#items.keys()].slice(0, MOST_ITEMS), items };
  }
}

const pairName = (a: string, b: string) => (a < b ? `${a} ${b}` : `${b} ${a}`);
