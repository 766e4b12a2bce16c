// What opened books show, what is evidence, and whose books may be opened.

import { describe, expect, it } from "vitest";
import { idOf } from "../../src/keys/secrets.ts";
import { decodeShared, encodeBookMessage, FRAME_ITEMS_BYTES } from "../../src/sharedClusters/boardFrame.ts";
import {
  decodeItem,
  type Evidence,
  encodeItem,
  isDoubtSigned,
  mayOpenBooks,
  provenFault,
  readBooks,
  signedDoubt,
} from "../../src/sharedClusters/books.ts";
import { maskedEntry, padSeeds } from "../../src/sharedClusters/entry.ts";
import { hashedBase, stages } from "../../src/sharedClusters/generation.ts";
import { signedOpening } from "../../src/sharedClusters/openings.ts";
import { firstBase, generationOf } from "../../src/sharedClusters/proof.ts";
import { holdsWithout } from "../../src/sharedClusters/roster.ts";
import { sumsShape } from "../../src/sharedClusters/shape.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { contractOf, parseStudy } from "../../src/study/study.ts";
import { toInt64s } from "../../src/wire/int64.ts";

const study = parseStudy(
  "name: s\nk: 2\nfeatures: [{ name: x, unit: m, min: -10, max: 10 }]\nclusters: shared\nprivacy: open\nmostRows: 50\nbooks: agreed\nseed: [[1], [2]]\n",
);
const shape = sumsShape(study);
const names = ["a", "b", "c"];
const secrets = names.map((name) => simulatedSecrets(name));
const ids = secrets.map(({ key }) => idOf(key));
const rules = { shape, study: new Uint8Array(16), colluders: 1, secrets: secrets[2] };
// Of what a board of sums asks, without the census before it.
const start = { ...firstBase(rules), stage: stages.rows, seeded: 9, numbers: Float64Array.of(1, 2) };
const base = hashedBase(start, rules.study, rules.secrets.digest);
const opening = signedOpening(secrets[1], base.hash, 3, false);
const openings = new Map([[opening.id, opening]]);
const now = generationOf(rules, base, openings);
const partners = [1, 2].map((j) => ({ peer: names[j], id: ids[j], epoch: 1 }));
const seeds = padSeeds(secrets[0], now.hash, { epoch: 1, partners });
const entryOf = (integers: readonly number[], epoch = 1) =>
  maskedEntry(secrets[0], now, { epoch, partners, words: toInt64s(integers) });
const unit = 2 ** 40;

describe("opened books", () => {
  it("show what was posted", () => {
    expect(readBooks(rules, now, entryOf([20, 30, unit, -unit]), seeds)).toEqual({ rows: 50, fault: undefined });
  });

  it("are none with an altered seed, or with one missing", () => {
    const entry = entryOf([20, 30, 0, 0]);
    const altered = new Map(seeds).set(
      ids[1],
      seeds.get(ids[1])?.map((byte, i) => byte ^ (i === 47 ? 1 : 0)) ?? base.hash,
    );
    expect(readBooks(rules, now, entry, altered)).toBeUndefined();
    expect(readBooks(rules, now, entry, new Map([...seeds].slice(1)))).toBeUndefined();
  });

  it.each([
    [[20, 31, 0, 0], "51 rows where 50 are allowed"],
    [[-1, 5, 0, 0], "a negative number of rows"],
    [[4, 0, 2.3 * unit, 0], "rows outside of the study's bounds"],
    [[0, 0, 0, 100], "rows outside of the study's bounds"],
  ])("of %j claim %s", (integers, fault) => {
    expect(readBooks(rules, now, entryOf(integers), seeds)?.fault).toBe(fault);
  });
});

const falseBooks = (integers: readonly number[]): Evidence => ({
  ...{ kind: "false books", base, members: new Uint8Array(0), openings: [opening] },
  ...{ entry: entryOf(integers), seeds },
});
const twoEntries = (one: readonly number[], other: readonly number[], epoch = 1): Evidence => ({
  ...{ kind: "two entries", generation: now.hash, entries: [entryOf(one), entryOf(other, epoch)] },
});

describe("evidence", () => {
  const good = [falseBooks([60, 0, 0, 0]), twoEntries([1, 0, 0, 0], [2, 0, 0, 0])];

  it("goes through bytes, and proves the same to everybody", () => {
    for (const item of good) {
      const bytes = encodeItem(item);
      const decoded = decodeItem(rules, bytes);
      expect(decoded && encodeItem(decoded)).toEqual(bytes);
      expect(provenFault(rules, decoded as Evidence)?.id).toBe(ids[0]);
      for (let length = 0; length < bytes.length; length += 7)
        expect(decodeItem(rules, bytes.subarray(0, length))).toBeUndefined();
    }
  });

  it("is against nobody who keeps to the rules: one entry an epoch, of rows that it may hold", () => {
    expect(provenFault(rules, falseBooks([50, 0, 0, 0]))).toBeUndefined();
    expect(provenFault(rules, twoEntries([1, 0, 0, 0], [1, 0, 0, 0]))).toBeUndefined();
    expect(provenFault(rules, twoEntries([1, 0, 0, 0], [2, 0, 0, 0], 2))).toBeUndefined();
  });

  it("proves nothing with any byte changed, but for signatures of openings, which only their numbers count of", () => {
    for (const item of good) {
      const bytes = encodeItem(item);
      const found = Array.from(bytes.keys()).filter((at) => {
        const altered = bytes.slice();
        altered[at] ^= 1;
        const decoded = decodeItem(rules, altered);
        if (decoded?.kind !== "two entries" && decoded?.kind !== "false books") return false;
        return provenFault(rules, decoded) !== undefined;
      });
      // Of an opening: the second half of its key, and its signature.
      const free = item.kind === "false books" ? 16 + 64 : 0;
      expect(found.length).toBe(free);
    }
  });
});

it("a doubt is signed for one base", () => {
  const doubt = signedDoubt(secrets[0], base.hash);
  expect(isDoubtSigned(rules.secrets, doubt)).toBe(true);
  expect(isDoubtSigned(rules.secrets, { ...doubt, base: now.hash })).toBe(false);
  expect(isDoubtSigned(rules.secrets, { ...doubt, key: secrets[1].key })).toBe(false);
});

it("a frame of books comes back as it was written, and is refused when it is cut anywhere", async () => {
  const contract = await contractOf(study);
  const items = [encodeItem(signedDoubt(secrets[0], base.hash)), encodeItem(falseBooks([60, 0, 0, 0]))];
  const message = { kind: "books" as const, stamp: { epoch: 3, sequence: 4 }, have: ["0011223344556677"], items };
  const frame = encodeBookMessage(contract, message);
  const read = decodeShared(shape);
  expect(read(contract, frame)).toEqual(message);
  for (let length = 44; length < frame.length; length++)
    expect(read(contract, frame.subarray(0, length))).toMatchObject({ kind: "refused" });
});

it("a frame of books is as long as an honest one at most, unless one item alone is longer", async () => {
  const contract = await contractOf(study);
  const read = (...lengths: readonly number[]) => {
    const items = lengths.map((length) => new Uint8Array(length));
    const message = { kind: "books" as const, stamp: { epoch: 3, sequence: 4 }, have: [], items };
    return decodeShared(shape)(contract, encodeBookMessage(contract, message)).kind;
  };
  expect(read(FRAME_ITEMS_BYTES / 2, FRAME_ITEMS_BYTES / 2)).toBe("books");
  expect(read(FRAME_ITEMS_BYTES / 2, FRAME_ITEMS_BYTES / 2 + 1)).toBe("refused");
  expect(read(2 * FRAME_ITEMS_BYTES)).toBe("books");
});

it("books open only while those who have not opened stay connected without these and a colluder", () => {
  const all = Array.from({ length: 8 }, (_, n) => idOf(simulatedSecrets(`d${n}`).key));
  const linkedTo = (n: number) => [1, 2, 6, 7].map((step) => all[(n + step) % 8]);
  const entries = all.map((id, n) => ({ id, links: new Map(linkedTo(n).map((other) => [other, 1])) }));
  const open = mayOpenBooks(rules, now, entries);
  const left = entries.filter(({ id }) => !open.has(id));
  const places = left.map(({ links }) => left.flatMap(({ id }, n) => (links.has(id) ? [n] : [])));
  expect(open.size).toBeGreaterThan(0);
  expect(holdsWithout(places, 1)).toBe(true);
  expect(mayOpenBooks(rules, now, [...entries].reverse())).toEqual(open);
  // Three devices hide each other: none may open.
  const three = [0, 1, 2].map((n) => ({
    id: ids[n],
    links: new Map(ids.filter((id) => id !== ids[n]).map((id) => [id, 1])),
  }));
  expect(mayOpenBooks(rules, now, three).size).toBe(0);
});
