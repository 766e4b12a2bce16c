// Private rows of one device: released twice with noise, paid for in a ledger, and never asked again.

import type { Matrix } from "@fedkm/core";
import {
  cellSummary,
  gridFor,
  lossAt,
  type RandomBytes,
  reachIn,
  releaseCells,
  releaseResiduals,
  residualSummary,
  type Summary,
} from "@fedkm/core/privacy";
import type { HistoryMemory } from "../memory.ts";
import { budgetOf, type Feature, type Study } from "../study.ts";
import { scaleRows } from "../units.ts";
import { Account, type PrivateStatus } from "./account.ts";
import type { ReleaseStage } from "./ledger.ts";
import { inOrderOfValues, nameOfRows, noiseOf } from "./noise.ts";

export class Private {
  readonly #study: Study;
  readonly #account: Account;
  #rows: Matrix;
  #name = "";

  constructor(study: Study, memory: HistoryMemory | undefined, onKept: () => void) {
    this.#study = study;
    this.#account = new Account(study, memory, onKept);
    this.#rows = { data: new Float64Array(0), rows: 0, cols: study.features.length };
  }

  /** The data became these. The first ones are released at once; later ones wait for a person. */
  take(rows: Matrix): void {
    const { ledger, isLost } = this.#account;
    this.#rows = inOrderOfValues(scaleRows(this.#study, rows));
    this.#name = nameOfRows(ledger.secret, this.#rows);
    if (ledger.releases.length === 0 && this.#rows.rows > 0 && !isLost) this.#releaseCells();
  }

  /** Rows of the data within the study's bounds. */
  get usable(): number {
    return this.#rows.rows;
  }

  /** What stands for the rows; undefined: nothing was released, or it is not written down. */
  get summary(): Summary | undefined {
    return this.#account.isLost ? undefined : this.#account.kept.summary;
  }

  /** Whether the second release is to come when centroids have come to rest. */
  get awaitsCentroids(): boolean {
    const { isKept, isLost, kept } = this.#account;
    return isKept && kept.releases.at(-1)?.stage === "cells" && !this.#isOutdated && !isLost;
  }

  get #isOutdated(): boolean {
    const last = this.#account.ledger.releases.at(-1);
    return last !== undefined && last.rows !== this.#name;
  }

  /** A person wants the data as they are now to be released. */
  renew(): void {
    this.#account.beginAgainIfLost();
    this.#name = nameOfRows(this.#account.ledger.secret, this.#rows);
    if (this.#rows.rows > 0) this.#releaseCells();
  }

  #releaseCells(): void {
    const { typicalRows, features, k } = this.#study;
    const grid = gridFor(boxOf(features), typicalRows ?? 1, budgetOf(this.#study).epsilon);
    this.#release("cells", [grid.perSide], (rho, noise) => {
      return cellSummary(releaseCells(this.#rows, grid, rho, noise), grid, rho, k);
    });
  }

  /** The second release: what the rows are around these centroids. */
  releaseAround(centroids: Matrix): void {
    const { summary } = this;
    if (summary === undefined) return;
    const { low, high } = boxOf(this.#study.features);
    const reach = reachIn(low, high);
    this.#release("means", Array.from(centroids.data), (rho, noise) => {
      const released = releaseResiduals(this.#rows, centroids, reach, rho, noise);
      return residualSummary(released, centroids, reach, lossAt(summary, centroids));
    });
  }

  #release(stage: ReleaseStage, parameters: readonly number[], buy: (rho: number, noise: RandomBytes) => Summary) {
    const rho = this.#account.price;
    const release = { rows: this.#name, stage, rho };
    this.#account.pay(release, ({ secret, releases }) => {
      // A restored backup repeats a release to the last bit, which tells nobody more than the first.
      const label = JSON.stringify({ ...release, number: releases.length, parameters });
      return { summary: buy(rho, noiseOf(secret, label)) };
    });
  }

  keep(): void {
    this.#account.keep();
  }

  status(): PrivateStatus {
    return { ...this.#account.status(), isOutdated: this.#isOutdated };
  }
}

/** Where rows can be, in scaled units. */
export function boxOf(features: readonly Feature[]) {
  return {
    low: Float64Array.from(features, ({ min, scale }) => min / scale),
    high: Float64Array.from(features, ({ max, scale }) => max / scale),
  };
}
