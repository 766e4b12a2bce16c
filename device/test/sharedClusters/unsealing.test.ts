// How sealed sums come to be read: who can, when, and that of two sums that share a device only one ever is.

import { matrix, randomStream } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { idOf } from "../../src/keys/secrets.ts";
import { quorumOf, SharedPrivateRows } from "../../src/privacy/privateRows.ts";
import { type Entry, maskedEntry, ownEntry } from "../../src/sharedClusters/entry.ts";
import { rosterOf } from "../../src/sharedClusters/roster.ts";
import { SCALAR_BYTES, sealFrom, sealPad } from "../../src/sharedClusters/seal.ts";
import {
  areSecrets,
  heldShares,
  isDecided,
  isUnsealing,
  keyEntry,
  recoveredSecret,
  sealOfEntry,
  secretsOfAll,
  tallyEntry,
  unsealedTotals,
} from "../../src/sharedClusters/unsealing.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { parseStudy } from "../../src/study/study.ts";
import { addInt64s, toInt64s } from "../../src/wire/int64.ts";

const COLLUDERS = 1;
const hash = new Uint8Array(32).fill(3);
const generation = { hash: new Uint8Array(32).fill(4) };

/** A complete board of devices that are linked to as many before and after them; device `liar` gives false shares. */
function boardOf(many: number, reach: number, liar = -1) {
  const devices = Array.from({ length: many }, (_, i) => simulatedSecrets(`device-${i}`));
  const ids = devices.map(({ key }) => idOf(key));
  const near = (i: number) =>
    Array.from({ length: 2 * reach }, (_, s) => (i + many + (s < reach ? s - reach : s - reach + 1)) % many);
  const roster = rosterOf(1, ids, (id) => near(ids.indexOf(id)).map((j) => ids[j]));
  const seals = devices.map((_, i) => sealFrom(new Uint8Array(32).fill(i + 1), COLLUDERS));
  const entries = devices.map((secrets, i): Entry => {
    const partners = near(i).map((j) => ({ peer: `device-${j}`, id: ids[j], epoch: 1 }));
    const words = toInt64s([10 + i, -i]);
    addInt64s(words, sealPad(secrets, hash, seals[i].secret, 2));
    const given = i === liar ? { ...seals[i], shareAt: seals[(i + 1) % many].shareAt } : seals[i];
    const seal = sealOfEntry(secrets, { hash, roster }, given, 1, partners);
    return maskedEntry(secrets, { hash }, { epoch: 1, partners, words, seal });
  });
  const board = { generation: { hash }, entries, entryOf: (id: string) => entries[ids.indexOf(id)] };
  const heldBy = (i: number) => heldShares(devices[i], board, roster, (id) => `device-${ids.indexOf(id)}`);
  const keyOf = (i: number) => keyEntry(devices[i], generation, COLLUDERS, seals[i].secret, heldBy(i));
  const decidedBy = (tallied: readonly number[]) => isDecided(board, COLLUDERS, new Set(tallied.map((i) => ids[i])));
  return { devices, ids, roster, seals, board, heldBy, keyOf, decidedBy };
}

describe("a sealed board", () => {
  it("is read with the keys of all, and with those of one partner more than colluders in place of who has left", () => {
    const { board, roster, keyOf, seals, ids, devices } = boardOf(5, 2);
    const all = [0, 1, 2, 3, 4].map(keyOf);
    for (const shown of [all, all.slice(1), [all[0], all[3]]]) {
      const secrets = secretsOfAll(board, roster, COLLUDERS, shown);
      expect(secrets?.get(ids[2])).toEqual(seals[2].secret);
      expect(secrets && unsealedTotals(devices[0], board, secrets)).toEqual(Float64Array.of(60, -10));
    }
    expect(secretsOfAll(board, roster, COLLUDERS, [all[1]])).toBeUndefined();
  });

  it("shows a colluder no secret of anybody, whatever shares it holds", () => {
    const { board, roster, ids, heldBy } = boardOf(5, 2);
    for (const entry of board.entries.slice(1)) {
      const share = heldBy(0).get(entry.id) ?? [];
      expect(share.length).toBe(SCALAR_BYTES);
      expect(recoveredSecret(entry, roster, COLLUDERS, [{ holder: ids[0], share }])).toBeUndefined();
    }
  });

  it("is not read with a secret that is not its device's, nor with false shares of one who has left", () => {
    const { board, roster, keyOf, heldBy, seals, ids } = boardOf(5, 2);
    const all = new Map(ids.map((id, i) => [id, seals[i].secret]));
    expect(areSecrets(board, all)).toBe(true);
    expect(areSecrets(board, new Map(all).set(ids[2], seals[3].secret))).toBe(false);
    expect(areSecrets(board, new Map([...all].slice(1)))).toBe(false);
    // Of device 2 a liar shows a share of another's secret: two good ones are found beside it, one is too few.
    const shares = [0, 1, 3].map((i) => ({ holder: ids[i], share: heldBy(i).get(ids[2]) ?? [] }));
    const lie = { holder: ids[0], share: heldBy(0).get(ids[3]) ?? [] };
    const [, one, two] = shares;
    expect(recoveredSecret(board.entries[2], roster, COLLUDERS, [lie, one, two])).toEqual(seals[2].secret);
    expect(recoveredSecret(board.entries[2], roster, COLLUDERS, [lie, one])).toBeUndefined();
    expect(secretsOfAll(board, roster, COLLUDERS, [keyOf(0), keyOf(1)])?.get(ids[2])).toEqual(seals[2].secret);
  });

  it("is given no tally by partners of a device whose shares are false", () => {
    const { heldBy, ids } = boardOf(5, 2, 3);
    expect(heldBy(0).get(ids[3])).toBeUndefined();
    expect(heldBy(0).get(ids[2])).toBeDefined();
  });

  it("takes tallies and true keys of its devices, and nothing else", () => {
    const { board, devices, seals, keyOf, ids } = boardOf(5, 2);
    const [own, stranger] = [devices[1], simulatedSecrets("stranger")];
    const tally = tallyEntry(own, generation, COLLUDERS);
    expect(isUnsealing(board, tally)).toBe(true);
    expect(isUnsealing(board, keyOf(1))).toBe(true);
    expect(isUnsealing(board, tallyEntry(stranger, generation, COLLUDERS))).toBe(false);
    expect(isUnsealing(board, keyEntry(own, generation, COLLUDERS, seals[2].secret, new Map()))).toBe(false);
    const { words, seal } = tally;
    expect(isUnsealing(board, ownEntry(own, generation, { epoch: 1, words }))).toBe(false);
    expect(isUnsealing(board, ownEntry(own, generation, { epoch: 3, words, seal }))).toBe(false);
    expect(
      isUnsealing(board, ownEntry(own, generation, { epoch: 1, words, seal, links: new Map([[ids[0], 0]]) })),
    ).toBe(false);
  });

  it("is read after the tallies of more than half of all and the colluders, if shares of all others are held", () => {
    const five = boardOf(5, 2);
    expect([five.decidedBy([0, 1, 2]), five.decidedBy([0, 1, 2, 3])]).toEqual([false, true]);
    // With two colluders these could be half of two groups, each with partners enough.
    expect(isDecided(five.board, 2, new Set(five.ids.slice(0, 3)))).toBe(false);
    // In a ring the partners of one that is missing hold its shares.
    expect(boardOf(5, 1).decidedBy([0, 1, 2, 3])).toBe(true);
    // Two of its partners have not said that their shares are good: perhaps they are not.
    const nine = boardOf(9, 2);
    expect([nine.decidedBy([0, 1, 2, 3, 4, 5]), nine.decidedBy([0, 2, 3, 4, 5, 6, 7, 8])]).toEqual([false, true]);
  });
});

describe("what a device has posted and tallied", () => {
  const study = parseStudy(`name: private
k: 1
clusters: shared
privacy: private
typicalRows: 10
devices: 4
lifetimeEpsilon: 9
features: [{ name: x, unit: "", min: -1, max: 1 }]
`);
  const rowsOf = () => {
    const rows = new SharedPrivateRows(study, undefined, () => {});
    rows.take(matrix([[0.5]]));
    return rows;
  };
  const asked = (among: readonly string[], at: number) => ({
    ...({ stage: "round 1", of: [...among].sort().join(" "), version: 1, among, at } as const),
  });
  /** Asked until it is written down. */
  const post = (rows: SharedPrivateRows, request: ReturnType<typeof asked>) => {
    const draw = () => Float64Array.of(1);
    for (let n = 0; n < 3; n++) rows.integersFor(request, draw);
    return rows.integersFor(request, draw);
  };

  it("costs nothing until it is read, and then once", () => {
    const rows = rowsOf();
    const [first, second] = [asked(["a", "b", "c", "d", "e"], 1), asked(["a", "b", "c", "d"], 3)];
    expect(post(rows, first)).toEqual(Float64Array.of(1));
    expect(post(rows, second)).toEqual(Float64Array.of(1));
    expect(rows.status()).toMatchObject({ epsilonSpent: 0, releases: 0 });
    expect([rows.mayTally(first), rows.mayTally(second), rows.mayTally(second)]).toEqual([false, true, true]);
    expect([rows.pay(second), rows.pay(second), rows.status().releases]).toEqual([true, true, 1]);
    expect(rows.refusal(asked(["a", "b", "c"], 5))).toMatch(/waits for consent to do it again$/);
    expect(post(rows, second)).toEqual(Float64Array.of(1));
  });

  it("rules out sums over others, unless enough of those are in them, and earlier ones", () => {
    const rows = rowsOf();
    const first = asked(["a", "b", "c", "d", "e", "f"], 4);
    post(rows, first);
    expect(rows.refusal(asked(["a", "b", "c", "x", "y"], 6))).toMatch(/^waits for devices that were in sums/);
    expect(post(rows, asked(["a", "b", "c", "d", "x"], 3))).toBe("stale");
    expect(rows.mayTally(first)).toBe(true);
    expect(rows.refusal(asked(["a", "b", "c", "d", "e"], 6))).toMatch(/^waits for devices that were in sums/);
  });

  it("is paid for when others have read it while the device was away, and when it cannot know", () => {
    const rows = rowsOf();
    const request = { ...asked(["a", "b", "c", "d"], 1), of: "0123456789abcdef" };
    post(rows, request);
    rows.noteRead({ version: 1, steps: 1, last: 5 });
    expect(rows.status().releases).toBe(0);
    rows.noteRead({ version: 1, steps: 1, last: 0x0123456789ab });
    expect(rows.status().releases).toBe(1);
    for (const later of [
      { version: 1, steps: 2, last: 5 },
      { version: 2, steps: 0, last: 0 },
    ]) {
      const other = rowsOf();
      post(other, asked(["a", "b", "c", "d", "e"], 1));
      post(other, asked(["a", "b", "c", "d"], 3));
      other.noteRead(later);
      // One of the two at most can have been read.
      expect(other.status().releases).toBe(1);
    }
  });

  it("is never read twice among other devices, in 300 networks that try in any order with a liar who tallies all", () => {
    let read = 0;
    for (let seed = 0; seed < 300; seed++) {
      const random = randomStream(seed, "rivals");
      const names = Array.from({ length: 5 + Math.floor(4 * random()) }, (_, i) => `${i}`);
      const [, ...honest] = names.map((id) => ({ id, rows: rowsOf() }));
      const attempts = Array.from({ length: 4 }, (_, a) => {
        const among = names.filter((id) => id === "0" || random() < 0.8);
        return { request: asked(among, a + 1), posted: new Set(["0"]), tallied: new Set(["0"]) };
      });
      for (let n = 0; n < 80; n++) {
        const { request, posted, tallied } = attempts[Math.floor(attempts.length * random())];
        const { id, rows } = honest[Math.floor(honest.length * random())];
        if (!request.among.includes(id)) continue;
        if (request.among.every((other) => posted.has(other))) {
          if (rows.mayTally(request)) tallied.add(id);
        } else if (post(rows, request) instanceof Float64Array) posted.add(id);
      }
      const decided = attempts.filter(({ request, tallied }) => tallied.size >= quorumOf(request.among.length, 1));
      read += decided.length;
      for (const { id } of honest) {
        const own = decided.filter(({ request }) => request.among.includes(id));
        expect(new Set(own.map(({ request }) => request.of)).size, `seed ${seed}`).toBeLessThanOrEqual(1);
      }
    }
    expect(read).toBeGreaterThan(75);
  });
});
