import { matrix, toRows } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import {
  canonicalStudy,
  compareStudies,
  contractOf,
  differenceFrom,
  formatStudy,
  parseStudy,
} from "../../src/study/study.ts";
import { scaleRows, unscale } from "../../src/study/units.ts";
import { refusalOf, studyText, studyWith } from "../problem.ts";

const hashOf = async (text: string) => Buffer.from((await contractOf(parseStudy(text))).hash).toString("hex");

describe("parseStudy(text)", () => {
  it("fills in what was left out", () => {
    expect(parseStudy(studyText)).toEqual({
      name: "planes",
      k: 3,
      features: [
        { name: "x1", unit: "m", min: -30, max: 30, scale: 1 },
        { name: "x2", unit: "m", min: -30, max: 30, scale: 1 },
      ],
      alpha: 1,
      coupling: "nearest",
      weighting: "device",
      typicalRows: null,
      privacy: "open",
      minimum: 1,
    });
  });

  it("says in one line which field is wrong, where, and what it should be", () => {
    const said = (from: string, to: string) => refusalOf(studyText.replace(from, to));
    expect(said("k: 3", "k: three")).toBe('k must be an integer from 1 to 65535, got "three", line 2');
    expect(said("k: 3", "k: 0.5")).toBe("k must be an integer from 1 to 65535, got 0.5, line 2");
    expect(said("alpha: 1", "alhpa: 1")).toMatch(/^alhpa must be left out \(fields are name, .*\), got 1, line 6$/);
    expect(said("alpha: 1\n", "")).toBe("alpha must be a number of at least 0, got nothing");
    expect(said("alpha: 1", "alpha: .nan")).toBe("alpha must be a number of at least 0, got NaN, line 6");
    expect(said("privacy: open\n", "")).toBe("privacy must be one of open, guarded, private, got nothing");
    expect(said("x1, unit: m, min: -30", "x1, unit: m, min: 40")).toBe(
      "features[0].max must be above min = 40, got 30, line 4",
    );
    expect(said("name: x2", "name: x1")).toBe(
      'features[1].name must be another than that of features[0], got "x1", line 5',
    );
    expect(said("name: planes", 'name: "a\\u001b[31mb"')).toMatch(/^name must be a text of 1 to 100 printable/);
    expect(said("alpha: 1", "alpha: 1\nweighting: sample")).toMatch(/^typicalRows must be an integer .* got nothing$/);
    expect(said("alpha: 1", "alpha: 1\ntypicalRows: 5")).toMatch(/^typicalRows must be left out unless/);
    expect(said("alpha: 1", "alpha: 1\nneighbours: liars")).toBe(
      'neighbours must be doubted or trusted, got "liars", line 7',
    );
    expect(said("k: 3", "k: 65535")).toMatch(/^k must be small enough for a frame of 1048576 bytes, not 2170923/);
    expect(said("k: 3", "k: [")).toMatch(/^study must be YAML, got: .*line \d+$/);
    expect(said("k: 3", "k: 3\nk: 4")).toMatch(/^study must be YAML, got: Map keys must be unique.*line 3$/);
    for (const whole of ["", "[]", "just a text"]) {
      expect(() => parseStudy(whole)).toThrow(/^study must be a list of fields \(name, k, /);
    }
    expect(() => parseStudy("a".repeat(70_000))).toThrow(/^study must have at most 65536 characters/);
  });

  it("resolves no aliases: a small text cannot grow", () => {
    expect(() => parseStudy(`${studyText}name2: &a [1]\nother: *a\n`)).toThrow();
  });

  it("reads back what formatStudy wrote", () => {
    for (const study of [
      studyWith(),
      studyWith({ neighbours: "trusted" }),
      studyWith({ weighting: "sample", typicalRows: 200, name: "a: b # c" }),
    ]) {
      expect(parseStudy(formatStudy(study))).toEqual(study);
    }
  });
});

describe("contractOf(study)", () => {
  it("has one hash for all ways to write a study, and another for any other study", async () => {
    const reordered = `minimum: 1
privacy: "open"
# A comment, and a default that is spelt out.
coupling: nearest
neighbours: doubted
alpha: 1.0
k: 3
features: [{max: 30, min: -3e1, unit: m, name: x1}, {name: x2, scale: 1, unit: m, min: -30, max: 30}]
name: planes
`;
    const hash = await hashOf(studyText);
    expect(hash).toMatch(/^[0-9a-f]{32}$/);
    expect(await hashOf(reordered)).toBe(hash);
    const changes: [string, string][] = [
      ["planes", "plains"],
      ["k: 3", "k: 4"],
      ["alpha: 1", "alpha: 1.0000000001"],
      ["unit: m", "unit: cm"],
      ["max: 30", "max: 31"],
      ["minimum: 1", "minimum: 2"],
      ["privacy: open", "privacy: private\ntypicalRows: 100"],
      ["alpha: 1", "alpha: 1\ncoupling: transport"],
      ["alpha: 1", "alpha: 1\nneighbours: trusted"],
      ["x1, unit: m", "x1, scale: 2, unit: m"],
    ];
    const hashes = await Promise.all(changes.map(([from, to]) => hashOf(studyText.replace(from, to))));
    expect(new Set([hash, ...hashes]).size).toBe(changes.length + 1);
  });

  it("hashes the canonical text with SHA-256, as any other program can", async () => {
    const { createHash } = await import("node:crypto");
    const study = studyWith();
    expect(await hashOf(studyText)).toBe(createHash("sha256").update(canonicalStudy(study)).digest("hex").slice(0, 32));
  });

  it("hears centroids within the bounds, and as far beyond as rounding goes", async () => {
    const { low, high } = await contractOf(
      parseStudy(studyText.replace("min: -30, max: 30", "min: 0, max: 10, scale: 2")),
    );
    const bounds = [0, 5, -30, 30];
    [low[0], high[0], low[1], high[1]].forEach((value, i) => {
      expect(value).toBeCloseTo(bounds[i], 4);
      expect(Math.sign(value - bounds[i])).toBe(i % 2 === 0 ? -1 : 1);
    });
  });
});

describe("differenceFrom(here, text)", () => {
  const here = studyWith();
  it("names the field that differs, as it is here and there", () => {
    expect(differenceFrom(here, canonicalStudy(studyWith({ alpha: 2 })))).toBe("alpha: 1 here, 2 there");
    const [first, second] = here.features;
    const other = studyWith({ features: [first, { ...second, unit: "cm" }] });
    expect(differenceFrom(here, canonicalStudy(other))).toBe('features[1].unit: "m" here, "cm" there');
    expect(differenceFrom(here, canonicalStudy(studyWith({ features: [first] })))).toBe(
      "number of features: 2 here, 1 there",
    );
    const many = studyWith({ k: 4, alpha: 3, name: "x", minimum: 7 });
    expect(differenceFrom(here, canonicalStudy(many))).toBe(
      'name: "planes" here, "x" there; k: 3 here, 4 there; and 2 more',
    );
  });

  it("says nothing about the same study, nor about what is no study", () => {
    for (const text of [canonicalStudy(here), "", "null", "[]", '{"k":1}', "x".repeat(100_000)]) {
      expect(differenceFrom(here, text)).toBeUndefined();
    }
  });
});

describe("scaleRows(study, rows)", () => {
  const study = parseStudy(studyText.replace("x1, unit: m", "x1, scale: 4, unit: m"));
  it("divides by the scales and leaves out rows beyond the bounds", () => {
    const rows = matrix([
      [8, 3],
      [31, 0],
      [-30, 30],
      [0, -30.001],
    ]);
    const scaled = scaleRows(study, rows);
    expect(toRows(scaled)).toEqual([
      [2, 3],
      [-7.5, 30],
    ]);
    expect(toRows(unscale(study, scaled))).toEqual([
      [8, 3],
      [-30, 30],
    ]);
  });

  it("wants as many columns as features", () => {
    expect(() => scaleRows(study, matrix([[1]]))).toThrow(
      "rows must have 2 columns (the features of the study), got 1",
    );
  });
});

describe("clusters: shared", () => {
  const shared = studyText.replace("alpha: 1\n", "clusters: shared\n");

  it("is a field of its own, and personal studies keep their text and hash", async () => {
    const personal = parseStudy(studyText);
    expect(parseStudy(`${studyText}clusters: personal\n`)).toEqual(personal);
    expect(canonicalStudy(personal)).not.toContain("clusters");
    const study = parseStudy(shared);
    expect(study).toMatchObject({ clusters: "shared", colluders: 1, alpha: 0 });
    expect(canonicalStudy(study)).toMatch(/"clusters":"shared","colluders":1\}$/);
    expect(parseStudy(formatStudy(study))).toEqual(study);
    expect(parseStudy(canonicalStudy(study))).toEqual(study);
    expect(await contractOf(study)).not.toEqual(await contractOf(personal));
  });

  it("may name its founders, in any order, how many vouch for others, and how many rows each may hold", async () => {
    const founded = parseStudy(`${shared}founders: [b, c, a]\nmostRows: 500\n`);
    expect(founded).toMatchObject({ founders: ["a", "b", "c"], vouchers: 2, mostRows: 500 });
    expect(canonicalStudy(founded)).toMatch(/"founders":\["a","b","c"\],"vouchers":2,"mostRows":500\}$/);
    expect(parseStudy(formatStudy(founded))).toEqual(founded);
    expect(parseStudy(`${shared}founders: [a, b, c]\nmostRows: 500\n`)).toEqual(founded);
    const others = ["founders: [a, b, d]\nmostRows: 500", "founders: [a, b, c]", "mostRows: 500"];
    for (const lines of others) {
      const other = parseStudy(`${shared}${lines}\n`);
      expect((await contractOf(other)).hash).not.toEqual((await contractOf(founded)).hash);
      expect(compareStudies(founded, other)).not.toEqual([]);
    }
  });

  it.each([
    ["colluders: 2", studyText, /colluders must be left out unless clusters is "shared", got 2/],
    ["alpha: 1", shared, /alpha must be left out if clusters is "shared", got 1/],
    ["colluders: 0", shared, /colluders must be an integer from 1 to 1000, got 0/],
    ["seed: [[1, 2]]", shared, /seed must be 3 rows of 2 numbers within the bounds of the features/],
    ["founders: [a, b, c]", studyText, /founders must be left out unless clusters is "shared"/],
    ["founders: [a, b, a]", shared, /founders must be keys of different devices, got "a"/],
    ["founders: [a, 1]", shared, /founders must be a list of 1 to 256 keys as "fedkm device key" prints them/],
    ["founders: [a]\nvouchers: 1", shared, /vouchers must be an integer from 2 \(colluders and one other\) to 256/],
    ["vouchers: 2", shared, /vouchers must be left out without founders, got 2/],
    ["mostRows: 0", shared, /mostRows must be an integer from 1 to 1e12, got 0/],
    ["clusters: other", studyText, /clusters must be one of personal, shared, got "other"/],
  ])("%s is refused where it does not fit", (line, text, message) => {
    expect(() => parseStudy(`${text}${line}\n`)).toThrow(message);
  });
});
