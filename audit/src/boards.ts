// What somebody who sees every frame of shared clusters can put together: sums over all devices, rows
// that moved alone, and what a coalition learns that knows the pads of its own links.

import type { Contract, Study } from "@fedkm/device";
import {
  addInt64s,
  type Base,
  Board,
  baseAfterBoard,
  baseAfterKeys,
  type Content,
  decodeShared,
  type Entry,
  firstBase,
  fractionBits,
  type Generation,
  generationOf,
  hashedBase,
  type Int64s,
  idOf,
  isSealed,
  membershipOf,
  type Openings,
  offsetsOf,
  padSeeds,
  type Secrets,
  secretsOfAll,
  stages,
  sumsShape,
  unsealedTotals,
  withoutPads,
} from "@fedkm/device/shared";
import { bytesToHex } from "@noble/hashes/utils.js";

// One row that moves alone: what anybody can read from the totals of shared clusters, one generation after the other.

/** Sums of a generation, of all devices or of some. */
export interface GenerationTotals {
  readonly content: Content;
  readonly totals: Float64Array;
}

/** Points, in the features' units, that differences of totals give. Whether they are rows is a judge's to say. */
export function rowsMovedAlone(study: Study, all: readonly GenerationTotals[]): number[][] {
  const shape = sumsShape(study);
  const { k, d, ranges, middle, releasing } = shape;
  const known = all.flatMap(({ content, totals }) => {
    if (releasing !== undefined) {
      const around = content.stage === stages.release ? offsetsOf(releasing, content, totals) : undefined;
      if (around === undefined) return [];
      const whole = around.counts.map(Math.round);
      const place = (i: number) => around.centroids[i] + middle[i % d];
      return [{ counts: whole, sums: around.offsets.map((sum, i) => sum + whole[Math.floor(i / d)] * place(i)) }];
    }
    if (content.stage !== stages.rows) return [];
    const unit = 2 ** fractionBits(content.rows);
    const counts = Array.from(totals.subarray(0, k));
    const sums = Array.from({ length: k * d }, (_, i) => {
      const count = counts[Math.floor(i / d)];
      return count * (content.numbers[i] + middle[i % d]) + (totals[k + i] / unit) * ranges[i % d];
    });
    return [{ counts, sums }];
  });
  const found: number[][] = [];
  const note = (count: number, sum: (f: number) => number) => {
    if (Math.abs(count) === 1) found.push(study.features.map(({ scale }, f) => (sum(f) / count) * scale));
  };
  known.forEach(({ counts, sums }, n) => {
    for (let c = 0; c < k; c++) {
      note(counts[c], (f) => sums[c * d + f]);
      // Against everything that was known before: numbers of clusters stay the same.
      for (const before of known.slice(0, n)) {
        note(counts[c] - before.counts[c], (f) => sums[c * d + f] - before.sums[c * d + f]);
      }
    }
  });
  return found;
}

// Devices that put together all they know about shared clusters: the entries of all, and the pads of their own links.
// What they learn is found by elimination over a prime field, with nothing assumed about the graph.

interface CoalitionSum {
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
  const bared = honest.map((entry) =>
    coalitionEntry(coalition[0], entry, (other, epochThere) => {
      const secrets = members.get(other);
      const { id, epoch } = entry;
      const partners = [{ peer: nameOf(id), id, epoch }];
      return secrets && padSeeds(secrets, hash, { epoch: epochThere, partners }).get(id);
    }),
  );
  return combinations(honest, (id) => members.has(id)).map((shares) => {
    const words = new Uint32Array(bared[0]?.length ?? 0);
    shares.forEach((share, i) => {
      if (share === 1) addInt64s(words, bared[i]);
    });
    return { devices: honest.flatMap(({ id }, i) => (shares[i] === 1 ? [id] : [])), words };
  });
}

/** An entry with the pads taken out whose seeds somebody knows (`seedOf`). */
export function coalitionEntry(
  secrets: Pick<Secrets, "padOf">,
  entry: Entry,
  seedOf: (other: string, epochThere: number) => Uint8Array | undefined,
): Int64s {
  const known = Array.from(entry.links, ([other, epochThere]) => [other, seedOf(other, epochThere)] as const);
  const seeds = known.flatMap(([other, seed]) => (seed === undefined ? [] : [[other, seed] as const]));
  return withoutPads(secrets, entry, new Map(seeds));
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
  const free = echelon(rows).filter((row) => row.slice(0, pads.length).every((share) => share === 0n));
  return free.map((row) => row.slice(pads.length).map(Number));
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

/** All entries of a generation. */
export interface GenerationEntries {
  readonly hash: Uint8Array;
  readonly content: Content | undefined;
  readonly entries: readonly Entry[];
}

interface ObservedGeneration {
  readonly hash: Uint8Array;
  readonly base: string;
  readonly openings: Openings;
  /** Undefined: its base is not known. */
  content: Generation | undefined;
  /** Every entry that was ever posted, by its mark. */
  readonly entries: Map<string, Entry>;
}

/** A sealed board that is complete, and what opens it as far as it was shown. */
export interface SealedSums {
  readonly content: Generation;
  readonly entries: readonly Entry[];
  readonly shown: readonly Entry[];
}

// Long: one closure over what was seen.
/** Reads boards as a neighbour of shared clusters can. */
export function observeBoards(
  study: Study,
  contract: Contract,
  secrets: Pick<Secrets, "keyOf" | "digest" | "isSigned" | "padOf">,
) {
  const shape = sumsShape(study);
  const read = decodeShared(shape);
  const membership = membershipOf(study, contract.hash, secrets);
  const founding = membership && { founding: membership.hash };
  const rules = { shape, study: contract.hash, colluders: study.colluders ?? 1, secrets, ...founding };
  const generations = new Map<string, ObservedGeneration>();
  const first = firstBase(rules);
  const bases = new Map([[bytesToHex(first.hash), first]]);
  /** Complete boards that were sealed, by the base that they led to. */
  const sealed = new Map<string, { keys: Base; content: Generation; entries: readonly Entry[] }>();
  const shownFor = (keys: string) =>
    [...generations.values()].flatMap(({ base, entries }) => (base === keys ? [...entries.values()] : []));
  /** The sums of sealed boards whose secrets were all shown. */
  const opened = () =>
    Array.from(sealed, ([name, { keys, content, entries }]) => {
      const shown = shownFor(name);
      const found = keys.roster && secretsOfAll({ entries }, keys.roster, rules.colluders, shown);
      return { keys, content, entries, shown, found };
    });
  const closedIn = ({ entries }: ObservedGeneration) => {
    const found = new Map<string, { devices: readonly string[]; totals: Float64Array; board: Board }>();
    // A device posts again in a generation only after a start, so one board for each of its entries shows all sums.
    for (const last of entries.values()) {
      const board = new Board();
      board.add(last);
      for (const entry of entries.values()) if (entry.id !== last.id) board.add(entry);
      const closed = board.closedAround(last.id);
      if (closed !== undefined) found.set([...closed.devices].sort().join(" "), { ...closed, board });
    }
    return [...found.values()];
  };
  /** Bases follow from closed boards, as for every device. */
  const resolve = () => {
    for (const seen of generations.values()) {
      const base = bases.get(seen.base);
      if (base === undefined) continue;
      seen.content ??= generationOf(rules, base, seen.openings);
      for (const { board, ...closed } of closedIn(seen)) {
        const sums = { ...closed, count: closed.devices.length };
        const next = baseAfterBoard(rules, seen.content, sums, (id) => board.entryOf(id));
        if (next === "implausible") continue;
        bases.set(bytesToHex(next.hash), next);
        const entries = closed.devices.flatMap((id) => board.entryOf(id) ?? []);
        if (next.stage === stages.keys)
          sealed.set(bytesToHex(next.hash), { keys: next, content: seen.content, entries });
      }
      for (const { keys, content, entries, found } of opened()) {
        const next = found && baseAfterKeys(rules, content, keys, entries, found);
        if (typeof next === "object") bases.set(bytesToHex(next.hash), next);
      }
    }
  };
  return {
    see(frame: Uint8Array) {
      const message = read(contract, frame);
      if (message.kind !== "board" && message.kind !== "proof") return;
      if (message.base !== undefined) {
        const shown = hashedBase(message.base, contract.hash, secrets.digest);
        bases.set(bytesToHex(shown.hash), shown);
      }
      const name = bytesToHex(message.hash);
      const openings = new Map(message.openings.map((opening) => [opening.id, opening]));
      const seen = generations.get(name) ?? {
        ...{ hash: message.hash, base: bytesToHex(message.order.hash), openings, content: undefined },
        entries: new Map(),
      };
      generations.set(name, seen);
      for (const entry of message.entries) seen.entries.set(entry.mark, entry);
    },
    /** Sums over all devices, generation by generation, as everybody has them. */
    sums: () => {
      resolve();
      return [...generations.values()].flatMap((seen) => {
        const { content } = seen;
        if (content === undefined || content.stage === stages.keys) return [];
        if (!isSealed(content)) return closedIn(seen).map(({ devices, totals }) => ({ content, devices, totals }));
        const name = bytesToHex(content.hash);
        return opened().flatMap(({ content: own, entries, found }) => {
          if (found === undefined || bytesToHex(own.hash) !== name) return [];
          const totals = unsealedTotals(rules.secrets, { generation: own, entries }, found);
          return [{ content: own, devices: entries.map(({ id }) => id), totals }];
        });
      });
    },
    /** Boards that were complete under their seals. */
    sealed: (): SealedSums[] => {
      resolve();
      return opened().map(({ content, entries, shown }) => ({ content, entries, shown }));
    },
    /** Entries by generation, as anybody could collect them. */
    entries: () => {
      resolve();
      return Array.from(
        generations.values(),
        ({ hash, content, entries }): GenerationEntries => ({ hash, content, entries: [...entries.values()] }),
      );
    },
  };
}
