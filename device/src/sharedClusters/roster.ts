// The roster of a release: which devices take part in it and who is linked to whom, as a census found them. It is part of
// the generation, so that no device adds to sums of which it does not know who else does.

import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { ID_BYTES } from "../keys/secrets.ts";
import { getInteger, setInteger } from "../wire/frames.ts";

// Whether a network holds together without any few of its devices, by counting paths that have no device in common.

/** For each device the numbers of those that it is linked to. */
type Links = readonly (readonly number[])[];

/**
 * Whether all others stay connected whichever `fewer` devices are taken out. By Menger's theorem that is so if fewer + 1
 * paths without a common device lead between any two of as many chosen ones, and from everybody else to all of these.
 */
export function holdsWithout(links: Links, fewer: number): boolean {
  const wanted = fewer + 1;
  if (links.length <= wanted) return false;
  const network = pathNetwork(links, wanted);
  for (let from = 0; from < links.length; from++) {
    if (from >= wanted && network.paths(outOf(from), network.chosen) < wanted) return false;
    for (let to = from + 1; to < wanted; to++) {
      if (!links[from].includes(to) && network.paths(outOf(from), into(to)) < wanted) return false;
    }
  }
  return true;
}

/**
 * Devices on a board that are no inventions of `colluders` others: more than that many paths without a common device lead
 * to them from this one (`self`), over its own links and those that both ends have signed for.
 */
export function knownFrom(
  self: string,
  ownLinks: readonly string[],
  entries: readonly { readonly id: string; readonly links: ReadonlyMap<string, number> }[],
  colluders: number,
): string[] {
  const ids = [self, ...entries.flatMap(({ id }) => (id === self ? [] : [id]))];
  const numbers = new Map(ids.map((id, n) => [id, n]));
  const links = ids.map(() => new Set<number>());
  const join = (a: number | undefined, b: number | undefined) => {
    if (a === undefined || b === undefined) return;
    links[a].add(b);
    links[b].add(a);
  };
  for (const id of ownLinks) join(0, numbers.get(id));
  for (const { id, links: signed } of entries)
    if (id !== self) for (const other of signed.keys()) join(numbers.get(id), numbers.get(other));
  const network = pathNetwork(
    links.map((others) => [...others]),
    colluders + 1,
  );
  return ids.filter((_, n) => n > 0 && (links[0].has(n) || network.paths(outOf(0), into(n)) > colluders));
}

/** Every device is two nodes with one way through it, so that only one path can use it. */
const into = (device: number) => 2 * device;
const outOf = (device: number) => 2 * device + 1;

interface Arc {
  readonly to: number;
  /** The same arc in the other direction. */
  readonly back: number;
}

/** Paths of which each takes the arcs that it uses away from the others; `chosen` is a node behind the first devices. */
function pathNetwork(links: Links, wanted: number) {
  const chosen = 2 * links.length;
  const arcs: Arc[] = [];
  const from: number[][] = Array.from({ length: chosen + 1 }, () => []);
  const isFree: number[] = [];
  const connect = (a: number, b: number) => {
    from[a].push(arcs.length);
    arcs.push({ to: b, back: arcs.length + 1 });
    from[b].push(arcs.length);
    arcs.push({ to: a, back: arcs.length - 1 });
    isFree.push(1, 0);
  };
  links.forEach((others, device) => {
    connect(into(device), outOf(device));
    for (const other of others) connect(outOf(device), into(other));
    if (device < wanted) connect(outOf(device), chosen);
  });
  const paths = (source: number, sink: number) => {
    const free = Uint8Array.from(isFree);
    let found = 0;
    while (found < wanted && takePath(source, sink, free)) found++;
    return found;
  };
  /** One path more over arcs that are free, which may give back arcs of those before. */
  const takePath = (source: number, sink: number, /* IN OUT */ free: Uint8Array) => {
    const reachedBy = new Int32Array(from.length).fill(-1);
    const queue = [source];
    for (const node of queue) {
      for (const arc of from[node]) {
        const { to } = arcs[arc];
        if (free[arc] === 0 || to === source || reachedBy[to] >= 0) continue;
        reachedBy[to] = arc;
        queue.push(to);
      }
      if (reachedBy[sink] >= 0) break;
    }
    if (reachedBy[sink] < 0) return false;
    for (let node = sink; node !== source; node = arcs[arcs[reachedBy[node]].back].to) {
      free[reachedBy[node]] = 0;
      free[arcs[reachedBy[node]].back] = 1;
    }
    return true;
  };
  return { paths, chosen };
}

/** Who takes part in validated sums, and how they are linked. */
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
