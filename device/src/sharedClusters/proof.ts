// What a base follows from. A board closes only when everybody on it has signed for one generation, so a closed board is
// a certificate: from it anybody computes the next base. No device takes numbers on another's word.

import { concatBytes } from "@noble/hashes/utils.js";
import type { Secrets } from "../keys/secrets.ts";
import { Board, type ClosedBoard } from "./board.ts";
import { type Entry, isEntrySigned } from "./entry.ts";
import { type Base, type Content, type Generation, generationHash, hashedBase, stages } from "./generation.ts";
import { isSuspended, type Openings, spentAfter } from "./openings.ts";
import { firstContent, nextContent, stirred } from "./plan.ts";
import type { SumsShape } from "./shape.ts";

/** What all devices of a study compute bases and generations with. */
export interface Rules {
  readonly shape: SumsShape;
  /** The hash of the study. */
  readonly study: Uint8Array;
  /** At most so many devices lie together. */
  readonly colluders: number;
  readonly secrets: Pick<Secrets, "digest" | "isSigned">;
}

/** The board that led from one base to the next. */
export interface Proof {
  readonly base: Base;
  readonly openings: Openings;
  /** Of all devices on the board, and of nobody else. */
  readonly entries: readonly Entry[];
}

const NOTHING = new Uint8Array(32);

/** Where every study begins, known to all. */
export function firstBase({ shape, study, secrets }: Rules): Base {
  const start = { number: 0, parent: NOTHING, board: NOTHING, spent: new Map() };
  return hashedBase({ ...firstContent(shape), ...start }, study, secrets.digest);
}

export function generationOf({ shape, secrets }: Rules, base: Base, openings: Openings): Generation {
  const hash = generationHash(base, openings, secrets.digest);
  const isRestart = [...openings.values()].some((opening) => opening.isRestart);
  const content: Content = openings.size === 0 ? base : stirred(shape, base, hash, isRestart);
  return { ...contentOf(content), number: base.number, base, openings, hash };
}

function contentOf({ stage, steps, rows, seeded, numbers, roster }: Content): Content {
  return { stage, steps, rows, seeded, numbers, ...(roster && { roster }) };
}

/** A base that a generation led to. `board` names the sums that it follows from. */
export function baseAfter(rules: Rules, from: Generation, content: Content, board: Uint8Array): Base {
  const { number, hash: parent, base, openings } = from;
  const isRest = content.stage === stages.rest || content.stage === stages.frozen;
  const spent = spentAfter(base.spent, openings, isRest);
  const next = { ...contentOf(content), number: number + 1, parent, board, spent };
  return hashedBase(next, rules.study, rules.secrets.digest);
}

/** What follows from a board of entries that is closed. */
export function baseAfterBoard(
  rules: Rules,
  from: Generation,
  closed: ClosedBoard,
  entryOf: (id: string) => Entry | undefined,
): Base | "implausible" {
  const content = nextContent(rules.shape, from, closed, (id) => entryOf(id)?.links.keys() ?? []);
  if (content === "implausible") return content;
  const bodies = [...closed.devices].sort().map((id) => entryOf(id)?.body ?? NOTHING);
  // Bodies, because a signer can sign one body in many ways.
  return baseAfter(rules, from, content, rules.secrets.digest(concatBytes(...bodies)));
}

/**
 * The base that a proof leads to. "open": entries are missing. "false": its sender is at fault. Whether its signers are
 * real devices is the receiver's to judge: an honest one signs for a base only if it has accepted it, and so vouches for
 * everything before. `isChecked`: signatures were.
 */
export function provenBase(rules: Rules, proof: Proof, isChecked = false): Base | "open" | "false" {
  const { secrets, colluders } = rules;
  const { base, openings, entries } = proof;
  const from = generationOf(rules, base, openings);
  if (!isChecked && !entries.every((entry) => isEntrySigned(secrets, from, entry))) return "false";
  const board = new Board();
  for (const entry of entries) board.add(entry);
  const closed = entries.length === 0 ? undefined : board.closedAround(entries[0].id);
  if (closed === undefined) return "open";
  if (closed.count < entries.length || closed.count <= colluders) return "false";
  if (closed.devices.some((id) => isSuspended(id, base.spent, openings))) return "false";
  const next = baseAfterBoard(rules, from, closed, (id) => board.entryOf(id));
  return next === "implausible" ? "false" : next;
}
