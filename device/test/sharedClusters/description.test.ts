// Open studies: what devices find out together about their columns, against the pooled columns.

import { complete, normalStream, randomStream } from "@fedkm/core";
import { encodeTable, encodingOf, fillMissing, scalingMeans, standardScaling, type Table } from "@fedkm/files";
import { describe, expect, it } from "vitest";
import { simulate } from "../../src/simulation/simulate.ts";
import { simulateQuestions } from "../../src/simulation/studyRun.ts";
import { contractOf, formatStudy, parseStudy, type Study } from "../../src/study/study.ts";
import { type TableRows, tableFeatures, tableRows } from "../../src/study/tableRows.ts";

const open = (more = "") =>
  parseStudy(`
name: wards
k: 3
features:
  - { name: age, unit: years, bounds: network, scale: network }
  - { name: crp, bounds: network, scale: network }
  - { name: sex, levels: network }
  - { name: town, levels: network }
missing: mean
clusters: shared
${more || "privacy: open"}
`);

const TOWNS = Array.from({ length: 70 }, (_, t) => `Town of ${"x".repeat(t % 7)}${t}`);

/** A device's file: ages, a skewed column with gaps, a category with gaps, and one with many values. */
function tableOf(rows: number, seed: number, factor = 1): Table {
  const random = randomStream(seed, "table");
  const normal = normalStream(random);
  const words = ["f", "m", "divers"];
  const data = new Float64Array(rows * 4);
  for (let r = 0; r < rows; r++) {
    data[4 * r] = 50 + 15 * normal();
    data[4 * r + 1] = random() < 0.2 ? Number.NaN : factor * Math.exp(2 + normal());
    data[4 * r + 2] = random() < 0.1 ? Number.NaN : Math.floor(2.02 * random());
    data[4 * r + 3] = Math.floor(TOWNS.length * random() ** 2);
  }
  const missing = [0, 1, 2, 3].map((c) => ({
    count: Array.from({ length: rows }, (_, r) => r).filter((r) => Number.isNaN(data[4 * r + c])).length,
    line: 2,
  }));
  const categories = [undefined, undefined, words, TOWNS].map((own) => own && { words: own, lines: own.map(() => 2) });
  return {
    ...{ file: `${seed}.csv`, format: "csv", columns: ["age", "crp", "sex", "town"], missing, categories },
    points: { data, rows, cols: 4 },
  };
}

/** Only words that some row has, as a file has them. */
function withUsedWords(table: Table): Table {
  const { data, rows, cols } = table.points;
  const copy = data.slice();
  const categories = table.categories?.map((own, c) => {
    if (own === undefined) return undefined;
    const used = own.words.filter((_, w) => Array.from({ length: rows }, (_, r) => data[r * cols + c]).includes(w));
    for (let r = 0; r < rows; r++) {
      const at = r * cols + c;
      if (!Number.isNaN(data[at])) copy[at] = used.indexOf(own.words[data[at]]);
    }
    return { words: used, lines: used.map(() => 2) };
  });
  return { ...table, points: { data: copy, rows, cols }, ...(categories && { categories }) };
}

const sizes = [400, 150, 60, 3];
const tables = sizes.map((rows, i) => withUsedWords(tableOf(rows, i + 1)));
const names = sizes.map((_, i) => `device ${i}`);

describe("an open study", () => {
  it("says what is left open in its text, its hash and its YAML, and nothing else does", async () => {
    const study = open();
    expect(study.features.map((feature) => feature.open)).toEqual(["number", "number", "category", "category"]);
    expect(parseStudy(formatStudy(study))).toEqual(study);
    const closed = parseStudy("name: a\nk: 2\nfeatures: [{ name: x, min: 0, max: 1 }]\nalpha: 1\nprivacy: open");
    expect(closed.features[0]).toEqual({ name: "x", unit: "", min: 0, max: 1, scale: 1 });
    const other = { ...study, missing: undefined } as unknown as Study;
    expect((await contractOf(other)).hash).not.toEqual((await contractOf(study)).hash);
  });

  it.each([
    ["- { name: x, bounds: network }", /scale must be network with bounds: network/],
    ["- { name: x, bounds: network, scale: network, min: 0 }", /min must be left out with bounds: network/],
    ["- { name: x, levels: file }", /levels must be network/],
  ])("refuses %s", (feature, rule) => {
    const text = `name: a\nk: 2\nfeatures:\n  ${feature}\nclusters: shared\nprivacy: open`;
    expect(() => parseStudy(text)).toThrow(rule);
  });

  it("is refused where rows are private: what noise would not protect is not asked", () => {
    const more = "privacy: private\ntypicalRows: 100\ndevices: 4";
    expect(() => open(more)).toThrow(/given as numbers with privacy "private"/);
  });

  it("closes with the scale, fill and levels of pooled files, to 1e-12, with the same bits at every device", async () => {
    const { closed, described, generations } = await simulateQuestions(open(), names, tables.map(tableRows), 1);
    expect(new Set(described.map(({ study }) => study)).size).toBe(1);
    expect(generations).toBeLessThanOrEqual(8);
    const encoding = encodingOf(tables);
    const encoded = tables.map((table) => encodeTable(table, encoding).points);
    const fill = scalingMeans(encoded);
    for (const points of encoded) fillMissing(points, fill);
    const { scale } = standardScaling(encoded);
    expect(closed.features.map(({ name }) => name)).toEqual(
      [
        ...["age", "crp", "sex=f", "sex=m"],
        ...(encoding[2].values?.includes("divers") ? ["sex=divers"] : []),
        ...(encoding[3].values ?? []).map((town) => `town=${town}`),
      ].sort(byColumn),
    );
    closed.features.slice(0, 2).forEach((feature, f) => {
      expect(Math.abs(feature.scale / scale[f] - 1)).toBeLessThan(1e-12);
      expect(Math.abs((feature.fill ?? 0) / fill[f] - 1)).toBeLessThan(1e-12);
    });
    const names_ = encoding.flatMap(({ name, values }) => values?.map((value) => `${name}=${value}`) ?? [name]);
    for (const feature of closed.features) {
      expect(feature.fill).toBeCloseTo(fill[names_.indexOf(feature.name)], 12);
    }
    // All values are within the bounds, and every row has all features.
    for (const table of tables) {
      const { data, rows, cols } = tableFeatures(closed, tableRows(table));
      for (let i = 0; i < rows * cols; i++) {
        const { min, max } = closed.features[i % cols];
        expect(data[i]).toBeGreaterThanOrEqual(min);
        expect(data[i]).toBeLessThanOrEqual(max);
      }
    }
  });

  it("a level that the closed study does not have is no level: its row is out of bounds, and others are not guessed", async () => {
    const { closed } = await simulateQuestions(open(), names, tables.map(tableRows), 1);
    const later: TableRows = {
      data: Float64Array.of(40, 3, 0, 0),
      rows: 1,
      cols: 4,
      words: [undefined, undefined, ["new"], [TOWNS[0]]],
    };
    const { data } = tableFeatures(closed, later);
    const sex = closed.features.flatMap(({ column }, f) => (column === "sex" ? [data[f]] : []));
    expect(sex.every(Number.isNaN)).toBe(true);
  });

  it("goes on only when the owner of every device has approved of this very study", async () => {
    const study = open();
    const contract = await contractOf(study);
    const datasets = tables.map(tableRows);
    const network = simulate({ study, contract, datasets, graph: complete(4), seed: 1, staggerMilliseconds: 0 });
    network.run(20_000);
    const hash = network.status(0).shared?.described?.studyHash ?? "";
    expect(hash).toMatch(/^[0-9a-f]{32}$/);
    for (const i of [0, 1, 2]) network.approve(i, hash);
    network.approve(3, "0".repeat(32));
    network.run(120_000);
    expect(network.status(0).shared?.stage).toBe("described");
    expect(network.status(0).shared?.described).toMatchObject({ isApproved: true, isApprovedByAll: false });
    expect(network.status(3).shared?.described).toMatchObject({ isApproved: false, isApprovedByAll: false });
    network.approve(3, hash);
    network.run(10_000);
    for (const i of [0, 1, 2, 3]) expect(network.status(i).shared?.described?.isApprovedByAll).toBe(true);
  });

  it("names the device whose unit is wrong, to its own owner only", async () => {
    const wrong = [...tables.slice(0, 2), withUsedWords(tableOf(300, 9, 1000)), tables[2]];
    const { described } = await simulateQuestions(open(), names, wrong.map(tableRows), 1);
    expect(described[2].remarks.filter((line) => line.includes("crp"))).toEqual([
      expect.stringMatching(/column "crp" looks 1000 times too large/),
    ]);
    for (const i of [0, 1, 3]) expect(described[i].remarks.filter((line) => line.includes("looks"))).toEqual([]);
  });

  it("guarded: no sum is of fewer rows of a device than the minimum, and rare levels are not told", async () => {
    const study = open("privacy: guarded\nminimum: 10");
    const { closed, described } = await simulateQuestions(study, names, tables.map(tableRows), 1);
    expect(described[0].rows).toBe(610);
    const levels = described[0].columns.find(({ name }) => name === "town")?.levels ?? [];
    expect(levels.length).toBeGreaterThan(0);
    for (const { name, count } of levels) {
      const held = tables.map((table) => {
        const word = table.categories?.[3]?.words.indexOf(name);
        return Array.from({ length: table.points.rows }, (_, r) => table.points.data[4 * r + 3]).filter(
          (x) => x === word,
        ).length;
      });
      expect(count).toBe(held.filter((rows) => rows >= 10).reduce((sum, rows) => sum + rows, 0));
    }
    expect(closed.features.some(({ level }) => level === "*")).toBe(true);
  });

  it("guarded: what was told once is told again, whatever the rows are now, also after a restart", async () => {
    const study = open("privacy: guarded\nminimum: 10");
    const contract = await contractOf(study);
    const datasets = tables.map(tableRows);
    const network = simulate({ study, contract, datasets, graph: complete(4), seed: 1, staggerMilliseconds: 0 });
    network.run(20_000);
    const hash = network.status(0).shared?.described?.studyHash;
    expect(hash).toMatch(/^[0-9a-f]{32}$/);
    const fewer = tableRows(withUsedWords(tableOf(399, 1)));
    network.setRows(0, fewer);
    network.run(60_000);
    network.crash(0);
    network.setRows(0, fewer);
    network.restart(0);
    network.run(120_000);
    expect(network.status(1).shared?.described?.studyHash).toBe(hash);
  });
});

function byColumn(a: string, b: string): number {
  const order = ["age", "crp", "sex", "town"];
  const [first, second] = [a, b].map((name) => order.indexOf(name.split("=")[0]));
  return first - second || (a < b ? -1 : 1);
}
