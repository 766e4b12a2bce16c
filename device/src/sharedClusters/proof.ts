// What a base follows from. A board closes only when everybody on it has signed for one generation, so a closed board is
// a certificate: from it anybody computes the next base. No device takes numbers on another's word.

import { concatBytes } from "@noble/hashes/utils.js";
import type { Secrets } from "../keys/secrets.ts";
import { Board, type ClosedBoard } from "./board.ts";
import { type Entry, isEntrySigned } from "./entry.ts";
import { type Base, type Content, type Generation, generationHash, hashedBase, stages } from "./generation.ts";
import type { Membership } from "./membership.ts";
import { isSuspended, type Openings, spentAfter } from "./openings.ts";
import { endWithoutSums, firstContent, isSealed, nextContent, outcomeOf, stirred } from "./plan.ts";
import type { SumsShape } from "./shape.ts";
import { areSecrets, unsealedTotals } from "./unsealing.ts";

/** What all devices of a study compute bases and generations with. */
export interface Rules {
  readonly shape: SumsShape;
  /** The hash of the study. */
  readonly study: Uint8Array;
  /** At most so many devices lie together. */
  readonly colluders: number;
  readonly secrets: Pick<Secrets, "digest" | "isSigned" | "padOf">;
  /** With founders: the hash of the members whom the study names. */
  readonly founding?: Uint8Array;
  /** With founders: how many rows members may hold, as far as it is known here. */
  readonly membership?: (Pick<Membership, "hash" | "mostRowsOf"> & Partial<Pick<Membership, "list">>) | undefined;
}

/**
 * How many rows these devices may have added to a generation. Where the study has founders, their admissions say it; at
 * other members than those known here nobody is judged.
 */
export function rowLimit(
  { shape, membership }: Pick<Rules, "shape" | "membership">,
  { members }: Pick<Generation, "members">,
  devices: readonly string[],
): number {
  if (!shape.isFounded) return devices.length * (shape.mostRows ?? Number.POSITIVE_INFINITY);
  if (membership === undefined || !areEqual(members, membership.hash)) return Number.POSITIVE_INFINITY;
  return devices.reduce((sum, id) => sum + (membership.mostRowsOf(id) || Number.POSITIVE_INFINITY), 0);
}

/** The board that led from one base to the next. */
export interface Proof {
  readonly base: Base;
  readonly openings: Openings;
  /** With founders: the hash of those who were members then. */
  readonly members?: Uint8Array | undefined;
  /** Of all devices on the board, and of nobody else. */
  readonly entries: readonly Entry[];
  /** Of sums that were sealed and are open: the secret of each entry's seal. */
  readonly secrets?: ReadonlyMap<string, Uint8Array> | undefined;
}

const NOTHING = new Uint8Array(32);

/** Where every study begins, known to all. */
export function firstBase({ shape, study, secrets, founding }: Rules): Base {
  const start = { number: 0, parent: NOTHING, board: NOTHING, spent: new Map(), ...membersField(founding) };
  return hashedBase({ ...firstContent(shape), ...start }, study, secrets.digest);
}

const membersField = (members: Uint8Array | undefined) => members && { members };

/** Other members are another generation, a little aside like one that was opened. */
export function generationOf(
  { shape, secrets }: Pick<Rules, "shape" | "secrets">,
  base: Base,
  openings: Openings,
  members: Uint8Array | undefined = base.members,
): Generation {
  // Sums that are complete are read, whoever comes or goes.
  if (base.stage === stages.keys && (openings.size > 0 || !areEqual(members, base.members)))
    return generationOf({ shape, secrets }, base, new Map());
  const hash = generationHash(base, openings, members, secrets.digest);
  const isSame = openings.size === 0 && (members === undefined || areEqual(members, base.members));
  const isRestart = [...openings.values()].some((opening) => opening.isRestart);
  const content: Content = isSame ? base : stirred(shape, base, hash, isRestart);
  return { ...contentOf(content), number: base.number, base, openings, hash, ...membersField(members) };
}

function contentOf({ stage, steps, rows, seeded, numbers, roster }: Content): Content {
  return { stage, steps, rows, seeded, numbers, ...(roster && { roster }) };
}

/** A base that a generation led to. `board` names the sums that it follows from. */
export function baseAfter(rules: Rules, from: Generation, content: Content, board: Uint8Array): Base {
  const { number, hash: parent, base, openings, members } = from;
  const isRest = content.stage === stages.rest || content.stage === stages.frozen;
  const spent = spentAfter(base.spent, openings, isRest);
  const next = { ...contentOf(content), number: number + 1, parent, board, spent, ...membersField(members) };
  return hashedBase(next, rules.study, rules.secrets.digest);
}

/** What follows from a board of entries that is closed. */
export function baseAfterBoard(
  rules: Rules,
  from: Generation,
  closed: ClosedBoard,
  entryOf: (id: string) => Entry | undefined,
): Base | "implausible" {
  const limit = rowLimit(rules, from, closed.devices);
  const content = nextContent(rules.shape, from, closed, (id) => entryOf(id)?.links.keys() ?? [], limit);
  if (content === "implausible") return content;
  const bodies = [...closed.devices].sort().map((id) => entryOf(id)?.body ?? NOTHING);
  // Bodies, because a signer can sign one body in many ways.
  return baseAfter(rules, from, content, rules.secrets.digest(concatBytes(...bodies)));
}

/** What follows when the sums of a sealed board are open. `keys` is what the board itself led to. */
export function baseAfterKeys(
  rules: Rules,
  sealed: Pick<Generation, "hash">,
  keys: Base,
  entries: readonly Entry[],
  secrets: ReadonlyMap<string, Uint8Array>,
): Base | "implausible" {
  const totals = unsealedTotals(rules.secrets, { generation: sealed, entries }, secrets);
  const content = outcomeOf(rules.shape, keys, totals, entries.length);
  if (typeof content === "string") return "implausible";
  const ids = entries.map(({ id }) => id).sort();
  const shown = concatBytes(...ids.map((id) => secrets.get(id) ?? NOTHING));
  return baseAfter(rules, generationOf(rules, keys, new Map()), content, rules.secrets.digest(shown));
}

/** Private rows are summed up over those whom the census has counted, and nobody else. */
export function isCounted({ stage, roster }: Content, id: string): boolean {
  return roster === undefined || stage === stages.census || roster.ids.includes(id);
}

/**
 * The base that a proof leads to. "open": entries are missing. "false": its sender is at fault. Whether its signers are
 * real devices is the receiver's to judge: an honest one signs for a base only if it has accepted it, and so vouches for
 * everything before. `isChecked`: signatures were. `isWorth`: whether to find out what follows, which may cost much; if not,
 * the proof is "doubtful".
 */
export function provenBase(
  rules: Rules,
  proof: Proof,
  isChecked = false,
  isWorth: () => boolean = () => true,
): Base | "open" | "false" | "doubtful" {
  const { secrets, colluders } = rules;
  const { base, openings, members, entries, secrets: shown } = proof;
  const from = generationOf(rules, base, openings, members);
  // Where nothing is asked no board is closed, and keys prove nothing without what they open.
  if (endWithoutSums(from) !== undefined || from.stage === stages.keys) return "false";
  if (entries.some(({ seal }) => seal.length > 0 !== isSealed(from))) return "false";
  if (!isChecked && !entries.every((entry) => isEntrySigned(secrets, from, entry))) return "false";
  const board = new Board();
  for (const entry of entries) board.add(entry);
  const closed = entries.length === 0 ? undefined : board.closedAround(entries[0].id);
  if (closed === undefined) return "open";
  if (closed.count < entries.length || closed.count <= colluders) return "false";
  if (closed.devices.some((id) => isSuspended(id, base.spent, openings) || !isCounted(from, id))) return "false";
  if (!isWorth()) return "doubtful";
  const next = baseAfterBoard(rules, from, closed, (id) => board.entryOf(id));
  if (next === "implausible" || shown === undefined) return next === "implausible" ? "false" : next;
  if (!isSealed(from) || !areSecrets({ entries }, shown)) return "false";
  const opened = baseAfterKeys(rules, from, next, entries, shown);
  return opened === "implausible" ? "false" : opened;
}

export function areEqual(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a?.length === b?.length && (a?.every((byte, i) => byte === b?.[i]) ?? true);
}
