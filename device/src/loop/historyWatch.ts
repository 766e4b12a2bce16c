// The watch over a device's history: nothing of guarded or private rows is sent before neighbours have said how far they have
// seen its history come. A folder that was restored from an old copy is found by that, and so is the copy of a neighbour.
// To the loop of the device a neighbour is connected when it has said it.

import { Allowance, type NetworkListener } from "../environment.ts";
import type { HistoryMemory } from "../privacy/history.ts";
import { type HistoryHeads, isFormerHead } from "../privacy/historyHeads.ts";
import type { DeviceRows } from "../study/remoteRows.ts";
import { canonicalStudy } from "../study/study.ts";
import { frameLane, isOfKind, isOfStudy } from "../wire/frames.ts";
import {
  compareHeads,
  decodeHistoryFrame,
  encodeHistoryFrame,
  type HistoryHead,
  type HistoryMessage,
  type SignedHead,
  signedHeadBytes,
} from "../wire/historyFrames.ts";
import {
  AWAY_MILLISECONDS,
  FIRST_BAN_MILLISECONDS,
  HEARTBEAT_MILLISECONDS,
  HISTORY_REPEAT_MILLISECONDS,
  HISTORY_WAIT_MILLISECONDS,
  SIGNATURE_BURST,
  SIGNATURES_PER_SECOND,
} from "../wire/limits.ts";
import { encodeStudyFrame } from "../wire/studyFrames.ts";
import type { Device, DeviceOptions, HistoryDevice } from "./device.ts";
import type { DeviceStatus } from "./status.ts";

/** A linked device, as far as histories are concerned. */
interface HistoryPartner {
  isConnected: boolean;
  /** It has said on this connection what it has seen, and before since the start. */
  hasAnswered: boolean;
  hasEverAnswered: boolean;
  /** The loop knows that it is connected. */
  isPassed: boolean;
  /** The head of this device that it has confirmed, by its mark. */
  confirmed: string | undefined;
  /** What came before it had answered: the latest of each lane. */
  readonly held: Map<number, Uint8Array>;
  repeat: number;
  cancelRepeat: () => void;
  studySent: boolean;
  /** What is wrong with its history, as a sentence that begins after its name; its frames are not used while `isRefused`. */
  fault: string | undefined;
  isRefused: boolean;
  bannedUntil: number;
  /** It has begun another history, and that is said until then. */
  anewUntil: number;
  readonly allowance: Allowance;
}

const OLD = "is refused: it has published more than it says, so its folder is an old copy";
const TWICE = "is refused: it has signed two histories for one time, so a copy of its folder runs or has run";
const UNSIGNED = "sent a history that it has not signed";
const SILENT =
  "has an old copy of its folder, or has lost its history, and sends nothing of its rows until its owner consents";
const ANEW = "has begun its history anew, as its owner consented";

export class HistoryWatch implements Device, NetworkListener {
  readonly #options: DeviceOptions;
  readonly #inner: HistoryDevice;
  readonly #history: HistoryMemory | undefined;
  #listener: NetworkListener | undefined;
  readonly #partners = new Map<string, HistoryPartner>();
  readonly #neighbourHeads: Map<string, SignedHead>;
  #signed: SignedHead | undefined;
  #rows: DeviceRows;
  /** All neighbours have answered, or enough time has passed for those that are there. */
  #isOpen: boolean;
  #isLate = false;
  #isLost: boolean;
  /** Who has seen a later history of this device. */
  #witness: string | undefined;
  #waiting: { readonly bytes: Uint8Array; readonly done: (failure: string | undefined) => void } | undefined;
  #cancelWait = () => {};

  constructor(options: DeviceOptions, create: (options: DeviceOptions) => HistoryDevice) {
    const { memory, network, rows, links, clock, secrets } = options;
    this.#options = options;
    this.#rows = rows;
    this.#neighbourHeads = new Map(memory.neighbourHeads?.saved);
    // Without a key nothing can be signed, and without a memory nothing can be old.
    this.#history = secrets === undefined || memory.history?.heads === undefined ? undefined : memory.history;
    this.#isLost = this.#history?.isLost ?? false;
    this.#isOpen = this.#history === undefined;
    const keep: HistoryMemory["keep"] = (bytes, done) => this.#keep(bytes, done);
    const history = this.#history === undefined ? memory.history : { ...this.#history, keep };
    // Centroids of personal clusters that were computed of rows whose history is lost.
    const saved = this.#isLost && options.study.clusters !== "shared" ? undefined : memory.saved;
    this.#inner = create({
      ...options,
      memory: { ...memory, saved, ...(history && { history }) },
      network: {
        ...network,
        start: async (listener) => {
          this.#listener = listener;
        },
        send: (peer, frame) => this.#send(peer, frame),
      },
    });
    for (const peer of links) this.#partners.set(peer, newPartner(clock.now()));
  }

  start(): Promise<void> {
    const { clock, network } = this.#options;
    if (!this.#isOpen) {
      this.#cancelWait = clock.after(HISTORY_WAIT_MILLISECONDS, () => {
        this.#isLate = true;
        this.#openIfAnswered();
      });
    }
    void this.#inner.start();
    this.#openIfAnswered();
    return network.start(this);
  }

  stop(): void {
    this.#cancelWait();
    for (const { cancelRepeat } of this.#partners.values()) cancelRepeat();
    this.#inner.stop();
  }

  setRows(rows: DeviceRows): void {
    this.#rows = rows;
    this.#inner.setRows(rows);
  }

  setLinks(peers: readonly string[]): void {
    for (const [peer, { cancelRepeat }] of this.#partners) {
      if (peers.includes(peer)) continue;
      cancelRepeat();
      this.#partners.delete(peer);
    }
    for (const peer of peers) {
      if (!this.#partners.has(peer)) this.#partners.set(peer, newPartner(this.#options.clock.now()));
    }
    this.#inner.setLinks(peers);
    this.#openIfAnswered();
  }

  /** With rows a person consents: what is published from now on is another history, for all to see. */
  reset(rows?: DeviceRows): void {
    const { study, memory } = this.#options;
    if (rows !== undefined) {
      this.#rows = rows;
      if (this.#isLost || study.privacy === "guarded") this.#history?.heads?.begin(memory.epoch);
      this.#isLost = false;
      this.#witness = undefined;
    }
    this.#inner.reset(rows);
  }

  setPaused(isPaused: boolean): void {
    this.#inner.setPaused(isPaused);
  }

  openBooks(): void {
    this.#inner.openBooks();
  }

  approve(study: string): void {
    this.#inner.approve(study);
  }

  addStatements(statements: readonly Uint8Array[]): void {
    this.#inner.addStatements(statements);
  }

  status(): DeviceStatus {
    const status = this.#inner.status();
    const now = this.#options.clock.now();
    const neighbours = status.neighbours.map((neighbour) => {
      const { fault, anewUntil = 0 } = this.#partners.get(neighbour.peer) ?? {};
      return { ...neighbour, fault: fault ?? neighbour.fault ?? (now < anewUntil ? ANEW : null) };
    });
    const awaited = this.#isOpen ? [] : Array.from(this.#partners).filter(([, one]) => !one.hasEverAnswered);
    const history = { witness: this.#witness ?? null, awaited: awaited.map(([peer]) => peer) };
    return { ...status, neighbours, history: this.#history === undefined ? null : history };
  }

  onConnect(peer: string): void {
    const partner = this.#partners.get(peer);
    if (partner === undefined) return;
    const wasPassed = partner.isPassed;
    partner.cancelRepeat();
    partner.held.clear();
    Object.assign(partner, { isConnected: true, hasAnswered: false, confirmed: undefined, isPassed: false });
    Object.assign(partner, { repeat: HISTORY_REPEAT_MILLISECONDS, studySent: false });
    if (this.#history === undefined) {
      this.#pass(peer, partner);
      return;
    }
    if (wasPassed) this.#listener?.onDisconnect(peer);
    this.#ask(peer, partner);
  }

  onDisconnect(peer: string): void {
    const partner = this.#partners.get(peer);
    if (partner === undefined) return;
    partner.cancelRepeat();
    partner.isConnected = false;
    if (partner.isPassed) this.#listener?.onDisconnect(peer);
    partner.isPassed = false;
  }

  onFrame(peer: string, frame: Uint8Array): void {
    const partner = this.#partners.get(peer);
    if (partner === undefined) return;
    if (isOfKind(frame, "history") && this.#hear(peer, partner, frame)) return;
    // Studies are compared whatever the histories are.
    if (isOfKind(frame, "study")) this.#listener?.onFrame(peer, frame);
    else if (!isOfStudy(frame, this.#options.contract) && !partner.isPassed) this.#sendStudy(peer, partner);
    else if (!partner.isPassed) partner.held.set(frameLane(frame), frame);
    else if (!partner.isRefused) this.#listener?.onFrame(peer, frame);
  }

  /** False: the loop says what is wrong with it. */
  #hear(peer: string, partner: HistoryPartner, frame: Uint8Array): boolean {
    const { contract, clock } = this.#options;
    if (!isOfStudy(frame, contract)) {
      this.#sendStudy(peer, partner);
      return true;
    }
    const now = clock.now();
    if (now < partner.bannedUntil || !partner.allowance.take(now, 2)) return true;
    const message = decodeHistoryFrame(frame);
    if (message === undefined) return false;
    this.#hearTheirs(peer, partner, message, now);
    this.#hearOwn(peer, partner, message);
    if (message.isAsking) this.#tell(peer, false);
    return true;
  }

  /** It compares studies, and says what differs. */
  #sendStudy(peer: string, partner: HistoryPartner): void {
    if (partner.studySent || partner.isPassed) return;
    partner.studySent = true;
    const { network, contract, study } = this.#options;
    network.send(peer, encodeStudyFrame(contract, canonicalStudy(study)));
  }

  /** How far the neighbour's history has come, by its own signature. */
  #hearTheirs(peer: string, partner: HistoryPartner, { own, isLost }: HistoryMessage, now: number): void {
    const { secrets, memory } = this.#options;
    const known = this.#neighbourHeads.get(peer);
    partner.fault = isLost ? SILENT : undefined;
    partner.isRefused = false;
    // One that is lost claims nothing.
    if (own === undefined || isLost) return;
    const order = known === undefined ? 1 : compareHeads(own, known);
    if (order === 0 && known?.mark === own.mark) return;
    if (secrets !== undefined && !secrets.isSigned(secrets.keyOf(peer), signedHeadBytes(own), own.signature)) {
      partner.bannedUntil = now + FIRST_BAN_MILLISECONDS;
      partner.fault = UNSIGNED;
      return;
    }
    if (order <= 0) {
      partner.fault = order < 0 ? OLD : TWICE;
      partner.isRefused = true;
      return;
    }
    if (known !== undefined && own.lineage > known.lineage) partner.anewUntil = now + AWAY_MILLISECONDS;
    this.#neighbourHeads.set(peer, own);
    memory.neighbourHeads?.keep(this.#neighbourHeads);
  }

  /** What the neighbour has seen of this device's history. Only what this device has signed itself can be held against it. */
  #hearOwn(peer: string, partner: HistoryPartner, { yours }: HistoryMessage): void {
    const { secrets } = this.#options;
    const heads = this.#history?.heads;
    if (heads === undefined || secrets === undefined) return;
    if (yours !== undefined) {
      const isOwn = isFormerHead(heads.latest(), yours);
      if (!isOwn && !secrets.isSigned(secrets.key, signedHeadBytes(yours), yours.signature)) {
        partner.fault = UNSIGNED;
        return;
      }
      if (!isOwn) this.#lose(peer, yours);
      partner.confirmed = yours.mark;
    }
    partner.hasAnswered = true;
    partner.hasEverAnswered = true;
    partner.cancelRepeat();
    this.#openIfAnswered();
    if (this.#isOpen) this.#pass(peer, partner);
  }

  /** This folder is an old copy: nothing of its rows is sent until a person consents. */
  #lose(peer: string, later: HistoryHead): void {
    this.#history?.heads?.lose(later);
    this.#isLost = true;
    this.#witness = peer;
    this.#waiting?.done(`${peer} has seen a later history`);
    this.#waiting = undefined;
    this.#inner.loseHistory(this.#rows);
    for (const [other, { isConnected }] of this.#partners) if (isConnected) this.#tell(other, false);
  }

  #openIfAnswered(): void {
    if (this.#isOpen) return;
    const partners = [...this.#partners.values()];
    const answered = partners.filter(({ hasEverAnswered }) => hasEverAnswered).length;
    if (answered < partners.length && !(this.#isLate && answered > 0)) return;
    this.#isOpen = true;
    this.#cancelWait();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.#keep(waiting.bytes, waiting.done);
    for (const [peer, partner] of this.#partners) if (partner.hasAnswered) this.#pass(peer, partner);
  }

  /** The history goes on only where it is known to be the latest. */
  #keep(bytes: Uint8Array, done: (failure: string | undefined) => void): void {
    if (this.#isLost) done("the history of this folder is not the latest");
    else if (this.#isOpen) this.#history?.keep(bytes, done);
    else this.#waiting = { bytes, done };
  }

  #pass(peer: string, partner: HistoryPartner): void {
    if (partner.isPassed || !partner.isConnected) return;
    partner.isPassed = true;
    this.#listener?.onConnect(peer);
    const held = [...partner.held.values()];
    partner.held.clear();
    for (const frame of held) this.onFrame(peer, frame);
  }

  #ask(peer: string, partner: HistoryPartner): void {
    this.#tell(peer, true);
    partner.cancelRepeat = this.#options.clock.after(partner.repeat, () => {
      partner.repeat = Math.min(2 * partner.repeat, HEARTBEAT_MILLISECONDS);
      this.#ask(peer, partner);
    });
  }

  #tell(peer: string, isAsking: boolean): void {
    const { network, contract } = this.#options;
    const own = this.#signedHead();
    const yours = this.#neighbourHeads.get(peer);
    network.send(peer, encodeHistoryFrame(contract, { own, yours, isAsking, isLost: this.#isLost }));
  }

  #signedHead(): SignedHead | undefined {
    const { secrets } = this.#options;
    const latest = this.#history?.heads?.latest();
    if (latest === undefined || secrets === undefined) return undefined;
    if (this.#signed?.mark !== latest.mark) this.#signed = signedHead(latest, secrets.sign(signedHeadBytes(latest)));
    return this.#signed;
  }

  /** Whoever gets something of the rows learns first how far the history has come, until it has confirmed that. */
  #send(peer: string, frame: Uint8Array): void {
    const partner = this.#partners.get(peer);
    const mark = this.#history?.heads?.latest().mark;
    if (partner !== undefined && mark !== undefined && partner.confirmed !== mark) this.#tell(peer, true);
    this.#options.network.send(peer, frame);
  }
}

function newPartner(now: number): HistoryPartner {
  return {
    ...{ isConnected: false, hasAnswered: false, hasEverAnswered: false, isPassed: false, confirmed: undefined },
    ...{ held: new Map(), repeat: HISTORY_REPEAT_MILLISECONDS, cancelRepeat: () => {}, studySent: false },
    ...{ fault: undefined, isRefused: false, bannedUntil: 0, anewUntil: 0 },
    allowance: new Allowance(SIGNATURE_BURST, 1000 / SIGNATURES_PER_SECOND, now),
  };
}

function signedHead({ lineage, count, mark }: HistoryHeads, signature: Uint8Array): SignedHead {
  return { lineage, count, mark, signature };
}
