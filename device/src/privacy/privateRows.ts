// Private rows of one device: released with noise that repeats itself, paid for in a ledger, and never asked again. Alone they
// are released twice; with shared clusters they add to sums over many devices, once for each answer.

import type { Matrix } from "@fedkm/core";
import {
  type RandomBytes,
  type RowSummary,
  releaseCells,
  releasedCellSummary,
  releasedLoss,
  releasedResidualSummary,
  releaseGrid,
  releaseReach,
  releaseResiduals,
} from "@fedkm/core/privacy";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { areAbsent } from "../study/remoteRows.ts";
import { budgetOf, type Feature, type Study } from "../study/study.ts";
import type { HistoryMemory } from "./history.ts";
import { Account, type PostedIntegers, type PrivateStatus, type ReleaseStage } from "./ledger.ts";

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

export class PrivateRows {
  readonly #study: Study;
  readonly #account: Account;

  constructor(study: Study, memory: HistoryMemory | undefined, onKept: () => void) {
    this.#study = study;
    this.#account = new Account(study, memory, onKept);
  }

  /**
   * The data became these. The first ones are released at once; later ones wait for a person. No rows are released like
   * any others, since silence would tell them from one row; a device that has no data at all releases nothing.
   */
  take(rows: Matrix): void {
    this.#account.take(rows);
    const { ledger, isLost } = this.#account;
    if (ledger.releases.length === 0 && !areAbsent(rows) && !isLost) this.#releaseCells();
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
    this.#releaseCells();
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

/** What is asked of the rows. */
interface ReleaseRequest {
  readonly stage: ReleaseStage;
  /** Names who adds up, for which answer, and where: equal sums have equal names. */
  readonly of: string;
}

export class SharedPrivateRows {
  readonly #account: Account;

  constructor(study: Study, memory: HistoryMemory | undefined, onKept: () => void) {
    this.#account = new Account(study, memory, onKept);
  }

  /** The data became these. Returns those within the study's bounds, scaled. */
  take(rows: Matrix): Matrix {
    this.#account.take(rows);
    return this.#account.rows;
  }

  /**
   * The integers that were written down for these sums, or undefined until they are. A second vector for the same sums,
   * or the same one among other devices, would show by the difference what the noise of all others hides.
   */
  integersFor(asked: ReleaseRequest, release: (noise: RandomBytes) => Float64Array): Float64Array | undefined {
    this.#account.keep();
    const posted = this.#posted(asked);
    if (posted !== undefined) return Float64Array.from(posted.integers);
    if (this.refusal(asked.stage) === undefined && this.#account.isKept) this.#release(asked, release);
    return undefined;
  }

  #posted(asked: ReleaseRequest): PostedIntegers | undefined {
    const { isLost, kept } = this.#account;
    return isLost ? undefined : kept.posted.find(({ of, stage }) => of === asked.of && stage === asked.stage);
  }

  isReleased(of: string, stage: ReleaseStage): boolean {
    return this.#posted({ of, stage }) !== undefined;
  }

  /** Why nothing more is released, if so. */
  refusal(stage: ReleaseStage): string | undefined {
    const { isLost, ledger } = this.#account;
    if (isLost) return "does not know what was released of its rows before, and waits for consent";
    const before = ledger.posted.filter((one) => one.stage === stage).length;
    if (before <= ledger.consents) return this.#account.status().failure ?? undefined;
    return "has released its rows for an earlier answer or among other devices, and waits for consent to do it again";
  }

  /** Whether a person has agreed to releases that were not made. */
  get isConsented(): boolean {
    return this.#account.ledger.consents > 0 && this.refusal("cells") === undefined;
  }

  /** A person wants the data as they are now to be released. */
  consent(): void {
    this.#account.beginAgainIfLost();
    const { ledger } = this.#account;
    const isClosed = this.refusal("cells") !== undefined;
    if (isClosed) this.#account.ledger = { ...ledger, consents: ledger.consents + 1 };
    this.#account.keep();
  }

  #release({ stage, of }: ReleaseRequest, release: (noise: RandomBytes) => Float64Array): void {
    this.#account.pay(stage, (paid, { secret, posted }) => {
      const integers = Array.from(release(noiseOf(secret, JSON.stringify({ ...paid, of }))));
      return { posted: [...posted, { stage, of, integers }] };
    });
  }

  /** What was released is not known any more. */
  lose(): void {
    this.#account.lose();
  }

  status(): PrivateStatus {
    return this.#account.status();
  }
}
