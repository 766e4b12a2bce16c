// The frame of shared clusters, to the byte.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testSeed } from "../../../test/runs.ts";
import { idOf } from "../../src/keys/secrets.ts";
import { decodeShared, encodeBoardMessage } from "../../src/sharedClusters/boardFrame.ts";
import { maskedEntry } from "../../src/sharedClusters/entry.ts";
import { generation, stages } from "../../src/sharedClusters/generation.ts";
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
const content = { stage: stages.rows, steps: 3, rows: 40, seeded: 40, numbers: Float64Array.of(1.5) };
const now = generation(7, content, contract.hash, secrets.digest);
const partners = [{ peer: "b", id: idOf(secrets.keyOf("b")), epoch: 6 }];
const entry = maskedEntry(secrets, now, { epoch: 5, partners, words: toInt64s([20, -1]) });
const message = {
  stamp: { epoch: 5, sequence: 9 },
  knows: 6,
  isDropped: false,
  number: 7,
  hash: now.hash,
  content,
  isAsking: true,
  isBelow: false,
  hasHeard: false,
  have: [entry.mark],
  entries: [entry],
};
const frame = encodeBoardMessage(contract, { ...message, stage: stages.rows });

describe("a frame of shared clusters", () => {
  it("comes back as it was written", () => {
    expect(read(contract, frame)).toEqual({ kind: "board", ...message });
    const short = encodeBoardMessage(contract, { ...message, content: undefined, isAsking: false, stage: stages.rows });
    expect(short.length).toBe(frame.length - 8);
    expect(read(contract, short)).toMatchObject({ content: undefined, isAsking: false });
  });

  it("has the length that docs/protocol.md says", () => {
    // 44 of the header, 44, 28 and 8 of the generation, 8 of a mark; the entry has 42, 24 of a link, 16 and 64.
    expect(frame.length).toBe(44 + 44 + 28 + 8 + 8 + 42 + 24 + 16 + 64);
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
          expect(["board", "refused", "study", "order"]).toContain(read(contract, changed).kind);
          if (length < frame.length) expect(read(contract, frame.subarray(0, length)).kind).toBe("refused");
        },
      ),
      { seed: testSeed },
    );
  });

  it("with centroids out of bounds or not finite is refused", () => {
    const withNumber = (number: number) =>
      read(
        contract,
        encodeBoardMessage(contract, {
          ...message,
          content: { ...content, numbers: Float64Array.of(number) },
          stage: 4,
        }),
      );
    expect(withNumber(10.1)).toEqual({ kind: "refused", reason: "bounds" });
    expect(withNumber(Number.NaN)).toEqual({ kind: "refused", reason: "number" });
    expect(withNumber(10).kind).toBe("board");
  });
});
