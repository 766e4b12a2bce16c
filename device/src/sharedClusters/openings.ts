// Openings: a member says, signed, that the sums of a base must be made again, because its rows or its links changed. An
// opening is a counter and brings no numbers. Openings of one base merge by union, so that nobody can win, fork or use
// them up; a member that opens without end is suspended, on all devices alike.

import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { ID_BYTES, idOf, KEY_BYTES, type Secrets, SIGNATURE_BYTES } from "../keys/secrets.ts";
import { MOST_BASE_OPENINGS, MOST_ENTRIES, SUSPENDED_RESTS } from "../wire/limits.ts";

export interface Opening {
  readonly key: Uint8Array;
  readonly id: string;
  /** How often this member has opened since the last rest; one more than MOST_BASE_OPENINGS: it is suspended. */
  readonly counter: number;
  /** Clusters are to begin anew, and not where they were. */
  readonly isRestart: boolean;
  readonly signature: Uint8Array;
}

/** The latest opening of each member, by its id. */
export type Openings = ReadonlyMap<string, Opening>;
/** How often members had opened when a base came about, by their ids. */
export type Spent = ReadonlyMap<string, number>;

/** Key 32, counter 1, flags 1, nothing 2: what is signed; then the signature. */
const OPENING_BODY_BYTES = KEY_BYTES + 4;
export const OPENING_BYTES = OPENING_BODY_BYTES + SIGNATURE_BYTES;

/** Of two openings of one member and base, the higher one counts. */
const rankOf = ({ counter, isRestart }: Pick<Opening, "counter" | "isRestart">) => 2 * counter + (isRestart ? 1 : 0);

function bodyOf(key: Uint8Array, counter: number, isRestart: boolean): Uint8Array {
  return concatBytes(key, Uint8Array.of(counter, isRestart ? 1 : 0, 0, 0));
}

/** An opening is bound to one base, whose hash has the study in it. */
const signedBytes = (base: Uint8Array, body: Uint8Array) => concatBytes(utf8ToBytes("fedkm opening\n"), base, body);

/** An opening that this device has signed. */
export function signedOpening(secrets: Secrets, base: Uint8Array, counter: number, isRestart: boolean): Opening {
  const { key } = secrets;
  const signature = secrets.sign(signedBytes(base, bodyOf(key, counter, isRestart)));
  return { key, id: idOf(key), counter, isRestart, signature };
}

export function isOpeningSigned(secrets: Secrets, base: Uint8Array, opening: Opening): boolean {
  const { key, counter, isRestart, signature } = opening;
  return secrets.isSigned(key, signedBytes(base, bodyOf(key, counter, isRestart)), signature);
}

export function openingBytes({ key, counter, isRestart, signature }: Opening): Uint8Array {
  return concatBytes(bodyOf(key, counter, isRestart), signature);
}

/** The opening that begins there; undefined: there is none. */
export function decodeOpening(bytes: Uint8Array, at: number): Opening | undefined {
  if (at + OPENING_BYTES > bytes.length) return undefined;
  const key = bytes.slice(at, at + KEY_BYTES);
  const [counter, flags, ...rest] = bytes.subarray(at + KEY_BYTES, at + OPENING_BODY_BYTES);
  if (counter === 0 || counter > MOST_BASE_OPENINGS + 1 || flags > 1 || rest.some((byte) => byte !== 0))
    return undefined;
  const signature = bytes.slice(at + OPENING_BODY_BYTES, at + OPENING_BYTES);
  return { key, id: idOf(key), counter, isRestart: flags === 1, signature };
}

/** What openings say, in one order: part of the generation's hash. */
export function openingsDigest(openings: Openings): Uint8Array {
  const ids = [...openings.keys()].sort();
  return concatBytes(
    ...ids.flatMap((id) => [
      hexToBytes(id),
      Uint8Array.of(rankOf(openings.get(id) ?? { counter: 0, isRestart: false })),
    ]),
  );
}

/** How often a member has opened. */
export function openingsOf(id: string, spent: Spent, openings: Openings): number {
  return openings.get(id)?.counter ?? spent.get(id) ?? 0;
}

/** Its entries and links do not count. */
export function isSuspended(id: string, spent: Spent, openings: Openings): boolean {
  return openingsOf(id, spent, openings) > MOST_BASE_OPENINGS;
}

/** Whether an opening says more than what is known of its member. */
export function isHigher(opening: Opening, spent: Spent, openings: Openings): boolean {
  const known = openings.get(opening.id);
  if (known !== undefined) return rankOf(opening) > rankOf(known);
  const before = spent.get(opening.id) ?? 0;
  return before <= MOST_BASE_OPENINGS && opening.counter > before;
}

/** What is left of openings in the next base. At rest everybody begins anew, but who is suspended stays so for a while. */
export function spentAfter(spent: Spent, openings: Openings, isRest: boolean): Spent {
  const left = new Map<string, number>();
  for (const id of [...new Set([...spent.keys(), ...openings.keys()])].sort()) {
    const opened = openings.get(id)?.counter;
    const count =
      opened === MOST_BASE_OPENINGS + 1 ? MOST_BASE_OPENINGS + SUSPENDED_RESTS : (opened ?? spent.get(id) ?? 0);
    const rested = count > MOST_BASE_OPENINGS + 1 ? count - 1 : 0;
    if (!isRest || rested > 0) left.set(id, isRest ? rested : count);
  }
  if (left.size <= MOST_SPENT) return left;
  // Who opened least is forgotten, so that no base grows without end.
  return new Map(
    [...left]
      .sort(([, a], [, b]) => b - a)
      .slice(0, MOST_SPENT)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** A base names at most so many. */
export const MOST_SPENT = 4 * MOST_ENTRIES;

/** Id 16, count 1, of each member. */
export const SPENT_BYTES = ID_BYTES + 1;

export function spentOpeningsBytes(spent: Spent): Uint8Array {
  return concatBytes(...Array.from(spent, ([id, count]) => concatBytes(hexToBytes(id), Uint8Array.of(count))));
}
