// A partner: a linked device as a member of the board knows it. Whether it counts, where it is, what it was told, and what
// it does against the rules.

import { Allowance } from "../environment.ts";
import {
  BEHIND_MILLISECONDS,
  BETWEEN_LINK_OPENINGS_MILLISECONDS,
  FIRST_BAN_MILLISECONDS,
  GREETING_MILLISECONDS,
  LINK_OPENING_BURST,
  LONGEST_BAN_MILLISECONDS,
  PATIENCE_MILLISECONDS,
  RESTLESS_MILLISECONDS,
  RESTLESS_OPENINGS,
  RESTLESS_STARTS,
  SIGNATURE_BURST,
  SIGNATURES_PER_SECOND,
  SILENCE_MILLISECONDS,
  UNPROVEN_MILLISECONDS,
} from "../wire/limits.ts";
import type { BoardMessage } from "./boardFrame.ts";
import type { Entry } from "./entry.ts";
import { type Base, type BaseOrder, compareBases, orderOf } from "./generation.ts";

/** Entries of one generation that a partner says it has, and when others were last sent to it. */
interface ToldEntries {
  readonly hash: string;
  readonly confirmed: Set<string>;
  readonly flight: Map<string, number>;
}

const toldOf = (hash: string): ToldEntries => ({ hash, confirmed: new Set(), flight: new Map() });

export class BoardPartner {
  readonly peer: string;
  readonly id: string;
  isConnected = false;
  /** As last heard; 0: never. */
  epoch = 0;
  /** The epoch under which it counts; 0: it does not. */
  counted = 0;
  /** It says that it has heard this device, that this device does not count for it any more, or that it cannot post. */
  isKnown = false;
  isDropped = false;
  isIdle = false;
  heardAt: number;
  /** It may still come to count until then, and nothing is posted without it. */
  waitUntil: number;
  /** It has counted before; and until when it does not, because it comes and goes. */
  hasCounted = false;
  lateUntil = 0;
  /** Where it said it is: the base, and the generation's hash. */
  place: (BaseOrder & { readonly generation: string }) | undefined;
  /** Since when it is behind this device; undefined: it is not. */
  behindSince: number | undefined;
  told = toldOf("");
  /** The same of the board before. */
  toldBefore = toldOf("");
  /** With sums over a tree: it learnt of this generation from this device; undefined: it has not said. */
  isBelow: boolean | undefined;
  /** It has heard this device in this generation. */
  hasHeard = false;
  /** The generation that it was last told, and what it was told of itself. */
  toldHash = "";
  toldDropped = false;
  toldIdle = false;
  toldWants = false;
  sentAt = Number.NEGATIVE_INFINITY;
  /** When it was last sent the whole board before, and how long it has until it is sent it again. */
  provedAt = Number.NEGATIVE_INFINITY;
  proofPatience = PATIENCE_MILLISECONDS;
  /** Since when it should be told what came from it; undefined: it need not. */
  owedAt: number | undefined;
  /** How long it has for an answer until it is told again; twice as long each time. */
  patience = PATIENCE_MILLISECONDS;
  /** The same for a neighbour that has not heard this device. */
  greeting = GREETING_MILLISECONDS;
  /** What it said of a generation whose base is not known here, and since when it claims such bases without a proof. */
  ahead: BoardMessage | undefined;
  unprovenSince: number | undefined;
  /** Parts of a proof that is under way. */
  proof:
    | { readonly hash: string; readonly entries: Map<string, Entry>; readonly secrets: Map<string, Uint8Array> }
    | undefined;
  /** What it did against the rules, in words, and until when it does not count for that. */
  offence: string | undefined;
  bannedUntil = 0;
  offences = 0;
  /** It has brought a result that could not be followed, and is named until then. */
  doubtedUntil = 0;
  /** It opens more often than most, and is named until then. */
  restlessUntil = 0;
  /** Of openings that it signs, and of starts and drops that this device sees itself. */
  readonly signedAllowance: Allowance;
  readonly startAllowance: Allowance;
  readonly openingAllowance: Allowance;
  readonly signatureAllowance: Allowance;

  constructor(peer: string, id: string, now: number, waitMilliseconds: number) {
    this.peer = peer;
    this.id = id;
    this.heardAt = now;
    this.waitUntil = now + waitMilliseconds;
    this.signedAllowance = new Allowance(RESTLESS_OPENINGS, RESTLESS_MILLISECONDS / RESTLESS_OPENINGS, now);
    this.startAllowance = new Allowance(RESTLESS_STARTS, RESTLESS_MILLISECONDS / RESTLESS_STARTS, now);
    this.openingAllowance = new Allowance(LINK_OPENING_BURST, BETWEEN_LINK_OPENINGS_MILLISECONDS, now);
    this.signatureAllowance = new Allowance(SIGNATURE_BURST, 1000 / SIGNATURES_PER_SECOND, now);
  }
}

/** In a new generation nobody has anything yet. `before`: the hash of the board that led to its base. */
export function beginGeneration(/* OUT */ link: BoardPartner, hash: string, before: string | undefined): void {
  if (before !== undefined) link.toldBefore = link.told.hash === before ? link.told : toldOf(before);
  link.told = toldOf(hash);
  link.isBelow = undefined;
  link.hasHeard = false;
  link.owedAt = undefined;
  link.patience = PATIENCE_MILLISECONDS;
  link.proofPatience = PATIENCE_MILLISECONDS;
}

/** Whether a device goes on without it, and says so. */
export function isLeftOut(link: BoardPartner, isPaused: boolean, now: number): boolean {
  const { heardAt, bannedUntil, lateUntil } = link;
  return isPaused || now < Math.max(bannedUntil, lateUntil) || now - heardAt > SILENCE_MILLISECONDS;
}

/** Whether it has not come after for long, although it was shown how. */
export function isStuck({ behindSince }: BoardPartner, now: number): boolean {
  return behindSince !== undefined && now - behindSince > BEHIND_MILLISECONDS;
}

export function isPending({ counted, waitUntil, isIdle }: BoardPartner, now: number): boolean {
  return counted === 0 && !isIdle && now < waitUntil;
}

export function isBehind({ place }: BoardPartner, base: Base): boolean {
  return place !== undefined && compareBases(place, orderOf(base)) < 0;
}

/** Since when it is behind this base: who stays there is not waited for. */
export function noteBehind(/* IN OUT */ link: BoardPartner, base: Base, now: number): void {
  link.behindSince = isBehind(link, base) ? (link.behindSince ?? now) : undefined;
}

/** It has opened so many times more. */
export function noteOpenings(/* IN OUT */ link: BoardPartner | undefined, times: number, now: number): void {
  if (link !== undefined && !link.signedAllowance.take(now, times)) link.restlessUntil = now + RESTLESS_MILLISECONDS;
}

/** It has started again, or says that this device counts for it no more, or again. */
export function noteStart(/* IN OUT */ link: BoardPartner, now: number): void {
  if (!link.startAllowance.take(now)) link.restlessUntil = now + RESTLESS_MILLISECONDS;
}

/** It broke a rule, and its frames are not read for a while. */
export function banPartner(/* IN OUT */ link: BoardPartner, offence: string, now: number): void {
  if (now - link.bannedUntil > LONGEST_BAN_MILLISECONDS) link.offences = 0;
  const length = FIRST_BAN_MILLISECONDS * 2 ** Math.min(link.offences, 20);
  link.bannedUntil = now + Math.min(LONGEST_BAN_MILLISECONDS, length);
  link.offences++;
  link.offence = offence;
  link.ahead = undefined;
  link.proof = undefined;
}

/** What is wrong with it, as a sentence that begins after its name. */
export function partnerFault(link: BoardPartner, isSuspended: boolean, now: number): string | undefined {
  if (now < link.bannedUntil) return link.offence;
  const { unprovenSince } = link;
  const isUnproven = unprovenSince !== undefined && now - unprovenSince > UNPROVEN_MILLISECONDS;
  if (isUnproven) return "claims a later result and does not prove it";
  if (isSuspended) return "has made all add up again so often that it is left out for a while";
  if (now < link.lateUntil) return "comes and goes so often that it does not count for a while";
  if (now < link.doubtedUntil) return "brings a result that no device known here has signed for";
  return now < link.restlessUntil ? "makes all add up again and again" : undefined;
}
