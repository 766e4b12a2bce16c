// Private rows of a device with shared clusters: what they add to sums over many devices, with a share of the noise, once
// for each answer, and the same again whenever the same sums are asked.

import type { Matrix } from "@fedkm/core";
import type { RandomBytes } from "@fedkm/core/privacy";
import type { HistoryMemory } from "../memory.ts";
import type { Study } from "../study.ts";
import { scaleRows } from "../units.ts";
import { Account, type PrivateStatus } from "./account.ts";
import type { Posted, ReleaseStage } from "./ledger.ts";
import { inOrderOfValues, nameOfRows, noiseOf } from "./noise.ts";

/** What is asked of the rows. */
export interface Asked {
  readonly stage: ReleaseStage;
  /** Names who adds up, for which answer, and where: equal sums have equal names. */
  readonly of: string;
}

export class SharedPrivate {
  readonly #study: Study;
  readonly #account: Account;
  #name = "";
  /** Within the study's bounds, scaled. */
  points: Matrix;

  constructor(study: Study, memory: HistoryMemory | undefined, onKept: () => void) {
    this.#study = study;
    this.#account = new Account(study, memory, onKept);
    this.points = { data: new Float64Array(0), rows: 0, cols: study.features.length };
  }

  take(rows: Matrix): void {
    this.points = inOrderOfValues(scaleRows(this.#study, rows));
    this.#name = nameOfRows(this.#account.ledger.secret, this.points);
  }

  /**
   * The integers that were written down for these sums, or undefined until they are. A second vector for the same sums,
   * or the same one among other devices, would show by the difference what the noise of all others hides.
   */
  integersFor(asked: Asked, release: (noise: RandomBytes) => Float64Array): Float64Array | undefined {
    this.#account.keep();
    const posted = this.#posted(asked);
    if (posted !== undefined) return Float64Array.from(posted.integers);
    if (this.refusal(asked.stage) === undefined && this.#account.isKept) this.#release(asked, release);
    return undefined;
  }

  #posted(asked: Asked): Posted | undefined {
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
    this.#name = nameOfRows(ledger.secret, this.points);
    const isClosed = this.refusal("cells") !== undefined;
    if (isClosed) this.#account.ledger = { ...ledger, consents: ledger.consents + 1 };
    this.#account.keep();
  }

  #release({ stage, of }: Asked, release: (noise: RandomBytes) => Float64Array): void {
    const paid = { rows: this.#name, stage, rho: this.#account.price };
    this.#account.pay(paid, ({ secret, posted }) => {
      const integers = Array.from(release(noiseOf(secret, JSON.stringify({ ...paid, of }))));
      const added: Posted = { stage, of, integers };
      return { posted: [...posted, added] };
    });
  }

  status(): PrivateStatus {
    const last = this.#account.ledger.releases.at(-1);
    return { ...this.#account.status(), isOutdated: last !== undefined && last.rows !== this.#name };
  }
}
