// Private rows of a device: two releases, a ledger that is paid before anything is sent, and rows that are not asked again.

import { globalCentroidDeviation, kmeans, type Matrix, paperData, ring, stack } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import type { HistoryMemory } from "../src/memory.ts";
import { decodeLedger, encodeLedger, newLedger } from "../src/private/ledger.ts";
import { Private } from "../src/private/private.ts";
import { simulate } from "../src/simulation/simulate.ts";
import { canonicalStudy, contractOf, parseStudy } from "../src/study.ts";
import { studyWith } from "./problem.ts";

const text = `name: private
k: 3
alpha: 1
privacy: private
typicalRows: 800
features:
  - { name: x, unit: "", min: -13, max: 13 }
  - { name: y, unit: "", min: -13, max: 13 }
`;
const study = parseStudy(text);
const secret = Uint8Array.from({ length: 32 }, (_, i) => i);
const [rows, others] = paperData("iso", 2, 800, 1).datasets;
const reversed: Matrix = { ...rows, data: rows.data.map((_, i) => rows.data[2 * (799 - (i >> 1)) + (i & 1)]) };

/** A disk that says when it has written, or does not. */
function diskOf(saved: Uint8Array | undefined = encodeLedger(newLedger(secret)), isLost = false) {
  const written: Uint8Array[] = [];
  const waiting: ((failure: string | undefined) => void)[] = [];
  const memory: HistoryMemory = { saved, isLost, keep: (bytes, done) => written.push(bytes) && waiting.push(done) };
  return { memory, written, finish: (failure?: string) => waiting.shift()?.(failure) };
}

function started(disk = diskOf(), of = study) {
  const kept: number[] = [];
  const own = new Private(of, disk.memory, () => kept.push(1));
  own.take(rows);
  return { ...disk, own, kept };
}

describe("the private rows of a device", () => {
  it("count only when what they cost is written down", () => {
    const { own, written, finish, kept } = started();
    expect(own.summary).toBeUndefined();
    expect(own.status()).toMatchObject({ releases: 1, stage: null });
    expect(decodeLedger(written[0], 2)?.releases).toHaveLength(1);
    finish("no space");
    expect(own.summary).toBeUndefined();
    expect(own.status().failure).toBe("no space");
    own.keep();
    expect(written[1]).toEqual(written[0]);
    finish();
    expect(kept).toHaveLength(1);
    expect(own.summary?.points.rows).toBeGreaterThan(3);
    expect(own.status()).toMatchObject({ stage: "cells", failure: null, isOutdated: false });
    expect(own.status().epsilonSpent).toBeLessThan(0.75);
  });

  it("are released with the same bytes after a crash before or after the write, whatever their order, and never twice", () => {
    const first = started();
    first.finish();
    const lost = started();
    expect(lost.written).toEqual(first.written);
    const again = new Private(study, diskOf().memory, () => {});
    again.take(reversed);
    expect(again.status()).toEqual(lost.own.status());
    const after = diskOf(first.written[0]);
    const restarted = new Private(study, after.memory, () => {});
    restarted.take(reversed);
    expect(after.written).toEqual([]);
    expect(restarted.summary).toEqual(first.own.summary);
    expect(restarted.awaitsCentroids).toBe(true);
  });

  it("are released around centroids once more, and that is all they cost", () => {
    const { own, finish, written } = started();
    finish();
    const at = kmeans(rows, { k: 3 }).centroids;
    own.releaseAround(at);
    expect(own.summary?.points.rows).toBeGreaterThan(3);
    finish();
    expect(own.summary?.points.rows).toBe(3);
    expect(globalCentroidDeviation([own.summary?.points ?? at], at)).toBeLessThan(0.1);
    expect(own.status().epsilonSpent).toBeCloseTo(1, 6);
    expect(own.awaitsCentroids).toBe(false);
    expect(written).toHaveLength(2);
  });

  it("that have changed wait for a person, and cost again, up to the lifetime", () => {
    const { own, finish, written } = started();
    finish();
    const before = own.summary;
    own.take(others);
    expect(own.status().isOutdated).toBe(true);
    expect(own.summary).toBe(before);
    expect(own.awaitsCentroids).toBe(false);
    expect(written).toHaveLength(1);
    for (let i = 0; i < 7; i++) {
      own.renew();
      finish();
    }
    expect(own.status()).toMatchObject({ isOutdated: false, failure: null });
    const spent = own.status().epsilonSpent;
    for (let i = 0; i < 100; i++) {
      own.renew();
      finish();
    }
    expect(own.status().failure).toMatch(/^a further release would cost more than the study's lifetimeEpsilon of 4$/);
    expect(own.status().epsilonSpent).toBeGreaterThan(spent);
    expect(own.status().epsilonSpent).toBeLessThanOrEqual(4);
  });

  it("say nothing where the ledger is lost or damaged, until a person consents", () => {
    for (const disk of [diskOf(undefined, true), diskOf(Uint8Array.of(1, 2, 3)), diskOf(new Uint8Array(0))]) {
      const { own, written, finish } = started(disk);
      expect(own.status().isHistoryLost).toBe(true);
      expect([own.summary, written]).toEqual([undefined, []]);
      own.renew();
      finish();
      expect(own.status()).toMatchObject({ isHistoryLost: false, releases: 1, stage: "cells" });
    }
  });

  it("are noise alone where there are none, and the device then follows its neighbours", () => {
    const disk = diskOf();
    const own = new Private(study, disk.memory, () => {});
    own.take({ data: new Float64Array(0), rows: 0, cols: 2 });
    expect(disk.written).toEqual([]);
  });
});

describe("a network of private devices", () => {
  it("ends nearer to the pooled answer than devices alone, and never asks the rows again", async () => {
    const { datasets } = paperData("iso", 5, 800, 3);
    const contract = await contractOf(study);
    const run = () => simulate({ study, contract, datasets, graph: ring(5), seed: 3 });
    const simulation = run();
    simulation.run(70_000);
    expect(simulation.status(2).private).toMatchObject({ releases: 2, stage: "means", isOutdated: false });
    const reference = kmeans(stack(datasets), { k: 3, restarts: 20 }).centroids;
    expect(simulation.settle(3_600_000)).toBe(true);
    const alone = datasets.map((own) => kmeans(own, { k: 3 }).centroids);
    expect(globalCentroidDeviation(simulation.centroids(), reference)).toBeLessThan(
      globalCentroidDeviation(alone, reference),
    );
    // With the rows gone, what is sent from here on is the same to the bit.
    const without = run();
    without.run(70_000);
    for (let i = 0; i < 5; i++) without.setRows(i, { data: new Float64Array(0), rows: 0, cols: 2 });
    without.settle(3_600_000);
    expect(without.centroids()).toEqual(simulation.centroids());
  });
});

describe("a private study", () => {
  const said = (from: string, to: string) => {
    try {
      parseStudy(text.replace(from, to));
      return "nothing";
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
  };

  it("has its budget in its text, and other studies have the text that they had", () => {
    expect(JSON.parse(canonicalStudy(study))).toMatchObject({ epsilon: 1, delta: 1e-5, lifetimeEpsilon: 4 });
    expect(canonicalStudy(studyWith())).not.toMatch(/epsilon|delta/);
  });

  it("refuses what would void its promise", () => {
    expect(said("typicalRows: 800\n", "")).toMatch(/^typicalRows must be an integer/);
    expect(said("alpha: 1", "alpha: 1\nepsilon: 0")).toMatch(/^epsilon must be a number above 0 and at most 20, got 0/);
    expect(said("alpha: 1", "alpha: 1\nepsilon: 2\nlifetimeEpsilon: 1")).toMatch(
      /^lifetimeEpsilon must be a number from 2/,
    );
    expect(said("alpha: 1", "alpha: 1\nweighting: sample")).toMatch(
      /^weighting must be "device" with privacy "private"/,
    );
    expect(said("privacy: private\ntypicalRows: 800", "privacy: guarded\nepsilon: 1")).toMatch(
      /^epsilon must be left out/,
    );
    const four = [1, 2].map((f) => `  - { name: f${f}, unit: "", min: 0, max: 1 }\n`).join("");
    expect(said("features:\n", `features:\n${four}`)).toMatch(/^features must be a list of 1 to 3 features/);
  });
});
