// Devices that put together all they know about shared clusters: the entries of all, and the pads of their own links.
// What they learn is found by elimination over a prime field, with nothing assumed about the graph.

import { idOf, type Secrets } from "../../device/src/keys/nodeSecrets.ts";
import { type Entry, padBetween } from "../../device/src/sharedClusters/entry.ts";
import { addInt64s, type Int64s, subtractInt64s } from "../../device/src/wire/int64.ts";

export interface CoalitionSum {
  /** Sums over these devices, of whom none is in the coalition, and nothing finer. */
  readonly devices: readonly string[];
  readonly words: Int64s;
}

/**
 * Every sum of honest devices' vectors that follows from the entries of one generation and from what the coalition can
 * compute. `hash` is the generation's; `nameOf` gives the peer of an id.
 */
export function coalitionSums(
  entries: readonly Entry[],
  hash: Uint8Array,
  coalition: readonly Secrets[],
  nameOf: (id: string) => string,
): CoalitionSum[] {
  const members = new Map(coalition.map((secrets) => [idOf(secrets.key), secrets]));
  const honest = entries.filter(({ id }) => !members.has(id));
  const bared = honest.map((entry) => withoutPads(entry, hash, members, nameOf));
  return combinations(honest, (id) => members.has(id)).map((shares) => {
    const words = new Uint32Array(bared[0]?.length ?? 0);
    shares.forEach((share, i) => {
      if (share === 1) addInt64s(words, bared[i]);
    });
    return { devices: honest.flatMap(({ id }, i) => (shares[i] === 1 ? [id] : [])), words };
  });
}

/** An entry with the pads taken out that somebody of the coalition knows. */
function withoutPads(
  { id, epoch, links, words }: Entry,
  hash: Uint8Array,
  members: ReadonlyMap<string, Secrets>,
  nameOf: (id: string) => string,
): Int64s {
  const left = words.slice();
  for (const [other, epochThere] of links) {
    const secrets = members.get(other);
    if (secrets === undefined) continue;
    const own = { id: other, epoch: epochThere };
    const pad = padBetween(secrets, hash, own, { peer: nameOf(id), id, epoch }, words.length / 2);
    (id < other ? subtractInt64s : addInt64s)(left, pad);
  }
  return left;
}

/** What entries add up to. */
export function sumOfEntries(entries: readonly Entry[]): Int64s {
  const total = new Uint32Array(entries[0]?.words.length ?? 0);
  for (const { words } of entries) addInt64s(total, words);
  return total;
}

const PRIME = 2_147_483_647n;
const reduced = (value: bigint) => ((value % PRIME) + PRIME) % PRIME;

/**
 * The combinations of honest entries in which no unknown pad is left: a basis in reduced form, as shares of each entry.
 * Unknown are the pads of links to devices outside of the coalition, whether these have posted or not; a pad depends on
 * the epochs of both ends.
 */
function combinations(honest: readonly Entry[], isMember: (id: string) => boolean): number[][] {
  const padsOf = ({ id, epoch, links }: Entry) =>
    Array.from(links).flatMap(([other, epochThere]) => {
      if (isMember(other)) return [];
      return [{ isLower: id < other, name: [`${id} ${epoch}`, `${other} ${epochThere}`].sort().join(" ") }];
    });
  const own = honest.map(padsOf);
  const pads = [...new Set(own.flatMap((all) => all.map(({ name }) => name)))];
  const signOf = (i: number, pad: string) => {
    const found = own[i].find(({ name }) => name === pad);
    return found === undefined ? 0n : found.isLower ? 1n : PRIME - 1n;
  };
  // A row for each entry: its signs in every pad, then which combination of entries it is.
  const rows = honest.map((_, i) => [
    ...pads.map((pad) => signOf(i, pad)),
    ...honest.map((_, j) => (i === j ? 1n : 0n)),
  ]);
  let done = 0;
  for (let column = 0; column < pads.length; column++) {
    const pivot = rows.findIndex((row, i) => i >= done && row[column] !== 0n);
    if (pivot < 0) continue;
    [rows[done], rows[pivot]] = [rows[pivot], rows[done]];
    for (let i = done + 1; i < rows.length; i++) {
      const factor = reduced(rows[i][column] * inverse(rows[done][column]));
      if (factor !== 0n) rows[i] = rows[i].map((value, c) => reduced(value - factor * rows[done][c]));
    }
    done++;
  }
  const free = rows.slice(done).map((row) => row.slice(pads.length));
  return echelon(free).map((row) => row.map(Number));
}

/** In reduced row echelon form, in which sums over parts that do not overlap stand as themselves. */
function echelon(given: readonly bigint[][]): bigint[][] {
  const rows = given.map((row) => [...row]);
  let done = 0;
  for (let column = 0; column < (rows[0]?.length ?? 0); column++) {
    const pivot = rows.findIndex((row, i) => i >= done && row[column] !== 0n);
    if (pivot < 0) continue;
    [rows[done], rows[pivot]] = [rows[pivot], rows[done]];
    const scale = inverse(rows[done][column]);
    rows[done] = rows[done].map((value) => reduced(value * scale));
    for (let i = 0; i < rows.length; i++) {
      const factor = rows[i][column];
      if (i !== done && factor !== 0n) rows[i] = rows[i].map((value, c) => reduced(value - factor * rows[done][c]));
    }
    done++;
  }
  return rows;
}

function inverse(value: bigint): bigint {
  let [result, base] = [1n, value];
  for (let rest = PRIME - 2n; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * base) % PRIME;
    base = (base * base) % PRIME;
  }
  return result;
}
