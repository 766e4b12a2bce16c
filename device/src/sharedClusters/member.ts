// A device as a member of the board: which generation it is in, what it posts, when a generation is over, what it believes
// of others, and what each neighbour must be told. It knows no network and no clock; `now` comes with every call. Long: one
// state, in which everything that is heard, posted, opened or lost can lead to the next generation.

import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { idOf, type Secrets } from "../keys/secrets.ts";
import { addInt64s, type Int64s, toInt64s } from "../wire/int64.ts";
import {
  BETWEEN_DOUBTS_MILLISECONDS,
  BETWEEN_LINK_OPENINGS_MILLISECONDS,
  GREETING_MILLISECONDS,
  MOST_BASE_OPENINGS,
  MOST_ENTRIES,
  PATIENCE_MILLISECONDS,
  RESTLESS_MILLISECONDS,
  SILENCE_MILLISECONDS,
  UNKNOWN_SIGNATURES_PER_FRAME,
} from "../wire/limits.ts";
import { Board, type ClosedBoard, closedTree, sumsBelow, TREE_INTEGERS, treeInt64s } from "./board.ts";
import type { BoardMessage, BookMessage } from "./boardFrame.ts";
import { BookExchange } from "./bookExchange.ts";
import { mayOpenBooks, signedDoubt } from "./books.ts";
import { type Entry, isEntrySigned, masked, maskedEntry, ownEntry } from "./entry.ts";
import {
  type Base,
  type BaseOrder,
  type Content,
  compareBases,
  type Generation,
  type GenerationEnd,
  hashedBase,
  orderOf,
  stages,
} from "./generation.ts";
import type { MemberStatement, Membership } from "./membership.ts";
import {
  isHigher,
  isOpeningSigned,
  isSuspended,
  type Opening,
  type Openings,
  openingsOf,
  signedOpening,
} from "./openings.ts";
import { dueMessages, type OutboxState, proofMessage, type ToldBoard, takeMessages } from "./outbox.ts";
import {
  BoardPartner,
  banPartner,
  beginGeneration,
  isLeftOut,
  isPending,
  isStuck,
  noteBehind,
  noteOpenings,
  noteStart,
  partnerFault,
} from "./partner.ts";
import { endWithoutSums, integersIn, isSealed, nextContent, stirred } from "./plan.ts";
import {
  areEqual,
  baseAfter,
  baseAfterBoard,
  baseAfterKeys,
  firstBase,
  generationOf,
  isCounted,
  type Proof,
  provenBase,
  type Rules,
  rowLimit,
} from "./proof.ts";
import { mayAdd } from "./release.ts";
import { knownFrom } from "./roster.ts";
import { sealFrom, sealPad } from "./seal.ts";
import {
  heldShares,
  isDecided,
  isKey,
  isUnsealing,
  keyEntry,
  sealOfEntry,
  secretsOfAll,
  tallyEntry,
} from "./unsealing.ts";

export interface MemberOptions extends Omit<Rules, "secrets"> {
  readonly secrets: Secrets;
  readonly epoch: number;
  /** From an earlier life: the board that led to where this device was, and devices that it knew. */
  readonly saved?: {
    readonly proof: Proof;
    readonly known: readonly string[];
    readonly evidence: readonly string[];
  };
  /** Books are opened when totals are implausible or the answer is doubted; otherwise only as owners say. */
  readonly areBooksAgreed: boolean;
  /** Of a study with founders; undefined: whoever is linked takes part. */
  readonly membership?: Membership | undefined;
  /**
   * What this device adds in this generation; undefined: not yet, and `post` is called when it can. "stale": never, because
   * it took part in later ones, and devices must be counted again.
   */
  readonly integersFor: (generation: Generation) => Float64Array | "stale" | undefined;
  /** Of a private study. */
  readonly release?: ReleaseKeeper | undefined;
}

/** What a private device does about the release of its rows. Whatever returns true is written down. */
export interface ReleaseKeeper {
  /** What the seal of the own entry in a generation is made from, always the same. */
  sealSeed(generation: Uint8Array): Uint8Array;
  /** Whether it may say that it holds all entries that led to this base. It says so for no sums over other devices. */
  mayTally(keys: Base): boolean;
  /** Whether the release is paid for. */
  pay(keys: Base): boolean;
  /** The network has come to this base, with all that was read before. */
  noteRead(base: Base): void;
}

const NO_OPENINGS: Openings = new Map();

/** A board that closes holds one of the last few entries of a device. */
const KEPT_MARKS = 64;

/** A device that had enough links, or gets one, tells nobody for this time that it has too few: others may come too. */
const HOPE_MILLISECONDS = 5_000;

function toldBoard(rules: Rules, { base, openings, members, entries, secrets }: Proof): ToldBoard {
  const generation = generationOf(rules, base, openings, members);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return { generation, hash: bytesToHex(generation.hash), entries, entryOf: (id) => byId.get(id), secrets };
}

export class Member {
  readonly #options: MemberOptions;
  readonly #id: string;
  readonly #board = new Board();
  readonly #links = new Map<string, BoardPartner>();
  /** Written here only, like the outcome and the answer. */
  generation: Generation;
  #hash: string;
  /** The board that led to this base; undefined: it is the first one, or sums go over a tree. */
  #before: ToldBoard | undefined;
  /** The keys that opened that board, if it was sealed and this device has seen them. */
  #keysBefore: ToldBoard | undefined;
  /** In the stage of keys: the shares that this device holds of its partners' secrets. */
  #shares: ReturnType<typeof heldShares> | undefined;
  /**
   * Without founders: devices that are not inventions of colluders, with more than `colluders` paths to this one that have
   * no device in common, on a board that was closed.
   */
  readonly known = new Set<string>();
  #isPosted = false;
  /** It must post again and has no right to open: neighbours that have it do. */
  #wantsOpening = false;
  /** How often its rows have changed, and how often they had in the entries that it posted last, by their marks. */
  #changes = 0;
  readonly #posted = new Map<string, number>();
  /** What a proof led to whose signers are not known here. Neighbours that are there vouch for it. */
  #candidate: { readonly proof: Proof; readonly next: Base | undefined } | undefined;
  /** With sums over a tree: from whom this device learnt of the generation, none if it opened it; and what it adds. */
  #parent: string | undefined;
  #own: Int64s | undefined;
  #turnedAt = 0;
  /** Links may come to count until then that do not yet. */
  #hopeUntil = 0;
  /** Disputes about what members added. */
  readonly books: BookExchange;
  #doubtedAt = Number.NEGATIVE_INFINITY;
  /** Its owner has agreed, for the base where it is. */
  #isBookOpen = false;
  isPaused = false;
  /** Undefined: this generation is not over here. */
  outcome: GenerationEnd | undefined;
  /** Of the last generation that was closed here. */
  closed: Pick<ClosedBoard, "count" | "devices"> | undefined;
  /** The content of the last base in which nothing moved. */
  answer: Content | undefined;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.#id = idOf(options.secrets.key);
    const { saved } = options;
    this.books = new BookExchange(options, saved?.evidence);
    for (const id of saved?.known ?? []) this.known.add(id);
    const found = saved && (options.shape.isTree ? saved.proof.base : provenBase(options, saved.proof));
    const base = typeof found === "object" ? found : firstBase(options);
    if (typeof found === "object" && !options.shape.isTree) this.#before = saved && toldBoard(options, saved.proof);
    this.generation = generationOf(options, base, NO_OPENINGS, options.membership?.hash);
    this.#hash = bytesToHex(this.generation.hash);
    this.outcome = endWithoutSums(base);
    this.#noteAnswer(base);
    if (saved !== undefined && typeof found === "object") this.#noteRead(saved.proof, found);
  }

  get disputed() {
    return this.#board.disputed;
  }

  get counted(): readonly BoardPartner[] {
    return [...this.#links.values()].filter(({ counted }) => counted > 0);
  }

  /** Members that opened too often. */
  get suspended(): readonly string[] {
    const { base, openings } = this.generation;
    const ids = [...base.spent.keys(), ...openings.keys()];
    return [...new Set(ids)].filter((id) => isSuspended(id, base.spent, openings));
  }

  /** Linked devices that are heard and count this one, whether they can post or not. */
  answering(now: number): number {
    const links = [...this.#links.values()];
    return links.filter((link) => link.epoch > 0 && !link.isDropped && !isLeftOut(link, this.isPaused, now)).length;
  }

  /** Linked devices that may still come to count, for which this one waits. */
  pending(now: number): readonly BoardPartner[] {
    return [...this.#links.values()].filter((link) => isPending(link, now) && this.#isMember(link.id));
  }

  /** How many are members; undefined: whoever is linked takes part. */
  get members(): number | undefined {
    return this.#options.membership?.size;
  }

  /** Whether this device takes part in the sums. */
  get isMember(): boolean {
    return this.#isMember(this.#id);
  }

  #isMember(id: string): boolean {
    return this.#options.membership?.isMember(id) ?? true;
  }

  /** What a neighbour, or with no neighbour the owner, says of members. Returns what was news. */
  hearStatements(peer: string | undefined, given: readonly MemberStatement[], now: number): readonly MemberStatement[] {
    const { membership } = this.#options;
    const link = peer === undefined ? undefined : this.#links.get(peer);
    if (membership === undefined || (peer !== undefined && (link === undefined || now < link.bannedUntil))) return [];
    const before = membership.ids;
    const taken = membership.add(given, link && (() => link.signatureAllowance.take(now)));
    if (link !== undefined && taken === "false")
      this.#banish(link, "sent a statement about members that is not signed by the device it names", now);
    if (!areEqual(membership.hash, this.generation.members)) this.#changeMembers(before, now);
    return taken === "false" ? [] : taken;
  }

  /** Others are members now: all add up again, and from the beginning without what somebody added who has gone. */
  #changeMembers(before: readonly string[], now: number): void {
    const { base, openings } = this.generation;
    if (base.stage === stages.keys) return;
    this.#turn(base, openings, now);
    const isLess = before.some((id) => !this.#isMember(id));
    if (isLess && this.#options.shape.releasing === undefined) this.open(now, true);
    this.#followCandidate(now);
  }

  /** How many rows this device may hold. */
  get mostRows(): number {
    return rowLimit(this.#options, this.generation, [this.#id]);
  }

  /** What is wrong with a neighbour, as a sentence that begins after its name. */
  faultOf(peer: string, now: number): string | undefined {
    const link = this.#links.get(peer);
    const evidence = link && this.books.removed.get(link.id);
    if (evidence !== undefined) return `${evidence}, which is proven, and is left out for good`;
    if (link !== undefined && !this.#isMember(link.id))
      return "is not a member of the study, and its rows do not count";
    return link && partnerFault(link, this.#isSuspended(link.id), now);
  }

  /**
   * Who is linked from now on. Those that were there at the start are waited for. Without somebody clusters begin anew,
   * so that nothing of what it added remains.
   */
  setLinks(peers: readonly string[], now: number, isStart = false): void {
    let isLess = false;
    for (const [peer, { id }] of this.#links) {
      if (peers.includes(peer)) continue;
      this.#links.delete(peer);
      this.known.delete(id);
      isLess = true;
    }
    for (const peer of peers) {
      if (this.#links.has(peer)) continue;
      const id = idOf(this.#options.secrets.keyOf(peer));
      this.#links.set(peer, new BoardPartner(peer, id, now, isStart ? SILENCE_MILLISECONDS : 0));
    }
    if (isStart) {
      this.#hopeUntil = now + SILENCE_MILLISECONDS + HOPE_MILLISECONDS;
      // Unlinked while this device did not run.
      const ids = new Set(Array.from(this.#links.values(), ({ id }) => id));
      isLess = [...(this.#before?.entryOf(this.#id)?.links.keys() ?? [])].some((id) => !ids.has(id));
    }
    if (isLess) this.open(now, this.#options.shape.releasing === undefined);
    else this.post(now);
  }

  connect(peer: string): void {
    const link = this.#links.get(peer);
    if (link === undefined) return;
    // Whatever was under way is lost.
    link.told.flight.clear();
    link.toldBefore.flight.clear();
    this.books.connect(peer);
    const waits = { patience: PATIENCE_MILLISECONDS, greeting: GREETING_MILLISECONDS };
    Object.assign(link, { isConnected: true, toldHash: "", provedAt: Number.NEGATIVE_INFINITY, ...waits });
  }

  disconnect(peer: string): void {
    const link = this.#links.get(peer);
    if (link !== undefined) link.isConnected = false;
  }

  /** Other rows than those that were posted, if any were. */
  changeRows(now: number): void {
    this.#changes++;
    if (this.#isBound) this.open(now);
    else this.post(now);
  }

  /** Something about this device changed: all add up again, a little aside or, after a restart, from the beginning. */
  open(now: number, isRestart = false): void {
    if (this.#options.shape.isTree) {
      this.#openTree(now, isRestart);
      return;
    }
    const { base, openings } = this.generation;
    if ((base.stage === stages.frozen && !isRestart) || base.stage === stages.keys || !this.isMember) return;
    this.#wantsOpening = !this.#mayOpen(this.#id);
    if (this.#wantsOpening) return;
    const own = openings.get(this.#id);
    const counter = openingsOf(this.#id, base.spent, openings) + 1;
    if (counter > MOST_BASE_OPENINGS + 1) return;
    const opening = signedOpening(this.#options.secrets, base.hash, counter, isRestart || own?.isRestart === true);
    this.#turn(base, new Map(openings).set(this.#id, opening), now);
  }

  /** With sums over a tree members are trusted: whoever opens says where all go on, and is the top of the tree. */
  #openTree(now: number, isRestart: boolean): void {
    const { shape, secrets, epoch, study } = this.#options;
    const { hash: parent, number } = this.generation;
    const chance = secrets.digest(concatBytes(parent, utf8ToBytes(`${this.#id} ${epoch}`)));
    const content = stirred(shape, this.generation, chance, isRestart);
    const next = { ...content, number: number + 1, parent, board: chance, spent: new Map() };
    this.#turn(hashedBase(next, study, secrets.digest), NO_OPENINGS, now);
  }

  /**
   * Openings count of members, also of those who have gone: the same ones everywhere, whatever was heard first. Without
   * founders they count of whoever was on the board; before the first board nobody was.
   */
  #mayOpen(id: string): boolean {
    const { base, openings } = this.generation;
    const { membership } = this.#options;
    if (membership !== undefined) return membership.wasMember(id) && (openings.has(id) || openings.size < MOST_ENTRIES);
    if (this.#before !== undefined) return this.#before.entryOf(id) !== undefined;
    return base.number === 0 && (openings.has(id) || openings.size < MOST_ENTRIES);
  }

  /** Its entries and links do not count: it opened too often, or evidence is against it. */
  #isSuspended(id: string): boolean {
    const { base, openings } = this.generation;
    return this.books.removed.has(id) || isSuspended(id, base.spent, openings);
  }

  /** The answer here rests on sums of somebody who is removed, and nobody has begun anew. */
  get #isTainted(): boolean {
    const { openings } = this.generation;
    if (this.books.removed.size === 0 || this.#options.shape.releasing !== undefined) return false;
    const isAnew = [...openings.values()].some(({ isRestart }) => isRestart);
    return !isAnew && this.#before?.entries.some(({ id }) => this.books.removed.has(id)) === true;
  }

  #noteAnswer(base: Base): void {
    const isRest = base.stage === stages.rest && base.roster === undefined && base.rows > 0;
    if (isRest || base.stage === stages.frozen) this.answer = base;
  }

  /** Goes to a base, or to other openings of the same one. */
  #turn(base: Base, openings: Openings, now: number, parent?: string): void {
    const isSameBase = base === this.generation.base;
    this.generation = generationOf(this.#options, base, openings, this.#options.membership?.hash);
    this.#hash = bytesToHex(this.generation.hash);
    this.#isPosted = false;
    this.#wantsOpening = false;
    this.#parent = parent;
    this.#own = undefined;
    this.#shares = undefined;
    this.outcome = endWithoutSums(this.generation);
    this.#turnedAt = now;
    this.#board.clear();
    if (!isSameBase) this.#noteAnswer(base);
    const before = isSameBase || this.#before === undefined ? undefined : bytesToHex(base.parent);
    for (const link of this.#links.values()) beginGeneration(link, this.#hash, before);
    for (const link of this.#links.values()) noteBehind(link, this.generation.base, now);
    if (!isSameBase) this.#candidate = undefined;
    if (!isSameBase) for (const link of this.#links.values()) link.doubtedUntil = 0;
    // At rest the sums are those of the links that counted before.
    for (const link of this.#links.values()) if (!this.#isBound) this.#count(link, now);
    if (!isSameBase) {
      this.books.turn();
      this.#isBookOpen = false;
    }
    const { generation } = this;
    if (this.#isTainted) this.open(now, true);
    if (this.generation !== generation) return;
    if (this.#isOutdated) {
      this.open(now);
      return;
    }
    for (const link of this.#links.values()) this.#recount(link, now);
    this.post(now);
    for (const link of this.#links.values()) this.#catchUp(link, now);
  }

  /** What a neighbour said of this base before this device was there. */
  #catchUp(link: BoardPartner, now: number): void {
    const { ahead } = link;
    if (ahead === undefined) return;
    const order = compareBases(ahead.order, orderOf(this.generation.base));
    if (order <= 0) Object.assign(link, { ahead: undefined, unprovenSince: undefined });
    if (order === 0) this.#hearSameBase(link, ahead, now);
  }

  /** Puts the own entry on the board, once a generation, if everything is there that it needs. */
  post(now: number): void {
    if (this.generation.stage === stages.keys) {
      this.#unseal(now);
      return;
    }
    if (this.#isPosted || this.outcome !== undefined || this.isPaused || this.pending(now).length > 0) return;
    if (this.#isSuspended(this.#id) || !this.isMember || this.counted.length <= this.#options.colluders) return;
    const { shape, secrets, epoch, integersFor } = this.#options;
    const partners = this.counted.map(({ peer, id, counted }) => ({ peer, id, epoch: counted }));
    const isWelcome = mayAdd(shape.releasing, this.generation, this.#id, partners);
    const integers = isWelcome ? integersFor(this.generation) : "stale";
    if (integers === "stale") this.open(now);
    if (integers === "stale" || integers === undefined) return;
    this.#isPosted = true;
    if (shape.isTree) this.#own = masked(secrets, this.generation, { epoch, partners, words: treeInt64s(integers) });
    else {
      const entry = maskedEntry(secrets, this.generation, { epoch, partners, ...this.#sealed(integers, partners) });
      this.#board.add(entry);
      this.#posted.set(entry.mark, this.#changes);
      for (const mark of [...this.#posted.keys()].slice(0, -KEPT_MARKS)) this.#posted.delete(mark);
    }
    this.#step(now);
  }

  /** What is posted, before it is masked: sealed, if it is released together with that of others or not at all. */
  #sealed(integers: Float64Array, partners: Parameters<typeof sealOfEntry>[4]) {
    const { secrets, epoch, colluders, release } = this.#options;
    const words = toInt64s(integers);
    if (release === undefined || !isSealed(this.generation)) return { words };
    const { hash } = this.generation;
    const seal = sealFrom(release.sealSeed(hash), colluders);
    addInt64s(words, sealPad(secrets, hash, seal.secret, integers.length));
    return { words, seal: sealOfEntry(secrets, this.generation, seal, epoch, partners) };
  }

  /** Sums are complete and sealed: this device says so, shows its keys when enough others do, and reads the sums. */
  #unseal(now: number): void {
    const { secrets, colluders, release } = this.#options;
    const { generation } = this;
    const { base, roster } = generation;
    const sealed = this.#before;
    if (sealed === undefined || roster === undefined || this.outcome !== undefined) return;
    if (release !== undefined && sealed.entryOf(this.#id) !== undefined && !this.isPaused) {
      this.#shares ??= heldShares(secrets, sealed, roster, (id) => this.#linkOf(id)?.peer);
      const isGood = [...this.#shares.values()].every((share) => share !== undefined);
      const own = this.#board.entryOf(this.#id);
      if (own === undefined && isGood && release.mayTally(base))
        this.#board.add(tallyEntry(secrets, generation, colluders));
      const isShown = own !== undefined && isKey(own);
      if (!isShown && isDecided(sealed, colluders, this.#tallied) && release.pay(base)) {
        const { secret } = sealFrom(release.sealSeed(sealed.generation.hash), colluders);
        this.#board.add(keyEntry(secrets, generation, colluders, secret, this.#shares));
      }
    }
    const found = secretsOfAll(sealed, roster, colluders, this.#board.entries);
    if (found === undefined) return;
    const next = baseAfterKeys(this.#options, sealed.generation, base, sealed.entries, found);
    if (next === "implausible") this.outcome = next;
    else this.#goOn({ ...sealed.generation, entries: sealed.entries, secrets: found }, next, now);
  }

  get #tallied(): ReadonlySet<string> {
    return new Set(this.#board.entries.map(({ id }) => id));
  }

  /** Whether so many devices hold all entries of a sealed board that it is read, whoever leaves. */
  get isReleaseDecided(): boolean {
    const { colluders } = this.#options;
    return this.#before !== undefined && isDecided(this.#before, colluders, this.#tallied);
  }

  /** It has too few links to post, because its neighbours could learn its sums, and no hope of more. */
  #isIdle(now: number): boolean {
    return now >= this.#hopeUntil && this.counted.length <= this.#options.colluders;
  }

  /** Whether the network rests on other rows or links of this device than it has now. */
  get #isOutdated(): boolean {
    const own = this.#before?.entryOf(this.#id);
    if (own === undefined || !this.#hasAnswer) return false;
    const { counted } = this;
    const isSame =
      counted.length === own.links.size && counted.every((link) => own.links.get(link.id) === link.counted);
    return !isSame || this.#posted.get(own.mark) !== this.#changes;
  }

  /** Its neighbours go on without it, although it takes part: at rest its rows are not in the answer. */
  get isOutside(): boolean {
    const { stage } = this.generation;
    const isCounted = this.#before === undefined || this.#before.entryOf(this.#id) !== undefined;
    return stage === stages.rest && this.isMember && !isCounted;
  }

  /** Clusters were found, and are looked at or at rest: other rows are not in them. */
  get #hasAnswer(): boolean {
    const { stage } = this.generation;
    return stage === stages.rest || stage === stages.validate;
  }

  /** Whether something rests on its rows and links as they are. */
  get #isBound(): boolean {
    if (this.#isPosted || !this.#hasAnswer) return this.#isPosted;
    return this.#options.shape.isTree || this.#before?.entryOf(this.#id) !== undefined;
  }

  #step(now: number): void {
    if (!this.#isPosted || this.outcome !== undefined) return;
    if (this.#own === undefined) this.#stepBoard(now);
    else this.#stepTree(this.#own, now);
  }

  #stepBoard(now: number): void {
    // The own mark is right, so that of the other end is not.
    const liar = this.counted.find(({ id }) => this.#board.isDisputed(this.#id, id));
    if (liar !== undefined) {
      this.#banish(liar, "signed for another pad than that of its link to this device", now);
      return;
    }
    const closed = this.#board.closedAround(this.#id);
    if (closed === undefined) return;
    const { base, openings, members } = this.generation;
    const next = baseAfterBoard(this.#options, this.generation, closed, (id) => this.#board.entryOf(id));
    this.closed = closed;
    const entries = closed.devices.flatMap((id) => this.#board.entryOf(id) ?? []);
    if (next === "implausible") {
      this.outcome = next;
      this.#dispute(toldBoard(this.#options, { base, openings, members, entries }), now);
      return;
    }
    this.#goOn({ base, openings, members, entries }, next, now);
  }

  /** Goes to the base that a board has led to. */
  #goOn(proof: Proof, next: Base, now: number): void {
    const isHere = proof.secrets !== undefined && bytesToHex(next.parent) === this.#hash;
    this.#keysBefore = isHere ? this.#told(this.#board.entries) : undefined;
    this.#before = toldBoard(this.#options, proof);
    this.#noteRead(proof, next);
    this.closed = { count: proof.entries.length, devices: proof.entries.map(({ id }) => id) };
    const links = [...this.#links.values()].map(({ id }) => id);
    const { membership, colluders } = this.#options;
    if (membership === undefined)
      for (const id of knownFrom(this.#id, links, proof.entries, colluders)) this.known.add(id);
    this.#turn(next, NO_OPENINGS, now);
  }

  /** What others have read of this device's rows is paid for, whether it was there or not. */
  #noteRead({ secrets, ...sealed }: Proof, next: Base): void {
    const { release } = this.#options;
    if (release === undefined) return;
    release.noteRead(next);
    if (secrets === undefined || !sealed.entries.some(({ id }) => id === this.#id)) return;
    const keys = provenBase(this.#options, sealed, true);
    if (typeof keys === "object") release.pay(keys);
  }

  /** The board of this generation as others are told of it. */
  #told(entries: readonly Entry[]): ToldBoard {
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    return { generation: this.generation, hash: this.#hash, entries, entryOf: (id) => byId.get(id) };
  }

  /** What is known of the sums of all; with sums over a tree the others pass on what they have. */
  #stepTree(own: Int64s, now: number): void {
    const words = sumsBelow(this.#board, own, this.counted, this.#parent);
    if (words === undefined) return;
    const { secrets, epoch, shape } = this.#options;
    if (this.#parent !== undefined) {
      if (this.#board.entryOf(this.#id) === undefined)
        this.#board.add(ownEntry(secrets, this.generation, { epoch, words }));
      return;
    }
    const closed = closedTree(words);
    if (closed === undefined) return;
    this.closed = closed;
    const found = nextContent(shape, this.generation, closed, () => []);
    if (found === "implausible") this.outcome = found;
    else
      this.#turn(
        baseAfter(this.#options, this.generation, found, secrets.digest(this.generation.hash)),
        NO_OPENINGS,
        now,
      );
  }

  /** Asks for the books of a board. Private rows have none: they would show a device's share of the noise. */
  #dispute(board: ToldBoard, now: number): void {
    if (this.#options.shape.releasing !== undefined || !this.books.begin(board)) return;
    if (this.#options.areBooksAgreed) this.#showBooks(now);
    else this.#showOwnBooks(now);
  }

  #showBooks(now: number): void {
    const peers = new Map(Array.from(this.#links.values(), ({ id, peer }) => [id, peer]));
    this.#expel(
      this.books.show(this.#options.secrets, this.#id, (id) => peers.get(id)),
      now,
    );
  }

  /** Its owner asks for the books of the answer, and opens those of this device once they are asked for. */
  openBooks(now: number): void {
    this.#doubt(now);
    this.#isBookOpen = true;
    this.#showOwnBooks(now);
  }

  /** As its owner says, if nobody is laid bare by it who has not opened. */
  #showOwnBooks(now: number): void {
    const { dispute } = this.books;
    if (dispute === undefined || !this.#isBookOpen) return;
    if (mayOpenBooks(this.#options, dispute.generation, dispute.entries).has(this.#id)) this.#showBooks(now);
  }

  /** The answer at which the network rests does not fit the rows of this device. */
  doubtAnswer(now: number): void {
    if (now - this.#doubtedAt < BETWEEN_DOUBTS_MILLISECONDS) return;
    this.#doubtedAt = now;
    this.#doubt(now);
  }

  #doubt(now: number): void {
    const { secrets, shape } = this.#options;
    const { base, stage } = this.generation;
    if (stage !== stages.rest || this.#before?.entryOf(this.#id) === undefined || shape.releasing !== undefined) return;
    this.books.addDoubt(signedDoubt(secrets, base.hash));
    this.#weighDoubts(now);
  }

  /** With more doubts than colluders one is honest. */
  #weighDoubts(now: number): void {
    const isAsked = this.books.doubters.size > this.#options.colluders;
    if (isAsked && this.#before !== undefined) this.#dispute(this.#before, now);
  }

  hearBooks(peer: string, message: BookMessage, now: number): void {
    const link = this.#links.get(peer);
    if (link === undefined || now < link.bannedUntil || this.books.removed.has(link.id)) return;
    const mayCheck = () => link.signatureAllowance.take(now);
    const { base } = this.generation;
    // Inventions of a liar may be on the board too, and do not doubt.
    const mayDoubt = (id: string, of: Uint8Array) =>
      base.stage === stages.rest &&
      areEqual(of, base.hash) &&
      this.#before?.entryOf(id) !== undefined &&
      this.#isReal(id);
    const { fault, removed } = this.books.hear(peer, message, mayCheck, mayDoubt, (id) => this.#mayAccuse(id));
    if (fault !== undefined) this.#banish(link, fault, now);
    this.#weighDoubts(now);
    this.#expel(removed, now);
  }

  /** What a neighbour is to be told about disputes, and when to look again. */
  dueBooks(now: number): { readonly peers: readonly string[]; readonly nextAt: number } {
    const links = [...this.#links.values()].filter(({ isConnected, id }) => isConnected && !this.books.removed.has(id));
    const times = links.map(({ peer }) => ({ peer, at: this.books.dueAt(peer) }));
    const later = times.flatMap(({ at }) => (at > now ? [at] : []));
    return { peers: times.flatMap(({ peer, at }) => (at <= now ? [peer] : [])), nextAt: Math.min(...later) };
  }

  /** Evidence is against them: where they were counted all begin anew, so that nothing of what they added remains. */
  #expel(ids: readonly string[], now: number): void {
    if (ids.length === 0) return;
    const isCounted = this.#isTainted || ids.some((id) => this.#board.entryOf(id) !== undefined);
    for (const id of ids) {
      this.known.delete(id);
      const link = this.#linkOf(id);
      if (link !== undefined) this.#recount(link, now);
    }
    if (isCounted) this.open(now, this.#options.shape.releasing === undefined);
  }

  /** Evidence against inventions has no end: of devices that are not known it counts of a few, on a board. */
  #mayAccuse(id: string): boolean {
    const isThere = (this.#board.entryOf(id) ?? this.#before?.entryOf(id)) !== undefined;
    return this.#isReal(id) || (isThere && this.books.removed.size < MOST_ENTRIES);
  }

  /** A device has signed two entries of one time, of which this one came later. */
  #noteTwofaced(before: Entry | undefined, entry: Entry, generation: Uint8Array, now: number): void {
    if (before === undefined || before.epoch !== entry.epoch || areEqual(before.body, entry.body)) return;
    if (this.#options.shape.isTree || !this.#mayAccuse(entry.id)) return;
    const isNews = this.books.addEvidence({ kind: "two entries", generation, entries: [before, entry] });
    if (isNews) this.#expel([entry.id], now);
  }

  hear(peer: string, message: BoardMessage, now: number): void {
    const link = this.#links.get(peer);
    if (link === undefined || now < link.bannedUntil || this.books.removed.has(link.id)) return;
    if (message.kind === "proof") {
      this.#hearProof(link, message, now);
      return;
    }
    if (message.stamp.epoch < link.epoch) return;
    // Nobody who keeps to the rules goes back from a base where it was, but after a start.
    const { place } = link;
    if (message.stamp.epoch === link.epoch && place !== undefined && compareBases(message.order, place) < 0) {
      this.#banish(link, "took back a result that it had claimed", now);
      return;
    }
    const isStarted = link.epoch > 0 && message.stamp.epoch > link.epoch;
    if (isStarted || message.isDropped !== link.isDropped) noteStart(link, now);
    const isBack = isLeftOut(link, false, now) || link.epoch === 0;
    const isUseful = (link.isDropped && !message.isDropped) || (link.isIdle && !message.isIdle);
    if (isBack || isUseful) this.#hopeUntil = now + HOPE_MILLISECONDS;
    link.heardAt = now;
    link.isKnown = message.knows === this.#options.epoch;
    link.isDropped = message.isDropped;
    link.isIdle = message.isIdle;
    if (message.stamp.epoch > link.epoch) {
      link.epoch = message.stamp.epoch;
      link.ahead = undefined;
      link.told.confirmed.clear();
      link.told.flight.clear();
      link.isBelow = undefined;
      link.hasHeard = false;
    }
    if (message.isAsking) link.owedAt ??= now;
    link.place = { ...message.order, generation: bytesToHex(message.hash) };
    noteBehind(link, this.generation.base, now);
    this.#recount(link, now);
    this.#followCandidate(now);
    const { isTree } = this.#options.shape;
    // Who learns of a generation from a neighbour passes its sums on to it, so both must count.
    if (isTree && link.counted === 0) return;
    const order = compareBases(message.order, orderOf(this.generation.base));
    if (order <= 0) {
      link.ahead = undefined;
      link.unprovenSince = undefined;
    }
    if (order === 0) this.#hearSameBase(link, message, now);
    if (order > 0 && isTree) this.#followTree(link, message, now);
    else if (order > 0) this.#hearAhead(link, message, now);
    if (order < 0 && message.isAsking) link.toldHash = "";
    if (order < 0 && link.toldBefore.hash === link.place.generation)
      for (const mark of message.have) link.toldBefore.confirmed.add(mark);
    this.post(now);
  }

  /** It is further: what it says counts once this device is there, by entries that it still lacks or by a proof. */
  #hearAhead(link: BoardPartner, message: BoardMessage, now: number): void {
    link.ahead = message;
    link.unprovenSince ??= now;
    link.owedAt ??= now;
  }

  #followTree(link: BoardPartner, { base }: BoardMessage, now: number): void {
    const { study, secrets } = this.#options;
    if (base !== undefined) this.#turn(hashedBase(base, study, secrets.digest), NO_OPENINGS, now, link.id);
  }

  /** Openings first: only with the same ones it is the same generation. */
  #hearSameBase(link: BoardPartner, message: BoardMessage, now: number): void {
    if (!this.#merge(link, message.openings, now)) return;
    if (bytesToHex(message.hash) !== this.#hash) link.owedAt ??= now;
    else if (message.wantsOpening && this.#isBound && this.#isMember(link.id) && link.openingAllowance.take(now))
      this.open(now);
    else this.#take(link, message, now);
  }

  /** Takes over openings that are not known here. Returns whether their sender keeps to the rules. */
  #merge(link: BoardPartner, given: readonly Opening[], now: number): boolean {
    const { base, openings } = this.generation;
    if (base.stage === stages.keys) return true;
    const merged = new Map(openings);
    for (const opening of given) {
      if (!isHigher(opening, base.spent, merged) || !this.#mayOpen(opening.id)) continue;
      if (!link.signatureAllowance.take(now)) break;
      if (!isOpeningSigned(this.#options.secrets, base.hash, opening))
        return this.#banish(link, "sent an opening that is not signed by the device it names", now);
      // By its own counter, which says more than what was heard: on a busy machine most of its frames come too late.
      const times = opening.counter - openingsOf(opening.id, base.spent, merged);
      merged.set(opening.id, opening);
      noteOpenings(this.#linkOf(opening.id), Math.max(1, times), now);
    }
    const own = merged.get(this.#id);
    const isNews = [...merged].some(([id, opening]) => openings.get(id) !== opening);
    if (isNews) this.#turn(base, merged, now);
    // Of an earlier life, in which other rows and links may have been posted.
    if (own !== undefined && own !== openings.get(this.#id)) this.open(now);
    return true;
  }

  isBanned(peer: string, now: number): boolean {
    return now < (this.#links.get(peer)?.bannedUntil ?? 0);
  }

  /** A neighbour has sent what nobody who keeps to the rules sends. */
  ban(peer: string, offence: string, now: number): void {
    const link = this.#links.get(peer);
    if (link !== undefined) this.#banish(link, offence, now);
  }

  /** Its frames are not read for a while. Returns false, for its caller. */
  #banish(link: BoardPartner, offence: string, now: number): false {
    banPartner(link, offence, now);
    this.#recount(link, now);
    return false;
  }

  /** What a neighbour has and brings, in the same generation. */
  #take(link: BoardPartner, message: BoardMessage, now: number): void {
    const { isTree } = this.#options.shape;
    const isNews = isTree && link.isBelow !== message.isBelow;
    link.told.confirmed.clear();
    for (const mark of message.have) link.told.confirmed.add(mark);
    link.isBelow = message.isBelow;
    link.hasHeard = message.hasHeard;
    if (isTree && !message.hasHeard) link.owedAt ??= now;
    if (message.entries.length > 0) link.owedAt ??= now;
    const mine = isTree ? message.entries.filter(({ id }) => id === link.id) : message.entries;
    if (!this.#addEntries(link, message.integers, mine, now) && isNews) this.#step(now);
  }

  /** Entries for this generation's board, whoever brings them. Returns whether one was news. */
  #addEntries(link: BoardPartner, integers: number, entries: readonly Entry[], now: number): boolean {
    const hash = this.#hash;
    const isUnsealed = this.generation.stage === stages.keys;
    const hasSeals = isUnsealed || isSealed(this.generation);
    const isAsked =
      endWithoutSums(this.generation) === undefined &&
      integers === this.#integers &&
      entries.every(({ seal }) => seal.length > 0 === hasSeals);
    if (entries.length > 0 && !isAsked) return this.#banish(link, "sent sums that nobody asked for", now);
    let isNews = false;
    let unknown = 0;
    for (const entry of entries) {
      // One of the entries may have shown a start, and opened a generation that the others are not of.
      if (this.#hash !== hash) return true;
      link.told.confirmed.add(entry.mark);
      if (this.#board.has(entry.mark) || this.#isSuspended(entry.id)) continue;
      // In one generation all have the same members, so nobody honest passes on sums of others.
      if (!isCounted(this.generation, entry.id) || !(isUnsealed || this.#isMember(entry.id)))
        return this.#banish(link, "sent sums of a device that has no part in them", now);
      if (!this.#isReal(entry.id) && ++unknown > UNKNOWN_SIGNATURES_PER_FRAME) continue;
      if (!link.signatureAllowance.take(now)) break;
      // Honest devices pass on only what they have checked, so a bad signature is its bringer's fault.
      if (!isEntrySigned(this.#options.secrets, this.generation, entry))
        return this.#banish(link, "sent sums that are not signed by the device they name", now);
      if (isUnsealed && !(this.#before && isUnsealing(this.#before, entry)))
        return this.#banish(link, "sent a key that opens nothing", now);
      if (!this.#board.add(entry)) {
        if (!isUnsealed) this.#noteTwofaced(this.#board.entryOf(entry.id), entry, this.generation.hash, now);
        continue;
      }
      isNews = true;
      if (!isUnsealed) this.#hearOf(entry, now);
    }
    if (isNews && this.#hash === hash && isUnsealed) this.#unseal(now);
    else if (isNews && this.#hash === hash) this.#step(now);
    return isNews;
  }

  get #integers(): number {
    const { shape } = this.#options;
    return integersIn(shape, this.generation) + (shape.isTree ? TREE_INTEGERS : 0);
  }

  /** A neighbour that is further shows what led it there. */
  #hearProof(link: BoardPartner, message: BoardMessage, now: number): void {
    const hash = bytesToHex(message.hash);
    const { base: given, openings } = message;
    if (hash === this.#hash) this.#addEntries(link, message.integers, message.entries, now);
    // What leads to no later base, or to where this device is, is not looked at.
    const { number } = this.generation;
    if (given === undefined || message.entries.length === 0) {
      this.#banish(link, "sent a proof that proves nothing", now);
      return;
    }
    const { isTree, releasing } = this.#options.shape;
    const isOwn = ({ id, mark }: Entry) => this.#before?.entryOf(id)?.mark === mark;
    const isNoNews = message.secrets === undefined || this.#before?.secrets !== undefined;
    const isOld = releasing === undefined && given.number < number - 1;
    const isKnown = isOld || (hash === this.#before?.hash && isNoNews && message.entries.every(isOwn));
    // Its sender has not heard that this device is there. At rest nothing else tells it; otherwise the next board does.
    if (isKnown && this.outcome !== undefined && now - link.sentAt > PATIENCE_MILLISECONDS) link.toldHash = "";
    if (isTree || isKnown || given.stage === stages.keys) return;
    const { study, secrets } = this.#options;
    const base = hashedBase(given, study, secrets.digest);
    const signed = new Map(openings.map((opening) => [opening.id, opening]));
    const { members } = message;
    const from = generationOf(this.#options, base, signed, members);
    // Not by the hash that the frame says: parts of two proofs would be taken for one.
    const of = bytesToHex(from.hash);
    if (link.proof?.hash !== of) link.proof = { hash: of, entries: new Map(), secrets: new Map() };
    const { entries, secrets: shown } = link.proof;
    for (const [id, secret] of message.secrets ?? []) if (shown.size < MOST_ENTRIES) shown.set(id, secret);
    let unknown = 0;
    for (const entry of message.entries) {
      if (entries.size >= MOST_ENTRIES || entries.get(entry.id)?.mark === entry.mark) continue;
      if (!this.#isReal(entry.id) && ++unknown > UNKNOWN_SIGNATURES_PER_FRAME) continue;
      if (!link.signatureAllowance.take(now)) return;
      if (!isEntrySigned(secrets, from, entry)) {
        this.#banish(link, "sent sums that are not signed by the device they name", now);
        return;
      }
      entries.set(entry.id, entry);
      if (of === this.#before?.hash) this.#noteTwofaced(this.#before.entryOf(entry.id), entry, from.hash, now);
    }
    const isOpen = shown.size > 0 && { secrets: shown };
    const proof = { base, openings: signed, members, entries: [...entries.values()], ...isOpen };
    const next = provenBase(this.#options, proof, true, () => this.#isVouchedFor(proof));
    if (next === "open") return;
    link.proof = undefined;
    if (next === "false" || this.#isOfStrangers(proof)) {
      this.#banish(link, "sent a proof that proves nothing", now);
      return;
    }
    const isLater =
      next === "doubtful" ? given.number >= number : compareBases(orderOf(next), orderOf(this.generation.base)) > 0;
    if (!isLater) return;
    if (areEqual(members, this.generation.members)) link.doubtedUntil = now + RESTLESS_MILLISECONDS;
    this.#candidate = { proof, next: next === "doubtful" ? undefined : next };
    this.#followCandidate(now);
  }

  /** Whether somebody has signed who is no member, by members that are the same here. */
  #isOfStrangers({ members, entries }: Proof): boolean {
    return areEqual(members, this.generation.members) && !entries.every(({ id }) => this.#isMember(id));
  }

  /**
   * With founders: every signer must be a member, and so many that one is honest. Of other members than those known here
   * nothing is followed until what makes them so has been heard, but for sums that stay as they were when they change.
   */
  #isSignedByMembers({ members, entries, secrets }: Proof, next: Base, membership: Membership): boolean {
    const isSame = areEqual(members, this.generation.members);
    const isGood = (id: string) => (isSame ? membership.isMember(id) : membership.wasMember(id));
    const isFixed = next.stage === stages.keys || secrets !== undefined;
    return (isSame || isFixed) && entries.every(({ id }) => isGood(id));
  }

  /**
   * More than `colluders` devices that are real must stand behind a base, so that one of them is honest: those that have
   * signed for what it follows from, or neighbours that say they are there. Honest devices do neither without proof.
   */
  #isVouchedFor(
    { base, entries }: Proof,
    isThere = (place: BaseOrder): boolean => place.number === base.number + 1,
  ): boolean {
    const { membership, colluders } = this.#options;
    // More than `colluders` they are, or it would be no proof.
    if (membership !== undefined) return entries.every(({ id }) => membership.wasMember(id));
    const signers = entries.filter(({ id }) => this.#isReal(id) && !this.books.removed.has(id));
    const there = [...this.#links.values()].filter(({ place }) => place !== undefined && isThere(place));
    return Math.max(signers.length, there.length) > colluders;
  }

  /** Goes where a proof leads, once it is clear that it is true. */
  #followCandidate(now: number): void {
    if (this.#candidate === undefined || !this.#isVouchedFor(this.#candidate.proof)) return;
    const { proof, next = provenBase(this.#options, proof, true) } = this.#candidate;
    if (typeof next === "string" || compareBases(orderOf(next), orderOf(this.generation.base)) <= 0) {
      this.#candidate = undefined;
      return;
    }
    this.#candidate = { proof, next };
    const { membership } = this.#options;
    const isTrue =
      membership === undefined
        ? this.#isVouchedFor(proof, (place) => compareBases(place, orderOf(next)) === 0)
        : this.#isSignedByMembers(proof, next, membership);
    if (isTrue) this.#goOn(proof, next, now);
  }

  /** Whether it cannot be an invention of colluders: who is or was a member, or without founders a neighbour or known. */
  #isReal(id: string): boolean {
    const { membership } = this.#options;
    if (membership !== undefined) return membership.wasMember(id);
    return id === this.#id || this.known.has(id) || this.#linkOf(id) !== undefined;
  }

  #linkOf(id: string): BoardPartner | undefined {
    return [...this.#links.values()].find((link) => link.id === id);
  }

  /** What a linked device has signed says its epoch too, if its own frame was lost. */
  #hearOf({ id, epoch, links }: Entry, now: number): void {
    const link = this.#linkOf(id);
    if (link === undefined || link.epoch >= epoch) return;
    link.epoch = epoch;
    link.heardAt = now;
    link.isKnown = links.get(this.#id) === this.#options.epoch;
    this.#recount(link, now);
  }

  /** Under which epoch a link counts on both ends now; 0: it does not. */
  #countOf(link: BoardPartner, now: number): number {
    const isOut =
      link.isDropped ||
      link.isIdle ||
      isStuck(link, now) ||
      this.#isSuspended(link.id) ||
      !this.#isMember(link.id) ||
      isLeftOut(link, this.isPaused, now);
    return isOut ? 0 : link.epoch;
  }

  /** Takes over how a link counts. Who comes again too often does not for a while: each time all add up again. */
  #count(link: BoardPartner, now: number): void {
    const found = this.#countOf(link, now);
    if (found === link.counted) return;
    const isAgain = found > 0 && link.hasCounted && !this.#options.shape.isTree;
    const isLate = isAgain && !link.openingAllowance.take(now);
    if (isLate) link.lateUntil = now + BETWEEN_LINK_OPENINGS_MILLISECONDS;
    link.counted = isLate ? 0 : found;
    link.hasCounted ||= link.counted > 0;
    // Who has been there is not waited for.
    link.waitUntil = now;
  }

  #recount(link: BoardPartner, now: number): void {
    const { counted: before } = link;
    const { isTree } = this.#options.shape;
    // Without the one from whom it learnt of it, a device would pass its sums on to nobody.
    const isBound = this.#isBound || (isTree && link.id === this.#parent);
    this.#count(link, now);
    if (link.counted === before) return;
    // Two parts of a network that lose each other must not both answer for the same centroids.
    const isLost = before > 0 && link.counted === 0 && !isTree;
    if (isBound || isLost) this.open(now);
  }

  /** Looks for neighbours that have fallen silent. */
  look(now: number): void {
    if (this.counted.length > this.#options.colluders) this.#hopeUntil = now + HOPE_MILLISECONDS;
    for (const link of this.#links.values()) this.#recount(link, now);
    this.post(now);
  }

  /** Neighbours that must be told something now, and when the next one must be. */
  due(now: number): { readonly links: readonly BoardPartner[]; readonly nextAt: number } {
    return dueMessages(this.#outbox(now), [...this.#links.values()], now, this.#hopeUntil);
  }

  /** What this neighbour is told now; it counts as told. */
  messagesFor(link: BoardPartner, now: number): ReturnType<typeof takeMessages> {
    return takeMessages(this.#outbox(now), link, now);
  }

  /** What shows that this device is rightly where it is; with sums over a tree its word for it. */
  proofMessage(): ReturnType<typeof proofMessage> {
    const { generation, entries, secrets } = this.#before ?? { generation: this.generation, entries: [] };
    return proofMessage(generation, entries, secrets);
  }

  #outbox(now: number): OutboxState {
    const { shape } = this.#options;
    return {
      self: this.#id,
      generation: this.generation,
      hash: this.#hash,
      entries: this.#board.entries,
      entryOf: (id) => this.#board.entryOf(id),
      before: this.#before,
      keysBefore: this.#keysBefore,
      integers: this.#integers,
      isPaused: this.isPaused,
      isIdle: this.#isIdle(now),
      wantsOpening: this.#wantsOpening,
      tree: shape.isTree ? { parent: this.#parent } : undefined,
      turnedAt: this.#turnedAt,
    };
  }
}
