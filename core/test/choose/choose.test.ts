// choose: the true k, no clusters where there are none, and an alpha that does no harm, all without pooling.

import {
  adjustedRandIndex,
  choose,
  chooseAlpha,
  chooseClusters,
  chooseK,
  chooseLinks,
  communities,
  communityData,
  complete,
  distortion,
  erdosRenyi,
  fit,
  graph,
  kmeans,
  type Matrix,
  matrix,
  normalStream,
  paperData,
  path,
  predict,
  randomStream,
  ring,
  simplifiedSilhouette,
  splitByClasses,
  splitByLabel,
  splitBySizes,
  splitEvenly,
  stack,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { tubesBetween, valleyOf } from "../../src/choose/tubes.ts";
import { forAllProblems } from "../problems.ts";

const network = (seed: number) => erdosRenyi(10, 0.7, randomStream(seed, "graph"));
const none: Matrix = { data: new Float64Array(0), rows: 0, cols: 2 };

/** Places on the first axis. */
const on = (...places: number[]) => places.map((x) => [x, 0]);

/** Points around some centres, a device's share each. */
function around(centres: readonly (readonly number[])[], each: number, devices: number, seed: number) {
  const normal = normalStream(randomStream(seed, "around"));
  const rows = Array.from({ length: each * centres.length }, (_, r) =>
    centres[r % centres.length].map((x) => x + normal()),
  );
  const points = matrix(rows);
  return splitEvenly({ points, labels: new Uint32Array(points.rows) }, devices, seed).datasets;
}

function square(each: number, devices: number, seed: number): Matrix[] {
  const random = randomStream(seed, "square");
  return Array.from({ length: devices }, () => matrix(Array.from({ length: each }, () => [random(), random()])));
}

function numbersIn(value: unknown): number[] {
  if (typeof value === "number") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

describe("chooseK(datasets, graph, options)", () => {
  it.each(["iso", "var", "aniso"] as const)("finds the paper's three clusters in every set: %s", (kind) => {
    const sets = runs({ short: 3, long: 10 });
    const found = Array.from({ length: sets }, (_, seed) =>
      chooseK(paperData(kind, 10, 100, seed).datasets, network(seed), { seed }),
    );
    expect(found.map(({ k }) => k)).toEqual(Array(sets).fill(3));
  });

  it("finds long clusters side by side, which k-means cuts across, and says that they are long", () => {
    // On its columns k-means agrees with the true clusters of this set by 0.49.
    const { candidates } = chooseK(paperData("aniso", 10, 100, 1).datasets, network(1), { seed: 1 });
    expect(candidates).toEqual([
      { k: 3, fitted: 3, reason: "long" },
      { k: 2, fitted: 2, reason: "most" },
    ]);
    // A single long cluster stays one.
    const one = around(on(0), 600, 4, 1).map(({ data, ...shape }) => ({
      ...shape,
      data: data.map((x, at) => (at % 2 ? x : 9 * x + 8 * data[at + 1])),
    }));
    expect(chooseK(one, ring(4)).candidates).toEqual([{ k: 1, fitted: 1, reason: "none" }]);
  });

  it("does not count clusters that only a category makes, of two values or of more", () => {
    const random = randomStream(3, "words");
    const normal = normalStream(random);
    const rows = Array.from({ length: 900 }, (_, r) => {
      const [two, five] = [random() < 0.3 ? 0 : 1, Math.floor(5 * random() ** 2)];
      const words = [1, 0]
        .map((own): number => (own === two ? 2.1 : 0))
        .concat([0, 1, 2, 3, 4].map((own) => (own === five ? 1.4 : 0)));
      return [...[r % 3 === 0 ? 3 : 0, r % 3 === 1 ? 3 : 0].map((x) => x + 0.3 * normal()), ...words];
    });
    const one = chooseK([matrix(rows)], graph(1, []));
    expect([one.k, one.fitted]).toEqual([3, 3]);
    expect(chooseK([matrix(rows.map(([, , ...words]) => [normal(), normal(), ...words]))], graph(1, [])).k).toBe(1);
    const dealt = [0, 1, 2].map((d) => matrix(rows.filter((_, r) => r % 7 === d || (d === 2 && r % 7 > 2))));
    expect(chooseK(dealt, path(3)).k).toBe(3);
  });

  it("does not take a cluster for two by a gap that chance makes in one of ten", () => {
    const { candidates } = chooseK(paperData("iso", 10, 100, 2).datasets, network(2), { seed: 2 });
    expect(candidates.map(({ k }) => k)).toEqual([3, 2]);
  });

  it("does not take clusters for more by two such gaps at once", () => {
    const { datasets } = communityData(5, 50, 93, 0);
    const links = communities([5, 5], 0.8, 0.1, randomStream(93, "graph"));
    expect(chooseK(datasets, links, { seed: 93 }).k).toBe(3);
  });

  it("counts gaps at every k once they are beyond doubt at one", () => {
    const { curve, k } = chooseK(paperData("var", 10, 100, 0).datasets, network(0), { seed: 0 });
    expect([k, curve[2].clusters]).toEqual([3, 3]);
  });

  it("finds them in devices of 4 to 400 points", () => {
    for (const kind of ["var", "aniso"] as const) {
      const { datasets, labels } = paperData(kind, 1, 1000, 5);
      const sizes = [4, 6, 10, 20, 40, 60, 100, 130, 230, 400];
      const dealt = splitBySizes({ points: datasets[0], labels: labels[0] }, sizes, 5).datasets;
      expect(chooseK(dealt, network(5)).k, kind).toBe(3);
    }
  });

  it("finds 5 and 8 clusters, and 3 in 40 columns", () => {
    const star = (k: number) => Array.from({ length: k }, (_, c) => [6 * (c % 3), 6 * Math.floor(c / 3)]);
    expect(chooseK(around(star(5), 60, 6, 1), ring(6))).toMatchObject({ k: 5, elbow: 5, silhouette: 5, agree: true });
    expect(chooseK(around(star(8), 60, 6, 2), ring(6))).toMatchObject({ k: 8, elbow: 8, silhouette: 8, agree: true });
    const wide = [0, 2, 4].map((x) => Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? x : -x)));
    expect(chooseK(around(wide, 40, 4, 3), ring(4), { largestK: 6 }).k).toBe(3);
  });

  it("says that one normal cluster, round or long, and an even spread have no structure", () => {
    for (let seed = 1; seed <= runs({ short: 1, long: 3 }); seed++) {
      const round = around(on(0), 600, 6, seed);
      const long = round.map(({ data, ...shape }) => ({ ...shape, data: data.map((x, at) => (at % 2 ? x : 9 * x)) }));
      for (const datasets of [round, long, square(100, 6, seed)]) {
        const { k, structure, agree, silhouette } = chooseK(datasets, ring(6), { seed });
        expect([k, structure, agree]).toEqual([1, false, false]);
        // The silhouette cannot say so.
        expect(silhouette).toBeGreaterThan(1);
      }
    }
  });

  /** A jittered grid of round clusters that nearly touch. */
  const grid = (width: number, jitter: number, sigma: number, seed: number) => {
    const random = randomStream(seed, "grid");
    const centres = Array.from({ length: width * width }, (_, c) =>
      [c % width, Math.floor(c / width)].map((x) => (x + jitter * (random() - 0.5)) / sigma),
    );
    return around(centres, 60, 5, seed);
  };

  it("goes on until the curve is over: 25 clusters without options, some of which overlap", () => {
    const choice = chooseK(grid(5, 0.5, 0.19, 2), ring(5));
    expect(Math.abs(choice.k - 25)).toBeLessThanOrEqual(1);
    expect(choice.atLimit).toBe(false);
    // One pair that overlaps has no veto.
    expect(choice.curve.find(({ k }) => k === 25)?.apart).toBeLessThan(1);
    const tried = choice.curve.map(({ k }) => k);
    expect(tried).toEqual([...new Set(tried)].sort((a, b) => a - b));
    expect(tried.slice(0, 18)).toEqual(Array.from({ length: 18 }, (_, i) => i + 1));
    expect(tried.at(-1)).toBeLessThanOrEqual(60);
  });

  it("has at most three candidates, the chosen one first, with reasons", () => {
    const { candidates, k } = chooseK(around(on(0, 6, 40, 46), 80, 4, 1), ring(4));
    expect(k).toBe(4);
    expect(candidates).toEqual([
      { k: 4, fitted: 4, reason: "most" },
      { k: 3, fitted: 3, reason: "fewer" },
      { k: 2, fitted: 2, reason: "coarse" },
    ]);
    const { candidates: alone } = chooseK(square(100, 6, 1), ring(6));
    expect(alone).toEqual([{ k: 1, fitted: 1, reason: "none" }]);
  });

  it("counts clusters with tails that take clusters for themselves, and says which k finds them", () => {
    const even = randomStream(3, "tails");
    const normal = normalStream(even);
    const rows = Array.from({ length: 1000 }, (_, r) => {
      const tail = Math.abs(normal()) ** 0.75 + 1e-6;
      return [20 * (r % 2), 20 * Math.floor((r % 4) / 2)].map((x) => x + normal() / tail);
    });
    const points = matrix(rows);
    const { k, fitted } = chooseK(splitEvenly({ points, labels: new Uint32Array(1000) }, 4, 1).datasets, ring(4));
    expect(k).toBe(4);
    expect(fitted).toBeGreaterThanOrEqual(4);
  });

  it("says when its answer stands at the limit of the search", () => {
    const datasets = grid(4, 0.2, 0.12, 1);
    expect(chooseK(datasets, ring(5), { largestK: 10 }).atLimit).toBe(true);
    expect(chooseK(datasets, ring(5))).toMatchObject({ k: 16, atLimit: false });
  });

  it("finds five small clusters beside three twenty times as large", () => {
    const large = around([on(0), on(9), [[4, 9]]].flat(), 600, 1, 1);
    const small = around([on(30, 40, 50), [[35, 9]], [[45, 9]]].flat(), 30, 1, 2);
    const points = stack([...large, ...small]);
    const { datasets } = splitEvenly({ points, labels: new Uint32Array(points.rows) }, 4, 1);
    expect(chooseK(datasets, ring(4)).k).toBe(8);
  });

  it("finds no clusters in noise, also with more columns than rows", () => {
    const drawn = (rows: number, cols: number, draw: () => number) => {
      const points = matrix(Array.from({ length: rows }, () => Array.from({ length: cols }, draw)));
      return splitEvenly({ points, labels: new Uint32Array(rows) }, 4, 1).datasets;
    };
    const even = randomStream(1, "noise");
    const normal = normalStream(even);
    const exponential = () => -Math.log(1 - even());
    const noises: [string, readonly Matrix[]][] = [
      ["normal, 100 x 400", drawn(100, 400, normal)],
      ["even, 60 x 100", drawn(60, 100, even)],
      ["normal, 150 x 20", drawn(150, 20, normal)],
      ["exponential", drawn(400, 2, exponential)],
      ["Cauchy", drawn(200, 2, () => normal() / normal())],
      ["even, one column", drawn(200, 1, even)],
    ];
    for (const [name, datasets] of noises) {
      expect(chooseK(datasets, ring(4)), name).toMatchObject({ k: 1, structure: false });
    }
  });

  it("says 1 where no device has rows enough to look at so many columns", () => {
    const wide = matrix([Array.from({ length: 30 }, (_, x) => x), Array.from({ length: 30 }, () => 1)]);
    expect(chooseK([wide, wide], path(2))).toMatchObject({ k: 1, atLimit: false });
  });

  it("shows the silhouette's other opinion and says that they disagree", () => {
    // Two clusters near each other, one far away.
    const datasets = around(on(0, 5, 40), 100, 5, 1);
    expect(chooseK(datasets, ring(5))).toMatchObject({ k: 3, elbow: 3, silhouette: 2, agree: false });
  });

  it("sums what the devices know where labels rest", () => {
    const { datasets } = paperData("iso", 4, 30, 1);
    const { curve } = chooseK(datasets, ring(4), { largestK: 4, seed: 7 });
    expect(curve.map(({ k }) => k)).toEqual([1, 2, 3, 4]);
    for (const { k, inertia, silhouette } of curve) {
      const { centroids: seeds } = fit(datasets, ring(4), { k, alpha: 1, init: "federated", rounds: 0, seed: 7 });
      const { centroids } = kmeans(stack(datasets), { k, init: seeds[0] });
      expect(inertia).toBeCloseTo(2 * distortion([stack(datasets)], [centroids]), 9);
      expect(silhouette).toBeCloseTo(simplifiedSilhouette(stack(datasets), centroids), 9);
    }
  });

  it("takes a far cluster for one, and a few far points not", () => {
    const crowd = around(on(0), 500, 1, 1);
    const further = (points: number) => [stack([crowd[0], around(on(8), points, 1, 2)[0]])];
    expect(chooseK(further(40), graph(1, [])).k).toBe(2);
    expect(chooseK(further(2), graph(1, [])).k).toBe(1);
  });

  it("asks the part of the network that has the most points, and names the others", () => {
    const two = around(on(0, 9), 40, 3, 1);
    const three = around(on(50, 70, 90), 20, 1, 2);
    const datasets = [none, ...three, ...two, matrix([[1, 2]]), none];
    const links = graph(7, [
      [2, 3],
      [3, 4],
      [0, 2],
      [5, 6],
    ]);
    const { messages, bytes, ...choice } = chooseK(datasets, links);
    expect(choice).toMatchObject({ k: 2, leftOut: [1, 5, 6] });
    // As if the others did not exist.
    const alone = chooseK([none, ...two], path(4));
    expect({ ...choice, messages, bytes }).toEqual({ ...alone, leftOut: [1, 5, 6] });
  });

  it("stays finite with few, equal, far and tiny points", () => {
    const same = matrix(Array.from({ length: 12 }, () => [3, 3]));
    const apart = (scale: number, shift: number) =>
      around(on(0, 10), 30, 2, 1).map(({ data, ...shape }) => ({ ...shape, data: data.map((x) => scale * x + shift) }));
    const flat = apart(1, 0).map(({ data, ...shape }) => ({
      ...shape,
      data: data.map((x, at) => (at % 2 ? 1e6 / 3 : x)),
    }));
    const twice = [
      matrix([
        [1, 0],
        [1, 0],
        [1, 0],
        [4, 0],
        [4, 0],
        [4, 0],
      ]),
    ];
    const problems: [readonly Matrix[], number][] = [
      [[matrix([[1, 2]])], 1],
      [[matrix([[1, 2]]), matrix([[3, 4]])], 1],
      [[same, none], 1],
      // Two values are a grid of two steps, as of a column that says yes or no.
      [[...twice, ...twice, ...twice, ...twice], 1],
      [apart(1, 1e9), 2],
      [apart(1e-12, 0), 2],
      [apart(1e147, 0), 2],
      [flat, 2],
    ];
    for (const [datasets, k] of problems) {
      const choice = chooseK(datasets, path(datasets.length));
      expect(choice.k).toBe(k);
      expect(numbersIn(choice).every(Number.isFinite)).toBe(true);
    }
  });

  it("says what a device tells, keeps to the minimum, and counts messages", () => {
    const { datasets } = paperData("iso", 4, 40, 1);
    const open = chooseK(datasets, ring(4), { largestK: 5 });
    expect(open.reveals).toMatch(/none of fewer than 1 point,.*a cluster of 1 point is that point/);
    const guarded = chooseK(datasets, ring(4), { minimum: 4 });
    expect(guarded.k).toBe(3);
    expect(guarded.reveals).toMatch(/none of fewer than 4 points,.*at least 4 points, and how many of them lie where/);
    // 40 points have 2 clusters of 16 and more, not 3.
    expect(chooseK(datasets, ring(4), { minimum: 16 }).curve.length).toBe(2);
    expect(chooseK(datasets, ring(4), { largestK: 5 })).toEqual(open);
  });

  it("counts a flood and, for each sum, every link of a tree up and down", () => {
    const { datasets } = paperData("iso", 2, 40, 1);
    expect(chooseK(datasets.slice(0, 1), graph(1, []))).toMatchObject({ messages: 0, bytes: 0 });
    const { messages, bytes } = chooseK(datasets, path(2), { largestK: 1 });
    const seed = fit(datasets, path(2), { k: 1, alpha: 1, init: "federated", rounds: 0 });
    // Count and sum (2) of the cluster, which rests at once; then three numbers.
    expect([messages, bytes]).toEqual([seed.messages + 2 * 2, seed.bytes + 2 * 8 * (3 + 3)]);
  });

  it("is finite on random problems: unequal sizes, empty and isolated devices, weighted edges", () => {
    forAllProblems("chooseK", 60, ({ datasets, network: links }) => {
      const choice = chooseK(datasets, links, { largestK: 4 });
      expect(numbersIn(choice).every(Number.isFinite)).toBe(true);
      expect(choice.structure).toBe(choice.k > 1);
    });
  });

  it("refuses what it cannot use, in one line", () => {
    const few = [matrix([[1], [2]])];
    expect(() => chooseK(few, graph(1, []), { largestK: 0 })).toThrow(
      "largestK must be an integer of at least 1, got 0",
    );
    expect(() => chooseK(few, graph(1, []), { minimum: 3 })).toThrow(
      "datasets must have a device with at least 3 points (minimum), got at most 2",
    );
    expect(() => chooseK([none], graph(1, []))).toThrow("datasets needs at least one point on some device");
  });
});

describe("tubesBetween(datasets, centroids, options)", () => {
  const even = randomStream(1, "tubes");
  const normal = normalStream(even);
  const points = matrix(Array.from({ length: 1200 }, (_, r) => [4 * (r % 3) + normal(), normal() + (r % 2)]));
  const centroids = matrix([
    [0, 0.5],
    [4, 0.5],
    [8, 0.5],
  ]);

  it("has the same histograms to the bit with 1, 10 and 100 devices, also where labels are skewed", () => {
    const whole = tubesBetween([points], centroids, { minimum: 1 });
    expect(whole.map(({ a, b }) => [a, b])).toEqual([
      [0, 1],
      [1, 2],
    ]);
    const labels = Uint32Array.from({ length: points.rows }, (_, r) => r % 3);
    for (const devices of [1, 10, 100]) {
      const { datasets } = splitByLabel({ points, labels }, devices, 0.3, 5);
      expect(tubesBetween(datasets, centroids, { minimum: 1 })).toEqual(whole);
    }
  });

  it("counts all rows of two clusters that lie on the way between them", () => {
    const line = matrix([-1, 0, 0.1, 1, 1.9, 2, 2.6].map((x) => [x]));
    const [{ bins }] = tubesBetween([line], matrix([[0], [2]]), { minimum: 1 });
    // -1 and 2.6 are beyond a quarter of the way; a bin is an eighth of it.
    expect(Array.from(bins)).toEqual([0, 0, 2, 0, 0, 0, 1, 0, 0, 1, 1, 0]);
  });

  it("says nothing of a cluster in which a device has fewer rows than the minimum, nor of a tube", () => {
    const few = matrix([[0], [0.2], [2], [2.1], [1.9]]);
    const many = matrix([[0], [0.1], [0.2], [2], [2.1], [1.9]]);
    const rows = (minimum: number) =>
      tubesBetween([few, many], matrix([[0], [2]]), { minimum })[0].bins.reduce((sum, own) => sum + own, 0);
    expect([1, 2, 3].map(rows)).toEqual([11, 11, 9]);
  });

  it("is flat where evenly spread rows are cut: the cut makes no valley", () => {
    const square = matrix(Array.from({ length: 40_000 }, () => [even(), even()]));
    const cells = matrix([
      [0.25, 0.25],
      [0.75, 0.25],
      [0.25, 0.75],
      [0.75, 0.75],
    ]);
    for (const { bins } of tubesBetween([square], cells, { minimum: 1 })) {
      const { depth } = valleyOf(bins);
      expect(depth).toBeGreaterThan(0.85);
    }
  });
});

describe("valleyOf(bins)", () => {
  const bins = (...counts: number[]) => Uint32Array.from(counts);

  it("gains nothing where one hump is enough", () => {
    expect(valleyOf(bins(1, 2, 3, 5, 8, 9, 9, 7, 4, 2, 1, 0)).gain).toBeCloseTo(0, 12);
    expect(valleyOf(bins(...Array(12).fill(5))).gain).toBeCloseTo(0, 12);
  });

  it("gains more the deeper the valley is, and says how deep", () => {
    const deep = valleyOf(bins(5, 9, 10, 9, 4, 0, 0, 4, 9, 10, 9, 5));
    const shallow = valleyOf(bins(5, 9, 10, 9, 8, 7, 7, 8, 9, 10, 9, 5));
    expect(deep.gain).toBeGreaterThan(10);
    expect(deep.depth).toBeCloseTo(0.5 / 10.5, 12);
    expect(shallow.gain).toBeLessThan(1.1);
    expect(shallow.depth).toBeCloseTo(7.5 / 10.5, 12);
  });
});

describe("chooseAlpha(datasets, graph, options)", () => {
  it("stays alone among strangers: its fresh loss is at most 1.5 times that of the best alpha", () => {
    for (const seed of [0, 3, 9, 15]) {
      const drawn = communityData(5, 250, seed).datasets;
      const part = (from: number, to: number) =>
        drawn.map(({ data }) => ({ data: data.slice(2 * from, 2 * to), rows: to - from, cols: 2 }));
      const [datasets, fresh] = [part(0, 50), part(50, 250)];
      const links = communities([5, 5], 0.8, 0.1, randomStream(seed, "graph"));
      const { alpha, alone, curve } = chooseAlpha(datasets, links, { k: 3, seed });
      const losses = curve.map((score) =>
        distortion(fresh, fit(datasets, links, { k: 3, alpha: score.alpha, seed }).centroids),
      );
      const chosen = losses[curve.findIndex((score) => score.alpha === alpha)];
      expect(chosen).toBeLessThanOrEqual(1.5 * Math.min(...losses));
      // Graphs 9 and 15 have no link between the communities.
      expect(alone, `seed ${seed}`).toBe(seed < 9);
    }
  });

  it("couples devices that have the same clusters, and is then better than alone", () => {
    const { datasets } = paperData("iso", 10, 40, 1);
    const { alpha, alone, curve } = chooseAlpha(datasets, network(1), { k: 3, seed: 1 });
    expect(alone).toBe(false);
    const chosen = curve.find((score) => score.alpha === alpha);
    expect(chosen?.loss).toBeLessThan(curve[0].loss);
    expect(curve.map((score) => score.alpha)).toEqual([0, 0.01, 0.03, 0.1, 0.3, 1, 3, 10]);
    // The best has nothing to differ from; all before the chosen one are worse than chance.
    const best = curve.reduce((a, b) => (b.loss < a.loss ? b : a));
    expect(best.standardError).toBe(0);
    for (const { alpha: smaller, loss, standardError } of curve) {
      if (smaller < alpha) expect(loss - standardError).toBeGreaterThan(best.loss);
    }
  });

  it("takes the smallest of equals: alone, if there is nobody", () => {
    const { datasets } = paperData("var", 3, 30, 2);
    const lone = chooseAlpha(datasets, graph(3, []), { k: 3, alphas: [1, 0.1, 0, 0.1], folds: 2 });
    expect(lone).toMatchObject({ alpha: 0, alone: true, messages: 0, bytes: 0 });
    expect(lone.curve.map(({ alpha }) => alpha)).toEqual([0, 0.1, 1]);
    const bound = chooseAlpha(datasets, graph(3, []), { k: 3, alphas: [1, 0.1], folds: 2 });
    expect(bound).toMatchObject({ alpha: 0.1, alone: false });
  });

  it("works with devices of few points or none, counts by device or point, and gives the same for the same seed", () => {
    const [a, b, c] = around(on(0, 9), 30, 3, 4);
    const datasets = [
      a,
      none,
      b,
      matrix([
        [0, 0],
        [9, 0],
      ]),
      c,
      matrix([[5, 5]]),
      none,
    ];
    const links = graph(7, [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
    ]);
    for (const weighting of ["device", "sample"] as const) {
      const run = () => chooseAlpha(datasets, links, { k: 2, weighting, seed: 3 });
      const choice = run();
      expect(choice.leftOut).toEqual([5, 6]);
      expect(numbersIn(choice).every(Number.isFinite)).toBe(true);
      expect(run()).toEqual(choice);
    }
    const huge = datasets.map(({ data, ...shape }) => ({ ...shape, data: data.map((x) => 1e147 * x) }));
    expect(numbersIn(chooseAlpha(huge, links, { k: 2, folds: 2 })).every(Number.isFinite)).toBe(true);
  });

  it("judges by the points of all where devices hold different clusters, and then couples them", () => {
    const centres = on(0, 12, 24, 36);
    // Each of four devices has most of one cluster and a little of the next.
    const datasets = centres.map((centre, i) =>
      stack([around([centre], 40, 1, i)[0], around([centres[(i + 1) % 4]], 6, 1, i + 9)[0]]),
    );
    const own = chooseAlpha(datasets, complete(4), { k: 4, folds: 3, seed: 1 });
    const all = chooseAlpha(datasets, complete(4), { k: 4, folds: 3, seed: 1, judge: "all" });
    expect(all.alone).toBe(false);
    // Alone, a device knows nothing of two of the clusters.
    expect(all.curve[0].loss).toBeGreaterThan(10 * Math.min(...all.curve.map(({ loss }) => loss)));
    expect(all.bytes).toBeGreaterThan(own.bytes);
    expect(all.reveals).toMatch(/floods the last of them with its number of points to all/);
    expect(own.reveals).not.toMatch(/floods/);
  });

  it("judges by the points of all as by a device's own, if there is one device", () => {
    const datasets = around(on(0, 9), 30, 1, 4);
    const run = (judge: "own" | "all") => chooseAlpha(datasets, graph(1, []), { k: 2, alphas: [0], judge }).curve[0];
    expect(run("all").loss).toBeCloseTo(run("own").loss, 12);
  });

  it("keeps back other points in every fold, and never one of a device's last k", () => {
    // Four of five points are one value: only folds that keep back the fifth have a loss.
    const points = matrix([[0], [0], [0], [0], [10]]);
    const { curve } = chooseAlpha([points], graph(1, []), { k: 1, alphas: [0] });
    // Kept back: 10 once, from a centroid at 0; 0 four times, from 2.5.
    expect(curve[0].loss).toBeCloseTo((100 + 4 * 6.25) / 5, 12);
    const tight = chooseAlpha([points], graph(1, []), { k: 4, alphas: [0], holdOut: 0.9 });
    expect(tight.curve[0].loss).toBeCloseTo(100 / 5, 12);
  });

  it("refuses what it cannot use, in one line", () => {
    const datasets = around(on(0), 20, 2, 1);
    const run = (more: object) => () => chooseAlpha(datasets, path(2), { k: 2, ...more });
    expect(run({ k: 0 })).toThrow("k must be an integer of at least 1, got 0");
    expect(run({ k: 10 })).toThrow(
      "datasets must have a device with at least 11 points (k, and one to keep back), got at most 10",
    );
    expect(run({ alphas: [] })).toThrow("alphas needs at least one number");
    expect(run({ alphas: [0, Number.NaN] })).toThrow("alphas[1] must be a finite number of at least 0, got NaN");
    expect(run({ holdOut: 1 })).toThrow("holdOut must be a number above 0 and below 1, got 1");
    expect(run({ folds: 1 })).toThrow("folds must be an integer of at least 2, got 1");
    expect(run({ weighting: "point" })).toThrow('weighting must be one of device, sample, got "point"');
    expect(run({ seed: 0.5 })).toThrow("seed must be an integer, got 0.5");
    expect(run({ judge: "both" })).toThrow('judge must be one of own, all, got "both"');
  });
});

describe("choose(datasets, graph, options)", () => {
  it("is chooseK, then chooseAlpha at that k, judged by the rows of all where they have the same clusters", () => {
    const { datasets } = paperData("iso", 5, 40, 3);
    const options = { seed: 3, alphas: [0, 0.1, 1], folds: 3 };
    const choice = choose(datasets, complete(5), { ...options, largestK: 5 });
    const clusters = chooseK(datasets, complete(5), { seed: 3, largestK: 5 });
    const coupling = chooseAlpha(datasets, complete(5), { ...options, k: 3, judge: "all" });
    const own = choose(datasets, complete(5), { ...options, largestK: 5, judge: "own" }).coupling;
    expect(own).toEqual(chooseAlpha(datasets, complete(5), { ...options, k: 3 }));
    const { messages, bytes, ...found } = choice;
    expect(found).toEqual({
      k: 3,
      fitted: 3,
      alpha: coupling.alpha,
      graph: complete(5),
      groups: [{ devices: [0, 1, 2, 3, 4], k: 3 }],
      clusters,
      coupling,
    });
    const {
      messages: asked,
      bytes: sent,
      ...counted
    } = chooseClusters(datasets, complete(5), { seed: 3, largestK: 5 });
    expect(counted).toEqual({ k: 3, fitted: 3, graph: complete(5), groups: choice.groups, clusters });
    expect([messages, bytes]).toEqual([asked + coupling.messages, sent + coupling.bytes]);
    // Who is alike was asked as well.
    expect(messages).toBeGreaterThan(clusters.messages + coupling.messages);
    expect(bytes).toBeGreaterThan(clusters.bytes + coupling.bytes);
  });

  it.each([0, 1, 2, 4, 6, 8, 15])(
    "proposes k, links and alpha that serve two groups of devices, each with three clusters, %i apart",
    (shift) => {
      for (let seed = 7; seed < 7 + runs({ short: 1, long: 2 }); seed++) {
        const { datasets, labels } = communityData(5, 50, seed, shift);
        const links = communities([5, 5], 0.8, 0.1, randomStream(seed, "graph"));
        const { fitted, alpha, graph: chosen, groups } = choose(datasets, links, { seed });
        const { centroids } = fit(datasets, chosen, { k: fitted, alpha, seed });
        const scores = datasets.map((own, i) => adjustedRandIndex(labels[i], predict(centroids[i], own)));
        expect(scores.reduce((sum, own) => sum + own) / 10).toBeGreaterThanOrEqual(0.95);
        if (shift >= 4) {
          expect(groups).toEqual([
            { devices: [0, 1, 2, 3, 4], k: 3 },
            { devices: [5, 6, 7, 8, 9], k: 3 },
          ]);
          expect(chosen).toEqual(chooseLinks(datasets, links, { k: 3, seed }).graph);
        }
        if (shift === 0) expect(groups.length).toBe(1);
      }
    },
  );

  // Of the links between the two groups some are too few rows' to be known for strangers.
  it.each([
    [4, 178, 3],
    [6, 178, 5],
    [8, 190, 6],
    [8, 49, 3],
    // All rows together show two clusters only.
    [2, 183, 3],
  ])("serves groups %i apart also where their links are hardly told from others: seed %i", (shift, seed, k) => {
    const { datasets, labels } = communityData(5, 50, seed, shift);
    const links = communities([5, 5], 0.8, 0.1, randomStream(seed, "graph"));
    const { fitted, alpha, graph: chosen } = choose(datasets, links, { seed });
    expect(fitted).toBe(k);
    const { centroids } = fit(datasets, chosen, { k, alpha, seed });
    const scores = datasets.map((own, i) => adjustedRandIndex(labels[i], predict(centroids[i], own)));
    expect(scores.reduce((sum, own) => sum + own) / 10).toBeGreaterThanOrEqual(0.95);
  });

  it("keeps devices together that hold different parts of the same clusters, and proposes what serves them", () => {
    for (let seed = 1; seed <= runs({ short: 1, long: 2 }); seed++) {
      const { datasets, labels } = paperData("iso", 1, 1000, seed);
      const drawn = { points: datasets[0], labels: labels[0] };
      for (const split of [
        splitByClasses(drawn, 10, 2, seed),
        splitByClasses(drawn, 10, 1, seed),
        splitByLabel(drawn, 10, 0.5, seed),
      ]) {
        const { groups, fitted: k, alpha, graph: links } = choose(split.datasets, network(seed), { seed });
        expect(groups).toEqual([{ devices: Array.from({ length: 10 }, (_, i) => i), k: 3 }]);
        const { centroids } = fit(split.datasets, links, { k, alpha, seed });
        const predicted = split.datasets.flatMap((own, i) => Array.from(predict(centroids[i], own)));
        const known = split.labels.flatMap((own) => Array.from(own));
        expect(adjustedRandIndex(known, predicted)).toBeGreaterThan(0.95);
      }
    }
  });

  it("looks at the same share of every large device where there are more rows than it needs, and says so", () => {
    const datasets = [around(on(0, 8, 16), 2_000, 1, 1)[0], around(on(0, 8, 16), 800, 1, 2)[0], square(300, 1, 3)[0]];
    const chosen = choose(datasets, complete(3), { sample: 3_000, seed: 4 });
    const all = datasets.reduce((sum, { rows }) => sum + rows, 0);
    expect(chosen.sampled).toEqual({ rows: Math.ceil((3_000 / all) * 6_000) + 1_000 + datasets[2].rows, of: all });
    expect(choose(datasets, complete(3), { sample: 3_000, seed: 4 })).toEqual(chosen);
    expect(chooseK(datasets, complete(3), { sample: all, seed: 4 })).not.toHaveProperty("sampled");
    const even = around(on(0, 8, 16), 2_000, 3, 1);
    expect(chooseK(even, complete(3), { sample: 3_000 })).toMatchObject({ k: 3, sampled: { rows: 3_000, of: 6_000 } });
    expect(chooseAlpha(even, complete(3), { k: 3, sample: 3_000 }).sampled).toEqual({ rows: 3_000, of: 6_000 });
    expect(() => chooseK(even, complete(3), { sample: 0 })).toThrow("sample must be an integer of at least 1, got 0");
  });

  it("chooses for one device, and stops when told to", () => {
    const datasets = around(on(0, 9), 40, 1, 1);
    expect(choose(datasets, graph(1, []))).toMatchObject({ k: 2, alpha: 0, messages: 0 });
    expect(() => choose(datasets, graph(1, []), { signal: AbortSignal.abort() })).toThrow("aborted");
  });
});
