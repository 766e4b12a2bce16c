// When a board is closed, and who is caught with two entries.

import { describe, expect, it } from "vitest";
import { idOf } from "../../src/keys/secrets.ts";
import { Board } from "../../src/sharedClusters/board.ts";
import { type Entry, maskedEntry, padSeeds, seedMark, withoutPads } from "../../src/sharedClusters/entry.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { fromInt64s, toInt64s } from "../../src/wire/int64.ts";

const names = ["a", "b", "c"];
const secrets = names.map((name) => simulatedSecrets(name));
const ids = secrets.map(({ key }) => idOf(key));
const now = { hash: new Uint8Array(32).fill(7) };

/** The entry of a device that names the others by these epochs. */
function entry(i: number, value: number, epochs = [1, 1, 1], isWrong = (_: string) => false): Entry {
  const partners = names.flatMap((peer, j) => (i === j ? [] : [{ peer, id: ids[j], epoch: epochs[j] }]));
  const padSeed: (typeof secrets)[0]["padSeed"] = (peer, info) =>
    secrets[i].padSeed(isWrong(peer) ? "somebody" : peer, info);
  return maskedEntry({ ...secrets[i], padSeed }, now, { epoch: epochs[i], partners, words: toInt64s([value]) });
}

function boardOf(...entries: readonly Entry[]): Board {
  const board = new Board();
  for (const one of entries) board.add(one);
  return board;
}

describe("a board", () => {
  it("is closed when all are there, and gives their sum, whoever asks", () => {
    const board = boardOf(entry(0, 5), entry(1, -7), entry(2, 30));
    for (const id of ids) expect(board.closedAround(id)).toMatchObject({ totals: Float64Array.of(28) });
    expect(board.closedAround(ids[1])?.devices).toHaveLength(3);
  });

  it("is open while somebody is missing, or is named by another epoch than it posted under", () => {
    expect(boardOf(entry(0, 5), entry(1, -7)).closedAround(ids[0])).toBeUndefined();
    const restarted = boardOf(entry(0, 5), entry(1, -7), entry(2, 30, [1, 1, 2]));
    expect(restarted.closedAround(ids[0])).toBeUndefined();
  });

  it("takes the entry of the later epoch, and keeps the first of two of one epoch", () => {
    const board = boardOf(entry(0, 5), entry(1, -7), entry(2, 30));
    expect(board.add(entry(1, 8))).toBe(false);
    expect(board.closedAround(ids[0])?.totals).toEqual(Float64Array.of(28));
    expect(board.add(entry(1, 8, [1, 3, 1]))).toBe(true);
    expect(board.closedAround(ids[0])).toBeUndefined();
  });

  it("stays open while the two ends of a link signed for different pads, and names both", () => {
    const wrong = entry(1, -7, [1, 1, 1], (peer) => peer === "c");
    const board = boardOf(entry(0, 5), wrong, entry(2, 30));
    expect(board.closedAround(ids[0])).toBeUndefined();
    expect([...board.disputed]).toEqual([[ids[1], ids[2]].sort().join(" ")]);
    expect([board.isDisputed(ids[0], ids[1]), board.isDisputed(ids[2], ids[1])]).toEqual([false, true]);
  });
});

it("an entry without the pads of all its links is what was posted, and without all but one it is not", () => {
  const partners = [1, 2].map((j) => ({ peer: names[j], id: ids[j], epoch: 1 }));
  const seeds = padSeeds(secrets[0], now.hash, { epoch: 1, partners });
  const posted = entry(0, 5);
  expect(Array.from(seeds, ([id, seed]) => [id, seedMark(secrets[1], seed)])).toEqual([...posted.seedMarks]);
  expect(fromInt64s(withoutPads(secrets[2], posted, seeds))).toEqual(Float64Array.of(5));
  seeds.delete(ids[1]);
  expect(fromInt64s(withoutPads(secrets[2], posted, seeds))).not.toEqual(Float64Array.of(5));
});
