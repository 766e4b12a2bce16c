// Private rows of one device: released twice with noise, paid for in a ledger, and never asked again.

import { type Matrix, takeRows } from "@fedkm/core";
import {
  cellSummary,
  epsilonOf,
  gridFor,
  lossAt,
  type RandomBytes,
  reachIn,
  releaseCells,
  releaseResiduals,
  residualSummary,
  rhoOf,
  type Summary,
} from "@fedkm/core/private";
import type { HistoryMemory } from "../memory.ts";
import { budgetOf, type Feature, type Study } from "../study.ts";
import { scaleRows } from "../units.ts";
import { decodeLedger, encodeLedger, type Ledger, newLedger, type Release, type Stage } from "./ledger.ts";
import { nameOfRows, noiseOf } from "./noise.ts";

/** What a device says of its releases; it stays on the device. */
export interface PrivateStatus {
  /** Of everything that was released so far, and the most that ever may be. */
  readonly epsilonSpent: number;
  readonly epsilonLifetime: number;
  readonly delta: number;
  readonly releases: number;
  /** What the device computes with; null: nothing was released yet. */
  readonly stage: Stage | null;
  /** The data are others than those that were released, which still count until a person consents to a release. */
  readonly isOutdated: boolean;
  /** It is not known what was released before, and nothing is until a person consents. */
  readonly isHistoryLost: boolean;
  /** Why there is no release, or why it does not count yet, if so. */
  readonly failure: string | null;
}

export class Private {
  readonly #study: Study;
  readonly #memory: HistoryMemory | undefined;
  readonly #onKept: () => void;
  #ledger: Ledger;
  /** As it is written down. Only its summary counts. */
  #kept: Ledger;
  #isWriting = false;
  #isLost: boolean;
  #failure: string | undefined;
  #rows: Matrix;
  #name = "";

  constructor(study: Study, memory: HistoryMemory | undefined, onKept: () => void) {
    this.#study = study;
    this.#memory = memory;
    this.#onKept = onKept;
    const saved = memory?.saved && decodeLedger(memory.saved, study.features.length);
    this.#isLost = memory !== undefined && (memory.isLost || (memory.saved !== undefined && saved === undefined));
    this.#ledger = saved ?? newLedger();
    this.#kept = this.#ledger;
    this.#rows = { data: new Float64Array(0), rows: 0, cols: study.features.length };
  }

  /** The data became these. The first ones are released at once; later ones wait for a person. */
  take(rows: Matrix): void {
    // In whatever order they are read, they are the same rows.
    this.#rows = inOrderOfValues(scaleRows(this.#study, rows));
    this.#name = nameOfRows(this.#ledger.secret, this.#rows);
    if (this.#ledger.releases.length === 0 && this.#rows.rows > 0 && !this.#isLost) this.#releaseCells();
  }

  /** Rows of the data within the study's bounds. */
  get usable(): number {
    return this.#rows.rows;
  }

  /** What stands for the rows; undefined: nothing was released, or it is not written down. */
  get summary(): Summary | undefined {
    return this.#isLost ? undefined : this.#kept.summary;
  }

  /** Whether the second release is to come when centroids have come to rest. */
  get awaitsCentroids(): boolean {
    return this.#kept === this.#ledger && this.#stage === "cells" && !this.#isOutdated && !this.#isLost;
  }

  get #stage(): Stage | undefined {
    return this.#kept.releases.at(-1)?.stage;
  }

  get #isOutdated(): boolean {
    const last = this.#ledger.releases.at(-1);
    return last !== undefined && last.rows !== this.#name;
  }

  /** A person wants the data as they are now to be released. Of a ledger that is lost nobody knows what was paid. */
  renew(): void {
    if (this.#isLost) this.#ledger = newLedger();
    this.#isLost = false;
    this.#name = nameOfRows(this.#ledger.secret, this.#rows);
    if (this.#rows.rows > 0) this.#releaseCells();
  }

  #releaseCells(): void {
    const { typicalRows, features } = this.#study;
    const grid = gridFor(boxOf(features), typicalRows ?? 1, budgetOf(this.#study).epsilon);
    this.#release("cells", [grid.perSide], (rho, noise) => {
      return cellSummary(releaseCells(this.#rows, grid, rho, noise), grid, rho);
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

  /** Pays, and writes down what was paid together with what it bought. Half of epsilon is for each of two releases. */
  #release(stage: Stage, parameters: readonly number[], buy: (rho: number, noise: RandomBytes) => Summary): void {
    const { epsilon, delta, lifetime } = budgetOf(this.#study);
    const rho = rhoOf(epsilon, delta) / 2;
    const { secret, releases } = this.#ledger;
    if (spentOn(releases) + rho > rhoOf(lifetime, delta)) {
      this.#failure = `a further release would cost more than the study's lifetimeEpsilon of ${lifetime}`;
      return;
    }
    const release = { rows: this.#name, stage, rho };
    // A restored backup repeats a release to the last bit, which tells nobody more than the first.
    const label = JSON.stringify({ ...release, number: releases.length, parameters });
    this.#ledger = { secret, releases: [...releases, release], summary: buy(rho, noiseOf(secret, label)) };
    this.keep();
  }

  /** Writes down what is not; `onKept` follows. To be called again and again, since a disk may be full for a while. */
  keep(): void {
    const ledger = this.#ledger;
    if (ledger === this.#kept || this.#isWriting) return;
    this.#isWriting = true;
    const done = (failure: string | undefined) => {
      this.#isWriting = false;
      this.#failure = failure;
      if (failure !== undefined) return;
      this.#kept = ledger;
      this.#onKept();
    };
    if (this.#memory === undefined) done(undefined);
    else this.#memory.keep(encodeLedger(ledger), done);
  }

  status(): PrivateStatus {
    const { delta, lifetime } = budgetOf(this.#study);
    const spent = spentOn(this.#ledger.releases);
    return {
      epsilonSpent: spent === 0 ? 0 : epsilonOf(spent, delta),
      epsilonLifetime: lifetime,
      delta,
      releases: this.#ledger.releases.length,
      stage: this.#stage ?? null,
      isOutdated: this.#isOutdated,
      isHistoryLost: this.#isLost,
      failure: this.#failure ?? null,
    };
  }
}

function spentOn(releases: readonly Release[]): number {
  return releases.reduce((sum, { rho }) => sum + rho, 0);
}

/** Where rows can be, in scaled units. */
export function boxOf(features: readonly Feature[]) {
  return {
    low: Float64Array.from(features, ({ min, scale }) => min / scale),
    high: Float64Array.from(features, ({ max, scale }) => max / scale),
  };
}

function inOrderOfValues(rows: Matrix): Matrix {
  const { data, cols } = rows;
  const order = Array.from({ length: rows.rows }, (_, r) => r);
  order.sort((a, b) => {
    for (let c = 0; c < cols; c++) {
      const difference = data[a * cols + c] - data[b * cols + c];
      if (difference !== 0) return difference;
    }
    return 0;
  });
  return takeRows(rows, order);
}
