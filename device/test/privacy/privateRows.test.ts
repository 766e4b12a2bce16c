// Private rows of a device: two releases, a ledger that is paid before anything is sent, and rows that are not asked again.

import {
  distortion,
  globalCentroidDeviation,
  kmeans,
  type Matrix,
  normalStream,
  paperData,
  randomStream,
  ring,
  stack,
} from "@fedkm/core";
import { muOf, nothingKnown, partDeviation, releaseRounds, STEPS } from "@fedkm/core/release";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byChance, guessedPresence } from "../../../lab/src/audit/private.ts";
import { propertyParameters, runs } from "../../../test/runs.ts";
import { followPersonalReleases } from "../../src/loop/personalLoop.ts";
import type { UpdateModel } from "../../src/loop/updateModel.ts";
import type { HistoryMemory } from "../../src/privacy/history.ts";
import { decodeLedger, encodeLedger, newLedger } from "../../src/privacy/ledger.ts";
import { PrivateRows } from "../../src/privacy/privateRows.ts";
import { simulate } from "../../src/simulation/simulate.ts";
import { absentRows } from "../../src/study/remoteRows.ts";
import { canonicalStudy, contractOf, parseStudy } from "../../src/study/study.ts";
import { refusalOf, studyWith } from "../problem.ts";

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
  const own = new PrivateRows(of, disk.memory, () => kept.push(1));
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
    const again = new PrivateRows(study, diskOf().memory, () => {});
    again.take(reversed);
    expect(again.status()).toEqual(lost.own.status());
    const after = diskOf(first.written[0]);
    const restarted = new PrivateRows(study, after.memory, () => {});
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

  it("are noise alone where there are none, and nothing where there are no data", () => {
    const [empty, absent] = [diskOf(), diskOf()];
    new PrivateRows(study, empty.memory, () => {}).take({ data: new Float64Array(0), rows: 0, cols: 2 });
    expect(empty.written).toHaveLength(1);
    new PrivateRows(study, absent.memory, () => {}).take(absentRows(2));
    expect(absent.written).toEqual([]);
  });

  it.each([2, 8])(
    "are sent alike where there are none and where there is one, %i columns: guesses are chance",
    async (columns) => {
      const guesses = runs({ short: 200, long: 1_000 });
      expect(Math.abs((await guessedPresence(columns, guesses)) - 0.5)).toBeLessThan(byChance(guesses));
    },
  );
});

describe("the second release of a device that nothing wakes", () => {
  const at = (seconds: number, isMoving: boolean) => {
    const around: Matrix[] = [];
    const own = { awaitsCentroids: true, releaseAround: (centroids: Matrix) => around.push(centroids) };
    const model = { followReleases() {}, centroids: rows, isMoving, private: own } as unknown as UpdateModel;
    return { wait: followPersonalReleases(model, 1000 * seconds, () => false) / 1000, releases: around.length };
  };

  it("is looked for when it may first be made, however restless the device is before", () => {
    expect(at(6, true)).toEqual({ wait: 54, releases: 0 });
    expect(at(6, false)).toEqual({ wait: 54, releases: 0 });
    expect(at(60, false)).toEqual({ wait: Number.POSITIVE_INFINITY, releases: 1 });
  });

  it("is looked for again and again while the device is restless, and made at last", () => {
    expect(at(60, true)).toEqual({ wait: 30, releases: 0 });
    expect(at(650, true)).toEqual({ wait: 10, releases: 0 });
    expect(at(660, true)).toEqual({ wait: Number.POSITIVE_INFINITY, releases: 1 });
  });
});

describe("a network of private devices", () => {
  const started = async (seed: number) => {
    const { datasets } = paperData("iso", 5, 800, seed);
    const simulation = simulate({ study, contract: await contractOf(study), datasets, graph: ring(5), seed });
    simulation.run(70_000);
    return { simulation, datasets };
  };

  it("ends nearer to the pooled answer than devices alone, in the median of five draws of the noise", async () => {
    const ratios: number[] = [];
    for (let seed = 1; seed <= 5; seed++) {
      const { simulation, datasets } = await started(seed);
      expect(simulation.status(2).private).toMatchObject({ releases: 2, stage: "means", isOutdated: false });
      const reference = kmeans(stack(datasets), { k: 3, restarts: 20 }).centroids;
      expect(simulation.settle(3_600_000)).toBe(true);
      const alone = datasets.map((own) => kmeans(own, { k: 3 }).centroids);
      const away = globalCentroidDeviation(simulation.centroids(), reference);
      ratios.push(away / globalCentroidDeviation(alone, reference));
    }
    expect(ratios.sort((x, y) => x - y)[2]).toBeLessThan(1);
  });

  it("never asks the rows again: with the rows gone, what is sent from then on is the same to the bit", async () => {
    const [{ simulation }, { simulation: without }] = [await started(3), await started(3)];
    for (let i = 0; i < 5; i++) without.setRows(i, { data: new Float64Array(0), rows: 0, cols: 2 });
    simulation.settle(3_600_000);
    without.settle(3_600_000);
    expect(without.centroids()).toEqual(simulation.centroids());
  });
});

describe("private rows in more columns than a grid can have", () => {
  const [cols, k] = [8, 3];
  const features = Array.from({ length: cols }, (_, f) => ({ name: `f${f}`, unit: "", min: -8, max: 8 }));
  const asked = { name: "wide", k, alpha: 1, privacy: "private", typicalRows: 800, features };
  const wide = parseStudy(JSON.stringify(asked));
  const rounds = 6;

  function blobs(seed: number): Matrix {
    const normal = normalStream(randomStream(seed, "rows"));
    const centres = normalStream(randomStream(7, "centres"));
    const at = Float64Array.from({ length: k * cols }, () => 2.5 * centres());
    const data = Float64Array.from(
      { length: 800 * cols },
      (_, i) => at[(Math.floor(i / cols) % k) * cols + (i % cols)],
    );
    return { data: data.map((x) => Math.min(8, Math.max(-8, x + 0.7 * normal()))), rows: 800, cols };
  }

  it("are released in rounds, all of which are written down before anything counts, and repeat themselves after a crash", () => {
    const own = new PrivateRows(wide, diskOf().memory, () => {});
    own.take(blobs(1));
    expect(own.summary).toBeUndefined();
    const [first, again] = [diskOf(), diskOf()];
    const [one, other] = [first, again].map(({ memory }) => new PrivateRows(wide, memory, () => {}));
    one.take(blobs(1));
    other.take(blobs(1));
    expect(again.written).toEqual(first.written);
    first.finish();
    const ledger = decodeLedger(first.written[0], cols);
    expect(ledger?.releases.map(({ stage }) => stage)).toEqual(
      Array.from({ length: rounds }, (_, n) => `round ${n + 1}`),
    );
    expect(one.summary?.points.rows).toBe(k);
    expect(one.status()).toMatchObject({ releases: rounds, stage: `round ${rounds}`, isOutdated: false });
    expect(one.status().epsilonSpent).toBeCloseTo(1, 6);
    expect(one.awaitsCentroids).toBe(false);
    // The next start asks nothing again.
    const later = diskOf(first.written[0]);
    const restarted = new PrivateRows(wide, later.memory, () => {});
    restarted.take(blobs(1));
    expect([later.written, restarted.summary]).toEqual([[], one.summary]);
  });

  it("have other noise for every device, every version of the rows and every consent", () => {
    const summaryOf = (own: PrivateRows) => JSON.stringify(Array.from(own.summary?.points.data ?? []));
    const found = [secret, secret.map((byte) => byte + 1)].map((of) => {
      const disk = diskOf(encodeLedger(newLedger(of)));
      const own = new PrivateRows(wide, disk.memory, () => {});
      own.take(blobs(1));
      disk.finish();
      const before = summaryOf(own);
      own.renew();
      disk.finish();
      expect(own.status().epsilonSpent).toBeGreaterThan(1.3);
      return [before, summaryOf(own)];
    });
    expect(new Set(found.flat()).size).toBe(4);
  });

  it("have all of the noise that is paid for: counts of no rows scatter as they should", () => {
    const many = parseStudy(JSON.stringify({ ...asked, k: 8, features: features.slice(0, 4) }));
    const rules = {
      k: 8,
      low: new Float64Array(4).fill(-8),
      high: new Float64Array(4).fill(8),
      mu: muOf(1, 1e-5),
      seed: 0,
    };
    const none = { data: new Float64Array(0), rows: 0, cols: 4 };
    const last = releaseRounds(rules).at(-1);
    const [counts] = last?.parts({ ...nothingKnown, reach: Float64Array.of(1) }) ?? [];
    const deviation = partDeviation(rules, counts) / STEPS;
    const squares = Array.from({ length: 60 }, (_, n) => {
      const disk = diskOf(encodeLedger(newLedger(secret.map((byte) => byte + n))));
      const own = new PrivateRows(many, disk.memory, () => {});
      own.take(none);
      disk.finish();
      // What noise has made negative counts as 1.
      return Array.from(own.summary?.weights ?? [])
        .filter((weight) => weight > 1)
        .map((weight) => weight ** 2);
    }).flat();
    expect(squares.length).toBeGreaterThan(180);
    const variance = squares.reduce((sum, square) => sum + square, 0) / squares.length;
    // One in 100,000 draws is further off.
    expect(Math.abs(variance / deviation ** 2 - 1)).toBeLessThan(4.4 * Math.sqrt(2 / squares.length));
  });

  it("cost no more than the lifetime, however often a person agrees", () => {
    const disk = diskOf();
    const own = new PrivateRows(wide, disk.memory, () => {});
    own.take(blobs(1));
    for (let n = 0; n < 20; n++) {
      disk.finish();
      own.renew();
    }
    expect(own.status().failure).toMatch(/^a further release would cost more than the study's lifetimeEpsilon of 4$/);
    expect(own.status().epsilonSpent).toBeLessThanOrEqual(4);
    expect(own.status().releases % rounds).toBe(0);
  });

  it("are paid for to the last round by a lifetime of one release, which never reads as more", () => {
    const between = (least: number, most: number) =>
      fc.double({ min: Math.log(least), max: Math.log(most), noNaN: true }).map(Math.exp);
    fc.assert(
      fc.property(between(0.011, 20), between(1e-12, 1e-3), (epsilon, delta) => {
        const once = { ...wide, epsilon, delta, lifetimeEpsilon: epsilon };
        const own = new PrivateRows(once, undefined, () => {});
        own.take({ data: new Float64Array(once.features.length), rows: 1, cols: once.features.length });
        expect(own.status()).toMatchObject({ releases: rounds, failure: null });
        expect(own.status().epsilonSpent).toBeLessThanOrEqual(epsilon);
      }),
      propertyParameters({ short: 20, long: 500 }),
    );
  });

  it("give a network clusters nearly as good as those without noise", async () => {
    const datasets = [1, 2, 3, 4].map(blobs);
    const contract = await contractOf(wide);
    const simulation = simulate({ study: wide, contract, datasets, graph: ring(4), seed: 1 });
    expect(simulation.settle(3_600_000)).toBe(true);
    const pooled = kmeans(stack(datasets), { k });
    for (const centroids of simulation.centroids()) {
      const cost = 2 * distortion([stack(datasets)], [centroids]);
      expect(cost / pooled.inertia).toBeLessThan(1.05);
    }
    expect(simulation.status(0).private).toMatchObject({ releases: rounds, protects: "rows" });
  });
});

describe("a private study", () => {
  const said = (from: string, to: string) => refusalOf(text.replace(from, to));

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
    expect(said("features:\n", `epsilon: 0.001\nfeatures:\n${four}`)).toMatch(/^epsilon must be at least 0.01 if/);
  });
});
