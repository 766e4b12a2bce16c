// Whole persons and whole devices as what a budget covers: their rows weigh 1 together, in every round, and no sum moves by more
// than a row may move it when one of them comes or goes.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  complete,
  globalCentroidDeviation,
  kmeans,
  type Matrix,
  paperData,
  randomStream,
  smallWorld,
  stack,
} from "@fedkm/core";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { testSeed } from "../../../test/runs.ts";
import { lookAtRowSource } from "../../src/daemon/rowSource.ts";
import { encodeLedger, newLedger, protectedRows } from "../../src/privacy/ledger.ts";
import { noiseOfRelease } from "../../src/privacy/privacyTradeoff.ts";
import { PrivateRows, SharedPrivateRows } from "../../src/privacy/privateRows.ts";
import { type Content, stages } from "../../src/sharedClusters/generation.ts";
import { afterRound, askedSums, census, type ReleasePlan } from "../../src/sharedClusters/release.ts";
import { sumsShape } from "../../src/sharedClusters/shape.ts";
import { simulate } from "../../src/simulation/simulate.ts";
import { privacyWords } from "../../src/study/promises.ts";
import type { MemoryRows } from "../../src/study/remoteRows.ts";
import { canonicalStudy, contractOf, formatStudy, parseStudy } from "../../src/study/study.ts";
import { refusalOf } from "../problem.ts";

const text = `name: people
k: 3
clusters: shared
privacy: private
typicalRows: 200
devices: 5
features:
  - { name: x, unit: "", min: -13, max: 13 }
  - { name: y, unit: "", min: -13, max: 13 }
`;
const rowsStudy = parseStudy(text);
const personsStudy = parseStudy(`${text}protects: persons\npersonColumn: patient\n`);
const devicesStudy = parseStudy(`${text.replace("typicalRows: 200\n", "")}protects: devices\n`);

const rowsOf = (values: readonly (readonly number[])[], persons?: readonly number[]): MemoryRows => ({
  data: Float64Array.from(values.flat()),
  rows: values.length,
  cols: 2,
  ...(persons && { persons: Uint32Array.from(persons) }),
});

describe("the rows of what a study protects", () => {
  const values = [
    [1, 1],
    [2, 2],
    [99, 0],
    [3, 3],
    [4, 4],
  ];

  it("weigh 1 together for each person, of the rows within the bounds, and for a whole device", () => {
    expect(protectedRows(rowsStudy, rowsOf(values)).weights).toBeUndefined();
    const persons = protectedRows(personsStudy, rowsOf(values, [7, 7, 7, 8, 7]));
    expect(persons).toMatchObject({ rows: 4, weights: Float64Array.of(1 / 3, 1 / 3, 1, 1 / 3) });
    expect(protectedRows(devicesStudy, rowsOf(values)).weights).toEqual(new Float64Array(4).fill(1 / 4));
  });

  it("are refused where they do not say whose they are", () => {
    expect(() => protectedRows(personsStudy, rowsOf(values))).toThrow(
      "rows must say whose they are, because the study protects persons",
    );
    expect(protectedRows(personsStudy, rowsOf([])).rows).toBe(0);
  });

  it("have other noise when they become other persons', which would cancel in the difference", () => {
    const memory = {
      saved: encodeLedger(newLedger(new Uint8Array(32))),
      isLost: false,
      keep: (_: Uint8Array, done: (failure?: string) => void) => done(undefined),
    };
    const asked = { stage: "round 1", of: "00", version: 1, among: [], at: 1 } as const;
    const noiseOf = (persons: readonly number[]) => {
      const own = new SharedPrivateRows(personsStudy, memory as never, () => {});
      own.take(rowsOf(values, persons));
      const ask = () => own.integersFor(asked, (noise) => Float64Array.from(noise(8)));
      return ask() ?? ask();
    };
    const first = noiseOf([1, 1, 1, 2, 3]);
    expect(first).toBeInstanceOf(Float64Array);
    expect(noiseOf([5, 5, 5, 6, 9])).toEqual(first);
    expect(noiseOf([1, 2, 3, 4, 4])).not.toEqual(first);
  });
});

describe("what one of them adds to sums", () => {
  const { releasing } = sumsShape(personsStudy) as { releasing: ReleasePlan };
  const shown = paperData("iso", 1, 200, 3).datasets[0];
  const contents: Content[] = [{ ...census(1), stage: stages.release }];
  for (const content of contents) {
    const totals = Float64Array.from(askedSums(releasing, content, shown).flatMap(({ values }) => [...values]));
    const next = afterRound(releasing, content, totals, 5);
    if (next !== "implausible" && next.stage === stages.release) contents.push(next);
  }
  const value = fc.oneof(fc.constantFrom(-13, 13), fc.double({ min: -13, max: 13, noNaN: true }));
  const rows = (most: number) => fc.array(fc.tuple(value, value), { minLength: 1, maxLength: most });
  const spentBetween = (more: Float64Array[], less: Float64Array[], variances: number[]) =>
    more.reduce((sum, own, p) => {
      return sum + own.reduce((part, one, i) => part + (one - less[p][i]) ** 2 / variances[p], 0);
    }, 0);

  it("is no more than is paid for when all rows of a person come, in every round, in 2,000 pairs", () => {
    fc.assert(
      fc.property(rows(6), rows(6), fc.nat(contents.length - 1), (others, own, round) => {
        const before = rowsOf(
          others,
          others.map((_, i) => i >> 1),
        );
        const after = rowsOf([...others, ...own], [...others.map((_, i) => i >> 1), ...own.map(() => 99)]);
        const [more, less] = [after, before].map((all) =>
          askedSums(releasing, contents[round], protectedRows(personsStudy, all)),
        );
        const spent = spentBetween(
          more.map(({ values }) => values),
          less.map(({ values }) => values),
          more.map(({ variance }) => variance),
        );
        expect(spent).toBeLessThanOrEqual(releasing.rounds[round].share * releasing.rules.mu ** 2 * (1 + 1e-12));
      }),
      { seed: testSeed, numRuns: 2_000 },
    );
  });

  it("is no more than is paid for when a whole device has rows or none, in 500 pairs", () => {
    fc.assert(
      fc.property(rows(20), fc.nat(contents.length - 1), (own, round) => {
        const asked = askedSums(releasing, contents[round], protectedRows(devicesStudy, rowsOf(own)));
        const spent = asked.reduce((sum, { values, variance }) => {
          return sum + values.reduce((part, one) => part + one ** 2 / variance, 0);
        }, 0);
        expect(spent).toBeLessThanOrEqual(releasing.rounds[round].share * releasing.rules.mu ** 2 * (1 + 1e-12));
      }),
      { seed: testSeed, numRuns: 500 },
    );
  });

  it("is nine times as much for three equal rows of a person where rows are protected", () => {
    const person = rowsOf([
      [13, 13],
      [13, 13],
      [13, 13],
    ]);
    const asked = askedSums(releasing, contents[0], protectedRows(rowsStudy, person));
    const spent = asked.reduce((sum, { values, variance }) => {
      return sum + values.reduce((part, one) => part + one ** 2 / variance, 0);
    }, 0);
    expect(spent / (releasing.rounds[0].share * releasing.rules.mu ** 2)).toBeCloseTo(9, 4);
  });
});

describe("a network that protects persons", () => {
  it("gives the clusters of persons, each of whom counts once, where one has most of the rows", async () => {
    const { datasets } = paperData("iso", 5, 200, 3);
    const random = randomStream(1, "person");
    // On the first device somebody has 2,000 rows between the clusters, besides those of 200 others.
    const many = { data: Float64Array.from({ length: 4_000 }, () => 2 * random() - 1), rows: 2_000, cols: 2 };
    const crowd = stack([datasets[0], many]);
    const [first, ...others] = datasets;
    const rows: MemoryRows[] = [
      { ...crowd, persons: Uint32Array.from({ length: crowd.rows }, (_, r) => Math.min(r, first.rows)) },
      ...others.map((own) => ({ ...own, persons: Uint32Array.from({ length: own.rows }, (_, r) => r) })),
    ];
    const answerOf = async (study: typeof personsStudy, own: readonly Matrix[]) => {
      const contract = await contractOf(study);
      const network = simulate({ study, contract, datasets: own, graph: complete(5), seed: 1 });
      expect(network.settle(120_000)).toBe(true);
      return network;
    };
    const reference = kmeans(stack(datasets), { k: 3, restarts: 20 }).centroids;
    const network = await answerOf(personsStudy, rows);
    expect(network.status(0).private).toMatchObject({ protects: "persons", releases: 4 });
    expect(globalCentroidDeviation([network.centroids()[0]], reference)).toBeLessThan(0.05);
    // To the last bit, on every device.
    for (const own of network.centroids()) expect(own).toEqual(network.centroids()[0]);
    const plain = await answerOf(rowsStudy, rows);
    expect(globalCentroidDeviation([plain.centroids()[0]], reference)).toBeGreaterThan(0.9);
  });
});

describe("a network that protects devices", () => {
  it("gives the clusters of devices, each of which counts once, where one has most of the rows", async () => {
    const random = randomStream(4, "devices");
    const rowsAround = (rows: number, middle: (row: number) => number, width: number): Matrix => {
      const data = Float64Array.from({ length: rows }, (_, r) => middle(r) + width * (random() - 0.5));
      return { data, rows, cols: 1 };
    };
    const datasets = Array.from({ length: 16 }, (_, device) =>
      device === 0 ? rowsAround(2_000, () => 0, 4) : rowsAround(10, (r) => (r % 2 === 0 ? -8 : 8), 2),
    );
    const feature = `features: [{ name: x, unit: "", min: -13, max: 13 }]`;
    const common = `name: sites\nk: 2\nclusters: shared\nprivacy: private\ndevices: 16\nepsilon: 20\n${feature}\n`;
    const answersOf = async (more: string) => {
      const own = parseStudy(`${common}${more}`);
      const graph = smallWorld(16, 4, 0, random);
      const network = simulate({ study: own, contract: await contractOf(own), datasets, graph, seed: 1 });
      expect(network.settle(600_000)).toBe(true);
      const answers = network.centroids().map(({ data }) => [...data].sort((a, b) => a - b));
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      return { answer: answers[0], status: network.status(0).private };
    };
    const { answer, status } = await answersOf("protects: devices\n");
    expect(status).toMatchObject({ protects: "devices", releases: 4 });
    expect(answer).toEqual([expect.closeTo(-8, 0), expect.closeTo(8, 0)]);
    const plain = await answersOf("typicalRows: 10\n");
    expect(Math.min(...plain.answer.map(Math.abs))).toBeLessThan(4);
  });
});

describe("a device with clusters of its own that protects persons", () => {
  it("releases them in rounds also in two columns, and each person counts once", () => {
    const personal = text.replace("clusters: shared", "alpha: 1").replace("devices: 5\n", "");
    const study = parseStudy(`${personal}epsilon: 4\nprotects: persons\npersonColumn: patient\n`);
    const [rows] = paperData("iso", 1, 800, 3).datasets;
    const random = randomStream(2, "person");
    const many = { data: Float64Array.from({ length: 4_000 }, () => 2 * random() - 1), rows: 2_000, cols: 2 };
    const crowd = { ...stack([rows, many]), persons: Uint32Array.from({ length: 2_800 }, (_, r) => Math.min(r, 800)) };
    const own = new PrivateRows(study, undefined, () => {});
    own.take(crowd);
    const reference = kmeans(rows, { k: 3, restarts: 20 }).centroids;
    expect(own.status()).toMatchObject({ protects: "persons", stage: "round 4" });
    expect(globalCentroidDeviation([own.summary?.points ?? rows], reference)).toBeLessThan(0.1);
    expect(() => own.take(stack([rows, many]))).toThrow("rows must say whose they are");
  });
});

describe("a ledger", () => {
  const personal = text.replace("clusters: shared", "alpha: 1").replace("devices: 5\n", "");
  const ofRows = parseStudy(personal);
  const ofPersons = parseStudy(`${personal}protects: persons\npersonColumn: patient\n`);
  const rows = rowsOf([[1, 2]], [1]);

  it.each([
    ["rows", "persons", ofRows, ofPersons],
    ["persons", "rows", ofPersons, ofRows],
  ])(
    "of a study that protected %s does not count for %s: nothing is sent until the owner consents",
    (_, __, before, after) => {
      let saved = encodeLedger(newLedger(new Uint8Array(32)));
      const startedIn = (study: typeof before) => {
        const keep = (bytes: Uint8Array, done: (failure?: string) => void) => {
          saved = bytes;
          done();
        };
        const own = new PrivateRows(study, { saved, isLost: false, keep } as never, () => {});
        own.take(rows);
        return own;
      };
      expect(startedIn(before).summary).toBeDefined();
      expect(startedIn(before).status()).toMatchObject({ isHistoryLost: false });
      const changed = startedIn(after);
      expect(changed.status()).toMatchObject({ isHistoryLost: true });
      expect(changed.summary).toBeUndefined();
      changed.renew();
      expect(changed.summary).toBeDefined();
      expect(startedIn(after).status()).toMatchObject({ isHistoryLost: false });
    },
  );
});

describe("the files of a device", () => {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-persons-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, lines: string) => {
    writeFileSync(join(folder, name), `patient,x,y\n${lines}`);
    return join(folder, name);
  };

  it("name persons by a column, the same one in all of them, and no row may be without", async () => {
    const data = [file("a.csv", "eve,1,1\nbob,2,2\neve,3,3\n"), file("b.csv", "ann,4,4\neve,5,5\n")];
    const { rows } = await lookAtRowSource({ data, study: personsStudy }, {});
    const { persons, rows: many } = rows as MemoryRows;
    expect(many).toBe(5);
    const [eve, bob, eveAgain, ann, eveElsewhere] = persons ?? [];
    expect([eveAgain, eveElsewhere]).toEqual([eve, eve]);
    expect(new Set([eve, bob, ann]).size).toBe(3);
    // Three rows of one person, wherever they are.
    expect(protectedRows(personsStudy, rows as MemoryRows).weights).toEqual(Float64Array.of(1 / 3, 1, 1 / 3, 1, 1 / 3));
    const nobody = [file("c.csv", "eve,1,1\n,2,2\n")];
    await expect(lookAtRowSource({ data: nobody, study: personsStudy }, {})).rejects.toThrow(
      /line 3, column "patient"/,
    );
  });

  it("are what persons are read from: a source is refused", async () => {
    const data = ["postgres://nobody@127.0.0.1/none?table=visits"];
    await expect(lookAtRowSource({ data, study: personsStudy }, {})).rejects.toThrow(
      "persons (patient) are read from files, got a source",
    );
  });
});

describe("a study", () => {
  const said = (more: string, from = "", to = "") => refusalOf(`${text.replace(from, to)}${more}`);

  it("says what it protects, and others have the text that they had", () => {
    expect(parseStudy(formatStudy(personsStudy))).toEqual(personsStudy);
    expect(parseStudy(`${text}protects: rows\n`)).toEqual(rowsStudy);
    expect(canonicalStudy(rowsStudy)).not.toMatch(/protects|personColumn/);
    expect(canonicalStudy(personsStudy)).toContain('"protects":"persons","personColumn":"patient"');
  });

  it("refuses what has no meaning", () => {
    expect(said("protects: people\n")).toMatch(/^protects must be one of rows, persons, devices, got "people"/);
    expect(said("protects: persons\n")).toMatch(/^personColumn must be a text of 1 to 100/);
    expect(said("personColumn: patient\n")).toMatch(/^personColumn must be left out unless protects is "persons"/);
    expect(said("protects: devices\n")).toMatch(/^typicalRows must be left out/);
    const personal = [
      "clusters: shared\nprivacy: private\ntypicalRows: 200\ndevices: 5",
      "alpha: 1\nprivacy: private",
    ] as const;
    expect(said("protects: devices\n", ...personal)).toMatch(/^protects must be rows or persons unless clusters is/);
    const guarded = ["privacy: private\ntypicalRows: 200\ndevices: 5", "privacy: guarded"] as const;
    expect(said("protects: devices\n", ...guarded)).toMatch(/^protects must be rows unless privacy is "private"/);
  });

  it("tells owners whom it covers, and what the noise costs for so many", () => {
    expect(privacyWords(rowsStudy)).toContain("for adding or removing one row while");
    expect(privacyWords(personsStudy)).toContain("for adding or removing all rows that a person has on one device");
    expect(privacyWords(devicesStudy)).toContain("for adding or removing all rows of a device");
    expect(noiseOfRelease(personsStudy).words).toMatch(
      /^with 5 devices of 200 persons .* fewer than \d+ persons in all/,
    );
    expect(noiseOfRelease(devicesStudy)).toMatchObject({ verdict: "useless" });
    const many = { ...devicesStudy, devices: 100, epsilon: 5 };
    expect(noiseOfRelease(many).words).toMatch(/^with 100 devices the noise makes clusters some percent worse/);
  });
});
