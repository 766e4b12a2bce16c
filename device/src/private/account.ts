// The account of a private device: its ledger, what it may still spend, and what is safely written down of it.

import { epsilonOf, rhoOf } from "@fedkm/core/privacy";
import type { HistoryMemory } from "../memory.ts";
import { budgetOf, type Study } from "../study.ts";
import { decodeLedger, encodeLedger, type Ledger, newLedger, type Release, type ReleaseStage } from "./ledger.ts";

/** What a device says of its releases; it stays on the device. */
export interface PrivateStatus {
  /** Of everything that was released so far, and the most that ever may be. */
  readonly epsilonSpent: number;
  readonly epsilonLifetime: number;
  readonly delta: number;
  readonly releases: number;
  /** What the device computes with; null: nothing was released yet. */
  readonly stage: ReleaseStage | null;
  /** The data are others than those that were released, which still count until a person consents to a release. */
  readonly isOutdated: boolean;
  /** It is not known what was released before, and nothing is until a person consents. */
  readonly isHistoryLost: boolean;
  /** Why there is no release, or why it does not count yet, if so. */
  readonly failure: string | null;
}

export class Account {
  readonly #study: Study;
  readonly #memory: HistoryMemory | undefined;
  readonly #onKept: () => void;
  #isWriting = false;
  #failure: string | undefined;
  ledger: Ledger;
  /** As it is written down. Nothing else counts. */
  kept: Ledger;
  isLost: boolean;

  constructor(study: Study, memory: HistoryMemory | undefined, onKept: () => void) {
    this.#study = study;
    this.#memory = memory;
    this.#onKept = onKept;
    const saved = memory?.saved && decodeLedger(memory.saved, study.features.length);
    this.isLost = memory !== undefined && (memory.isLost || (memory.saved !== undefined && saved === undefined));
    this.ledger = saved ?? newLedger();
    this.kept = this.ledger;
  }

  get isKept(): boolean {
    return this.kept === this.ledger;
  }

  /** Of a ledger that is lost nobody knows what was paid. */
  beginAgainIfLost(): void {
    if (this.isLost) this.ledger = newLedger();
    this.isLost = false;
  }

  /** What one release costs: half of epsilon. */
  get price(): number {
    const { epsilon, delta } = budgetOf(this.#study);
    return rhoOf(epsilon, delta) / 2;
  }

  /** Pays, and writes down what was paid together with what it bought. Nothing happens where the lifetime forbids it. */
  pay(release: Release, buy: (ledger: Ledger) => Partial<Ledger>): void {
    const { delta, lifetime } = budgetOf(this.#study);
    const { releases } = this.ledger;
    if (spentOn(releases) + release.rho > rhoOf(lifetime, delta)) {
      this.#failure = `a further release would cost more than the study's lifetimeEpsilon of ${lifetime}`;
      return;
    }
    this.ledger = { ...this.ledger, releases: [...releases, release], ...buy(this.ledger) };
    this.keep();
  }

  /** Writes down what is not; `onKept` follows. To be called again and again, since a disk may be full for a while. */
  keep(): void {
    const { ledger } = this;
    if (this.isKept || this.#isWriting) return;
    this.#isWriting = true;
    const done = (failure: string | undefined) => {
      this.#isWriting = false;
      this.#failure = failure;
      if (failure !== undefined) return;
      this.kept = ledger;
      this.#onKept();
    };
    if (this.#memory === undefined) done(undefined);
    else this.#memory.keep(encodeLedger(ledger), done);
  }

  status(): Omit<PrivateStatus, "isOutdated"> {
    const { delta, lifetime } = budgetOf(this.#study);
    const spent = spentOn(this.ledger.releases);
    return {
      epsilonSpent: spent === 0 ? 0 : epsilonOf(spent, delta),
      epsilonLifetime: lifetime,
      delta,
      releases: this.ledger.releases.length,
      stage: this.kept.releases.at(-1)?.stage ?? null,
      isHistoryLost: this.isLost,
      failure: this.#failure ?? null,
    };
  }
}

function spentOn(releases: readonly Release[]): number {
  return releases.reduce((sum, { rho }) => sum + rho, 0);
}
