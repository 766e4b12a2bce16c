// Which studies each neighbour speaks, as far as it has said so, and which of them it proposes.

import { Allowance } from "../environment.ts";
import { heardStudy } from "../study/study.ts";
import { BETWEEN_STATEMENTS_MILLISECONDS, STATEMENT_BURST } from "../wire/limits.ts";

/** A study that neighbours speak and this device does not. */
export interface StudyProposal {
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

export class StudyProposals {
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
