import {
  communities,
  communityData,
  edges,
  erdosRenyi,
  type FitOptions,
  fit,
  type Graph,
  globalCentroidDeviation,
  graph,
  kmeans,
  type Matrix,
  matrix,
  paperData,
  predict,
  randomStream,
  stack,
  toRows,
  updateDevice,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { largestRobustDrift } from "../../src/update/robustPull.ts";
import { forAllProblems, integerFrom, pickFrom, randomMatrix } from "../problems.ts";

type Row = readonly number[];

const square = (a: Row, b: Row) => a.reduce((sum, x, i) => sum + (x - b[i]) ** 2, 0);
const mean = (rows: readonly Row[]) => rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);
const nearestOf = (to: Row, among: readonly Row[]) =>
  among.reduce((best, row, at) => (square(to, row) < square(to, among[best]) ? at : best), 0);

/** Everything that the gate decides at some centroids, straight from the rules. */
function judged(points: readonly Row[], own: readonly Row[], others: readonly Matrix[], options: Asked) {
  const { alpha, weight, edgeWeights } = options;
  const labels = points.map((row) => nearestOf(row, own));
  const members = own.map((_, c) => points.filter((_, r) => labels[r] === c));
  const filled = members.filter((rows) => rows.length > 0);
  const within = filled.reduce((sum, rows) => sum + rows.reduce((s, row) => s + square(row, mean(rows)), 0), 0);
  const freedom = points.length - filled.length;
  const deviation = freedom > 0 ? Math.sqrt(within / freedom) : 0;
  const scale = points.length > 0 ? weight / points.length : 0;
  const linked = others.map((_, j) => j).filter((j) => edgeWeights[j] > 0);
  const sets = others.map(toRows);
  const limitOf = (c: number, j: number) => {
    const lengths = linked.map((at) => square(own[c], sets[at][nearestOf(own[c], sets[at])])).sort((a, b) => a - b);
    const far = 16 * lengths[Math.ceil(lengths.length / 2) - 1];
    const error = deviation / Math.sqrt(Math.max(1, members[c].length));
    const held = scale * Math.max(1, members[c].length);
    const harmless = (5 * error * held) / linked.length / (2 * alpha * edgeWeights[j]);
    return Math.max(far, harmless ** 2);
  };
  const share = (length: number, limit: number) => (length === 0 ? 1 : shareAt(Math.sqrt(length / limit)));
  const terms = linked.flatMap((j) => {
    const e3 = own.map((row, c) => ({ j, c, row: sets[j][nearestOf(row, sets[j])], isPulling: true }));
    const e2 = sets[j].map((row) => ({ j, c: nearestOf(row, own), row, isPulling: true }));
    for (const term of e2) {
      const rivals = e2.filter(({ c }) => c === term.c);
      const nearest = rivals.reduce((a, b) => (square(b.row, own[b.c]) < square(a.row, own[a.c]) ? b : a));
      term.isPulling = nearest === term;
    }
    const loads = e3.map(({ c, row }) => (square(row, own[c]) > 0 ? square(row, own[c]) / limitOf(c, j) : 0));
    const load = loads.reduce((sum, x) => sum + Math.min(1, x), 0) / loads.length;
    // Of fewer than three neighbours none is far as a whole.
    const whole = linked.length < 3 || load <= 0.45 ? 1 : Math.sqrt(0.45 / load);
    return [...e3, ...e2].map((term) => {
      const [length, limit] = [square(term.row, own[term.c]), limitOf(term.c, j)];
      return { ...term, length, limit, share: term.isPulling ? whole * share(length, limit) : 0 };
    });
  });
  const loss = points.reduce((sum, row, r) => sum + square(row, own[labels[r]]), 0);
  const mostCost = deviation > 0 ? deviation ** 2 : Number.POSITIVE_INFINITY;
  const cost = terms.reduce(
    (sum, { j, length, limit }) => sum + edgeWeights[j] * Math.min(mostCost, costOf(length, limit)),
    0,
  );
  const rejected = others.map((_, j) => {
    const theirs = terms.filter((term) => term.j === j);
    return theirs.length === 0 ? 0 : theirs.reduce((sum, term) => sum + 1 - term.share, 0) / theirs.length;
  });
  const drift = members.map((rows, c) =>
    rows.length === 0 || freedom < 10 ? 0 : Math.sqrt(rows.length * square(own[c], mean(rows))) / deviation,
  );
  return { members, terms, deviation, freedom, scale, rejected, drift, objective: scale * loss + alpha * cost };
}

/** How much of a term pulls that is so many limits away. */
function shareAt(r: number): number {
  if (r <= 1) return 1;
  return r <= 2 ? 1 / r : Math.max(0, 2 / r - 1 / 2);
}

/** The integral of the share over squared lengths, summed up numerically. */
function costOf(length: number, limit: number): number {
  const end = Math.min(Math.sqrt(length / limit), 4);
  const cuts = [0, 1, 2, 4].map((r) => Math.min(r, end));
  // Simpson's rule is exact in each part: there the integrand is a polynomial of at most second degree.
  const parts = cuts.slice(1).map((to, at) => {
    const from = cuts[at];
    const slope = (r: number) => shareAt(r) * 2 * r;
    return ((to - from) / 6) * (slope(from) + 4 * slope((from + to) / 2) + slope(to));
  });
  return length === 0 ? 0 : limit * parts.reduce((sum, part) => sum + part, 0);
}

interface Asked {
  readonly alpha: number;
  readonly weight: number;
  readonly edgeWeights: readonly number[];
}

/** One pass with the gate and the cap, straight from the rules. */
function robustPass(points: readonly Row[], own: readonly Row[], others: readonly Matrix[], options: Asked) {
  const { members, terms, deviation, freedom, scale } = judged(points, own, others, options);
  return own.map((row, c) => {
    const pulls = terms.filter((term) => term.c === c && term.share > 0);
    const weights = pulls.map(({ j, share }) => options.alpha * options.edgeWeights[j] * share);
    const total = scale * members[c].length + weights.reduce((sum, x) => sum + x, 0);
    if (total === 0) return row;
    const isHeld = pulls.some(({ length, limit }) => length > limit);
    const target = row.map((x, i) => {
      const held = scale * members[c].reduce((sum, point) => sum + point[i], 0);
      const balance = (held + pulls.reduce((sum, pull, n) => sum + weights[n] * pull.row[i], 0)) / total;
      return isHeld ? (x + balance) / 2 : balance;
    });
    if (members[c].length === 0 || freedom < 10) return target;
    const centre = mean(members[c]);
    const most = deviation * Math.max(5 / Math.sqrt(members[c].length), 0.5);
    const distance = Math.sqrt(square(target, centre));
    return distance <= most ? target : centre.map((x, i) => x + (most / distance) * (target[i] - x));
  });
}

const problemOf = (seed: number, p = 0.7, points = 100) => ({
  ...paperData("iso", 10, points, seed),
  network: erdosRenyi(10, p, randomStream(seed, "graph")),
});

describe("updateDevice(..., { robust: true })", () => {
  it("is the gate and the cap as written down, within 1e-12", () => {
    forAllProblems("gate and cap", runs({ short: 150, long: 3000 }), ({ random, datasets: [points], init, alpha }) => {
      const near = randomMatrix(random, init[0].rows, init[0].cols);
      const others = Array.from({ length: integerFrom(random, 1, 6) }, () => {
        const spread = pickFrom(random, [0.01, 0.3, 10]);
        const noise = randomMatrix(random, near.rows, near.cols, spread);
        return { ...near, data: near.data.map((x, i) => x + noise.data[i]) };
      });
      const edgeWeights = others.map(() => pickFrom(random, [1, 0.2 + random(), 0]));
      edgeWeights[0] = 1;
      const options = { alpha, weight: 0.5 + random(), edgeWeights };
      const found = updateDevice(points, near, others, { ...options, robust: true, passes: 1 });
      const rows = toRows(points);
      const wanted = robustPass(rows, toRows(near), others, options);
      const size = Math.max(1, ...wanted.flat().map(Math.abs));
      const got = toRows(found.centroids);
      for (const [c, row] of wanted.entries()) {
        for (const [i, x] of row.entries()) expect(Math.abs(got[c][i] - x)).toBeLessThan(1e-12 * size);
      }
      const there = judged(rows, got, others, options);
      for (const [j, share] of there.rejected.entries()) expect(found.rejected?.[j]).toBeCloseTo(share, 9);
      for (const [c, errors] of there.drift.entries()) expect(found.drift?.[c]).toBeCloseTo(errors, 6);
      expect(Math.abs(found.objective - there.objective)).toBeLessThan(1e-9 * Math.max(1, there.objective));
    });
  });

  it("has the bits of an update without it where neighbours differ by chance only, or not at all", () => {
    const { datasets } = problemOf(1);
    const { centroids } = kmeans(stack(datasets), { k: 3 });
    for (const others of [
      [centroids, centroids, centroids],
      fit(datasets, graph(10, []), { k: 3, alpha: 0 }).centroids,
    ]) {
      const options = { alpha: 0.1, candidates: true };
      const { rejected, drift, ...robust } = updateDevice(datasets[0], centroids, others, { ...options, robust: true });
      expect(robust).toEqual(updateDevice(datasets[0], centroids, others, options));
      expect(rejected?.every((share) => share === 0)).toBe(true);
      expect(drift?.every((errors) => errors < 3)).toBe(true);
    }
  });

  it("lets a neighbour that is near its limit in one of three clusters pull whole, and less one that is so in all", () => {
    const { datasets } = problemOf(1);
    const { centroids } = kmeans(stack(datasets), { k: 3 });
    const moved = (clusters: number, x: number, y: number) => ({
      ...centroids,
      data: centroids.data.map((at, i) => (i < 2 * clusters ? at + (i % 2 === 0 ? x : y) : at)),
    });
    // They are 0.1 away on all sides, so that 0.4 is far.
    const honest = [0, 1, 2, 3, 4, 5, 6, 7].map((n) =>
      moved(3, 0.1 * Math.cos((n * Math.PI) / 4), 0.1 * Math.sin((n * Math.PI) / 4)),
    );
    const leftOut = (other: Matrix) =>
      updateDevice(datasets[0], centroids, [...honest, other], { alpha: 100, robust: true, passes: 1 }).rejected?.[8];
    expect(leftOut(moved(1, 0.38, 0))).toBe(0);
    expect(leftOut(moved(3, 0.2, 0))).toBe(0);
    expect(leftOut(moved(3, 0.38, 0))).toBeGreaterThan(0.1);
  });

  it("does the same with a liar at 1e6 among its neighbours as without it", () => {
    for (let seed = 1; seed <= 4; seed++) {
      const { datasets, network } = problemOf(seed);
      const { centroids } = fit(datasets, network, { k: 3, alpha: 1 });
      const honest = centroids.slice(1, 4);
      const liar = matrix(toRows(centroids[4]).map((row) => row.map(() => 1e6)));
      const without = updateDevice(datasets[0], centroids[0], honest, { alpha: 1, robust: true });
      const attacked = updateDevice(datasets[0], centroids[0], [...honest, liar], { alpha: 1, robust: true });
      expect(attacked.centroids).toEqual(without.centroids);
      expect(Array.from(attacked.rejected ?? [])).toEqual([0, 0, 0, 1]);
    }
  });

  it("with one neighbour, or with liars only, is held by the cap alone", () => {
    const [points] = problemOf(2).datasets;
    const { centroids } = kmeans(points, { k: 3 });
    const liar = { ...centroids, data: centroids.data.map((x) => x + 2) };
    for (const liars of [[liar], [liar, liar, liar, liar, liar]]) {
      const { counts, drift } = updateDevice(points, centroids, liars, { alpha: 1, robust: true });
      expect(Array.from(drift ?? [], (errors, c) => errors / largestRobustDrift(counts[c]))).toEqual(
        Array.from(counts, () => expect.closeTo(1, 9)),
      );
      const gate = updateDevice(points, centroids, liars, { alpha: 1, robust: "pull" });
      expect(Math.max(...(gate.drift ?? []))).toBeGreaterThan(6);
    }
  });

  it("with five liars of five does not take over their centroids as a start", () => {
    const [points] = problemOf(3).datasets;
    const { centroids } = kmeans(points, { k: 3 });
    const liar = matrix(toRows(centroids).map((row) => row.map(() => 1e6)));
    const options = { alpha: 1, candidates: true, robust: true };
    const found = updateDevice(points, centroids, Array(5).fill(liar), options);
    expect(predict(found.centroids, points)).toEqual(predict(centroids, points));
  });

  it("knows largestRobustDrift(points): five standard errors, or half a deviation where that is more", () => {
    expect([1, 100, 400].map(largestRobustDrift)).toEqual([5, 5, 10]);
  });
});

describe("fit(..., { robust: true })", () => {
  it("settles where fit does, and at the same place, in honest networks", () => {
    const found = Array.from({ length: 6 }, (_, at) => {
      const { datasets, network } = problemOf(at + 20);
      const options = { k: 3, alpha: 1, rounds: 1000 };
      const [plain, robust] = [false, true].map((is) => fit(datasets, network, { ...options, robust: is }));
      expect(robust.converged).toBe(true);
      return robust.objective / plain.objective - 1;
    });
    expect(Math.max(...found)).toBeLessThan(0.001);
    expect(found.filter((above) => above < 1e-9).length).toBeGreaterThanOrEqual(5);
  });

  it("still brings devices together that have few rows or few links, and whole communities at least", () => {
    const inner = communities([5, 5], 0.8, 0, randomStream(1, "graph"));
    const networks = {
      ring: graph(
        10,
        Array.from({ length: 10 }, (_, i) => [i, (i + 1) % 10] as const),
      ),
      line: graph(
        10,
        Array.from({ length: 9 }, (_, i) => [i, i + 1] as const),
      ),
      bridged: graph(10, [...edges(inner), [0, 5]]),
    };
    for (const [name, points] of [
      ["ring", 60],
      ["line", 60],
      ["bridged", 60],
      ["bridged", 9],
    ] as const) {
      const { datasets } = paperData("iso", 10, points, 2);
      const reference = kmeans(stack(datasets), { k: 3 }).centroids;
      const deviation = (network: Graph, options: Partial<FitOptions>) =>
        globalCentroidDeviation(fit(datasets, network, { k: 3, alpha: 1, ...options }).centroids, reference);
      const robust = deviation(networks[name], { robust: true });
      // The gate may shut a bridge, because one link to others looks like one liar.
      const without = deviation(name === "bridged" ? inner : networks[name], {});
      expect(robust).toBeLessThan(1.01 * without);
      expect(robust).toBeLessThan(0.3 * deviation(inner, { alpha: 0 }));
    }
  });

  it("keeps two communities with other clusters apart at their bridge", () => {
    const { datasets } = communityData(5, 100, 1, 3);
    const network = graph(10, [...edges(communities([5, 5], 1, 0, randomStream(1, "graph"))), [0, 5]]);
    const reference = kmeans(stack(datasets.slice(0, 5)), { k: 3 }).centroids;
    const deviation = (robust: boolean) =>
      globalCentroidDeviation(fit(datasets, network, { k: 3, alpha: 1, robust }).centroids.slice(0, 5), reference);
    expect(deviation(true)).toBeLessThan(0.1 * deviation(false));
  });

  it("refuses what it is not, and another penalty", () => {
    const { datasets, network } = problemOf(1, 0.7, 10);
    expect(() => fit(datasets, network, { k: 3, alpha: 1, robust: 1 as unknown as boolean })).toThrow(
      'robust must be true, false or "pull", got 1',
    );
    expect(() => fit(datasets, network, { k: 3, alpha: 1, robust: true, penalty: "norm" })).toThrow(
      'penalty must be "squared" with robust, got "norm"',
    );
  });
});
