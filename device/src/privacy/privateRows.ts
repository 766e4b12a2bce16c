// Private rows of one device: released with noise that repeats itself, paid for in a ledger, and never asked again. Alone they
// are released twice, or in rounds; with shared clusters they add to sums over many devices, once for each answer.

import type { Matrix } from "@fedkm/core";
import {
  epsilonOf,
  type RandomBytes,
  type RowSummary,
  releaseCells,
  releasedCellSummary,
  releasedLoss,
  releasedResidualSummary,
  releaseGrid,
  releaseReach,
  releaseResiduals,
  rhoOf,
} from "@fedkm/core/privacy";
import {
  epsilonOfMu,
  muOf,
  noisyIntegers,
  nothingKnown,
  releasedSummary,
  releaseRounds,
  type WeighedRows,
} from "@fedkm/core/release";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { areAbsent, type MemoryRows } from "../study/remoteRows.ts";
import { budgetOf, type Feature, isReleasedInRounds, type Study } from "../study/study.ts";
import type { HistoryMemory } from "./history.ts";
import {
  Account,
  type Ledger,
  type PostedIntegers,
  type Prices,
  type PrivateStatus,
  type ReleaseStage,
} from "./ledger.ts";

/** Of one release: its label says which, of which rows and with which parameters. */
function noiseOf(secret: string, label: string): RandomBytes {
  const key = hmac(sha256, hexToBytes(secret), utf8ToBytes(`noise of ${label}`));
  let block = 0;
  return (count) => {
    const bytes = new Uint8Array(count);
    for (let at = 0; at < count; at += key.length) {
      const counter = new Uint8Array(8);
      new DataView(counter.buffer).setFloat64(0, block++);
      bytes.set(hmac(sha256, key, counter).subarray(0, count - at), at);
    }
    return bytes;
  };
}

/** Two releases of half the budget each. */
function gridPrices(study: Study): Prices {
  const { epsilon, delta, lifetime } = budgetOf(study);
  const half = rhoOf(epsilon, delta) / 2;
  return {
    of: () => half,
    rest: () => half,
    lifetime: rhoOf(lifetime, delta),
    epsilonOf: (spent) => epsilonOf(spent, delta),
  };
}

const numberOfRound = (stage: ReleaseStage) => Number(stage.replace("round ", ""));

/** They take milliseconds to compute, and are asked for whenever a device starts. */
const computedPrices = new WeakMap<Study, Prices>();

/** Rounds of unequal shares, whose noise is Gaussian to within what delta allows. */
function roundPrices(study: Study): Prices {
  const known = computedPrices.get(study);
  if (known !== undefined) return known;
  const { epsilon, delta, lifetime } = budgetOf(study);
  const whole = muOf(epsilon, delta) ** 2 / 2;
  const shares = releaseRounds({ ...boxOf(study.features), k: study.k, mu: 1, seed: 0 }).map(({ share }) => share);
  const prices: Prices = {
    of: (stage) => whole * (shares[numberOfRound(stage) - 1] ?? 1),
    rest: (stage) => whole * shares.slice(numberOfRound(stage) - 1).reduce((sum, share) => sum + share, 0),
    lifetime: muOf(lifetime, delta) ** 2 / 2,
    epsilonOf: (spent) => epsilonOfMu(Math.sqrt(2 * spent), delta),
  };
  computedPrices.set(study, prices);
  return prices;
}

export class PrivateRows {
  readonly #study: Study;
  readonly #account: Account;

  constructor(study: Study, memory: HistoryMemory | undefined, onKept: () => void) {
    this.#study = study;
    const prices = isReleasedInRounds(study) ? roundPrices(study) : gridPrices(study);
    this.#account = new Account(study, prices, memory, onKept);
  }

  /**
   * The data became these. The first ones are released at once; later ones wait for a person. No rows are released like
   * any others, since silence would tell them from one row; a device that has no data at all releases nothing.
   */
  take(rows: MemoryRows): void {
    this.#account.take(rows);
    const { ledger, isLost } = this.#account;
    if (ledger.releases.length === 0 && !areAbsent(rows) && !isLost) this.#releaseFirst();
  }

  /** Rows of the data within the study's bounds. */
  get usable(): number {
    return this.#account.rows.rows;
  }

  /** What stands for the rows; undefined: nothing was released, or it is not written down. */
  get summary(): RowSummary | undefined {
    return this.#account.isLost ? undefined : this.#account.kept.summary;
  }

  /** Whether the second release is to come when centroids have come to rest. */
  get awaitsCentroids(): boolean {
    const { isKept, isLost, isOutdated, kept } = this.#account;
    return isKept && kept.releases.at(-1)?.stage === "cells" && !isOutdated && !isLost;
  }

  /** A person wants the data as they are now to be released. */
  renew(): void {
    this.#account.beginAgainIfLost();
    this.#releaseFirst();
  }

  #releaseFirst(): void {
    if (isReleasedInRounds(this.#study)) this.#releaseInRounds();
    else this.#releaseCells();
  }

  /** All rounds at once, since nobody else adds to them. They are written down together, before anything is sent. */
  #releaseInRounds(): void {
    const { features, k } = this.#study;
    const { epsilon, delta } = budgetOf(this.#study);
    const rules = { ...boxOf(features), k, mu: muOf(epsilon, delta), seed: 0 };
    this.#account.reserve("round 1", (first, { secret, releases }) => {
      const paid = [...releases];
      let known = nothingKnown;
      let totals: Float64Array = new Float64Array(0);
      for (const [n, round] of releaseRounds(rules).entries()) {
        const release = this.#account.releaseOf(first.rows, `round ${n + 1}`);
        const noise = noiseOf(secret, JSON.stringify({ ...release, number: paid.length }));
        totals = noisyIntegers(rules, round, known, this.#account.rows, 1, noise);
        known = round.learn(known, totals, 1);
        paid.push(release);
      }
      return { releases: paid, summary: releasedSummary(rules, known, totals) };
    });
  }

  #releaseCells(): void {
    const { typicalRows, features, k } = this.#study;
    const grid = releaseGrid(boxOf(features), typicalRows ?? 1, budgetOf(this.#study).epsilon);
    this.#release("cells", [grid.perSide], (rho, noise) => {
      return releasedCellSummary(releaseCells(this.#account.rows, grid, rho, noise), grid, rho, k);
    });
  }

  /** The second release: what the rows are around these centroids. */
  releaseAround(centroids: Matrix): void {
    const { summary } = this;
    if (summary === undefined) return;
    const { low, high } = boxOf(this.#study.features);
    const reach = releaseReach(low, high);
    this.#release("means", Array.from(centroids.data), (rho, noise) => {
      const released = releaseResiduals(this.#account.rows, centroids, reach, rho, noise);
      return releasedResidualSummary(released, centroids, reach, releasedLoss(summary, centroids));
    });
  }

  #release(stage: ReleaseStage, parameters: readonly number[], buy: (rho: number, noise: RandomBytes) => RowSummary) {
    this.#account.pay(stage, (release, { secret, releases }) => {
      // A restored backup repeats a release to the last bit, which tells nobody more than the first.
      const label = JSON.stringify({ ...release, number: releases.length, parameters });
      return { summary: buy(release.rho, noiseOf(secret, label)) };
    });
  }

  keep(): void {
    this.#account.keep();
  }

  /** What was released is not known any more. */
  lose(): void {
    this.#account.lose();
  }

  status(): PrivateStatus {
    return this.#account.status();
  }
}

/** Where rows can be, in scaled units. */
export function boxOf(features: readonly Feature[]) {
  return {
    low: Float64Array.from(features, ({ min, scale }) => min / scale),
    high: Float64Array.from(features, ({ max, scale }) => max / scale),
  };
}

/** More than half of so many devices and of the colluders: two such groups have an honest device in common. */
export const quorumOf = (devices: number, colluders: number) => Math.floor((devices + colluders) / 2) + 1;

/** Of the name of sums, as a number below 2^48. */
export const sumsTag = (of: string) => Number.parseInt(of.slice(0, 12), 16);

/** What is asked of the rows. `of` names who adds up, for which answer, and where: equal sums have equal names. */
export type ReleaseRequest = Pick<PostedIntegers, "stage" | "of" | "version" | "among" | "at">;

export class SharedPrivateRows {
  readonly #account: Account;
  readonly #colluders: number;

  constructor(study: Study, memory: HistoryMemory | undefined, onKept: () => void) {
    this.#account = new Account(study, roundPrices(study), memory, onKept);
    this.#colluders = study.colluders ?? 1;
  }

  /** The data became these. Returns those within the study's bounds, scaled. */
  take(rows: MemoryRows): WeighedRows {
    this.#account.take(rows);
    return this.#account.rows;
  }

  /**
   * The integers that were written down for these sums, or undefined until they are. A second vector for the same sums
   * would show by the difference what the noise of all others hides. "stale": it has posted for later ones.
   */
  integersFor(
    asked: ReleaseRequest,
    release: (noise: RandomBytes) => Float64Array,
  ): Float64Array | "stale" | undefined {
    this.#account.keep();
    if (this.refusal(asked) !== undefined || !this.#account.isKept) return undefined;
    if (this.#rivals(asked).some(({ at }) => at >= asked.at)) return "stale";
    const posted = this.#posted(asked);
    if (posted === undefined) this.#reserve(asked, release);
    else if (posted.at < asked.at) this.#change(posted, { at: asked.at });
    else return Float64Array.from(posted.integers);
    return undefined;
  }

  #posted(asked: Pick<ReleaseRequest, "of" | "stage">): PostedIntegers | undefined {
    const { isLost, ledger } = this.#account;
    return isLost ? undefined : ledger.posted.find(({ of, stage }) => of === asked.of && stage === asked.stage);
  }

  /** What was posted for the same answer among other devices and may still be read: these sums, or those. */
  #rivals({ of, stage, version }: ReleaseRequest): readonly PostedIntegers[] {
    const { posted } = this.#account.ledger;
    return posted.filter(
      (one) => one.of !== of && one.stage === stage && one.version === version && one.state !== "paid",
    );
  }

  /** Why nothing is posted for these sums, if so. */
  refusal(asked: ReleaseRequest): string | undefined {
    const { isLost } = this.#account;
    if (isLost) return "does not know what was released of its rows before, and waits for consent";
    const isPaid = this.#posted(asked)?.state === "paid";
    if (!isPaid && this.#hasReleased(asked.stage))
      return "has released its rows for an earlier answer or among other devices, and waits for consent to do it again";
    const rivals = this.#rivals(asked);
    if (rivals.some(({ state, among }) => state === "tallied" || !this.#rulesOut(asked.among, among)))
      return "waits for devices that were in sums which may still be read: if those are, these must not be";
    return this.#account.failure;
  }

  #hasReleased(stage: ReleaseStage): boolean {
    const { releases, consents } = this.#account.ledger;
    return releases.filter((one) => one.stage === stage).length > consents;
  }

  /** Whether so many of the devices of earlier sums are in others that the earlier ones are never read if these are. */
  #rulesOut(among: readonly string[], earlier: readonly string[]): boolean {
    const common = earlier.filter((id) => among.includes(id)).length;
    return common > earlier.length + this.#colluders - quorumOf(earlier.length, this.#colluders);
  }

  /** Whether this device may say that it holds all of these sums, and has written down that it will. */
  mayTally(asked: ReleaseRequest): boolean {
    const posted = this.#posted(asked);
    const rivals = this.#rivals(asked);
    if (posted === undefined || rivals.some(({ at, state }) => at >= asked.at || state === "tallied")) return false;
    if (posted.state === "reserved") this.#change(posted, { state: "tallied" });
    return this.#account.isKept;
  }

  /** The sums may be read, or have been. Returns whether that is written down. */
  pay({ of, stage }: Pick<ReleaseRequest, "of" | "stage">): boolean {
    const posted = this.#posted({ of, stage });
    if (posted === undefined) return false;
    const { releases } = this.#account.ledger;
    const release = this.#account.releaseOf(posted.rows, stage);
    if (posted.state !== "paid") this.#change(posted, { state: "paid" }, { releases: [...releases, release] });
    return this.#account.isKept;
  }

  /**
   * So far the network has come: these were the sums that it read last. Others can have read what this device had posted
   * while it was away; of earlier rounds and answers it cannot learn whether they did, and pays.
   */
  noteRead(answer: { readonly version: number; readonly steps: number; readonly last: number }): void {
    const isOpen = ({ stage, version }: PostedIntegers) =>
      !this.#account.ledger.posted.some(
        (one) => one.stage === stage && one.version === version && one.state === "paid",
      );
    for (const posted of this.#account.ledger.posted.toReversed()) {
      const { of, stage, version } = posted;
      const round = numberOfRound(stage);
      const isBefore = version < answer.version || (version === answer.version && round < answer.steps);
      const isLast = version === answer.version && round === answer.steps && sumsTag(of) === answer.last;
      // Of sums over different devices for the same round of an answer only one can be read.
      if ((isBefore || isLast) && isOpen(posted)) this.pay({ of, stage });
    }
  }

  /** What the seal of a generation is made from: nobody else can, and it need not be written down. */
  sealSeed(generation: Uint8Array): Uint8Array {
    return hmac(sha256, hexToBytes(this.#account.ledger.secret), concatBytes(utf8ToBytes("seal of "), generation));
  }

  #change(
    posted: PostedIntegers,
    changes: Partial<PostedIntegers>,
    more: { releases?: Ledger["releases"] } = {},
  ): void {
    const { ledger } = this.#account;
    this.#account.change({
      posted: ledger.posted.map((one) => (one === posted ? { ...one, ...changes } : one)),
      ...more,
    });
  }

  /** Whether a person has agreed to releases that were not made. */
  get isConsented(): boolean {
    const { isLost, ledger } = this.#account;
    return ledger.consents > 0 && !isLost && !this.#hasReleased("round 1") && this.#account.failure === undefined;
  }

  /** A person wants the data as they are now to be released. */
  consent(): void {
    this.#account.beginAgainIfLost();
    const { ledger } = this.#account;
    if (this.#hasReleased("round 1")) this.#account.ledger = { ...ledger, consents: ledger.consents + 1 };
    this.#account.keep();
  }

  #reserve(asked: ReleaseRequest, release: (noise: RandomBytes) => Float64Array): void {
    const { stage, of, version } = asked;
    const write: Parameters<Account["reserve"]>[1] = (reserved, { secret, posted }) => {
      const integers = Array.from(release(noiseOf(secret, JSON.stringify({ ...reserved, of }))));
      return { posted: [...posted, { ...asked, state: "reserved", rows: reserved.rows, integers }] };
    };
    this.#account.reserve(stage, write, version);
  }

  /** What was released is not known any more. */
  lose(): void {
    this.#account.lose();
  }

  status(): PrivateStatus {
    return this.#account.status();
  }
}
