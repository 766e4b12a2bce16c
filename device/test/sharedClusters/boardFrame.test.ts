// The frames of shared clusters, to the byte.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testSeed } from "../../../test/runs.ts";
import { idOf } from "../../src/keys/secrets.ts";
import { type BoardMessage, decodeShared, encodeBoardMessage } from "../../src/sharedClusters/boardFrame.ts";
import { maskedEntry } from "../../src/sharedClusters/entry.ts";
import { type Base, hashedBase, orderOf, stages } from "../../src/sharedClusters/generation.ts";
import { MOST_SPENT, signedOpening } from "../../src/sharedClusters/openings.ts";
import { sumsShape } from "../../src/sharedClusters/shape.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { contractOf, parseStudy } from "../../src/study/study.ts";
import { toInt64s } from "../../src/wire/int64.ts";

const study = parseStudy(`name: small
k: 1
features: [{ name: x, unit: m, min: -10, max: 10 }]
clusters: shared
privacy: open
`);
const contract = await contractOf(study);
const read = decodeShared(sumsShape(study));
const secrets = simulatedSecrets("a");
const spent = new Map([[idOf(secrets.keyOf("c")), 3]]);
const content = { stage: stages.rows, steps: 3, rows: 40, seeded: 40, numbers: Float64Array.of(1.5), spent };
const hashes = { parent: new Uint8Array(32).fill(1), board: new Uint8Array(32).fill(2) };
const withNumber = (value: number) =>
  hashedBase({ ...content, ...hashes, number: 7, numbers: Float64Array.of(value) }, contract.hash, secrets.digest);
const base = withNumber(1.5);
const now = { hash: new Uint8Array(32).fill(3) };
const partners = [{ peer: "b", id: idOf(secrets.keyOf("b")), epoch: 6 }];
const entry = maskedEntry(secrets, now, { epoch: 5, partners, words: toInt64s([20, -1]) });
const message: Omit<BoardMessage, "base"> = {
  kind: "proof",
  stamp: { epoch: 5, sequence: 9 },
  knows: 6,
  order: orderOf(base),
  hash: now.hash,
  openings: [signedOpening(secrets, base.hash, 2, true)],
  isAsking: true,
  isDropped: false,
  isIdle: true,
  wantsOpening: false,
  isBelow: false,
  hasHeard: false,
  have: [entry.mark],
  integers: 2,
  entries: [entry],
};
const frameOf = (given: Base | undefined) => encodeBoardMessage(contract, { ...message, base: given });
const frame = frameOf(base);

describe("a frame of shared clusters", () => {
  it("comes back as it was written", () => {
    const { hash: _, ...written } = base;
    expect(read(contract, frame)).toEqual({ ...message, base: written });
    expect(read(contract, frameOf(undefined))).toEqual({ ...message, base: undefined });
  });

  it("has the length that docs/protocol.md says", () => {
    // 44 of the header, 98; the base has 94, 17 of a member and 8 of a number; 100 of an opening, 8 of a mark; the entry
    // has 42, 40 of a link, 16 and 64.
    expect(frame.length).toBe(44 + 98 + (94 + 17 + 8) + 100 + 8 + (42 + 40 + 16 + 64));
  });

  it("is refused with a reason, whatever bytes are changed or missing, and never throws", () => {
    fc.assert(
      fc.property(
        fc.nat(frame.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.nat(frame.length),
        (at, flip, length) => {
          const changed = frame.slice();
          changed[at] ^= flip;
          expect(["board", "proof", "refused", "study", "order"]).toContain(read(contract, changed).kind);
          if (length < frame.length) expect(read(contract, frame.subarray(0, length)).kind).toBe("refused");
        },
      ),
      { seed: testSeed },
    );
  });

  it("with centroids out of bounds or not finite is refused", () => {
    expect(read(contract, frameOf(withNumber(10.1)))).toEqual({ kind: "refused", reason: "bounds" });
    expect(read(contract, frameOf(withNumber(Number.NaN)))).toEqual({ kind: "refused", reason: "number" });
    expect(read(contract, frameOf(withNumber(10))).kind).toBe("proof");
  });

  it("with more entries than a board has is refused before one is read", () => {
    const many = encodeBoardMessage(contract, { ...message, base, entries: new Array(257).fill(entry) });
    expect(read(contract, many)).toEqual({ kind: "refused", reason: "entry" });
  });

  it("with two entries of one device, or a base of more openings than are kept, is refused", () => {
    const twice = encodeBoardMessage(contract, { ...message, base, entries: [entry, entry] });
    expect(read(contract, twice)).toEqual({ kind: "refused", reason: "entry" });
    const opened = (many: number) => {
      const ids = Array.from({ length: many }, (_, n): [string, number] => [n.toString(16).padStart(32, "0"), 1]);
      return read(contract, frameOf(hashedBase({ ...base, spent: new Map(ids) }, contract.hash, secrets.digest)));
    };
    expect(opened(MOST_SPENT).kind).toBe("proof");
    expect(opened(MOST_SPENT + 1)).toEqual({ kind: "refused", reason: "entry" });
  });
});
