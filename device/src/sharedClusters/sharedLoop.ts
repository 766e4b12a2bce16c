// The loop of a device with shared clusters: it hears, posts, keeps and tells. What it says is the member's to decide.

import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { clockAlarm, type NetworkListener } from "../environment.ts";
import type { DeviceOptions, HistoryDevice } from "../loop/device.ts";
import { filterFrame } from "../loop/frameFilter.ts";
import { connectNeighbour, malformedFault, Neighbour } from "../loop/neighbours.ts";
import { answerRefusedFrame, sendRefusedOrder } from "../loop/refusedFrames.ts";
import { type SavedState, usableState } from "../loop/savedState.ts";
import type { DescribedStatus, DeviceStatus } from "../loop/status.ts";
import { limitedStudy } from "../study/limitedStudy.ts";
import { type DeviceRows, rowCount, rowsInMemory } from "../study/remoteRows.ts";
import { type Contract, studyId } from "../wire/frames.ts";
import { BOARD_PACE_MILLISECONDS } from "../wire/limits.ts";
import {
  type BoardMessage,
  type BookMessage,
  decodeShared,
  encodeBoardMessage,
  encodeBookMessage,
} from "./boardFrame.ts";
import { restoredTable, type SavedTable, savedTable } from "./description.ts";
import { hasCentroids, hashedBase, stageNames, stages } from "./generation.ts";
import { Member, type MemberOptions } from "./member.ts";
import { MemberExchange, type MembersMessage } from "./memberExchange.ts";
import { decodeMemberStatements, type Membership, membershipOf } from "./membership.ts";
import type { Rules } from "./proof.ts";
import { type SumsShape, sumsShape } from "./shape.ts";
import { SharedRows } from "./sharedRows.ts";
import { describedStatus, sharedStatus } from "./sharedStatus.ts";

export class SharedLoop implements HistoryDevice, NetworkListener {
  readonly #options: DeviceOptions;
  readonly #shape: SumsShape;
  readonly #own: SharedRows;
  readonly #member: Member;
  readonly #membership: Membership | undefined;
  readonly #exchange: MemberExchange | undefined;
  readonly #read;
  readonly #neighbours = new Map<string, Neighbour>();
  readonly #alarm;
  #sequence = 0;
  #framesSent = 0;
  #tellings = 0;
  #restUntil = 0;
  #isPaused: boolean;
  #isStopped = false;
  #kept = "";
  #described: { readonly mark: string; readonly found: ReturnType<typeof describedStatus> } | undefined;
  #approved: string | undefined;
  /** The base whose answer was held against the rows. */
  #judged = "";

  constructor(options: DeviceOptions) {
    const { study, contract, memory, rows, seed = 0, clock, links, secrets } = options;
    if (secrets === undefined) throw new RangeError("secrets must be given where clusters are shared, got nothing");
    this.#options = options;
    this.#shape = sumsShape(study);
    this.#read = decodeShared(this.#shape);
    this.#alarm = clockAlarm(clock, () => this.#work());
    const history = { memory: memory.history, onKept: () => this.#wake(), wallClock: options.wallClock ?? clock.now };
    const { sign } = secrets;
    const own = limitedStudy(study, options.limits ?? {});
    const saved = usableState(memory.saved, contract);
    const table = saved?.table === undefined ? undefined : restoredTable(saved.table as SavedTable);
    this.#own = new SharedRows({
      study: own,
      shape: this.#shape,
      rows: rowsInMemory(rows),
      seed,
      sign,
      history,
      table,
    });
    // Where nothing was told there is nothing to keep to: a device that stayed out may come in later.
    if (this.#shape.describing !== undefined && this.#shape.isGuarded && rowCount(rows) > 0) this.#keepTable();
    this.#membership = membershipOf(study, contract.hash, secrets);
    this.#exchange = this.#membership && new MemberExchange(this.#membership);
    const founding = this.#membership && { founding: this.#membership.hash };
    const rules = { shape: this.#shape, study: contract.hash, secrets, colluders: study.colluders ?? 1, ...founding };
    this.#membership?.add(decodedStatements(options.statements ?? []));
    const earlier = savedGeneration(saved, contract, this.#read, rules);
    this.#approved = options.approved;
    const integersFor: MemberOptions["integersFor"] = (content) => {
      // What nobody has approved of is not gone on with.
      if (content.stage === stages.described && this.#describe()?.isApproved !== true) return undefined;
      const integers = this.#own.integersFor(content);
      if (typeof integers === "object")
        options.onAdded?.(studyId(contract), stageNames[content.stage], integers.length);
      return integers;
    };
    const { epoch } = memory;
    const membership = this.#membership;
    const areBooksAgreed = study.books === "agreed";
    const { release } = this.#own;
    this.#member = new Member({
      ...rules,
      epoch,
      membership,
      areBooksAgreed,
      ...(earlier && { saved: earlier }),
      integersFor,
      release,
    });
    this.#isPaused = options.isPaused ?? false;
    this.#applyPause();
    const now = clock.now();
    // The rows may be others than when these centroids were last asked for. What is frozen is not asked again.
    if (earlier !== undefined || this.#shape.isTree) this.#member.open(now);
    this.#releaseIfConsented();
    for (const peer of links) {
      const known = saved?.neighbours.find((neighbour) => neighbour.peer === peer);
      this.#neighbours.set(peer, new Neighbour(peer, now, known));
    }
    this.#member.setLinks(links, now, true);
  }

  /** What is told of guarded rows is told once, also after a restart with other rows. */
  #keepTable(): void {
    const { contract, memory } = this.#options;
    const { k, d } = this.#shape;
    const centroids = Array.from({ length: k }, () => new Array<number>(d).fill(0));
    memory.keep(() => ({
      ...{ study: studyId(contract), round: 0, own: null, sketch: null, centroids, neighbours: [] },
      opening: { number: 0, start: 0, sketches: [] },
      present: centroids.map(() => false),
      table: savedTable(this.#own.table()),
    }));
  }

  async start(): Promise<void> {
    this.#wake();
    await this.#options.network.start(this);
  }

  stop(): void {
    this.#isStopped = true;
    this.#keep();
    this.#alarm.cancel();
  }

  setRows(rows: DeviceRows): void {
    const isChanged = this.#own.setRows(rowsInMemory(rows));
    this.setPaused(this.#isPaused);
    if (isChanged) this.#member.changeRows(this.#options.clock.now());
  }

  setLinks(peers: readonly string[]): void {
    const now = this.#options.clock.now();
    for (const peer of this.#neighbours.keys()) if (!peers.includes(peer)) this.#neighbours.delete(peer);
    for (const peer of peers) {
      if (!this.#neighbours.has(peer)) this.#neighbours.set(peer, new Neighbour(peer, now));
    }
    this.#member.setLinks(peers, now);
    this.#wake();
  }

  loseHistory(rows: DeviceRows): void {
    this.#own.guarded?.lose();
    this.#own.private?.lose();
    this.setRows(rows);
  }

  reset(rows?: DeviceRows): void {
    if (rows !== undefined) {
      this.#own.guarded?.consent();
      this.#own.setRows(rowsInMemory(rows));
      this.#own.private?.consent();
      this.setPaused(this.#isPaused);
    }
    if (this.#own.private === undefined) this.#member.open(this.#options.clock.now(), true);
    else this.#releaseIfConsented();
    this.#wake();
  }

  addStatements(statements: readonly Uint8Array[]): void {
    const now = this.#options.clock.now();
    this.#member.hearStatements(undefined, decodedStatements(statements), now);
    this.#exchange?.announce(now);
    this.#wake();
  }

  #hearMembers({ peer }: Neighbour, message: MembersMessage): void {
    const now = this.#options.clock.now();
    const taken = this.#member.hearStatements(peer, message.statements, now);
    if (taken.length > 0) {
      this.#options.onStatements?.(taken.map(({ bytes }) => bytes));
      this.#exchange?.announce(now);
    }
    this.#exchange?.hear(peer, message);
    this.#wake();
  }

  /** Private clusters begin again only where somebody has agreed to it, for another answer. */
  #releaseIfConsented(): void {
    if (this.#member.generation.stage !== stages.frozen || this.#own.private?.isConsented !== true) return;
    this.#member.open(this.#options.clock.now(), true);
  }

  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#applyPause();
    this.#wake();
  }

  /** With more rows than it may hold a device would be accused, and adds none. */
  #applyPause(): void {
    this.#member.isPaused = this.#isPaused || this.#own.count > this.#member.mostRows;
  }

  approve(study: string): void {
    this.#approved = study;
    this.#member.post(this.#options.clock.now());
    this.#wake();
  }

  openBooks(): void {
    this.#member.openBooks(this.#options.clock.now());
    this.#wake();
  }

  status(): DeviceStatus {
    const { study, network, clock, memory } = this.#options;
    const origin = { study, peer: network.self, epoch: memory.epoch, now: clock.now() };
    const counters = { framesSent: this.#framesSent, tellings: this.#tellings, described: this.#describe() };
    return sharedStatus(origin, this.#member, this.#own, [...this.#neighbours.values()], counters);
  }

  /** What an open study's network has found out, worked out once. */
  #describe(): DescribedStatus | undefined {
    const { base, stage, numbers } = this.#member.generation;
    const { describing } = this.#shape;
    if (describing === undefined || stage < stages.described) return undefined;
    const mark = bytesToHex(base.board) + numbers.length;
    if (this.#described?.mark !== mark) {
      const { study, contract } = this.#options;
      const found = describedStatus(study, studyId(contract), describing, numbers, this.#own.table());
      this.#described = { mark, found };
    }
    const { found } = this.#described;
    const isApprovedByAll = stage === stages.approved;
    return { ...found, isApproved: found.studyHash === this.#approved, isApprovedByAll };
  }

  onConnect(peer: string): void {
    const neighbour = this.#neighbours.get(peer);
    if (neighbour === undefined || this.#isStopped) return;
    connectNeighbour(neighbour);
    this.#member.connect(peer);
    this.#exchange?.connect(peer, this.#options.clock.now());
    sendRefusedOrder(this.#options, neighbour);
    // Others may connect in the same moment, and are greeted together.
    this.#wake(BOARD_PACE_MILLISECONDS);
  }

  onDisconnect(peer: string): void {
    const neighbour = this.#neighbours.get(peer);
    if (neighbour !== undefined) neighbour.isConnected = false;
    this.#member.disconnect(peer);
    this.#exchange?.disconnect(peer);
  }

  onFrame(peer: string, frame: Uint8Array): void {
    const neighbour = this.#neighbours.get(peer);
    if (neighbour === undefined || this.#isStopped) return;
    const { contract, clock } = this.#options;
    const now = clock.now();
    // Not even read, so that nobody can keep a device busy with it.
    if (this.#member.isBanned(peer, now)) return;
    const { malformed } = neighbour.filter;
    const verdict = filterFrame(contract, neighbour.filter, frame, now, this.#read);
    const fault = neighbour.filter.malformed === malformed ? undefined : malformedFault(neighbour, now);
    if (fault !== undefined) this.#member.ban(peer, fault, now);
    if (verdict.kind === "board" || verdict.kind === "proof") this.#hear(neighbour, verdict);
    if (verdict.kind === "books") this.#hearBooks(neighbour, verdict);
    if (verdict.kind === "members") this.#hearMembers(neighbour, verdict);
    answerRefusedFrame(this.#options, neighbour, verdict);
  }

  #hearBooks({ peer }: Neighbour, message: BookMessage): void {
    this.#member.hearBooks(peer, message, this.#options.clock.now());
    this.#wake();
  }

  #hear(neighbour: Neighbour, message: BoardMessage): void {
    const now = this.#options.clock.now();
    neighbour.refusal = undefined;
    neighbour.heardAt = now;
    neighbour.framesHeard++;
    this.#member.hear(neighbour.peer, message, now);
    this.#wake();
  }

  /** Sees to it that the device looks around after this time, but not sooner than its pace allows. */
  #wake(after = 0): void {
    if (!this.#isStopped) this.#alarm.set(Math.max(after, this.#restUntil - this.#options.clock.now()));
  }

  #work(): void {
    const { clock, contract, network, memory } = this.#options;
    const overdue = this.#own.guarded?.overdue;
    if (overdue !== undefined) this.setRows(overdue);
    this.#own.work();
    const now = clock.now();
    this.#applyPause();
    this.#member.look(now);
    this.#keep();
    this.#judge(now);
    const { links } = this.#member.due(now);
    for (const link of links) {
      const messages = this.#member.messagesFor(link, now);
      if (this.#neighbours.get(link.peer)?.refusal !== undefined) continue;
      for (const message of messages) {
        const stamp = { epoch: memory.epoch, sequence: this.#sequence++ };
        network.send(link.peer, encodeBoardMessage(contract, { ...message, stamp }));
        this.#framesSent++;
      }
    }
    if (links.length > 0) {
      this.#tellings++;
      this.#restUntil = now + (this.#options.paceMilliseconds ?? BOARD_PACE_MILLISECONDS);
    }
    for (const peer of this.#member.dueBooks(now).peers) {
      const message = this.#member.books.messageFor(peer, now);
      const stamp = { epoch: memory.epoch, sequence: this.#sequence };
      network.send(peer, encodeBookMessage(contract, { ...message, stamp }));
      this.#framesSent++;
    }
    const members = this.#exchange?.due(contract, now);
    for (const { peer, frame } of members?.frames ?? []) network.send(peer, frame);
    const later = [this.#member.due(now).nextAt, this.#member.dueBooks(now).nextAt];
    const nextAt = Math.min(...later, members?.nextAt ?? Number.POSITIVE_INFINITY);
    // Whole milliseconds: a sum of fractions may never reach the time that is waited for.
    if (Number.isFinite(nextAt)) this.#wake(Math.ceil(nextAt - now));
    if (this.#own.isWorking) this.#wake();
  }

  /** Doubts an answer that does not fit the rows. Private devices do not: whether it fits is something about the rows. */
  #judge(now: number): void {
    const { base, stage, numbers } = this.#member.generation;
    const mark = bytesToHex(base.hash);
    if (stage !== stages.rest || mark === this.#judged || this.#own.private !== undefined || this.#shape.isTree) return;
    this.#judged = mark;
    if (base.rows > 0 && this.#own.isMisfit(numbers)) this.#member.doubtAnswer(now);
  }

  /** Whoever starts again begins where the clusters were. */
  #keep(): void {
    const { generation, answer } = this.#member;
    const { base } = generation;
    const mark = `${bytesToHex(base.hash)} ${this.#member.books.removed.size}`;
    // Of a private study every step: what was posted may have to be read, and later boards have larger numbers.
    const isWorth = this.#own.private === undefined ? hasCentroids(base) : base.number > 0;
    if (!isWorth || mark === this.#kept) return;
    this.#kept = mark;
    const { contract, memory } = this.#options;
    const numbers = (answer ?? (hasCentroids(base) ? base : undefined))?.numbers;
    memory.keep(() => savedShared(contract, this.#shape, this.#member, numbers, this.#neighbours.values()));
  }
}

const decodedStatements = (statements: readonly Uint8Array[]) =>
  statements.flatMap((bytes) => decodeMemberStatements(bytes) ?? []);

function savedShared(
  contract: Contract,
  { k, d, middle }: SumsShape,
  member: Member,
  numbers: Float64Array | undefined,
  neighbours: Iterable<Neighbour>,
): SavedState {
  const proof = { ...member.proofMessage(), stamp: { epoch: 0, sequence: 0 } };
  const row = (c: number) => Array.from({ length: d }, (_, f) => (numbers?.[c * d + f] ?? 0) + middle[f]);
  const centroids = Array.from({ length: k }, (_, c) => row(c));
  return {
    study: studyId(contract),
    round: member.generation.number,
    opening: { number: 0, start: 0, sketches: [] },
    own: null,
    sketch: null,
    centroids,
    // Before there is an answer a private device is somewhere in a release, and has no centroids to show.
    present: centroids.map(() => numbers !== undefined),
    // Whose frames must not go back.
    neighbours: Array.from(neighbours).flatMap(({ peer, filter: { last } }) =>
      last === undefined ? [] : [{ peer, ...last, start: 0, centroids }],
    ),
    generation: {
      proof: bytesToHex(encodeBoardMessage(contract, proof)),
      known: [...member.known],
      evidence: member.books.evidence,
    },
  };
}

/** Where a device was, as far as its file is whole. */
function savedGeneration(
  saved: SavedState | undefined,
  contract: Contract,
  read: ReturnType<typeof decodeShared>,
  { study, secrets }: Rules,
): MemberOptions["saved"] {
  const { proof: hex, known, evidence } = saved?.generation ?? {};
  if (typeof hex !== "string" || !/^([0-9a-f]{2})+$/.test(hex) || !Array.isArray(known)) return undefined;
  if (!Array.isArray(evidence)) return undefined;
  const message = read(contract, hexToBytes(hex));
  if (message.kind !== "proof" || message.base === undefined) return undefined;
  const base = hashedBase(message.base, study, secrets.digest);
  const openings = new Map(message.openings.map((opening) => [opening.id, opening]));
  const { members, entries, secrets: shown } = message;
  return {
    proof: { base, openings, members, entries, secrets: shown },
    known: known.map(String),
    evidence: evidence.map(String),
  };
}
