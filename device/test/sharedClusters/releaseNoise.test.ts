// The noise of private sums, as whoever reads the wire finds it: how much, how it is spread, and that no two releases share
// it; and over which devices a device adds its rows at all.

import { complete, type Matrix } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { observeBoards } from "../../../audit/src/boards.ts";
import { encodeLedger, newLedger } from "../../src/privacy/ledger.ts";
import { SharedPrivateRows } from "../../src/privacy/privateRows.ts";
import { stages } from "../../src/sharedClusters/generation.ts";
import {
  askedSums,
  census,
  mayAdd,
  type ReleasePlan,
  releaseRequest,
  sharedReleaseIntegers,
} from "../../src/sharedClusters/release.ts";
import { type Roster, rosterOf } from "../../src/sharedClusters/roster.ts";
import { sumsShape } from "../../src/sharedClusters/shape.ts";
import { simulatedPeer } from "../../src/simulation/links.ts";
import { simulate } from "../../src/simulation/simulate.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import { contractOf, foundedStudy, parseStudy } from "../../src/study/study.ts";

const [DEVICES, COLLUDERS, COLUMNS] = [4, 2, 24];
const features = Array.from({ length: COLUMNS }, (_, f) => `  - { name: f${f}, unit: "", min: -13, max: 13 }\n`);
const study = foundedStudy(
  parseStudy(`name: private
k: 3
clusters: shared
privacy: private
typicalRows: 600
epsilon: 2
devices: ${DEVICES}
colluders: ${COLLUDERS}
features:
${features.join("")}`),
  Array.from({ length: DEVICES }, (_, i) => simulatedPeer(i)),
);
const contract = await contractOf(study);
const releasing = sumsShape(study).releasing as ReleasePlan;
const noRows: Matrix = { data: new Float64Array(0), rows: 0, cols: COLUMNS };

/** What is read of all rounds of each answer of a network without rows, in deviations that are paid for: noise alone. */
function noiseOnTheWire(seed: number, answers = 1): Float64Array[] {
  const seen = observeBoards(study, contract, simulatedSecrets("observer"));
  const network = simulate({
    ...{ study, contract, datasets: Array.from({ length: DEVICES }, () => noRows), graph: complete(DEVICES), seed },
    onEvent: ({ frame }) => frame.length > 0 && seen.see(frame),
  });
  expect(network.settle(120_000)).toBe(true);
  for (let answer = 1; answer < answers; answer++) {
    for (let i = 0; i < DEVICES; i++) network.consent(i);
    network.run(10_000);
    expect(network.settle(120_000)).toBe(true);
  }
  const read = new Map<string, Float64Array>();
  for (const { content, totals } of seen.sums()) {
    if (content.stage !== stages.release) continue;
    const variances = askedSums(releasing, content, noRows).flatMap(({ values, variance }) =>
      Array.from(values, () => variance),
    );
    expect(totals.length).toBe(variances.length);
    const { stage, version } = releaseRequest(content);
    read.set(
      `${version} ${stage}`,
      totals.map((total, i) => total / Math.sqrt(variances[i])),
    );
  }
  expect(read.size).toBe(answers * releasing.rounds.length);
  const versions = [...new Set(Array.from(read.keys(), (name) => name.split(" ")[0]))];
  return versions.map((version) => {
    const rounds = [...read].filter(([name]) => name.startsWith(`${version} `)).map(([, own]) => Array.from(own));
    return Float64Array.from(rounds.flat());
  });
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Of two lists of the same length; within 4.4 / sqrt(length) but for one in 100,000 pairs that have nothing in common. */
function correlation(a: Float64Array, b: Float64Array): number {
  const product = meanOf(Array.from(a, (x, i) => x * b[i]));
  return product / Math.sqrt(meanOf(Array.from(a, (x) => x * x)) * meanOf(Array.from(b, (x) => x * x)));
}

describe("the noise in sums over devices", () => {
  // Two answers of one network, and one of another.
  const releases = [...noiseOnTheWire(1, 2), ...noiseOnTheWire(2)];
  const all = releases.flatMap((own) => Array.from(own));

  it("has the variance that is paid for although colluders add none, and no more than their shares above it", () => {
    const variance = meanOf(all.map((z) => z * z));
    const expected = DEVICES / (DEVICES - COLLUDERS);
    expect(all.length).toBeGreaterThan(1000);
    // One in 100,000 draws is further off.
    expect(Math.abs(variance / expected - 1)).toBeLessThan(4.4 * Math.sqrt(2 / all.length));
    expect(variance).toBeGreaterThan(1.5);
  });

  it("is spread like a Gaussian, by chi-square", () => {
    const deviation = Math.sqrt(DEVICES / (DEVICES - COLLUDERS));
    // Borders of ten parts that a standard normal number falls into equally often.
    const borders = [-1.2816, -0.8416, -0.5244, -0.2533, 0, 0.2533, 0.5244, 0.8416, 1.2816];
    const counts = Array(10).fill(0);
    for (const z of all) counts[borders.filter((border) => z / deviation > border).length]++;
    const expected = all.length / 10;
    const statistic = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // Of nine degrees of freedom: above 39 in one of 100,000 draws.
    expect(statistic).toBeLessThan(39);
  });

  it("is another one in every network, every answer and every cell", () => {
    const [first, second, other] = releases;
    const pairs = [
      [first, second],
      [first, other],
      [second, other],
    ];
    for (const [a, b] of pairs) {
      const common = Math.min(a.length, b.length);
      const found = correlation(a.subarray(0, common), b.subarray(0, common));
      expect(Math.abs(found)).toBeLessThan(4.4 / Math.sqrt(common));
    }
    const joined = Float64Array.from(all);
    expect(Math.abs(correlation(joined.subarray(1), joined.subarray(0, -1)))).toBeLessThan(4.4 / Math.sqrt(all.length));
  });
});

const id = (n: number) => n.toString(16).padStart(32, "0");
const everybody = [1, 2, 3, 4].map(id);
const whole = (ids: readonly string[]) => rosterOf(1, [...ids], (one) => ids.filter((other) => other !== one));
const contentOf = (roster: Roster) => ({ ...census(1), stage: stages.release, number: 3, roster });
const linksTo = (ids: readonly string[]) => ids.map((other) => ({ id: other }));

describe("a device", () => {
  const others = everybody.slice(1);
  const may = (roster: Roster, self: string, links: readonly string[]) =>
    mayAdd(releasing, contentOf(roster), self, linksTo(links));

  it("adds its rows to sums over a roster that names it with exactly its links", () => {
    expect(may(whole(everybody), id(1), others)).toBe(true);
  });

  it("adds nothing where the roster has one link fewer than it has, or one more, or another", () => {
    expect(may(whole(everybody), id(1), [...others, id(6)])).toBe(false);
    expect(may(whole(everybody), id(1), others.slice(1))).toBe(false);
    expect(may(whole(everybody), id(1), [...others.slice(1), id(6)])).toBe(false);
  });

  it("adds nothing to sums over a roster without it, and to none without a roster", () => {
    expect(may(whole(everybody), id(6), everybody)).toBe(false);
    expect(may(whole(everybody), id(6), [])).toBe(false);
    const { roster: _, ...bare } = contentOf(whole(everybody));
    expect(mayAdd(releasing, bare, id(1), linksTo(others))).toBe(false);
  });

  it("adds nothing to sums over fewer devices than the study says, in the first round", () => {
    const three = everybody.slice(0, 3);
    expect(may(whole(three), id(1), three.slice(1))).toBe(false);
  });
});

describe("sums over other devices", () => {
  const secret = Uint8Array.from({ length: 32 }, (_, i) => i);
  /** What a device has posted for these sums, once it is written down. */
  function posted(own: SharedPrivateRows, roster: Roster): Float64Array | "stale" | undefined {
    const content = contentOf(roster);
    const ask = () =>
      own.integersFor(releaseRequest(content), (noise) => sharedReleaseIntegers(releasing, content, noRows, noise));
    return ask() ?? ask();
  }
  function device(): SharedPrivateRows {
    const memory = {
      saved: encodeLedger(newLedger(secret)),
      isLost: false,
      keep: (_: Uint8Array, done: (failure?: string) => void) => done(undefined),
    };
    const own = new SharedPrivateRows(study, memory as never, () => {});
    own.take(noRows);
    return own;
  }

  it("have another name and other noise, so that their difference shows nobody's rows", () => {
    const [here, there] = [everybody, [...everybody.slice(0, 3), id(6)]].map(whole);
    expect(releaseRequest(contentOf(here)).of).not.toBe(releaseRequest(contentOf(there)).of);
    const [first, again, other] = [posted(device(), here), posted(device(), here), posted(device(), there)];
    expect(first).toBeInstanceOf(Float64Array);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });
});
