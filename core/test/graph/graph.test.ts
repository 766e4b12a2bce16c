import {
  communities,
  complete,
  connectedComponents,
  edges,
  erdosRenyi,
  type Graph,
  geometric,
  graph,
  grid,
  path,
  randomStream,
  ring,
  smallWorld,
  star,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";

const random = () => randomStream(1, "graph test");
const pairs = (network: Graph) => Array.from(edges(network), ([i, j]) => `${i}-${j}`).join(" ");
const degrees = (network: Graph) => network.neighbours.map((row) => row.length);

describe("graph(size, edges)", () => {
  it("lists neighbours in rising order with their weights, whatever the order of the edges", () => {
    const network = graph(4, [
      [3, 0, 2.5],
      [1, 0],
      [2, 3],
    ]);
    expect(network.neighbours.map((row) => Array.from(row))).toEqual([[1, 3], [0], [3], [0, 2]]);
    expect(network.weights.map((row) => Array.from(row))).toEqual([[1, 2.5], [1], [1], [2.5, 1]]);
    expect(Array.from(edges(network))).toEqual([
      [0, 1, 1],
      [0, 3, 2.5],
      [2, 3, 1],
    ]);
  });

  it("numbers components by their lowest device", () => {
    const network = graph(6, [
      [5, 0],
      [2, 4],
    ]);
    expect(Array.from(connectedComponents(network))).toEqual([0, 1, 2, 3, 2, 0]);
  });
});

describe("families of graphs", () => {
  it("complete, path, ring, star and grid have the expected edges", () => {
    expect(pairs(complete(4))).toBe("0-1 0-2 0-3 1-2 1-3 2-3");
    expect(pairs(path(4))).toBe("0-1 1-2 2-3");
    expect(pairs(ring(4))).toBe("0-1 0-3 1-2 2-3");
    expect(pairs(star(4))).toBe("0-1 0-2 0-3");
    expect(pairs(grid(2, 3))).toBe("0-1 0-3 1-2 1-4 2-5 3-4 4-5");
  });

  it("is legal with one and two devices", () => {
    for (const family of [complete, path, ring, star]) {
      expect(pairs(family(1))).toBe("");
      expect(pairs(family(2))).toBe("0-1");
    }
  });

  it("erdosRenyi(n, 0) has no edge, erdosRenyi(n, 1) has all", () => {
    expect(pairs(erdosRenyi(7, 0, random()))).toBe("");
    expect(pairs(erdosRenyi(7, 1, random()))).toBe(pairs(complete(7)));
  });

  it("erdosRenyi links every pair with the given probability", () => {
    const source = random();
    const counts = new Map<string, number>();
    const draws = 4000;
    for (let t = 0; t < draws; t++) {
      for (const [i, j] of edges(erdosRenyi(6, 0.3, source))) {
        counts.set(`${i}-${j}`, (counts.get(`${i}-${j}`) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(15);
    // Five standard deviations of a binomial share.
    for (const count of counts.values())
      expect(Math.abs(count / draws - 0.3)).toBeLessThan(5 * Math.sqrt(0.21 / draws));
  });

  it("erdosRenyi of a large sparse graph costs what its edges cost", () => {
    const network = erdosRenyi(200_000, 1e-5, random());
    const links = degrees(network).reduce((a, b) => a + b, 0) / 2;
    expect(Math.abs(links / 200_000 - 1)).toBeLessThan(0.02);
  });

  it("smallWorld keeps the number of edges and is the ring lattice without rewiring", () => {
    expect(degrees(smallWorld(12, 4, 0, random())).every((degree) => degree === 4)).toBe(true);
    for (const rewire of [0.1, 0.5, 1]) {
      const total = degrees(smallWorld(30, 4, rewire, random())).reduce((a, b) => a + b, 0);
      expect(total).toBe(120);
    }
    expect(pairs(smallWorld(5, 4, 1, random()))).toBe(pairs(complete(5)));
  });

  it("geometric links exactly the pairs within the radius", () => {
    const positions = random();
    const x = Array.from({ length: 300 }, positions);
    const y = Array.from({ length: 300 }, positions);
    for (const radius of [0.02, 0.1, 0.45, 2]) {
      const near = x.flatMap((_, i) =>
        x.flatMap((_, j) => (i < j && Math.hypot(x[i] - x[j], y[i] - y[j]) <= radius ? [`${i}-${j}`] : [])),
      );
      expect(pairs(geometric(300, radius, random()))).toBe(near.join(" "));
    }
  });

  it("communities links inside and between as told", () => {
    const apart = communities([3, 2], 1, 0, random());
    expect(pairs(apart)).toBe("0-1 0-2 1-2 3-4");
    expect(pairs(communities([2, 2], 0, 1, random()))).toBe("0-2 0-3 1-2 1-3");
    const drawn = Array.from(edges(communities([100, 100], 0.2, 0.01, random())));
    const crossing = drawn.filter(([i, j]) => i < 100 && j >= 100).length;
    expect(crossing).toBeGreaterThan(60);
    expect(crossing).toBeLessThan(140);
    expect(drawn.length - crossing).toBeGreaterThan(1750);
    expect(drawn.length - crossing).toBeLessThan(2210);
  });

  it("communities by the ten thousand cost what their links cost", () => {
    const drawn = Array.from(edges(communities(Array(20_000).fill(5), 1, 2e-5, random())));
    const crossing = drawn.filter(([i, j]) => Math.floor(i / 5) !== Math.floor(j / 5));
    expect(drawn.length - crossing.length).toBe(20_000 * 10);
    // 5e9 pairs: 1e5 links, give or take four standard deviations.
    expect(Math.abs(crossing.length - 1e5)).toBeLessThan(1300);
    // No end is preferred: the sum of the lower ends of so many pairs is a third of the devices each, on average.
    const meanLower = crossing.reduce((sum, [i]) => sum + i, 0) / crossing.length;
    expect(Math.abs(meanLower / 1e5 - 1 / 3)).toBeLessThan(0.004);
  });

  it("gives the same graph for the same stream", () => {
    expect(erdosRenyi(40, 0.2, random())).toEqual(erdosRenyi(40, 0.2, random()));
    expect(smallWorld(40, 6, 0.3, random())).toEqual(smallWorld(40, 6, 0.3, random()));
  });
});
