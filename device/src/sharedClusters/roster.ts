// The roster of a release: which devices take part in it and who is linked to whom, as a census found them. It is part of
// the generation, so that no device adds to sums of which it does not know who else does.

import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { ID_BYTES } from "../keys/secrets.ts";
import { holdsWithout, type Links } from "../masked/connectivity.ts";
import { getInteger, setInteger } from "../wire/studyFrames.ts";

export interface Roster {
  /** Which answer it is for: the first, or a later one to which owners consented. */
  readonly version: number;
  /** In order; none while they are counted. */
  readonly ids: readonly string[];
  /** A bit for each pair of devices, from the lowest: whether they are linked. */
  readonly links: Uint8Array;
}

/** Version 8, number of devices 2. */
const ROSTER_HEAD_BYTES = 10;
const pairsOf = (devices: number) => (devices * (devices - 1)) / 2;
/** Of two devices, the lower one first. */
const pairAt = (low: number, high: number) => pairsOf(high) + low;

export const emptyRoster = (version: number): Roster => ({ version, ids: [], links: new Uint8Array(0) });

/** Of devices that all name each other. */
export function rosterOf(
  version: number,
  devices: readonly string[],
  linksOf: (id: string) => Iterable<string>,
): Roster {
  const ids = [...devices].sort();
  const links = new Uint8Array(Math.ceil(pairsOf(ids.length) / 8));
  const placeOf = new Map(ids.map((id, place) => [id, place]));
  ids.forEach((id, high) => {
    for (const other of linksOf(id)) {
      const low = placeOf.get(other) ?? high;
      if (low < high) links[pairAt(low, high) >> 3] |= 1 << (pairAt(low, high) & 7);
    }
  });
  return { version, ids, links };
}

function linksIn({ ids, links }: Roster): Links {
  const isLinked = (a: number, b: number) => {
    const pair = pairAt(Math.min(a, b), Math.max(a, b));
    return a !== b && (links[pair >> 3] & (1 << (pair & 7))) !== 0;
  };
  const places = Array.from(ids.keys());
  return places.map((a) => places.filter((b) => isLinked(a, b)));
}

/** Whether a device with these links is in it as it is. */
export function isPlaceOf(roster: Roster, id: string, partners: readonly string[]): boolean {
  const place = roster.ids.indexOf(id);
  if (place < 0) return false;
  const named = linksIn(roster)[place].map((other) => roster.ids[other]);
  return named.length === partners.length && named.every((other) => partners.includes(other));
}

/**
 * Whether so many colluders learn nothing but sums over all others: these must stay connected without them. Devices that
 * colluders invent are linked to colluders alone, so they fail here too.
 */
export function isSafe(roster: Roster, colluders: number): boolean {
  return holdsWithout(linksIn(roster), colluders);
}

export function rosterBytes({ version, ids, links }: Roster): Uint8Array {
  const bytes = new Uint8Array(ROSTER_HEAD_BYTES + ID_BYTES * ids.length + links.length);
  const view = new DataView(bytes.buffer);
  setInteger(view, 0, version);
  view.setUint16(8, ids.length, true);
  bytes.set(hexToBytes(ids.join("")), ROSTER_HEAD_BYTES);
  bytes.set(links, ROSTER_HEAD_BYTES + ID_BYTES * ids.length);
  return bytes;
}

/** The roster that begins there, and where it ends; undefined: there is none. */
export function decodeRoster(
  bytes: Uint8Array,
  at: number,
): { readonly roster: Roster; readonly end: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (at + ROSTER_HEAD_BYTES > bytes.length) return undefined;
  const version = getInteger(view, at);
  const devices = view.getUint16(at + 8, true);
  const linksAt = at + ROSTER_HEAD_BYTES + ID_BYTES * devices;
  const end = linksAt + Math.ceil(pairsOf(devices) / 8);
  if (end > bytes.length || !Number.isSafeInteger(version)) return undefined;
  const ids = Array.from({ length: devices }, (_, n) =>
    bytesToHex(bytes.subarray(at + ROSTER_HEAD_BYTES + ID_BYTES * n, at + ROSTER_HEAD_BYTES + ID_BYTES * (n + 1))),
  );
  if (ids.some((id, n) => n > 0 && id <= ids[n - 1])) return undefined;
  return { roster: { version, ids, links: bytes.slice(linksAt, end) }, end };
}
