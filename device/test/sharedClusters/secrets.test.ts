// Pads and signatures of real keys: both ends have the same pad, nobody else's passes, and masked numbers look like none.

import { expect, it } from "vitest";
import { nodeSecrets } from "../../src/keys/nodeSecrets.ts";
import { pageSecrets } from "../../src/keys/pageSecrets.ts";
import { createIdentity } from "../../src/keys/peer.ts";
import { idOf } from "../../src/keys/secrets.ts";
import { maskedEntry } from "../../src/sharedClusters/entry.ts";
import { addInt64s, fromInt64s, int64sToBytes, toInt64s } from "../../src/wire/int64.ts";

const identities = await Promise.all([createIdentity(), createIdentity(), createIdentity()]);
const [a, b, c] = identities.map((identity) => nodeSecrets(identity));
const [peerA, peerB, peerC] = identities.map(({ peer }) => peer);
const info = new TextEncoder().encode("info");

it("both ends of a link have the same pad, another one for other info, and a third device has none of them", () => {
  const pad = a.padOf(a.padSeed(peerB, info), 100);
  expect(b.padOf(b.padSeed(peerA, info), 100)).toEqual(pad);
  expect(a.padOf(a.padSeed(peerB, new TextEncoder().encode("other")), 100)).not.toEqual(pad);
  expect(c.padOf(c.padSeed(peerA, info), 100)).not.toEqual(pad);
  expect(c.padOf(c.padSeed(peerB, info), 100)).not.toEqual(pad);
});

it("a signature holds for its key and its bytes only", () => {
  const signature = a.sign(info);
  expect(b.isSigned(a.key, info, signature)).toBe(true);
  expect(b.isSigned(c.key, info, signature)).toBe(false);
  expect(b.isSigned(a.key, new Uint8Array(4), signature)).toBe(false);
  expect(b.isSigned(new Uint8Array(32).fill(255), info, signature)).toBe(false);
});

const partner = (peer: string, secrets: typeof a, epoch: number) => ({ peer, id: idOf(secrets.key), epoch });

function entriesOf(number: number, vectors: readonly (readonly number[])[], epochs = [1, 2, 3]) {
  const now = { hash: a.digest(Uint8Array.of(number)) };
  const members = [partner(peerA, a, epochs[0]), partner(peerB, b, epochs[1]), partner(peerC, c, epochs[2])];
  return [a, b, c].map((secrets, i) =>
    maskedEntry(secrets, now, {
      epoch: epochs[i],
      partners: members.filter((_, j) => j !== i),
      words: toInt64s(vectors[i]),
    }),
  );
}

it("the masked vectors of three devices add up to the sum of their vectors, and none is its own", () => {
  const vectors = [
    [1, -2, 3e15],
    [4, 5, -6],
    [2 ** 61, 0, 1],
  ];
  const entries = entriesOf(1, vectors);
  const total = new Uint32Array(6);
  for (const { words } of entries) addInt64s(total, words);
  expect(Array.from(fromInt64s(total))).toEqual([5 + 2 ** 61, 3, 3e15 - 5]);
  entries.forEach(({ words }, i) => {
    expect(Array.from(fromInt64s(words))).not.toEqual(vectors[i]);
  });
});

it("pads are others after a start of either end, and in another generation", () => {
  const vectors = [[0], [0], [0]];
  const first = entriesOf(1, vectors)[0].words;
  expect(entriesOf(1, vectors)[0].words).toEqual(first);
  expect(entriesOf(1, vectors, [9, 2, 3])[0].words).not.toEqual(first);
  expect(entriesOf(1, vectors, [1, 9, 3])[0].words).not.toEqual(first);
  expect(entriesOf(2, vectors)[0].words).not.toEqual(first);
});

it("bytes of masked zeros are uniform: chi-square of 256 values, p above .001", () => {
  const counts = new Float64Array(256);
  const zeros = [0, 1, 2].map(() => new Array<number>(2_000).fill(0));
  for (let number = 0; number < 4; number++) {
    for (const { words } of entriesOf(number, zeros)) for (const byte of int64sToBytes(words)) counts[byte]++;
  }
  const expected = counts.reduce((sum, count) => sum + count, 0) / 256;
  const chi = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  // The .999 quantile of chi-square with 255 degrees of freedom.
  expect(chi).toBeLessThan(330.5);
});

it("a device in a page has the pads, signatures and digests of one in Node, to the bit", () => {
  const page = pageSecrets(identities[0]);
  for (const integers of [0, 1, 9, 1024])
    expect(page.padOf(page.padSeed(peerB, info), integers)).toEqual(b.padOf(b.padSeed(peerA, info), integers));
  expect(Array.from(page.sign(info))).toEqual(Array.from(a.sign(info)));
  expect(page.isSigned(b.key, info, b.sign(info))).toBe(true);
  expect(page.isSigned(b.key, new Uint8Array(4), b.sign(info))).toBe(false);
  expect(page.isSigned(new Uint8Array(32).fill(255), info, b.sign(info))).toBe(false);
  expect(Array.from(page.digest(info))).toEqual(Array.from(a.digest(info)));
  expect(page.key).toEqual(a.key);
});
