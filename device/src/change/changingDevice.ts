// A device through a change of study: the loop of the study that it runs, in a change the loop of the next one beside
// it, and one network for both. Each neighbour is spoken to in the studies that it speaks.

import type { NetworkListener } from "../environment.ts";
import { Allowance } from "../environment.ts";
import type { Device, DeviceOptions } from "../loop/device.ts";
import { type DeviceStatus, isSettled } from "../loop/status.ts";
import { type DeviceRows, rowCount } from "../study/remoteRows.ts";
import { canonicalStudy, heardStudy, isOpenStudy, keepsHistory, type Study } from "../study/study.ts";
import { frameStudyHash, isOfKind, isOfStudy, studyId } from "../wire/frames.ts";
import {
  BETWEEN_STATEMENTS_MILLISECONDS,
  CHANGE_LOOK_MILLISECONDS,
  HEARTBEAT_MILLISECONDS,
  STATEMENT_BURST,
} from "../wire/limits.ts";
import { decodeFrame, decodeStatementFrame, encodeStatementFrame } from "../wire/studyFrames.ts";
import { createStudyLoop, type StudyLoop, type StudyPart, setStudyLoopPeers } from "./studyLoop.ts";

export interface ChangingOptions extends DeviceOptions {
  /** All that are not away speak the next study, which has an answer: time to `finish`. Said again until it is done. */
  readonly onAgreed: () => void;
}

export interface ChangeStatus {
  readonly study: string;
  /** The study that it is changing to, and how it does in it; null: there is no change. */
  readonly next: { readonly study: string; readonly device: DeviceStatus } | null;
  /** Linked peers that have not said, now or before this start, that they speak the next study. */
  readonly missing: readonly string[];
  readonly proposals: readonly StudyProposal[];
  /** The hashes of the studies that a linked peer said it speaks; undefined: it said nothing. */
  studiesOf(peer: string): readonly string[] | undefined;
  /** Whether a linked peer said that its owner keeps it out of the study that it speaks. */
  isOut(peer: string): boolean;
}

/**
 * Whether the next study has no rows until the study before has ended. What was left open there is settled then. Two loops that publish sums of the same guarded
 * rows under different labels could give away single ones together.
 */
export function isChangeWithoutRows(current: Study, next: Study): boolean {
  return keepsHistory(current) || keepsHistory(next) || isOpenStudy(current);
}

export class ChangingDevice implements Device, NetworkListener {
  readonly #options: ChangingOptions;
  readonly #proposals = new StudyProposals();
  readonly #connected = new Set<string>();
  #links: readonly string[];
  #current: StudyLoop;
  #next: StudyLoop | undefined;
  /** Neighbours in the next study before this start. They count until they say otherwise. */
  #presumed: ReadonlySet<string> = new Set();
  #cancelLook = () => {};
  #askAgainAt = 0;
  #isPaused: boolean;

  constructor(options: ChangingOptions) {
    const { study, contract, memory, rows, links } = options;
    this.#options = options;
    this.#isPaused = options.isPaused ?? false;
    this.#links = links;
    this.#current = createStudyLoop(options, { study, contract, memory, rows }, links);
  }

  start(): Promise<void> {
    void this.#current.device.start();
    return this.#options.network.start(this);
  }

  stop(): void {
    this.#cancelLook();
    for (const { device } of this.#loops) device.stop();
  }

  reset(rows?: DeviceRows): void {
    this.#current.device.reset(this.#current.isOut ? undefined : rows);
    this.#next?.device.reset();
  }

  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    for (const { device, isOut } of this.#loops) device.setPaused(isPaused || isOut);
  }

  approve(study: string): void {
    this.#current.device.approve(study);
  }

  openBooks(): void {
    for (const { device } of this.#loops) device.openBooks();
  }

  /** Each loop takes what was signed for its study. */
  addStatements(statements: readonly Uint8Array[]): void {
    for (const { device } of this.#loops) device.addStatements(statements);
  }

  /** New data, whole; for the next study too, if there is one. */
  setRows(rows: DeviceRows, next?: DeviceRows): void {
    if (!this.#current.isOut) this.#current.device.setRows(rows);
    if (next !== undefined && this.#next?.isOut === false) this.#next.device.setRows(next);
  }

  setLinks(peers: readonly string[]): void {
    this.#links = peers;
    this.#proposals.keepOnly(peers);
    this.#sharePeers();
  }

  /** Of the study that it runs; a neighbour that has left that one is as the next one knows it. */
  status(): DeviceStatus {
    const own = this.#current.device.status();
    if (this.#next === undefined) return own;
    const known = [...own.neighbours, ...this.#next.device.status().neighbours];
    const neighbours = this.#links.flatMap((link) => known.find(({ peer }) => peer === link) ?? []);
    return { ...own, neighbours };
  }

  change(): ChangeStatus {
    const next = this.#next;
    return {
      study: this.#current.id,
      next: next === undefined ? null : { study: next.id, device: next.device.status() },
      missing: next === undefined ? [] : this.#links.filter((peer) => !this.#speaksNext(peer, next)),
      proposals: this.#proposals.proposals(this.#loops.map(({ id }) => id)),
      studiesOf: (peer) => this.#proposals.of(peer),
      isOut: (peer) => this.#proposals.isOut(peer),
    };
  }

  /** Takes part in another study as well, and says so. It must be started, without a change under way. */
  begin(next: StudyPart): void {
    if (this.#next !== undefined) throw new Error("a change of study must be over before the next one begins");
    if (rowCount(next.rows) > 0 && isChangeWithoutRows(this.#current.study, next.study)) {
      throw new RangeError(`rows must be none in a change of a guarded study, got ${rowCount(next.rows)}`);
    }
    const { saved } = next.memory;
    this.#presumed = new Set(saved?.study === studyId(next.contract) ? saved.neighbours.map(({ peer }) => peer) : []);
    const links = this.#links.filter((peer) => this.#presumed.has(peer));
    const loop = createStudyLoop({ ...this.#options, isPaused: this.#isPaused }, next, links);
    this.#next = loop;
    void loop.device.start();
    for (const peer of loop.peers) if (this.#connected.has(peer)) loop.listener?.onConnect(peer);
    this.#askAgainAt = this.#options.clock.now() + HEARTBEAT_MILLISECONDS;
    this.#lookLater();
    this.#sharePeers();
    this.#sendStatement(this.#links, true);
  }

  /** Leaves the next study again. */
  withdraw(): void {
    if (this.#next !== undefined) this.#endChange(this.#next, this.#current);
  }

  /** Ends the study before: from now on the next one is the only one. */
  finish(): void {
    if (this.#next !== undefined) this.#endChange(this.#current, this.#next);
  }

  #endChange(ended: StudyLoop, remaining: StudyLoop): void {
    ended.device.stop();
    this.#cancelLook();
    this.#current = remaining;
    this.#next = undefined;
    this.#presumed = new Set();
    this.#sharePeers();
    this.#sendStatement(this.#links, false);
  }

  onConnect(peer: string): void {
    this.#connected.add(peer);
    if (this.#next !== undefined || this.#current.isOut) this.#sendStatement([peer], this.#next !== undefined);
    for (const { peers, listener } of this.#loops) if (peers.has(peer)) listener?.onConnect(peer);
  }

  onDisconnect(peer: string): void {
    this.#connected.delete(peer);
    // It says so at every connection.
    this.#proposals.setOut(peer, false);
    for (const { listener } of this.#loops) listener?.onDisconnect(peer);
  }

  onFrame(peer: string, frame: Uint8Array): void {
    if (isOfKind(frame, "statement") && this.#links.includes(peer) && this.#hearStatement(peer, frame)) return;
    if (isOfKind(frame, "study") && this.#links.includes(peer) && this.#hearStudy(peer, frame)) return;
    const next = this.#next;
    if (next === undefined || !isOfStudy(frame, next.contract)) {
      // It went back to this study, by a restart or an earlier folder: what it proposed is over.
      const { id, contract } = this.#current;
      if (this.#proposals.of(peer)?.includes(id) === false && isOfStudy(frame, contract)) this.#noteStudies(peer, [id]);
      this.#current.listener?.onFrame(peer, frame);
      return;
    }
    // Whoever sends frames of the next study speaks it, even if that it said so was lost.
    if (!this.#speaks(peer, next) && this.#links.includes(peer)) {
      this.#noteStudies(peer, [...(this.#proposals.of(peer) ?? [this.#current.id]), next.id]);
    }
    next.listener?.onFrame(peer, frame);
  }

  /** False: it is for the loop, which counts what it cannot read. */
  #hearStatement(peer: string, frame: Uint8Array): boolean {
    // Unread: too many of them are dropped like a flood.
    if (!this.#proposals.mayRead(peer, this.#options.clock.now())) return true;
    const said = decodeStatementFrame(frame);
    if (said === undefined) return false;
    const { current, next, isAsking, isOut } = said;
    this.#proposals.setOut(peer, isOut);
    this.#noteStudies(peer, next === undefined ? [current] : [current, next.id], next);
    if (isAsking) this.#sendStatement([peer], false);
    return true;
  }

  /** A study that was sent because the peer has no other. False: it is for the loop, which says what differs. */
  #hearStudy(peer: string, frame: Uint8Array): boolean {
    const id = studyId({ hash: frameStudyHash(frame) });
    const isOwn = this.#loops.some((loop) => loop.id === id);
    if (!this.#proposals.mayRead(peer, this.#options.clock.now())) return isOwn;
    const decoded = decodeFrame(this.#current.contract, frame);
    if (decoded.kind === "study") this.#noteStudies(peer, [id], { id, text: decoded.text });
    return isOwn;
  }

  #noteStudies(peer: string, ids: readonly string[], study?: { readonly id: string; readonly text: string }): void {
    this.#proposals.hear(peer, ids, study);
    this.#sharePeers();
    for (const { id, device, listener } of this.#loops) {
      if (!ids.includes(id) || !this.#connected.has(peer)) continue;
      const known = device.status().neighbours.find((neighbour) => neighbour.peer === peer);
      // It had another study when it was last heard. To begin anew is what a new connection does.
      if (known !== undefined && known.refusal !== null) listener?.onConnect(peer);
    }
  }

  get #loops(): StudyLoop[] {
    return this.#next === undefined ? [this.#current] : [this.#current, this.#next];
  }

  #speaks(peer: string, { id }: StudyLoop): boolean {
    return this.#proposals.of(peer)?.includes(id) ?? false;
  }

  #speaksNext(peer: string, next: StudyLoop): boolean {
    return this.#proposals.of(peer) === undefined ? this.#presumed.has(peer) : this.#speaks(peer, next);
  }

  /** Gives each loop the neighbours that it counts with. Without a change all of them are the one loop's. */
  #sharePeers(): void {
    const [current, next] = [this.#current, this.#next];
    const hasLeft = (peer: string) => next !== undefined && this.#speaks(peer, next) && !this.#speaks(peer, current);
    const give = (loop: StudyLoop, isIts: (peer: string) => boolean) =>
      setStudyLoopPeers(loop, this.#links.filter(isIts), this.#connected);
    give(current, (peer) => !hasLeft(peer));
    if (next !== undefined) give(next, (peer) => this.#speaksNext(peer, next));
  }

  /** Says which studies this device speaks. */
  #sendStatement(peers: readonly string[], isAsking: boolean): void {
    const next = this.#next && { contract: this.#next.contract, text: canonicalStudy(this.#next.study) };
    const frame = encodeStatementFrame({ current: this.#current.contract, next, isAsking, isOut: this.#current.isOut });
    for (const peer of peers) if (this.#connected.has(peer)) this.#options.network.send(peer, frame);
  }

  #lookLater(): void {
    this.#cancelLook = this.#options.clock.after(CHANGE_LOOK_MILLISECONDS, () => {
      this.#lookLater();
      this.#look();
    });
  }

  #look(): void {
    const next = this.#next;
    if (next === undefined) return;
    const now = this.#options.clock.now();
    const silent = this.#links.filter((peer) => !this.#speaks(peer, next));
    if (silent.length > 0 && now >= this.#askAgainAt) {
      this.#askAgainAt = now + HEARTBEAT_MILLISECONDS;
      this.#sendStatement(silent, true);
    }
    const away = this.status().neighbours.flatMap(({ peer, isAway }) => (isAway ? [peer] : []));
    if (!silent.every((peer) => away.includes(peer))) return;
    const status = next.device.status();
    // Those that are connected are heard soon.
    const expected = status.neighbours.filter(({ isConnected }) => isConnected);
    if (isSettled(status, expected) || rowCount(next.rows) === 0) this.#options.onAgreed();
  }
}

// Which studies each neighbour speaks, as far as it has said so, and which of them it proposes.

/** A study that neighbours speak and this device does not. */
interface StudyProposal {
  /** Its hash as they name it; whoever accepts it computes it again. */
  readonly id: string;
  /** Canonical. */
  readonly text: string;
  readonly peers: readonly string[];
}

interface SpeakingNeighbour {
  /** The studies that it said last that it speaks. */
  ids?: readonly string[];
  /** The canonical text of one of them. */
  study?: { readonly id: string; readonly text: string } | undefined;
  /** It said last that it stays out of the study that it runs. */
  isOut?: boolean;
  readonly allowance: Allowance;
}

class StudyProposals {
  readonly #known = new Map<string, SpeakingNeighbour>();

  /** Whether what a neighbour says may be read now; if so, it counts as read. */
  mayRead(peer: string, now: number): boolean {
    return this.#of(peer).allowance.take(now);
  }

  hear(peer: string, ids: readonly string[], study?: { readonly id: string; readonly text: string }): void {
    const isStudy = study !== undefined && heardStudy(study.text) !== undefined;
    Object.assign(this.#of(peer), { ids, study: isStudy ? study : undefined });
  }

  setOut(peer: string, isOut: boolean): void {
    this.#of(peer).isOut = isOut;
  }

  isOut(peer: string): boolean {
    return this.#known.get(peer)?.isOut ?? false;
  }

  /** Undefined: it has said nothing. */
  of(peer: string): readonly string[] | undefined {
    return this.#known.get(peer)?.ids;
  }

  /** Forgets the others. */
  keepOnly(peers: readonly string[]): void {
    for (const peer of this.#known.keys()) if (!peers.includes(peer)) this.#known.delete(peer);
  }

  /** Those that are not among `own`. */
  proposals(own: readonly string[]): StudyProposal[] {
    const found = new Map<string, StudyProposal>();
    for (const [peer, { study }] of this.#known) {
      if (study === undefined || own.includes(study.id)) continue;
      const peers = [...(found.get(study.id)?.peers ?? []), peer];
      found.set(study.id, { ...study, peers });
    }
    return [...found.values()];
  }

  #of(peer: string): SpeakingNeighbour {
    const allowance = new Allowance(STATEMENT_BURST, BETWEEN_STATEMENTS_MILLISECONDS, 0);
    const known = this.#known.get(peer) ?? { allowance };
    this.#known.set(peer, known);
    return known;
  }
}
