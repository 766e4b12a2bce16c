// What a proof proves: boards that were closed, by enough devices, for one generation.

import { describe, expect, it } from "vitest";
import { idOf } from "../../src/keys/secrets.ts";
import { maskedEntry } from "../../src/sharedClusters/entry.ts";
import { hashedBase, stages } from "../../src/sharedClusters/generation.ts";
import { signedOpening } from "../../src/sharedClusters/openings.ts";
import { ownIntegers } from "../../src/sharedClusters/plan.ts";
import { baseAfterBoard, firstBase, generationOf, type Proof, provenBase } from "../../src/sharedClusters/proof.ts";
import { knownFrom } from "../../src/sharedClusters/roster.ts";
import { sumsShape } from "../../src/sharedClusters/shape.ts";
import { SharedRows } from "../../src/sharedClusters/sharedRows.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { parseStudy } from "../../src/study/study.ts";
import { toInt64s } from "../../src/wire/int64.ts";
import { MOST_BASE_OPENINGS } from "../../src/wire/limits.ts";

const study = parseStudy(
  "name: s\nk: 2\nfeatures: [{ name: x, unit: m, min: -10, max: 10 }]\nclusters: shared\nprivacy: open\nminimum: 1\nseed: [[1], [2]]\n",
);
const shape = sumsShape(study);
const names = ["a", "b", "c"];
const secrets = names.map((name) => simulatedSecrets(name));
const ids = secrets.map(({ key }) => idOf(key));
const rules = { shape, study: new Uint8Array(16), colluders: 1, secrets: secrets[0] };
// Of what a board of sums asks, without the census before it.
const start = { ...firstBase(rules), stage: stages.rows, numbers: Float64Array.of(1, 2) };
const base = hashedBase(start, rules.study, rules.secrets.digest);

function proofOf(devices: readonly number[], openings: Proof["openings"] = new Map(), of = base): Proof {
  const now = generationOf(rules, of, openings);
  const entries = devices.map((i) => {
    const rows = { data: Float64Array.of(i, i + 3), rows: 2, cols: 1 };
    const own = new SharedRows({
      study,
      shape,
      rows,
      seed: 0,
      sign: secrets[i].sign,
      history: { memory: undefined, onKept() {}, wallClock: () => 0 },
    });
    const partners = devices.flatMap((j) => (i === j ? [] : [{ peer: names[j], id: ids[j], epoch: 1 }]));
    return maskedEntry(secrets[i], now, { epoch: 1, partners, words: toInt64s(ownIntegers(shape, now, own)) });
  });
  return { base: of, openings, entries };
}

const whole = proofOf([0, 1, 2]);

describe("a proof", () => {
  it("leads to the base to which the devices on the board have gone", () => {
    const next = provenBase(rules, whole);
    expect(next).toMatchObject({ number: 1, stage: stages.rows, rows: 6 });
    expect(next).toEqual(provenBase(rules, { ...whole, entries: [...whole.entries].reverse() }));
  });

  it("is open while an entry is missing", () => {
    expect(provenBase(rules, { ...whole, entries: whole.entries.slice(0, 2) })).toBe("open");
    expect(provenBase(rules, { ...whole, entries: [] })).toBe("open");
  });

  it("is false with a byte changed anywhere in what is signed", () => {
    const [first, ...rest] = whole.entries;
    for (const at of [0, 40, first.body.length - 1]) {
      const body = first.body.slice();
      body[at] ^= 1;
      expect(provenBase(rules, { ...whole, entries: [{ ...first, body }, ...rest] })).toBe("false");
    }
    const words = first.words.slice();
    words[0]++;
    const signature = first.signature.slice();
    signature[3] ^= 1;
    expect(provenBase(rules, { ...whole, entries: [{ ...first, signature }, ...rest] })).toBe("false");
  });

  it("is false for another base or other openings than were signed for", () => {
    const other = hashedBase({ ...base, numbers: Float64Array.of(5, 6) }, rules.study, rules.secrets.digest);
    expect(provenBase(rules, { ...whole, base: other })).toBe("false");
    const opening = signedOpening(secrets[1], base.hash, 1, false);
    expect(provenBase(rules, { ...whole, openings: new Map([[opening.id, opening]]) })).toBe("false");
  });

  it("is false with as few signers as may collude, with strangers beside the board, and with suspended members", () => {
    expect(provenBase({ ...rules, colluders: 2 }, proofOf([0, 1]))).toBe("false");
    const [stranger] = proofOf([2, 0]).entries;
    expect(provenBase(rules, { ...proofOf([0, 1]), entries: [...proofOf([0, 1]).entries, stranger] })).toBe("false");
    const opening = signedOpening(secrets[2], base.hash, MOST_BASE_OPENINGS + 1, false);
    expect(provenBase(rules, proofOf([0, 1, 2], new Map([[opening.id, opening]])))).toBe("false");
    expect(provenBase(rules, proofOf([0, 1], new Map([[opening.id, opening]])))).toMatchObject({ number: 1 });
  });

  it("gives a base that names its board, so that different boards lead to different bases", () => {
    const [one, two] = [proofOf([0, 1, 2]), proofOf([0, 1])].map((proof) => provenBase(rules, proof));
    expect(one).not.toEqual(two);
    expect(
      baseAfterBoard(
        rules,
        generationOf(rules, base, new Map()),
        { devices: [], count: 0, totals: Float64Array.of(-1, 0, 0, 0) },
        () => undefined,
      ),
    ).toBe("implausible");
  });
});

describe("devices that are known", () => {
  const linked = (...pairs: readonly [string, string][]) => {
    const all = [...new Set(pairs.flat())];
    return all.map((id) => ({
      id,
      links: new Map(pairs.flatMap(([x, y]) => (x === id ? [[y, 1]] : y === id ? [[x, 1]] : []))),
    }));
  };

  it("are those with two ways to them, and not what one liar invents", () => {
    const board = linked(
      ["self", "n"],
      ["self", "m"],
      ["n", "far"],
      ["m", "far"],
      ["m", "no1"],
      ["m", "no2"],
      ["no1", "no2"],
    );
    expect(knownFrom("self", ["n", "m"], board, 1).sort()).toEqual(["far", "m", "n"]);
    expect(knownFrom("self", ["n", "m"], board, 2).sort()).toEqual(["m", "n"]);
  });
});
