// Statements about keys: who signed what, and everything that is not exactly that.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { linksFileFollowing, linksFileIds, linksFileWithoutAwaited } from "../../src/disk/linksFile.ts";
import {
  encodeKnown,
  encodeRevocations,
  encodeSuccessors,
  isAboutKeys,
  isSigned,
  isVouched,
  keyStatementsInFrame,
  latestSuccessor,
  makeRevocation,
  makeSuccessor,
  parseSuccessorStatements,
  readSuccessors,
  revocationStatements,
  signStatement,
  successorStatementText,
} from "../../src/keys/statements.ts";
import { identity } from "./identities.ts";

const [a, b, c, d] = [1, 2, 3, 4].map(identity);
const at = new Date("2026-11-16T12:00:00.000Z");
const hexOf = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const flipped = (bytes: Uint8Array, at: number) => Uint8Array.from(bytes, (byte, i) => (i === at ? byte ^ 1 : byte));

/** The bytes of the example of docs/protocol.md that has this type. */
function shownBytes(type: string): string {
  const page = readFileSync(new URL("../../../docs/protocol.md", import.meta.url), "utf8");
  const examples = Array.from(page.matchAll(/```text\n(66646b6d[^`]*)```/g), ([, example]) =>
    Array.from(example.matchAll(/^([0-9a-f]+) {2}/gm), ([, bytes]) => bytes).join(""),
  );
  return examples.find((bytes) => bytes.slice(10, 12) === type) ?? "";
}

describe("makeSuccessor(old, next, time)", () => {
  const successor = makeSuccessor(a, b, 1_700_000_000_000);

  it("is the frame of docs/protocol.md, and is vouched for by both keys", () => {
    const frame = encodeSuccessors([successor]);
    expect(hexOf(frame)).toBe(shownBytes("04"));
    expect(isAboutKeys(frame)).toBe(true);
    expect(keyStatementsInFrame(frame)).toEqual({ kind: "successors", successors: [successor] });
    expect(isVouched(successor)).toBe(true);
  });

  it("is not vouched for any more with any of its 200 bytes changed", () => {
    expect(successor.bytes).toHaveLength(200);
    for (let i = 0; i < 200; i++) {
      const [read] = readSuccessors(flipped(successor.bytes, i)) ?? [];
      expect(read !== undefined && isVouched(read), `byte ${i}`).toBe(false);
    }
  });

  it("cannot be made without the old key, nor without the new one, nor from another kind of statement", () => {
    // A thief signs with its own key in the place of the old one, or names somebody who does not want to be named.
    for (const [old, next] of [
      [d, b],
      [a, d],
    ]) {
      const bytes = makeSuccessor(old, next, 5).bytes;
      bytes.set(successor.bytes.subarray(0, 72));
      expect(readSuccessors(bytes)?.map(isVouched)).toEqual([false]);
    }
    const other = successor.bytes.slice();
    other.set(signStatement(a, "revocation 1", successor.bytes.subarray(0, 72)), 72);
    expect(readSuccessors(other)?.map(isVouched)).toEqual([false]);
    expect(isVouched(makeSuccessor(a, a, 5))).toBe(false);
  });

  it("is refused with bytes missing or too many, and with a count that is not theirs", () => {
    const frame = encodeSuccessors([successor]);
    for (const length of [44, 100, 243]) expect(keyStatementsInFrame(frame.subarray(0, length))).toBeUndefined();
    expect(keyStatementsInFrame(Uint8Array.of(...frame, 0))).toBeUndefined();
    expect(keyStatementsInFrame(flipped(frame, 10))).toBeUndefined();
    expect(isAboutKeys(frame.subarray(0, 43))).toBe(false);
    expect(keyStatementsInFrame(encodeKnown(b.peer))).toEqual({ kind: "known", peer: b.peer });
  });

  it("is handed over as one word", () => {
    const text = successorStatementText([successor, makeSuccessor(b, c, 6)]);
    expect(text).toMatch(/^fedkm-successor:[\w-]+$/);
    expect(parseSuccessorStatements(`${text}\n`).map(({ next }) => next)).toEqual([b.peer, c.peer]);
    expect(() => parseSuccessorStatements(text.slice(0, -9))).toThrow(
      'successor must look like fedkm-successor:..., got "fedkm',
    );
    expect(() => parseSuccessorStatements(text.replace(/.$/, "x"))).toThrow("must be signed by both keys");
  });
});

describe("followSuccessors(links, successors, at)", () => {
  const chain = [makeSuccessor(a, b, 1), makeSuccessor(b, c, 2)];
  const north = { name: "north", peer: a.peer, addresses: [] };
  const south = { name: "south", peer: d.peer, addresses: [] };

  it("moves the link that is named and no other, remembers the id before, and changes nothing when it comes again", () => {
    const once = linksFileFollowing([north, south], chain.slice(0, 1), at);
    const former = [{ peer: a.peer, until: at.toISOString() }];
    expect(once).toEqual([{ ...north, peer: b.peer, former, isAwaited: true }, south]);
    expect(linksFileFollowing(once, chain.slice(0, 1), new Date(0))).toEqual(once);
    const met = linksFileWithoutAwaited(once, b.peer);
    expect([once[0], met[0]].map(linksFileIds)).toEqual([[b.peer, a.peer], [b.peer]]);
    // The key before the last one moves nothing any more.
    expect(linksFileFollowing(met, [makeSuccessor(a, d, 9)], at)).toEqual(met);
  });

  it("follows a chain in any order to its end, joins two links of one device, and does not run in circles", () => {
    expect(linksFileFollowing([north], [...chain].reverse(), at)[0]).toMatchObject({ peer: c.peer, name: "north" });
    const twice = [north, { ...south, name: "again", peer: c.peer }];
    expect(linksFileFollowing(twice, chain, at).map(({ name, peer }) => [name, peer])).toEqual([["north", c.peer]]);
    const circle = [...chain, makeSuccessor(c, a, 3)];
    expect([a.peer, b.peer, c.peer]).toContain(latestSuccessor(a.peer, circle));
  });
});

describe("makeRevocation(signer, revoked, reason, time)", () => {
  const revocation = makeRevocation(a, b.peer, "its disk was stolen", 1_700_000_000_000);

  it("is the frame of docs/protocol.md, and is signed", () => {
    const frame = encodeRevocations([revocation]);
    expect(hexOf(frame)).toBe(shownBytes("05"));
    expect(keyStatementsInFrame(frame)).toEqual({ kind: "revocations", revocations: [revocation] });
    expect(isSigned(revocation)).toBe(true);
  });

  it("is not signed any more with any byte changed, or is no revocation at all", () => {
    for (let i = 0; i < revocation.bytes.length; i++) {
      const [read] = revocationStatements(flipped(revocation.bytes, i), 1) ?? [];
      expect(read !== undefined && isSigned(read), `byte ${i}`).toBe(false);
    }
  });

  it("has a printable reason of at most 200 characters, and one that is not is refused", () => {
    const long = makeRevocation(a, b.peer, `\u202e\u0007${"ü".repeat(300)}`, 1);
    expect(long.reason).toMatch(/^\\u\{202e\}\\u\{7\}ü+$/);
    expect(long.reason).toHaveLength(200);
    expect(revocationStatements(long.bytes, 1)).toEqual([long]);
    const raw = revocation.bytes.slice();
    raw[74] = 7;
    expect(revocationStatements(raw, 1)).toBeUndefined();
    expect(revocationStatements(revocation.bytes, 2)).toBeUndefined();
    expect(revocationStatements(Uint8Array.of(...revocation.bytes, ...revocation.bytes), 1)).toBeUndefined();
  });
});
