// Books: what a member added to a board, which everybody can read once the seeds of its pads are shown. Its entry has
// signed for these seeds, so books cannot be made up afterwards. Books that no rows can have, and two entries of one
// time, are evidence: whoever sees it can check it, and leaves the member out. Pure.

import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { ID_BYTES, idOf, KEY_BYTES, SEED_BYTES, type Secrets, SIGNATURE_BYTES } from "../keys/secrets.ts";
import { fromInt64s } from "../wire/int64.ts";
import { MOST_ENTRIES } from "../wire/limits.ts";
import { decodeEntry, type Entry, isEntrySigned, seedMark, withoutPads } from "./entry.ts";
import { type Base, decodeBoardBase, encodeBoardBase, type Generation, hashedBase } from "./generation.ts";
import { LISTED_MEMBER_BYTES, membersHash, mostRowsIn } from "./membership.ts";
import { decodeOpening, OPENING_BYTES, type Opening, openingBytes } from "./openings.ts";
import { integersIn, numbersIn } from "./plan.ts";
import { rowsInSums, sumsFault } from "./plausible.ts";
import { generationOf, type Rules, rowLimit } from "./proof.ts";
import { holdsWithout } from "./roster.ts";

export type BookRules = Rules & { readonly secrets: Pick<Secrets, "digest" | "isSigned" | "padOf"> };

/** A device on the board that led to a base at rest says, signed, that the answer does not fit its rows. */
export interface Doubt {
  readonly kind: "doubt";
  readonly base: Uint8Array;
  readonly key: Uint8Array;
  readonly signature: Uint8Array;
}

/** The seeds of a device's links in one generation, as it or its neighbours show them. */
export interface ShownSeeds {
  readonly kind: "seeds";
  readonly generation: Uint8Array;
  readonly id: string;
  readonly seeds: ReadonlyMap<string, Uint8Array>;
}

/** Two entries of one device for one generation and epoch. */
interface TwoEntries {
  readonly kind: "two entries";
  readonly generation: Uint8Array;
  readonly entries: readonly [Entry, Entry];
}

/** An entry with all its seeds, and what it was asked. */
interface FalseBooks {
  readonly kind: "false books";
  readonly base: Omit<Base, "hash">;
  /** With founders: who the members were, and how many rows each might hold. The entry has signed for that too. */
  readonly members: Uint8Array;
  readonly openings: readonly Opening[];
  readonly entry: Entry;
  readonly seeds: ReadonlyMap<string, Uint8Array>;
}

export type Evidence = TwoEntries | FalseBooks;
export type BookItem = Doubt | ShownSeeds | Evidence;

const itemKinds = ["doubt", "seeds", "two entries", "false books"] as const;

// To the byte; see docs/protocol.md#books.

export function encodeItem(item: BookItem): Uint8Array {
  return concatBytes(Uint8Array.of(itemKinds.indexOf(item.kind) + 1), ...partsOf(item));
}

function partsOf(item: BookItem): Uint8Array[] {
  switch (item.kind) {
    case "doubt":
      return [item.base, item.key, item.signature];
    case "seeds":
      return [item.generation, hexToBytes(item.id), numberBytes(item.seeds.size), ...seedParts(item.seeds)];
    case "two entries":
      return [item.generation, ...item.entries.flatMap(entryParts)];
    default: {
      const openings = [numberBytes(item.openings.length), ...item.openings.map(openingBytes)];
      const seeds = Array.from(item.entry.links.keys(), (id) => item.seeds.get(id) ?? new Uint8Array(SEED_BYTES));
      const members = [numberBytes(item.members.length), item.members];
      return [encodeBoardBase(item.base), ...members, ...openings, ...entryParts(item.entry), ...seeds];
    }
  }
}

const seedParts = (seeds: ReadonlyMap<string, Uint8Array>) =>
  Array.from(seeds).flatMap(([id, s]) => [hexToBytes(id), s]);
const entryParts = ({ words, seal, body, signature }: Entry) => [
  numberBytes(words.length / 2),
  numberBytes(seal.length),
  body,
  signature,
];

function numberBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

/** What these bytes say, all of them; undefined: nothing. */
export function decodeItem({ shape }: Pick<Rules, "shape">, bytes: Uint8Array): BookItem | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = itemKinds[bytes[0] - 1];
  let at = 1;
  const has = (many: number) => at + many <= bytes.length;
  const take = (many: number) => {
    at += many;
    return bytes.slice(at - many, at);
  };
  const number = () => {
    at += 4;
    return view.getUint32(at - 4, true);
  };
  const takeEntry = () => {
    const [integers, sealed] = has(8) ? [number(), number()] : [0, bytes.length];
    const found = decodeEntry(bytes, at, integers, () => sealed);
    at = found?.end ?? bytes.length + 1;
    return found?.entry;
  };
  if (kind === "doubt") {
    if (bytes.length !== 1 + 32 + KEY_BYTES + SIGNATURE_BYTES) return undefined;
    return { kind, base: take(32), key: take(KEY_BYTES), signature: take(SIGNATURE_BYTES) };
  }
  if (kind === "seeds") {
    if (!has(32 + ID_BYTES + 4)) return undefined;
    const [generation, id, many] = [take(32), bytesToHex(take(ID_BYTES)), number()];
    if (many > MOST_ENTRIES || bytes.length !== at + many * (ID_BYTES + SEED_BYTES)) return undefined;
    const seeds = Array.from({ length: many }, () => [bytesToHex(take(ID_BYTES)), take(SEED_BYTES)] as const);
    return { kind, generation, id, seeds: new Map(seeds) };
  }
  if (kind === "two entries") {
    if (!has(32)) return undefined;
    const generation = take(32);
    const [one, other] = [takeEntry(), takeEntry()];
    return one && other && at === bytes.length ? { kind, generation, entries: [one, other] } : undefined;
  }
  if (kind !== "false books" || shape.releasing !== undefined) return undefined;
  const found = decodeBoardBase(bytes, at, (head) => numbersIn(shape, head), false, shape.isFounded);
  if (found === undefined) return undefined;
  at = found.end;
  const listed = has(4) ? number() : bytes.length;
  if (!has(listed) || listed % LISTED_MEMBER_BYTES !== 0 || shape.isFounded !== listed > 0) return undefined;
  const members = take(listed);
  const many = has(4) ? number() : MOST_ENTRIES + 1;
  if (many > MOST_ENTRIES || !has(many * OPENING_BYTES)) return undefined;
  const openings = Array.from({ length: many }, () => decodeOpening(take(OPENING_BYTES), 0));
  const entry = takeEntry();
  if (entry === undefined || bytes.length !== at + entry.links.size * SEED_BYTES) return undefined;
  const seeds = new Map(Array.from(entry.links.keys(), (id) => [id, take(SEED_BYTES)]));
  const known = openings.flatMap((opening) => opening ?? []);
  return known.length === many ? { kind, base: found.base, members, openings: known, entry, seeds } : undefined;
}

/** Doubts are about one base, whose hash has the study in it. */
const doubtBytes = (base: Uint8Array, key: Uint8Array) => concatBytes(utf8ToBytes("fedkm doubt\n"), base, key);

export function signedDoubt({ key, sign }: Pick<Secrets, "key" | "sign">, base: Uint8Array): Doubt {
  return { kind: "doubt", base, key, signature: sign(doubtBytes(base, key)) };
}

export function isDoubtSigned({ isSigned }: Pick<Secrets, "isSigned">, { base, key, signature }: Doubt): boolean {
  return isSigned(key, doubtBytes(base, key), signature);
}

/** Whom evidence is against and what it did, as a sentence that begins after its name; undefined: it proves nothing. */
export function provenFault(rules: BookRules, item: Evidence): { id: string; text: string } | undefined {
  const { secrets, shape } = rules;
  if (item.kind === "two entries") {
    const [one, other] = item.entries;
    const isSame = one.id !== other.id || one.epoch !== other.epoch || bytesToHex(one.body) === bytesToHex(other.body);
    const of = { hash: item.generation };
    if (isSame || !item.entries.every((entry) => isEntrySigned(secrets, of, entry))) return undefined;
    return { id: one.id, text: "signed two different sums of one time" };
  }
  const { entry, seeds } = item;
  const base = hashedBase(item.base, rules.study, secrets.digest);
  const openings = new Map(item.openings.map((opening) => [opening.id, opening]));
  const { members } = item;
  const hash = shape.isFounded ? membersHash(secrets, members) : undefined;
  const generation = generationOf(rules, base, openings, hash);
  const integers = integersIn(shape, generation);
  if (entry.words.length !== 2 * integers || !isEntrySigned(secrets, generation, entry)) return undefined;
  const membership = hash && { hash, mostRowsOf: (id: string) => mostRowsIn(members, id) };
  const read = readBooks({ ...rules, membership }, generation, entry, seeds);
  return read?.fault === undefined ? undefined : { id: entry.id, text: `claims ${read.fault}` };
}

/** What a member added, by the seeds of all its links; undefined: some are missing, or are not those it signed for. */
export function readBooks(
  rules: BookRules,
  generation: Generation,
  entry: Entry,
  seeds: ReadonlyMap<string, Uint8Array>,
): { readonly rows: number; readonly fault: string | undefined } | undefined {
  const { secrets, shape } = rules;
  const isRight = ([id, mark]: [string, string]) => {
    const seed = seeds.get(id);
    return seed !== undefined && seedMark(secrets, seed) === mark;
  };
  if (![...entry.seedMarks].every(isRight)) return undefined;
  const integers = fromInt64s(withoutPads(secrets, entry, seeds));
  const limit = rowLimit(rules, generation, [entry.id]);
  return { rows: rowsInSums(shape, generation, integers), fault: sumsFault(shape, generation, integers, 1, limit) };
}

/**
 * Devices that may open their books for a generation although others do not: whoever has not opened must stay connected
 * without these and `colluders` more, because an opened device hides nobody. All devices find the same ones.
 */
export function mayOpenBooks(
  { secrets, colluders }: Pick<Rules, "secrets" | "colluders">,
  { hash }: Pick<Generation, "hash">,
  entries: readonly Pick<Entry, "id" | "links">[],
): Set<string> {
  const order = new Map(
    entries.map(({ id }) => [id, bytesToHex(secrets.digest(concatBytes(hash, hexToBytes(id))))] as const),
  );
  const inOrder = [...entries].sort((a, b) => ((order.get(a.id) ?? "") < (order.get(b.id) ?? "") ? -1 : 1));
  const opened = new Set<string>();
  for (const { id } of inOrder) {
    const left = entries.filter((entry) => entry.id !== id && !opened.has(entry.id));
    const places = new Map(left.map((entry, n) => [entry.id, n]));
    const links = left.map((entry) => Array.from(entry.links.keys()).flatMap((other) => places.get(other) ?? []));
    if (holdsWithout(links, colluders)) opened.add(id);
  }
  return opened;
}

/** Whose name evidence is kept under, so that one is enough. */
export function accusedIn(item: Evidence): string {
  return item.kind === "two entries" ? item.entries[0].id : item.entry.id;
}

export const doubterOf = ({ key }: Doubt) => idOf(key);
