// Defects that were found after the fact, one test each.

import { describe, expect, it } from "vitest";
import {
  choose,
  chooseK,
  consensusVariation,
  erdosRenyi,
  fit,
  graph,
  kmeans,
  matrix,
  methods,
  paperData,
  randomStream,
  ring,
  stack,
} from "../src/index.ts";

const { datasets } = paperData("iso", 4, 30, 1);
const links = ring(4);

describe("fit", () => {
  it("takes an option that is undefined as not given", () => {
    const plain = fit(datasets, links, { k: 3, alpha: 1, seed: 1 });
    const undefinedToo = { passes: undefined, candidates: undefined, relaxation: undefined, tol: undefined };
    // A wrapper in JavaScript hands such options on.
    const same = fit(datasets, links, { k: 3, alpha: 1, seed: 1, ...(undefinedToo as object) });
    expect(same).toEqual(plain);
  });

  it("tries neighbours' centroids whatever the unit is", () => {
    const { datasets: many } = paperData("iso", 10, 100, 1);
    const network = erdosRenyi(10, 0.7, randomStream(1, "graph"));
    const right = kmeans(stack(many), { k: 3, seed: 1 }).centroids;
    // Two centroids at one cluster, but on one device.
    const wrong = matrix([0, 0, 1].map((c) => Array.from(right.data.subarray(2 * c, 2 * c + 2), (x) => x + 1e-3 * c)));
    const scaled = (unit: number) => {
      const times = (m: typeof right) => ({ ...m, data: m.data.map((x) => unit * x) });
      const init = many.map((_, i) => times(i === 0 ? right : wrong));
      return fit(many.map(times), network, { k: 3, alpha: 1, init }).objective / (unit * unit);
    };
    expect(scaled(2 ** -20)).toBeCloseTo(scaled(1), 6);
  });

  it("takes an alpha at which rounding leaves nothing but neighbours", () => {
    expect(fit(datasets, links, { k: 3, alpha: 1e17, seed: 1 }).rounds).toBeGreaterThan(0);
  });

  it("starts an isolated device with fewer points than minimum, which tells nobody", () => {
    const alone = graph(2, []);
    const small = [matrix([[1], [2], [9]]), matrix([[1], [8], [9]])];
    expect(fit(small, alone, { k: 2, alpha: 1, init: "federated", minimum: 5 }).centroids).toHaveLength(2);
  });
});

describe("sums", () => {
  it("refuses a fill value beside which all other numbers would be lost", () => {
    const message = /^column 0 of points must mostly hold numbers of at least .* lost in sums\), got 3$/;
    expect(() => kmeans(matrix([[1], [2], [3], [1e40]]), { k: 2 })).toThrow(message);
    expect(() => fit([matrix([[1], [2], [3], [9.97e36]])], graph(1, []), { k: 2, alpha: 0 })).toThrow(/lost in sums/);
  });

  it("takes large numbers, and a few small ones among them", () => {
    expect(kmeans(matrix([[1e100], [3e100], [9e100], [0.5]]), { k: 2 }).centroids.data[0]).toBeGreaterThan(0);
  });
});

describe("methods.consensus", () => {
  it("takes links as weak as rounding", () => {
    for (const weights of [
      [1, 1e-16, 1],
      [1e6, 1e-13, 3],
    ]) {
      const weak = graph(4, [
        [0, 1, weights[0]],
        [1, 2, weights[1]],
        [2, 3, weights[2]],
      ]);
      expect(methods.consensus(datasets, weak, { k: 3, alpha: 1, rounds: 5 }).rounds).toBeGreaterThan(0);
    }
  });

  it("tells once a sweep, however many passes a visit has", () => {
    const once = methods.consensus(datasets, links, { k: 3, alpha: 1, init: "local", rounds: 10, tol: 0 });
    const often = methods.consensus(datasets, links, { k: 3, alpha: 1, init: "local", rounds: 10, tol: 0, passes: 5 });
    expect(often.messages).toBe(once.messages);
  });
});

describe("choose", () => {
  it("says which k it found where no point is left to judge alpha by", () => {
    const few = Array.from({ length: 20 }, (_, i) => matrix([[i / 100], [5 + i / 100], [10 - i / 100]]));
    expect(chooseK(few, ring(20)).k).toBe(3);
    expect(() => choose(few, ring(20))).toThrow(
      /at least 4 points \(k, found to be 3, and one to keep back for alpha\)/,
    );
  });
});

describe("the rest", () => {
  it("erdosRenyi ends for a probability that cannot be told from 0", () => {
    expect(erdosRenyi(50, 1e-17, randomStream(1, "x")).neighbours.every((row) => row.length === 0)).toBe(true);
  });

  it("randomStream refuses fractions, whose streams would be the same", () => {
    expect(() => randomStream(1, 0.3)).toThrow("a seed and its path must be integers or text, got 0.3");
  });

  it("stack refuses different numbers of columns, but not of a matrix without rows", () => {
    expect(() => stack([matrix([[1, 2]]), matrix([[3]])])).toThrow(
      "matrices must have 2 columns (as the first), got 1",
    );
    expect(stack([{ data: new Float64Array(0), rows: 0, cols: 5 }, matrix([[3]])]).cols).toBe(1);
  });

  it("consensusVariation does not depend on which device is first where numbers of clusters differ", () => {
    const [one, two] = [matrix([[0], [1]]), matrix([[0.5], [1], [2]])];
    const link = graph(2, [[0, 1]]);
    expect(consensusVariation([one, two], link)).toBeCloseTo(consensusVariation([two, one], link), 14);
  });
});
