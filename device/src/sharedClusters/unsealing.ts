// How sealed sums come to be read. Whoever holds all entries of a sealed board says so once, in a tally. With the tallies of
// more than half of the devices and of the colluders among them, they show their keys: each the secret of its own seal and
// the shares that it holds of others'. Two boards over different devices can then never both be read.

import { concatBytes } from "@noble/hashes/utils.js";
import { idOf, type Secrets } from "../keys/secrets.ts";
import { quorumOf } from "../privacy/privateRows.ts";
import { addInt64s, fromInt64s, subtractInt64s } from "../wire/int64.ts";
import { type Entry, ownEntry } from "./entry.ts";
import type { Generation } from "./generation.ts";
import type { Roster } from "./roster.ts";
import { isShareAt, SCALAR_BYTES, type Seal, sealBytes, sealPad, secretFrom, wrappedShare } from "./seal.ts";

/** A board whose entries are all there. */
interface SealedBoard {
  readonly generation: Pick<Generation, "hash">;
  readonly entries: readonly Entry[];
  entryOf(id: string): Entry | undefined;
}

/** In the stage of keys, where an entry has its epoch: a key takes the place of the tally of the same device. */
const TALLY = 1;
const KEY = 2;

const placeIn = ({ ids }: Roster, id: string) => ids.indexOf(id) + 1;
const commitmentsOf = ({ seal, links }: Entry) => seal.subarray(0, seal.length - SCALAR_BYTES * links.size);

/** What an entry has for one of its links, behind everything else. */
function blockFor({ seal, links }: Entry, id: string): Uint8Array | undefined {
  const at = [...links.keys()].indexOf(id);
  const from = seal.length - SCALAR_BYTES * (links.size - at);
  return at < 0 ? undefined : seal.subarray(from, from + SCALAR_BYTES);
}

/** What seals the own entry: commitments, and for each partner a share that only it can read. */
export function sealOfEntry(
  secrets: Secrets,
  { hash, roster }: Pick<Generation, "hash" | "roster">,
  seal: Seal,
  epoch: number,
  partners: readonly { readonly peer: string; readonly id: string; readonly epoch: number }[],
): Uint8Array {
  const dealer = { id: idOf(secrets.key), epoch };
  const shares = partners.map((partner) => {
    const share = seal.shareAt(roster === undefined ? 0 : placeIn(roster, partner.id));
    return wrappedShare(secrets, partner.peer, hash, dealer, partner.epoch, share);
  });
  return concatBytes(seal.commitments, ...shares);
}

/** The shares that a device holds of its partners' secrets; undefined in place of one that is none. */
export function heldShares(
  secrets: Secrets,
  board: SealedBoard,
  roster: Roster,
  peerOf: (id: string) => string | undefined,
): Map<string, Uint8Array | undefined> {
  const id = idOf(secrets.key);
  const place = placeIn(roster, id);
  const found = new Map<string, Uint8Array | undefined>();
  for (const other of board.entryOf(id)?.links.keys() ?? []) {
    const entry = board.entryOf(other);
    const [wrapped, peer] = [entry && blockFor(entry, id), peerOf(other)];
    const share =
      entry !== undefined && wrapped !== undefined && peer !== undefined
        ? wrappedShare(secrets, peer, board.generation.hash, entry, entry.links.get(id) ?? 0, wrapped)
        : undefined;
    found.set(other, entry && share && isShareAt(commitmentsOf(entry), place, share) ? share : undefined);
  }
  return found;
}

export function tallyEntry(secrets: Secrets, generation: Pick<Generation, "hash">, colluders: number): Entry {
  const seal = new Uint8Array(sealBytes(colluders, 0));
  return ownEntry(secrets, generation, { epoch: TALLY, words: new Uint32Array(0), seal });
}

/** The own secret, and the shares of others' that are good. */
export function keyEntry(
  secrets: Secrets,
  generation: Pick<Generation, "hash">,
  colluders: number,
  secret: Uint8Array,
  shares: ReadonlyMap<string, Uint8Array | undefined>,
): Entry {
  const good = Array.from(shares).flatMap(([id, share]) => (share === undefined ? [] : [[id, share] as const]));
  const nothing = new Uint8Array(SCALAR_BYTES * colluders);
  const seal = concatBytes(secret, nothing, ...good.map(([, share]) => share));
  const links = new Map(good.map(([id]) => [id, 0]));
  return ownEntry(secrets, generation, { epoch: KEY, words: new Uint32Array(0), links, seal });
}

/** Whether an entry tells a key in place of sums. */
export const isKey = ({ epoch }: Pick<Entry, "epoch">) => epoch === KEY;
const secretIn = ({ seal }: Entry) => seal.subarray(0, SCALAR_BYTES);

/** Whether an entry is a tally, or a key that opens the seal of its device. */
export function isUnsealing(board: SealedBoard, entry: Entry): boolean {
  const sealed = board.entryOf(entry.id);
  if (sealed === undefined || entry.seal.length === 0) return false;
  if (entry.epoch === TALLY) return entry.links.size === 0;
  return isKey(entry) && isShareAt(commitmentsOf(sealed), 0, secretIn(entry));
}

/**
 * Whether keys may be shown, after the tallies of these devices. A tally says that the shares of all partners are good, so
 * what is missing of anybody's partners is no more than leave or lie, and of those without a tally shares are enough.
 */
export function isDecided({ entries }: SealedBoard, colluders: number, tallied: ReadonlySet<string>): boolean {
  if (tallied.size < quorumOf(entries.length, colluders)) return false;
  return entries.every(({ id, links }) => {
    const good = [...links.keys()].filter((other) => tallied.has(other)).length;
    return links.size - good <= colluders && (tallied.has(id) || good > colluders);
  });
}

/** The secrets of all seals, given or put together from shares; undefined: some cannot be known yet. */
export function secretsOfAll(
  { entries }: Pick<SealedBoard, "entries">,
  roster: Roster,
  colluders: number,
  shown: readonly Entry[],
): Map<string, Uint8Array> | undefined {
  const keys = shown.filter(isKey);
  const secrets = new Map(keys.map((entry) => [entry.id, secretIn(entry)]));
  const missing = entries.filter(({ id }) => !secrets.has(id));
  const sharesOf = (id: string) => keys.flatMap((key) => ({ holder: key.id, share: blockFor(key, id) ?? [] }));
  if (missing.some(({ id }) => keys.filter(({ links }) => links.has(id)).length <= colluders)) return undefined;
  for (const entry of missing) {
    const secret = recoveredSecret(entry, roster, colluders, sharesOf(entry.id));
    if (secret === undefined) return undefined;
    secrets.set(entry.id, secret);
  }
  return secrets;
}

/** The secret of an entry's seal from shares of it, whoever has them; undefined: too few are good. */
export function recoveredSecret(
  entry: Entry,
  roster: Roster,
  colluders: number,
  shares: readonly { readonly holder: string; readonly share: ArrayLike<number> }[],
): Uint8Array | undefined {
  const good = new Map<number, Uint8Array>();
  for (const { holder, share } of shares) {
    const [place, bytes] = [placeIn(roster, holder), Uint8Array.from(share)];
    if (bytes.length > 0 && isShareAt(commitmentsOf(entry), place, bytes)) good.set(place, bytes);
    if (good.size > colluders) return secretFrom(good);
  }
  return undefined;
}

/** Whether these are the secrets of all entries. */
export function areSecrets(
  { entries }: Pick<SealedBoard, "entries">,
  secrets: ReadonlyMap<string, Uint8Array>,
): boolean {
  return entries.every((entry) => {
    const secret = secrets.get(entry.id);
    return secret !== undefined && isShareAt(commitmentsOf(entry), 0, secret);
  });
}

/** The sums of a sealed board. */
export function unsealedTotals(
  pads: Pick<Secrets, "padOf">,
  { generation, entries }: Pick<SealedBoard, "generation" | "entries">,
  secrets: ReadonlyMap<string, Uint8Array>,
): Float64Array {
  const total = new Uint32Array(entries[0]?.words.length ?? 0);
  for (const { id, words } of entries) {
    addInt64s(total, words);
    subtractInt64s(total, sealPad(pads, generation.hash, secrets.get(id) ?? new Uint8Array(0), words.length / 2));
  }
  return fromInt64s(total);
}
