// Entries that somebody else wrote, links that one end names, and trees in which somebody is missing: none gives a sum.

import { describe, expect, it } from "vitest";
import { idOf } from "../../src/keys/secrets.ts";
import { Board, closedTree, treeInt64s } from "../../src/sharedClusters/board.ts";
import { type Entry, isEntrySigned, maskedEntry } from "../../src/sharedClusters/entry.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { addInt64s, toInt64s } from "../../src/wire/int64.ts";

const names = ["a", "b", "c", "d"];
const secrets = names.map((name) => simulatedSecrets(name));
const ids = secrets.map(({ key }) => idOf(key));
const now = { hash: new Uint8Array(32).fill(7) };

/** The entry of a device that is linked with these, which it knows by these epochs. */
function entry(i: number, links: Readonly<Record<number, number>>, value = 1, epoch = 1): Entry {
  const partners = Object.entries(links).map(([j, known]) => ({
    peer: names[Number(j)],
    id: ids[Number(j)],
    epoch: known,
  }));
  return maskedEntry(secrets[i], now, { epoch, partners, words: toInt64s([value]) });
}

function closed(entries: readonly Entry[], around = 0) {
  const board = new Board();
  for (const one of entries) board.add(one);
  return board.closedAround(ids[around])?.totals;
}

describe("a board", () => {
  it("is closed where every link is named by both ends", () => {
    expect(closed([entry(0, { 1: 1 }), entry(1, { 0: 1, 2: 1 }), entry(2, { 1: 1 })])).toEqual(Float64Array.of(3));
  });

  it("stays open where one end does not name the link, whoever of the two is asked", () => {
    // b is linked with c; c does not say so, and its pad for b is in nobody's sum.
    const oneSided = [entry(0, { 1: 1 }), entry(1, { 0: 1, 2: 1 }), entry(2, {})];
    expect(closed(oneSided, 0)).toBeUndefined();
    expect(closed(oneSided, 1)).toBeUndefined();
    // From c alone nothing leads further: its sum is its own.
    expect(closed(oneSided, 2)).toEqual(Float64Array.of(1));
    const other = [entry(0, { 1: 1 }), entry(1, { 0: 1 }), entry(2, { 1: 1 })];
    expect(closed(other, 2)).toBeUndefined();
  });

  it.each([0, 2])("stays open where one end names the other by epoch %d instead of 1", (known) => {
    expect(closed([entry(0, { 1: known }), entry(1, { 0: 1 })])).toBeUndefined();
    expect(closed([entry(0, { 1: 1 }), entry(1, { 0: known })])).toBeUndefined();
  });
});

describe("an entry", () => {
  const good = entry(0, { 1: 1, 2: 1 }, 5);

  it("is signed by the key that it names, for this generation", () => {
    expect(isEntrySigned(secrets[3], now, good)).toBe(true);
    expect(isEntrySigned(secrets[3], { hash: new Uint8Array(32).fill(8) }, good)).toBe(false);
  });

  it("is none with another's key, or with any byte of it changed", () => {
    expect(isEntrySigned(secrets[3], now, { ...good, key: secrets[1].key })).toBe(false);
    for (let at = 0; at < good.body.length; at++) {
      const body = Uint8Array.from(good.body, (byte, i) => (i === at ? byte ^ 1 : byte));
      expect(isEntrySigned(secrets[3], now, { ...good, body }), `byte ${at}`).toBe(false);
    }
    for (const at of [0, 31, 32, 63]) {
      const signature = Uint8Array.from(good.signature, (byte, i) => (i === at ? byte ^ 1 : byte));
      expect(isEntrySigned(secrets[3], now, { ...good, signature }), `byte ${at}`).toBe(false);
    }
  });
});

describe("sums over a tree", () => {
  const sumOf = (...parts: ReturnType<typeof treeInt64s>[]) => {
    const total = parts[0].slice();
    for (const part of parts.slice(1)) addInt64s(total, part);
    return total;
  };
  const own = (value: number) => treeInt64s(Float64Array.of(value));
  /** What masks leave where both ends have added theirs, or only one. */
  const pad = (check: number) => toInt64s([1234, check, 0]);

  it("are those of all devices where every mask has met its counterpart", () => {
    expect(closedTree(sumOf(own(3), own(4), own(5)))).toMatchObject({ count: 3, totals: Float64Array.of(12) });
  });

  it.each([1, -1, 2 ** 40])("are none where %d is left of the masks", (check) => {
    expect(closedTree(sumOf(own(3), own(4), pad(check)))).toBeUndefined();
  });
});
