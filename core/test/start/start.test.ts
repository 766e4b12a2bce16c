import {
  communities,
  communityData,
  complete,
  erdosRenyi,
  fastKernel,
  fit,
  globalCentroidDeviation,
  graph,
  type Kernel,
  kmeans,
  type Matrix,
  matrix,
  methods,
  paperData,
  path,
  randomStream,
  stack,
  toRows,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";

const startOf = (
  datasets: readonly Matrix[],
  network: ReturnType<typeof graph>,
  options: Partial<Parameters<typeof fit>[2]> = {},
) => fit(datasets, network, { k: 3, alpha: 1, seed: 1, rounds: 0, ...options });

const { datasets } = paperData("iso", 10, 100, 1);
const network = erdosRenyi(10, 0.7, randomStream(1, "graph"));

describe('init: "federated"', () => {
  it("gives every device of a component the same seed, near the pooled solution before any round", () => {
    const { centroids } = startOf(datasets, network, { init: "federated" });
    for (const own of centroids) expect(own).toEqual(centroids[0]);
    const [reference] = methods.pooled(datasets, network, { k: 3, alpha: 1, seed: 1 }).centroids;
    expect(globalCentroidDeviation(centroids, reference)).toBeLessThan(1e-3);
  });

  it("gives each component its own seed, and an isolated device its own k-means", () => {
    const apart = graph(10, [
      [0, 1],
      [1, 2],
      [3, 4],
    ]);
    const { centroids } = startOf(datasets, apart, { init: "federated" });
    expect(centroids[0]).toEqual(centroids[2]);
    expect(centroids[3]).toEqual(centroids[4]);
    expect(centroids[0]).not.toEqual(centroids[3]);
    expect(centroids[9].data.every(Number.isFinite)).toBe(true);
  });

  it("counts a device with fewer points than k, unless minimum forbids, and lets one without points listen only", () => {
    const few = [datasets[0], matrix([[100, 100]]), matrix([])];
    const farthest = (minimum: number) => {
      const { centroids } = startOf(few, path(3), { init: "federated", minimum });
      for (const own of centroids) expect(own).toEqual(centroids[0]);
      return Math.max(...centroids[0].data);
    };
    expect(farthest(1)).toBe(100);
    expect(farthest(2)).toBeLessThan(50);
  });

  it("floods no centroid of fewer than `minimum` points", () => {
    // One far point on device 0 would be a centroid of one point, which is that record.
    const lonely = [stack([datasets[0], matrix([[500, 500]])]), ...datasets.slice(1)];
    const far = (minimum: number) =>
      startOf(lonely, network, { init: "federated", k: 4, minimum })
        .centroids.flatMap(toRows)
        .some(([x]) => x > 100);
    expect(far(1)).toBe(true);
    expect(far(2)).toBe(false);
  });

  it("names clusters twice where there are fewer distinct points than k", () => {
    const same = matrix([
      [1, 1],
      [1, 1],
      [2, 2],
      [2, 2],
    ]);
    const { centroids } = startOf([same, same], path(2), { init: "federated", k: 4 });
    expect(new Set(toRows(centroids[0]).map(String)).size).toBe(2);
  });
});

describe('init: "auto"', () => {
  it("is the federated seed where devices share their clusters", () => {
    expect(startOf(datasets, network).centroids).toEqual(startOf(datasets, network, { init: "federated" }).centroids);
  });

  it("is each device's own k-means where they differ and alpha is weak", () => {
    const own = communityData(5, 50, 3).datasets;
    const links = communities([5, 5], 0.8, 0.2, randomStream(3, "graph"));
    const weak = { alpha: 0.001 };
    expect(startOf(own, links, weak).centroids).toEqual(startOf(own, links, { ...weak, init: "local" }).centroids);
    const strong = { alpha: 100 };
    expect(startOf(own, links, strong).centroids).toEqual(
      startOf(own, links, { ...strong, init: "federated" }).centroids,
    );
  });

  it("does not run own k-means of very many rows to their ends only to compare them", () => {
    const random = randomStream(1, "even");
    // An even spread: borders move for hundreds of passes.
    const even = Array.from({ length: 2 }, (): Matrix => {
      return { data: Float64Array.from({ length: 200_000 }, random), rows: 100_000, cols: 2 };
    });
    let passes = 0;
    const kernel: Kernel = {
      name: "counting",
      prepare(points, weights) {
        const prepared = fastKernel.prepare(points, weights);
        const statistics: typeof prepared.statistics = (centroids, into, withLoss) => {
          if (centroids.length === 8 * points.cols) passes++;
          prepared.statistics(centroids, into, withLoss);
        };
        return { ...prepared, statistics };
      },
    };
    const found = startOf(even, complete(2), { k: 8, kernel });
    expect(passes).toBeLessThan(2 * 30);
    const whole = startOf(even, complete(2), { k: 8, init: "local" });
    expect(found.objective).toBeLessThan(1.01 * whole.objective);
  });

  it("never starts at a higher objective than either", () => {
    for (const alpha of [0.001, 0.01, 0.1, 1, 10]) {
      const own = communityData(4, 30, 5).datasets;
      const links = complete(8);
      const objectiveOf = (init: "auto" | "federated" | "local") => startOf(own, links, { alpha, init }).objective;
      expect(objectiveOf("auto")).toBe(Math.min(objectiveOf("federated"), objectiveOf("local")));
    }
  });
});

describe("infection", () => {
  it("one device in a wrong optimum ruins a network with the paper's settings, not with the defaults", () => {
    const reference = kmeans(stack(datasets), { k: 3, restarts: 20 }).centroids;
    const [a, b, c] = toRows(reference);
    const between = b.map((x, i) => (x + c[i]) / 2);
    // Two centroids in one cluster and one between the other two, at a fixed point of k-means.
    const wrong = kmeans(datasets[0], { k: 3, init: matrix([a, a.map((x) => x + 0.1), between]) }).centroids;
    const init = [wrong, ...datasets.slice(1).map((points) => kmeans(points, { k: 3 }).centroids)];
    const deviation = (preset: "paper" | "dependable") =>
      globalCentroidDeviation(
        fit(datasets, network, { k: 3, alpha: 1, init, preset, rounds: 60 }).centroids,
        reference,
      );
    expect(deviation("paper")).toBeGreaterThan(1);
    expect(deviation("dependable")).toBeLessThan(1e-3);
  });
});
