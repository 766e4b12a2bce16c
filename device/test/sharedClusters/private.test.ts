// Private rows of devices with shared clusters: noise in shares under the masks, released once over devices that know of
// each other.

import {
  complete,
  globalCentroidDeviation,
  graph,
  kmeans,
  type Matrix,
  normalStream,
  paperData,
  randomStream,
  stack,
} from "@fedkm/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { observeBoards } from "../../../audit/src/boards.ts";
import { padsTwice } from "../../../lab/src/shared/usedTwice.ts";
import { runs, testSeed } from "../../../test/runs.ts";
import { decodeLedger } from "../../src/privacy/ledger.ts";
import { decodeShared, encodeBoardMessage } from "../../src/sharedClusters/boardFrame.ts";
import { type Content, hashedBase, stages } from "../../src/sharedClusters/generation.ts";
import { proofMessage } from "../../src/sharedClusters/outbox.ts";
import { firstBase, generationOf } from "../../src/sharedClusters/proof.ts";
import { afterRound, askedSums, census, nameOfSums } from "../../src/sharedClusters/release.ts";
import { sumsShape } from "../../src/sharedClusters/shape.ts";
import { simulatedPeer } from "../../src/simulation/links.ts";
import { type Simulation, type SimulationOptions, simulate } from "../../src/simulation/simulate.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { contractOf, formatStudy, foundedStudy, parseStudy } from "../../src/study/study.ts";
import { refusalOf } from "../problem.ts";

const text = `name: private
k: 3
clusters: shared
privacy: private
typicalRows: 200
devices: 5
features:
  - { name: x, unit: "", min: -13, max: 13 }
  - { name: y, unit: "", min: -13, max: 13 }
`;
const study = foundedStudy(
  parseStudy(text),
  Array.from({ length: 6 }, (_, i) => simulatedPeer(i)),
);
const contract = await contractOf(study);
const { datasets } = paperData("iso", 6, 200, 3);
const five = datasets.slice(0, 5);
/** Of a release in two columns. */
const ROUNDS = 4;
const noRows: Matrix = { data: new Float64Array(0), rows: 0, cols: 2 };

function networkOf(changes: Partial<SimulationOptions> = {}) {
  const seen = observeBoards(study, contract, simulatedSecrets("observer"));
  const onEvent: SimulationOptions["onEvent"] = ({ frame }) => frame.length > 0 && seen.see(frame);
  const common = { study, contract, datasets: five, graph: complete(5), seed: 1, staggerMilliseconds: 200, onEvent };
  const network = simulate({ ...common, ...changes });
  /** Names of sums for which two different totals were ever known, which must not be. */
  const answersTwice = () => {
    const totals = new Map<string, Set<string>>();
    for (const { content, totals: found } of seen.sums()) {
      const name = `${content.stage} ${nameOfSums(content)}`;
      totals.set(name, (totals.get(name) ?? new Set()).add(found.join(" ")));
    }
    return [...totals.values()].filter(({ size }) => size > 1).length;
  };
  /** Sums that were asked twice with the same noise are one release. */
  const releases = () => {
    const first = seen.sums().filter(({ content }) => content.stage === stages.release && content.steps === 0);
    return new Set(first.map(({ content }) => nameOfSums(content))).size;
  };
  return { network, seen, answersTwice, releases };
}

const ledgerOf = (network: Simulation, i: number) => decodeLedger(network.history(i) ?? new Uint8Array(0), 2);
const spentBy = (network: Simulation) => five.map((_, i) => ledgerOf(network, i)?.releases.length);

describe("private devices with shared clusters", () => {
  it("end with one answer, nearer to the pooled one than devices alone, after all rounds, although frames are lost", () => {
    const { network, seen, releases } = networkOf({ weather: { loss: 0.3 } });
    expect(network.settle(120_000)).toBe(true);
    const centroids = network.centroids();
    for (const own of centroids) expect(own.data).toEqual(centroids[0].data);
    const reference = kmeans(stack(five), { k: 3, restarts: 20 }).centroids;
    const alone = five.map((own) => kmeans(own, { k: 3 }).centroids);
    expect(globalCentroidDeviation(centroids, reference)).toBeLessThan(globalCentroidDeviation(alone, reference));
    expect(network.status(2)).toMatchObject({
      phase: "settled",
      private: { releases: ROUNDS, stage: "round 4", isOutdated: false, isHistoryLost: false, failure: null },
      shared: { stage: "frozen", waiting: null },
    });
    expect(network.status(2).private?.epsilonSpent).toBeCloseTo(1, 6);
    expect([padsTwice(seen), releases()]).toEqual([0, 1]);
  });

  it("take part alike where one has no rows and where it has one", () => {
    for (const own of [noRows, { data: Float64Array.of(3, 4), rows: 1, cols: 2 }]) {
      const { network, releases } = networkOf({ datasets: [own, ...five.slice(1)] });
      expect(network.settle(60_000)).toBe(true);
      expect([releases(), ...spentBy(network)]).toEqual([1, ...five.map(() => ROUNDS)]);
    }
  });

  it("release nothing while they are fewer than the study says", () => {
    const { network, releases } = networkOf({ absent: [4] });
    network.run(90_000);
    expect(network.status(0)).toMatchObject({ phase: "waiting", private: { releases: 0 }, centroids: null });
    expect(network.status(0).shared?.waiting).toBe("waits until 5 devices are there for a release; now there are 4");
    network.restart(4);
    network.run(5_000);
    expect(network.status(0).phase).toBe("settled");
    expect(releases()).toBe(1);
  });

  it("release nothing where one device holds two parts of the network together, although all have two links", () => {
    const bowtie = graph(5, [
      [0, 1],
      [1, 2],
      [2, 0],
      [2, 3],
      [3, 4],
      [4, 2],
    ]);
    const { network, releases } = networkOf({ graph: bowtie });
    network.run(90_000);
    expect(network.status(0).shared?.waiting).toMatch(/^waits for more links among the 5 devices/);
    expect([releases(), ...spentBy(network)]).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("pay for each round once, never know two totals for the same sums, and end alike, whenever devices are killed", () => {
    for (let seed = 0; seed < runs({ short: 4, long: 12 }); seed++) {
      const { network, seen, answersTwice } = networkOf({ seed, weather: { loss: 0.3 } });
      for (const [victim, at] of [
        [seed % 5, 150 + 31 * seed],
        [(seed + 2) % 5, 40 + 7 * seed],
      ]) {
        network.run(at);
        network.crash(victim);
        network.run(20 * seed);
        network.restart(victim);
      }
      expect(network.settle(200_000), `seed ${seed}`).toBe(true);
      const [first, ...others] = network.centroids();
      for (const own of others) expect(own.data).toEqual(first.data);
      expect(spentBy(network)).toEqual(five.map(() => ROUNDS));
      expect([answersTwice(), padsTwice(seen)]).toEqual([0, 0]);
    }
  });

  it("stay frozen when rows change or go, and ask them no more", () => {
    const { network } = networkOf();
    expect(network.settle(60_000)).toBe(true);
    const before = network.centroids();
    for (let i = 0; i < 5; i++) network.setRows(i, noRows);
    network.crash(1);
    network.run(100_000);
    network.restart(1);
    network.run(100_000);
    expect(network.centroids()).toEqual(before);
    expect(network.status(1)).toMatchObject({ phase: "settled", private: { releases: ROUNDS, isOutdated: true } });
  });

  it("give their answer to a device that comes later, whose rows then do not count", () => {
    const { network, releases } = networkOf({ datasets, graph: complete(6), absent: [5] });
    network.run(90_000);
    const answer = network.status(0).centroids;
    network.restart(5);
    network.run(90_000);
    expect(network.status(5)).toMatchObject({ phase: "settled", private: { releases: 0 }, centroids: answer });
    expect(network.status(0)).toMatchObject({ phase: "settled", centroids: answer });
    expect(releases()).toBe(1);
  });

  it("make another answer when the owners of all have agreed, and keep the one before until then", () => {
    const { network, releases, answersTwice } = networkOf({ datasets, graph: complete(6), absent: [5] });
    network.run(90_000);
    const answer = network.status(0).centroids;
    network.restart(5);
    network.run(5_000);
    for (let i = 0; i < 4; i++) {
      network.consent(i);
      network.run(2_000);
    }
    expect(network.status(4)).toMatchObject({ phase: "waiting", centroids: answer, private: { releases: ROUNDS } });
    expect(network.status(4).shared?.waiting).toMatch(/waits for consent to do it again$/);
    network.crash(2);
    network.run(500);
    network.restart(2);
    network.consent(4);
    network.run(5_000);
    for (let i = 0; i < 5; i++) {
      expect(network.status(i)).toMatchObject({ phase: "settled", private: { releases: 2 * ROUNDS } });
      expect(network.status(i).centroids).not.toEqual(answer);
    }
    expect(network.status(5)).toMatchObject({ phase: "settled", private: { releases: ROUNDS } });
    expect([releases(), answersTwice()]).toEqual([2, 0]);
  });

  it("do not answer a member that asks for other sums of their rows", () => {
    const { network } = networkOf();
    network.settle(60_000);
    const numbers = Float64Array.of(1, 1, 2, 2, 3, 3);
    const content = { stage: stages.rows, steps: 0, rows: 0, seeded: 0, numbers };
    const rules = { shape: sumsShape(study), study: contract.hash, colluders: 1, secrets: simulatedSecrets("any") };
    const { roster: _, ...base } = { ...firstBase(rules), ...content, number: 70_000 };
    const { number, hash } = hashedBase(base, contract.hash, rules.secrets.digest);
    const asking = generationOf(rules, { ...base, number, hash }, new Map());
    const frame = encodeBoardMessage(contract, { ...proofMessage(asking, []), stamp: { epoch: 9, sequence: 1 } });
    expect(decodeShared(sumsShape(study))(contract, frame)).toMatchObject({ kind: "refused" });
    network.forge(1, 0, frame);
    network.run(1_000);
    expect(network.status(0)).toMatchObject({ phase: "settled", shared: { stage: "frozen" } });
  });
});

describe("what private rows add to sums", () => {
  it("changes by no more than is paid for when a row comes, in every round, in 2,000 pairs", () => {
    const shape = sumsShape(study);
    const { releasing } = shape;
    if (releasing === undefined) throw new Error("a private study must have releases");
    const contents: Content[] = [{ ...census(1), stage: stages.release }];
    for (const content of contents) {
      const totals = Float64Array.from(askedSums(releasing, content, five[0]).flatMap(({ values }) => [...values]));
      const next = afterRound(releasing, content, totals, 5);
      if (next !== "implausible" && next.stage === stages.release) contents.push(next);
    }
    expect(contents).toHaveLength(ROUNDS);
    const rows = fc.array(fc.double({ min: -13, max: 13, noNaN: true }), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(rows, fc.nat(ROUNDS - 1), (data, round) => {
        const points = { data: Float64Array.from(data), rows: 4, cols: 2 };
        const fewer = { data: points.data.slice(0, 6), rows: 3, cols: 2 };
        const [more, less] = [points, fewer].map((own) => askedSums(releasing, contents[round], own));
        const spent = more.reduce(
          (sum, { values, variance }, p) =>
            sum + values.reduce((part, value, i) => part + (value - less[p].values[i]) ** 2 / variance, 0),
          0,
        );
        expect(spent).toBeLessThanOrEqual(releasing.rounds[round].share * releasing.rules.mu ** 2 * (1 + 1e-12));
      }),
      { seed: testSeed, numRuns: 2_000 },
    );
  });
});

describe("private rows in twelve columns", () => {
  it("give one answer, nearly as good as that of all rows without noise", async () => {
    const [cols, k] = [12, 3];
    const random = randomStream(5, "columns");
    const normal = normalStream(random);
    const centres = Float64Array.from({ length: k * cols }, () => 8 * random() - 4);
    const wide = Array.from({ length: 5 }, () => {
      const data = new Float64Array(300 * cols);
      for (let r = 0; r < 300; r++) {
        const from = Math.floor(k * random()) * cols;
        for (let i = 0; i < cols; i++) data[r * cols + i] = centres[from + i] + 0.5 * normal();
      }
      return { data, rows: 300, cols };
    });
    const features = Array.from({ length: cols }, (_, f) => `  - { name: f${f}, unit: "", min: -8, max: 8 }`).join(
      "\n",
    );
    const own = parseStudy(
      `${text.slice(0, text.indexOf("features:")).replace("typicalRows: 200", "typicalRows: 300\nepsilon: 4")}features:\n${features}\n`,
    );
    const network = simulate({
      study: own,
      contract: await contractOf(own),
      datasets: wide,
      graph: complete(5),
      seed: 1,
    });
    expect(network.settle(120_000)).toBe(true);
    const [first, ...others] = network.centroids();
    for (const other of others) expect(other.data).toEqual(first.data);
    const pooled = kmeans(stack(wide), { k });
    const cost = kmeans(stack(wide), { k, init: first, maxIter: 1 }).inertia;
    expect(cost / pooled.inertia).toBeLessThan(1.05);
    expect(network.status(0).private?.epsilonSpent).toBeLessThanOrEqual(4);
    expect(network.status(0).private?.epsilonSpent).toBeGreaterThan(3.9);
  });
});

describe("a private study with shared clusters", () => {
  const said = (from: string, to: string) => refusalOf(text.replace(from, to));

  it("comes back from the file that is written of it", () => {
    expect(parseStudy(formatStudy(study))).toEqual(study);
  });

  it("says with how many devices rows are released, and gives no seed", () => {
    expect(said("devices: 5\n", "")).toMatch(/^devices must be an integer from 3 \(colluders and two others\) to 256/);
    expect(said("devices: 5", "devices: 3\ncolluders: 2")).toMatch(/^devices must be an integer from 4/);
    expect(said("privacy: private\ntypicalRows: 200", "privacy: guarded")).toMatch(
      /^devices must be left out unless privacy is "private"/,
    );
    expect(said("devices: 5", "devices: 5\nseed: [[0, 0], [1, 1], [2, 2]]")).toMatch(/^seed must be left out with/);
    expect(said("devices: 5", "devices: 5\nepsilon: 0.001")).toMatch(/^epsilon must be at least 0.01/);
    expect(said("clusters: shared", "clusters: personal\nalpha: 1")).toMatch(/^devices must be left out unless/);
  });
});
