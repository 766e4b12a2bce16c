import {
  discrepancy,
  fit,
  graph,
  jsKernel,
  kmeans,
  type Matrix,
  matrix,
  predict,
  randomStream,
  toRows,
  updateDevice,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { forAllProblems, integerFrom, randomMatrix } from "../problems.ts";

const RUNS = runs({ short: 100, long: 1000 });

describe("updateDevice(points, centroids, neighbours, options)", () => {
  it("does (E1) (E2) (E3) (M) as computed by hand", () => {
    // Points 0 and 4, centroids 1 and 3, one neighbour with 0 and 10, alpha 1/2.
    // (E1) 0 -> first, 4 -> second. (E2) 0 -> first, 10 -> second. (E3) both own are nearest to 0.
    // (M) first: (0/2 + (0 + 0)/2) / (1/2 + 1) = 0, second: (4/2 + (10 + 0)/2) / (1/2 + 1) = 14/3.
    const { centroids, passes } = updateDevice(matrix([[0], [4]]), matrix([[1], [3]]), [matrix([[0], [10]])], {
      alpha: 0.5,
      passes: 1,
    });
    expect(toRows(centroids)).toEqual([[0], [14 / 3]]);
    expect(passes).toBe(1);
  });

  it("matches by one permutation with coupling transport", () => {
    // The neighbour's 0 and 10 are taken by first and second: (4/2 + 10/2) / (1/2 + 1/2) = 7.
    const { centroids, objective } = updateDevice(matrix([[0], [4]]), matrix([[1], [3]]), [matrix([[0], [10]])], {
      alpha: 0.5,
      passes: 1,
      coupling: "transport",
    });
    expect(toRows(centroids)).toEqual([[0], [7]]);
    expect(objective).toBe(9 / 2 + 0.5 * 9);
  });

  it("runs the Hungarian method where the nearest map is not one-to-one", () => {
    const own = matrix([[0], [1]]);
    const other = matrix([[0.4], [9]]);
    expect(discrepancy(own, other, "transport")).toBeCloseTo(0.4 ** 2 + 8 ** 2, 12);
  });

  it("returns its own part of the objective and the points per cluster", () => {
    forAllProblems("parts of an update", 300, ({ datasets: [points], init, alpha }) => {
      const { centroids, loss, counts, objective } = updateDevice(points, init[0], init.slice(1), { alpha });
      const labels = predict(centroids, points);
      expect(Array.from(counts)).toEqual(Array.from(counts, (_, c) => labels.filter((label) => label === c).length));
      const pulls = init.slice(1).reduce((sum, other) => sum + discrepancy(centroids, other), 0);
      expect(Math.abs(loss + alpha * pulls - objective)).toBeLessThanOrEqual(1e-9 * Math.max(1, objective));
    });
  });

  it("with candidates keeps the best of all starts, as if each was run to its end", () => {
    forAllProblems("candidates", RUNS, ({ random, datasets: [points], init, alpha }) => {
      // Equal sets, and sets so near that they meet after a pass.
      const near = { ...init[0], data: init[0].data.map((x) => x * (1 + 1e-9)) };
      const neighbours = [...init, near, ...init.slice(0, integerFrom(random, 0, init.length))];
      const options = { alpha, passes: integerFrom(random, 1, 6), relaxation: random() < 0.7 ? 1 : 1.5 };
      const own = randomMatrix(random, init[0].rows, init[0].cols);
      const results = [own, ...neighbours].map((start) => updateDevice(points, start, neighbours, options));
      const best = results.reduce((a, b) => (b.objective < a.objective * (1 - 1e-9) ? b : a));
      const { centroids } = updateDevice(points, own, neighbours, { ...options, candidates: true });
      expect(centroids).toEqual(best.centroids);
    });
  });

  it("does not run a candidate that it or a neighbour has run already", () => {
    let calls = 0;
    const kernel = {
      name: "counting",
      prepare(points: Matrix) {
        const prepared = jsKernel.prepare(points);
        const statistics = (...given: Parameters<typeof prepared.statistics>) => {
          calls++;
          prepared.statistics(...given);
        };
        return { ...prepared, statistics };
      },
    };
    const callsFor = (neighbours: readonly Matrix[], candidates: boolean) => {
      calls = 0;
      const points = matrix([[0], [1], [2], [7], [8], [9]]);
      updateDevice(points, matrix([[0], [1]]), neighbours, { alpha: 0.1, candidates, kernel });
      return calls;
    };
    const same = [matrix([[0], [1]]), matrix([[0], [1]])];
    expect(callsFor(same, true)).toBe(callsFor(same, false));
    // A start with the same labels and matches is asked about once, and then known.
    const near = [matrix([[0], [1.1]]), matrix([[0], [1.1]])];
    expect(callsFor(near, true)).toBe(callsFor(near, false) + 1);
  });

  it("passes on a move of its neighbours smaller by the factor it names, and no smaller if it is alone with one", () => {
    // Cluster fractions 1/4 and 3/4, one neighbour, matched one to one: shares 2 / (2 + 1/4) and 2 / (2 + 3/4).
    const points = matrix([[0], [9], [10], [11]]);
    const moved = (by: number) =>
      updateDevice(points, matrix([[0], [10]]), [matrix([[1 + by], [12 + by]])], { alpha: 1, passes: 1 });
    const { contraction, centroids } = moved(0);
    expect(contraction).toBeCloseTo(2 / 2.25, 15);
    const change = moved(0.1).centroids.data.map((value, i) => value - centroids.data[i]);
    expect(change[0]).toBeCloseTo((0.1 * 2) / 2.25, 12);
    expect(change[1]).toBeCloseTo((0.1 * 2) / 2.75, 12);
    expect(updateDevice(points, matrix([[0], [10]]), [], { alpha: 1 }).contraction).toBe(0);
  });

  it("returns the local objective at the centroids it returns", () => {
    forAllProblems("local objective", RUNS, ({ random, datasets, init, alpha }) => {
      const edgeWeights = init.slice(1).map(() => 0.1 + random());
      const options = { alpha, edgeWeights, weight: 0.5 + random(), damping: 0.3 + 0.7 * random() };
      const { centroids, objective } = updateDevice(datasets[0], init[0], init.slice(1), options);
      const scale = datasets[0].rows === 0 ? 0 : options.weight / datasets[0].rows;
      const pulls = init.slice(1).map((other, n) => edgeWeights[n] * discrepancy(centroids, other));
      const expected = scale * loss(datasets[0], centroids) + alpha * pulls.reduce((a, b) => a + b, 0);
      expect(Math.abs(objective - expected)).toBeLessThanOrEqual(1e-12 * Math.max(1, expected));
    });
  });

  it("never writes to its arguments", () => {
    const [points, centroids, other] = [matrix([[0], [4]]), matrix([[1], [3]]), matrix([[0], [10]])];
    updateDevice(points, centroids, [other], { alpha: 1 });
    expect([points, centroids, other].map(toRows)).toEqual([
      [[0], [4]],
      [[1], [3]],
      [[0], [10]],
    ]);
  });

  it("takes neighbours with other numbers of centroids, with coupling nearest", () => {
    const { centroids } = updateDevice(
      matrix([[0], [4]]),
      matrix([[1], [3]]),
      [matrix([[2]]), matrix([[0], [4], [5]])],
      {
        alpha: 1,
      },
    );
    expect(centroids.data.every(Number.isFinite)).toBe(true);
  });

  it("keeps centroids that neither points nor neighbours move", () => {
    const { centroids, passes } = updateDevice(matrix([]), matrix([[1], [3]]), [], { alpha: 1 });
    expect(toRows(centroids)).toEqual([[1], [3]]);
    expect(passes).toBe(0);
  });

  it("without (E3) is weighted k-means on the augmented data: points weigh 1/m, neighbours' centroids alpha", () => {
    forAllProblems("augmented data", RUNS, ({ random, datasets, init, cols, alpha }) => {
      const k = init[0].rows;
      const points = datasets[0].rows > 0 ? datasets[0] : randomMatrix(random, 5, cols);
      const others = init.slice(1);
      const augmented = matrix([...toRows(points), ...others.flatMap(toRows)]);
      const weights = [...Array(points.rows).fill(1 / points.rows), ...Array(others.length * k).fill(alpha)];
      const step = kmeans(augmented, { k, init: init[0], weights, maxIter: 1 }).centroids;
      const held = heldWeights(augmented, init[0], weights);
      const { centroids } = updateDevice(points, init[0], others, { alpha, passes: 1 });
      // Taking the pull of (E3) back out of (M) leaves the step of weighted k-means.
      toRows(init[0]).forEach((own, c) => {
        const nearest = others.map((other) => nearestRow(other, own));
        own.forEach((old, x) => {
          const pull = alpha * nearest.reduce((sum, row) => sum + row[x], 0);
          const den = held[c] + alpha * others.length;
          const without = held[c] > 0 ? (centroids.data[c * cols + x] * den - pull) / held[c] : old;
          const size = Math.max(1, Math.abs(without), (Math.abs(pull) + den * Math.abs(old)) / (held[c] || 1));
          expect(Math.abs(without - step.data[c * cols + x])).toBeLessThanOrEqual(1e-9 * size);
        });
      });
    });
  });

  it("transport(alpha) is nearest(alpha / 2) while both nearest maps are one-to-one", () => {
    const random = randomStream(3, "one to one");
    for (let trial = 0; trial < 50; trial++) {
      const k = integerFrom(random, 1, 5);
      const centres = Array.from({ length: k }, (_, c) => [20 * c, random()]);
      const near = () => matrix(centres.map((row) => row.map((x) => x + random() - 0.5)).reverse());
      const points = matrix([...toRows(near()), ...toRows(near()), ...toRows(near())]);
      const [own, ...others] = [near(), near(), near()];
      const transport = updateDevice(points, own, others, { alpha: 0.8, coupling: "transport" });
      const nearest = updateDevice(points, own, others, { alpha: 0.4 });
      nearest.centroids.data.forEach((x, i) => {
        expect(transport.centroids.data[i]).toBeCloseTo(x, 10);
      });
    }
  });
});

describe("the closed form of separated clusters", () => {
  it("the fixed point of Algorithm 1 solves (F + 2 alpha L) w = F mu", () => {
    let worst = 0;
    for (let seed = 0; seed < 30; seed++) {
      const random = randomStream(seed, "closed form");
      const size = integerFrom(random, 2, 8);
      const k = integerFrom(random, 1, 3);
      const alpha = 0.1 + 2.9 * random();
      const sizes = Array.from({ length: size }, () => Array.from({ length: k }, () => integerFrom(random, 1, 12)));
      const datasets = sizes.map((own) =>
        matrix(own.flatMap((count, c) => toRows(randomMatrix(random, count, 1, 0.05)).map(([x]) => [x + 10 * c]))),
      );
      const links = Array.from(
        { length: size - 1 },
        (_, i) => [integerFrom(random, 0, i), i + 1, 0.5 + random()] as const,
      );
      const network = graph(size, links);
      const init = datasets.map(() => matrix(Array.from({ length: k }, (_, c) => [10 * c])));
      const model = fit(datasets, network, { k, alpha, init, rounds: 20_000, tol: 1e-15 });
      for (let c = 0; c < k; c++) {
        const exact = solveCluster(datasets, sizes, links, alpha, c);
        exact.forEach((x, i) => {
          worst = Math.max(worst, Math.abs(model.centroids[i].data[c] - x));
        });
      }
    }
    expect(worst).toBeLessThanOrEqual(1e-10);
  });
});

/** Row i of the system: the local fraction of cluster c, and 2 alpha times the weighted Laplacian. */
function solveCluster(
  datasets: Matrix[],
  sizes: number[][],
  links: readonly (readonly [number, number, number])[],
  alpha: number,
  c: number,
): number[] {
  const system = datasets.map((points, i) => {
    const row = new Array<number>(datasets.length + 1).fill(0);
    const members = toRows(points).filter(([x]) => Math.round(x / 10) === c);
    const fraction = sizes[i][c] / points.rows;
    row[i] = fraction;
    row[datasets.length] = members.reduce((sum, [x]) => sum + x, 0) / points.rows;
    return row;
  });
  for (const [i, j, weight] of links) {
    system[i][i] += 2 * alpha * weight;
    system[j][j] += 2 * alpha * weight;
    system[i][j] -= 2 * alpha * weight;
    system[j][i] -= 2 * alpha * weight;
  }
  return solve(system);
}

function solve(system: number[][]): number[] {
  const size = system.length;
  for (let p = 0; p < size; p++) {
    for (let r = 0; r < size; r++) {
      if (r === p) continue;
      const factor = system[r][p] / system[p][p];
      for (let c = p; c <= size; c++) system[r][c] -= factor * system[p][c];
    }
  }
  return system.map((row, i) => row[size] / row[i]);
}

function nearestRow(rows: Matrix, to: readonly number[]): number[] {
  const square = (row: readonly number[]) => row.reduce((sum, x, i) => sum + (x - to[i]) ** 2, 0);
  return toRows(rows).reduce((best, row) => (square(row) < square(best) ? row : best));
}

function loss(points: Matrix, centroids: Matrix): number {
  return toRows(points).reduce((sum, row) => {
    const nearest = nearestRow(centroids, row);
    return sum + row.reduce((square, x, i) => square + (x - nearest[i]) ** 2, 0);
  }, 0);
}

/** The weight of the points nearest to each centroid. */
function heldWeights(points: Matrix, centroids: Matrix, weights: readonly number[]): number[] {
  const rows = toRows(centroids);
  const held = rows.map(() => 0);
  toRows(points).forEach((point, r) => {
    const nearest = nearestRow(centroids, point);
    held[rows.findIndex((row) => row.every((x, i) => x === nearest[i]))] += weights[r];
  });
  return held;
}
