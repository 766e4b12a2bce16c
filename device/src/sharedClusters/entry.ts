// An entry of the board: the masked integers of one device in one generation, with its links, signed.

import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { ID_BYTES, idOf, KEY_BYTES, type Secrets, SIGNATURE_BYTES } from "../keys/secrets.ts";
import { getInteger, setInteger } from "../wire/frames.ts";
import { addInt64s, type Int64s, int64sFromBytes, int64sToBytes, subtractInt64s } from "../wire/int64.ts";
import { MOST_ENTRIES } from "../wire/limits.ts";
import type { Generation } from "./generation.ts";

/** The signed, masked integers of one device. */
export interface Entry {
  readonly key: Uint8Array;
  readonly id: string;
  readonly epoch: number;
  /** The devices whose pads are in the integers, and their epochs. */
  readonly links: ReadonlyMap<string, number>;
  /** Of the seeds of these pads: with them an entry commits to its integers, although nobody can read them. */
  readonly seedMarks: ReadonlyMap<string, string>;
  readonly words: Int64s;
  /** Of private devices, in the stages of a release: see `seal.ts`. */
  readonly seal: Uint8Array;
  /** All of the above as bytes, which are signed. */
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
  /** Of the signature: how devices say which entries they have. */
  readonly mark: string;
}

export const MARK_BYTES = 8;
/** Key 32, epoch 8, number of links 2. */
const ENTRY_HEAD_BYTES = KEY_BYTES + 10;
const SEED_MARK_BYTES = 16;
const LINK_BYTES = ID_BYTES + 8 + SEED_MARK_BYTES;
const NO_SEAL = new Uint8Array(0);

export const entryBytes = ({ body }: Pick<Entry, "body">) => body.length + SIGNATURE_BYTES;

/** A linked device, under the epoch in which it counts. */
interface PadPartner {
  readonly peer: string;
  readonly id: string;
  readonly epoch: number;
}

/** What a device posts, before it is masked. */
interface Posting {
  readonly epoch: number;
  readonly partners: readonly PadPartner[];
  readonly words: Int64s;
  readonly seal?: Uint8Array;
}

/** The own entry: integers with a pad of each partner, added by one of the two and subtracted by the other. */
export function maskedEntry(secrets: Secrets, generation: Pick<Generation, "hash">, posting: Posting): Entry {
  const seeds = padSeeds(secrets, generation.hash, posting);
  const words = withPads(secrets, idOf(secrets.key), posting.words, seeds);
  const links = new Map(posting.partners.map((partner) => [partner.id, partner.epoch]));
  const seedMarks = new Map(Array.from(seeds, ([id, seed]) => [id, seedMark(secrets, seed)]));
  return ownEntry(secrets, generation, { ...posting, words, links, seedMarks });
}

/** Without links: sums over several devices, as a device passes them on. Their pads are those of the devices. */
export function ownEntry(
  secrets: Secrets,
  generation: Pick<Generation, "hash">,
  said: Pick<Entry, "epoch" | "words"> & Partial<Pick<Entry, "links" | "seedMarks" | "seal">>,
): Entry {
  const { epoch, words, links = new Map(), seedMarks = new Map(), seal = NO_SEAL } = said;
  const content = { key: secrets.key, epoch, links, seedMarks, words, seal };
  const body = bodyOf(content);
  return signedEntry(content, body, secrets.sign(signedBytes(generation, body)));
}

/** The words of a device with a pad of each partner. */
export function masked(secrets: Secrets, { hash }: Pick<Generation, "hash">, posting: Posting): Int64s {
  return withPads(secrets, idOf(secrets.key), posting.words, padSeeds(secrets, hash, posting));
}

/** Of the pads of a device's links in a generation, by the partners' ids. */
export function padSeeds(
  secrets: Secrets,
  hash: Uint8Array,
  { epoch, partners }: Omit<Posting, "words">,
): Map<string, Uint8Array> {
  const id = idOf(secrets.key);
  return new Map(
    partners.map((partner) => {
      const epochs = id < partner.id ? [epoch, partner.epoch] : [partner.epoch, epoch];
      return [partner.id, secrets.padSeed(partner.peer, padInfo(hash, epochs))];
    }),
  );
}

/** The device with the smaller id adds a pad, the other one subtracts it. */
function withPads(
  { padOf }: Pick<Secrets, "padOf">,
  id: string,
  words: Int64s,
  seeds: ReadonlyMap<string, Uint8Array>,
  isTakenOut = false,
): Int64s {
  const sums = words.slice();
  for (const [other, seed] of seeds) {
    const pad = padOf(seed, words.length / 2);
    (id < other !== isTakenOut ? addInt64s : subtractInt64s)(sums, pad);
  }
  return sums;
}

/** What is left of an entry without the pads of these seeds: of all its links, the integers themselves. */
export function withoutPads(
  secrets: Pick<Secrets, "padOf">,
  { id, words }: Pick<Entry, "id" | "words">,
  seeds: ReadonlyMap<string, Uint8Array>,
): Int64s {
  return withPads(secrets, id, words, seeds, true);
}

/** Names a seed without telling it. */
export function seedMark({ digest }: Pick<Secrets, "digest">, seed: Uint8Array): string {
  return bytesToHex(digest(concatBytes(utf8ToBytes("fedkm seed\n"), seed)).subarray(0, SEED_MARK_BYTES));
}

/** Both epochs: whatever is computed anew after a start has other pads. */
function padInfo(hash: Uint8Array, epochs: readonly number[]): Uint8Array {
  const stamps = new Uint8Array(16);
  const view = new DataView(stamps.buffer);
  epochs.forEach((epoch, i) => {
    setInteger(view, 8 * i, epoch);
  });
  return concatBytes(utf8ToBytes("fedkm pad\n"), hash, stamps);
}

type EntryContent = Pick<Entry, "key" | "epoch" | "links" | "seedMarks" | "words" | "seal">;

function signedEntry(said: EntryContent, body: Uint8Array, signature: Uint8Array): Entry {
  return { ...said, id: idOf(said.key), body, signature, mark: bytesToHex(signature.subarray(0, MARK_BYTES)) };
}

function bodyOf({ key, epoch, links, seedMarks, words, seal }: EntryContent): Uint8Array {
  const body = new Uint8Array(ENTRY_HEAD_BYTES + links.size * LINK_BYTES + 4 * words.length + seal.length);
  const view = new DataView(body.buffer);
  body.set(key);
  setInteger(view, KEY_BYTES, epoch);
  view.setUint16(KEY_BYTES + 8, links.size, true);
  let at = ENTRY_HEAD_BYTES;
  for (const [id, epochThere] of links) {
    body.set(hexToBytes(id), at);
    setInteger(view, at + ID_BYTES, epochThere);
    body.set(hexToBytes(seedMarks.get(id) ?? ""), at + ID_BYTES + 8);
    at += LINK_BYTES;
  }
  body.set(int64sToBytes(words), at);
  body.set(seal, body.length - seal.length);
  return body;
}

/** The kind first, so that no other signature of a key passes for this one. The generation's hash has the study in it. */
function signedBytes({ hash }: Pick<Generation, "hash">, body: Uint8Array): Uint8Array {
  return concatBytes(utf8ToBytes("fedkm sums\n"), hash, body);
}

/** Whether its signature holds, and it names each link once. */
export function isEntrySigned(
  secrets: Pick<Secrets, "isSigned">,
  generation: Pick<Generation, "hash">,
  entry: Pick<Entry, "key" | "body" | "signature" | "links">,
): boolean {
  const { key, body, signature } = entry;
  if (!secrets.isSigned(key, signedBytes(generation, body), signature)) return false;
  const named = new DataView(body.buffer, body.byteOffset).getUint16(KEY_BYTES + 8, true);
  return entry.links.size === named && [...entry.links.values()].every(Number.isSafeInteger);
}

/** The entry that begins there, and where it ends; undefined: there is none of this many integers. */
export function decodeEntry(
  frame: Uint8Array,
  at: number,
  integers: number,
  sealLength: (links: number) => number,
): { readonly entry: Entry; readonly end: number } | undefined {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (at + ENTRY_HEAD_BYTES > frame.length) return undefined;
  const many = view.getUint16(at + KEY_BYTES + 8, true);
  if (many > MOST_ENTRIES) return undefined;
  const wordsEnd = ENTRY_HEAD_BYTES + many * LINK_BYTES + 8 * integers;
  const end = at + wordsEnd + sealLength(many) + SIGNATURE_BYTES;
  if (end > frame.length) return undefined;
  const key = frame.slice(at, at + KEY_BYTES);
  const epoch = getInteger(view, at + KEY_BYTES);
  if (!Number.isSafeInteger(epoch)) return undefined;
  const [body, signature] = [frame.slice(at, end - SIGNATURE_BYTES), frame.slice(end - SIGNATURE_BYTES, end)];
  const mark = bytesToHex(signature.subarray(0, MARK_BYTES));
  let [links, words]: [ReturnType<typeof linksIn> | undefined, Int64s | undefined] = [undefined, undefined];
  const entry: Entry = {
    ...{ key, id: idOf(key), epoch, body, signature, mark, seal: body.subarray(wordsEnd) },
    // Read when they are needed: whose signature is false costs no more than that.
    get links() {
      links ??= linksIn(body, many);
      return links.epochs;
    },
    get seedMarks() {
      links ??= linksIn(body, many);
      return links.seedMarks;
    },
    get words() {
      words ??= int64sFromBytes(body.subarray(wordsEnd - 8 * integers, wordsEnd));
      return words;
    },
  };
  return { entry, end };
}

function linksIn(body: Uint8Array, many: number) {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const epochs = new Map<string, number>();
  const seedMarks = new Map<string, string>();
  for (let n = 0, from = ENTRY_HEAD_BYTES; n < many; n++, from += LINK_BYTES) {
    const id = bytesToHex(body.subarray(from, from + ID_BYTES));
    epochs.set(id, getInteger(view, from + ID_BYTES));
    seedMarks.set(id, bytesToHex(body.subarray(from + ID_BYTES + 8, from + LINK_BYTES)));
  }
  return { epochs, seedMarks };
}
