// An entry of the board: the masked integers of one device in one generation, with its links, signed.

import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { ID_BYTES, idOf, KEY_BYTES, type Secrets, SIGNATURE_BYTES } from "../keys/secrets.ts";
import { getInteger, setInteger } from "../wire/frames.ts";
import { addInt64s, type Int64s, int64sFromBytes, int64sToBytes, subtractInt64s } from "../wire/int64.ts";
import { MOST_ENTRIES } from "../wire/limits.ts";
import type { Generation } from "./generation.ts";

export interface Entry {
  readonly key: Uint8Array;
  readonly id: string;
  readonly epoch: number;
  /** The devices whose pads are in the integers, and their epochs. */
  readonly links: ReadonlyMap<string, number>;
  readonly words: Int64s;
  /** All of the above as bytes, which are signed. */
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
  /** Of the signature: how devices say which entries they have. */
  readonly mark: string;
}

export const MARK_BYTES = 8;
/** Key 32, epoch 8, number of links 2. */
const ENTRY_HEAD_BYTES = KEY_BYTES + 10;
const LINK_BYTES = ID_BYTES + 8;

export function entryBytes(links: number, integers: number): number {
  return ENTRY_HEAD_BYTES + links * LINK_BYTES + 8 * integers + SIGNATURE_BYTES;
}

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
}

/** The own entry: integers with a pad of each partner, added by one of the two and subtracted by the other. */
export function maskedEntry(secrets: Secrets, generation: Pick<Generation, "hash">, posting: Posting): Entry {
  const links = new Map(posting.partners.map((partner) => [partner.id, partner.epoch]));
  return ownEntry(secrets, generation, posting.epoch, masked(secrets, generation, posting), links);
}

/** Without links: sums over several devices, as a device passes them on. Their pads are those of the devices. */
export function ownEntry(
  secrets: Secrets,
  generation: Pick<Generation, "hash">,
  epoch: number,
  words: Int64s,
  links: Entry["links"] = new Map(),
): Entry {
  const content = { key: secrets.key, epoch, links, words };
  const body = bodyOf(content);
  return signedEntry(content, body, secrets.sign(signedBytes(generation, body)));
}

/** The words of a device with a pad of each partner. */
export function masked(
  secrets: Secrets,
  { hash }: Pick<Generation, "hash">,
  { epoch, partners, words }: Posting,
): Int64s {
  const id = idOf(secrets.key);
  const sums = words.slice();
  for (const partner of partners) {
    const pad = padBetween(secrets, hash, { id, epoch }, partner, words.length / 2);
    (id < partner.id ? addInt64s : subtractInt64s)(sums, pad);
  }
  return sums;
}

/** The pad of a link in a generation. The device with the smaller id adds it, the other one subtracts it. */
export function padBetween(
  secrets: Secrets,
  hash: Uint8Array,
  own: { readonly id: string; readonly epoch: number },
  partner: PadPartner,
  integers: number,
): Int64s {
  const epochs = own.id < partner.id ? [own.epoch, partner.epoch] : [partner.epoch, own.epoch];
  return secrets.pad(partner.peer, padInfo(hash, epochs), integers);
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

type EntryContent = Pick<Entry, "key" | "epoch" | "links" | "words">;

function signedEntry(said: EntryContent, body: Uint8Array, signature: Uint8Array): Entry {
  return { ...said, id: idOf(said.key), body, signature, mark: bytesToHex(signature.subarray(0, MARK_BYTES)) };
}

function bodyOf({ key, epoch, links, words }: EntryContent): Uint8Array {
  const body = new Uint8Array(ENTRY_HEAD_BYTES + links.size * LINK_BYTES + 4 * words.length);
  const view = new DataView(body.buffer);
  body.set(key);
  setInteger(view, KEY_BYTES, epoch);
  view.setUint16(KEY_BYTES + 8, links.size, true);
  let at = ENTRY_HEAD_BYTES;
  for (const [id, epochThere] of links) {
    body.set(hexToBytes(id), at);
    setInteger(view, at + ID_BYTES, epochThere);
    at += LINK_BYTES;
  }
  body.set(int64sToBytes(words), at);
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
): { readonly entry: Entry; readonly end: number } | undefined {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (at + ENTRY_HEAD_BYTES > frame.length) return undefined;
  const many = view.getUint16(at + KEY_BYTES + 8, true);
  if (many > MOST_ENTRIES) return undefined;
  const end = at + entryBytes(many, integers);
  if (end > frame.length) return undefined;
  const key = frame.slice(at, at + KEY_BYTES);
  const epoch = getInteger(view, at + KEY_BYTES);
  if (!Number.isSafeInteger(epoch)) return undefined;
  const [body, signature] = [frame.slice(at, end - SIGNATURE_BYTES), frame.slice(end - SIGNATURE_BYTES, end)];
  const mark = bytesToHex(signature.subarray(0, MARK_BYTES));
  let [links, words]: [Entry["links"] | undefined, Int64s | undefined] = [undefined, undefined];
  const entry: Entry = {
    ...{ key, id: idOf(key), epoch, body, signature, mark },
    // Read when they are needed: whose signature is false costs no more than that.
    get links() {
      links ??= linksIn(body, many);
      return links;
    },
    get words() {
      words ??= int64sFromBytes(body.subarray(body.length - 8 * integers));
      return words;
    },
  };
  return { entry, end };
}

function linksIn(body: Uint8Array, many: number): Entry["links"] {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const links = new Map<string, number>();
  for (let n = 0, from = ENTRY_HEAD_BYTES; n < many; n++, from += LINK_BYTES)
    links.set(bytesToHex(body.subarray(from, from + ID_BYTES)), getInteger(view, from + ID_BYTES));
  return links;
}
