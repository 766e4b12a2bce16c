// Studies that leave k open: the same k from masked sums as from pooled rows, candidates, votes, and what is refused.

import { chooseK, complete, type Matrix, normalStream, randomStream, stack } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { simulate } from "../../src/simulation/simulate.ts";
import { simulateQuestions } from "../../src/simulation/studyRun.ts";
import { contractOf, formatStudy, isOpenStudy, parseStudy } from "../../src/study/study.ts";

const open = (more = "privacy: open\nminimum: 1", k = "{ from: 2, to: 8 }") =>
  parseStudy(`
name: wards
k: ${k}
features:
  - { name: x, min: -40, max: 40 }
  - { name: y, min: -40, max: 40 }
clusters: shared
${more}
`);

/** Rows around these places; every device has more of one of them. */
function datasetsOf(places: readonly (readonly [number, number])[], rows: number, spread: number): Matrix[] {
  return Array.from({ length: 4 }, (_, i) => {
    const random = randomStream(i, "choice");
    const normal = normalStream(random);
    const data = new Float64Array(rows * 2);
    for (let r = 0; r < rows; r++) {
      const [x, y] = places[random() < 0.3 ? i % places.length : Math.floor(random() * places.length)];
      data[2 * r] = x + spread * normal();
      data[2 * r + 1] = y + spread * normal();
    }
    return { data, rows, cols: 2 };
  });
}

const FIVE = [
  [-20, -20],
  [20, -20],
  [0, 0],
  [-20, 20],
  [20, 20],
] as const;
const withoutWords = (datasets: readonly Matrix[]) => datasets.map((own) => ({ ...own, words: [] }));
const names = ["a", "b", "c", "d"];
const pooledK = (datasets: readonly Matrix[]) => chooseK([stack(datasets)], complete(1), { largestK: 8 });

describe("a study that leaves k open", () => {
  it("says so in its text, its hash and its YAML", async () => {
    const study = open();
    expect(study).toMatchObject({ k: 8, leastK: 2 });
    expect(isOpenStudy(study)).toBe(true);
    expect(formatStudy(study)).toContain("from: 2");
    expect(parseStudy(formatStudy(study))).toEqual(study);
    const other = open(undefined, "{ from: 3, to: 8 }");
    expect((await contractOf(other)).hash).not.toEqual((await contractOf(study)).hash);
  });

  it.each([
    "{ from: 8, to: 8 }",
    "{ from: 0, to: 4 }",
    "{ from: 2, to: 21 }",
    "{ from: 2, to: 4, by: 1 }",
    "{ to: 4 }",
  ])("refuses k: %s", (k) => {
    expect(() => open(undefined, k)).toThrow(/k must be a number, or \{ from, to \} with 1 <= from < to <= 20/);
  });

  it("is refused where rows are private: noise hides the gaps", () => {
    const more = "privacy: private\ntypicalRows: 100\ndevices: 4";
    expect(() => open(more)).toThrow(/k must be given as numbers with privacy "private" \(sums with noise/);
  });

  it.each([
    ["five clusters", FIVE, 3, 120],
    ["no clusters", [[0, 0]] as const, 8, 120],
  ] as const)("has the k of pooled rows, with the same bits at every device: %s", async (_, places, spread, rows) => {
    const datasets = datasetsOf(places, rows, spread);
    const pooled = pooledK(datasets);
    const { closed, chosen, generations } = await simulateQuestions(open(), names, withoutWords(datasets), 1);
    expect(isOpenStudy(closed)).toBe(false);
    expect(chosen?.candidates[0]).toMatchObject({
      k: closed.k,
      found: pooled.k,
      reason: pooled.candidates[0].reason,
    });
    expect(chosen?.curve.map(({ k }) => k)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(chosen?.curve[0].inertia).toBeCloseTo(pooled.curve[0].inertia, 3);
    expect(generations).toBeLessThanOrEqual(10);
  });

  it("few rows judge in halves, and find the five places where pooled rows say one fewer", async () => {
    const datasets = datasetsOf(FIVE, 20, 2);
    const { chosen } = await simulateQuestions(open(), names, withoutWords(datasets), 1);
    expect(chosen?.candidates[0]).toMatchObject({ k: 5, found: 5, reason: "most" });
    expect(pooledK(datasets).k).toBe(4);
  });

  it("asks owners who want different candidates again, for the one that most want", async () => {
    const study = open();
    const contract = await contractOf(study);
    const datasets = datasetsOf(FIVE, 120, 3);
    const network = simulate({ study, contract, datasets, graph: complete(4), seed: 1, staggerMilliseconds: 0 });
    network.run(20_000);
    const candidates = network.status(0).shared?.chosen?.candidates ?? [];
    expect(candidates.map(({ k }) => k)).toEqual([5, 4, 2]);
    expect(network.status(2).shared?.waiting).toMatch(/until the owner of every device has approved/);
    for (const [i, at] of [1, 1, 0].entries()) network.approve(i, candidates[at].studyHash);
    network.run(20_000);
    expect(network.status(0).shared?.chosen?.candidates).toHaveLength(3);
    network.approve(3, candidates[1].studyHash);
    network.run(20_000);
    for (const i of [0, 1, 2, 3]) {
      expect(network.status(i).shared?.chosen).toMatchObject({
        candidates: [{ k: 4, isApproved: i !== 2 }],
        isSecondVote: true,
        isApprovedByAll: false,
      });
    }
    network.approve(2, candidates[1].studyHash);
    network.run(20_000);
    const studies = names.map((_, i) => network.status(i).shared?.chosen);
    expect(studies.every((one) => one?.isApprovedByAll)).toBe(true);
    expect(new Set(studies.map((one) => one?.candidates[0].study)).size).toBe(1);
  });

  it("guarded: candidates come from groups, and nothing is judged", async () => {
    const datasets = datasetsOf(FIVE, 120, 3);
    const guarded = open("privacy: guarded\nminimum: 10");
    const { closed, chosen } = await simulateQuestions(guarded, names, withoutWords(datasets), 1);
    expect(chosen?.isFromGroups).toBe(true);
    expect(chosen?.candidates.every(({ reason }) => reason === "elbow" || reason === "silhouette")).toBe(true);
    expect(chosen?.curve.every(({ clusters }) => clusters === 0)).toBe(true);
    expect(closed.k).toBe(5);
  });

  const stages = ["grid", "codebook", "choose", "chosen"] as const;
  const faults = ["kill", "leave", "join", "rows"] as const;
  const cases = stages.flatMap((stage, n) => [[stage, faults[n]] as const, [stage, faults[(n + 1) % 4]] as const]);
  it.each(cases)(
    "in %s somebody is lost or comes (%s), and all who are there close the same study",
    async (stage, fault) => {
      const study = open();
      const contract = await contractOf(study);
      const datasets = datasetsOf(FIVE, 60, 3);
      const absent = fault === "join" ? { absent: [3] } : {};
      const network = simulate({
        study,
        contract,
        datasets,
        graph: complete(4),
        seed: 2,
        staggerMilliseconds: 0,
        ...absent,
      });
      network.run(5);
      for (let n = 0; n < 30_000 && network.status(0).shared?.stage !== stage; n++) network.run(5);
      expect(network.status(0).shared?.stage).toBe(stage);
      if (fault === "join") network.restart(3);
      if (fault === "rows") network.setRows(1, datasetsOf(FIVE, 70, 3)[1]);
      if (fault === "kill" || fault === "leave") network.crash(3);
      network.run(500);
      if (fault === "kill") network.restart(3);
      if (fault === "leave")
        for (const i of [0, 1, 2])
          network.setLinks(
            i,
            [0, 1, 2].filter((j) => j !== i),
          );
      const there = fault === "leave" ? [0, 1, 2] : [0, 1, 2, 3];
      network.run(90_000);
      for (const i of there) network.approve(i, network.status(i).shared?.chosen?.candidates[0]?.studyHash ?? "");
      network.run(90_000);
      const closed = there.map((i) => network.status(i).shared?.chosen);
      expect(closed.map((one) => one?.isApprovedByAll)).toEqual(there.map(() => true));
      expect(new Set(closed.map((one) => one?.candidates[0].study)).size).toBe(1);
      // Rows that change between two sums count from the next one: what was asked before is not asked again.
      const rows = there.reduce((sum, i) => sum + datasets[i].rows, 0);
      expect(closed[0]?.rows).toBe(rows);
      expect(closed[0]?.candidates[0].found).toBe(5);
    },
  );
});
