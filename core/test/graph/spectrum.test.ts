import {
  complete,
  erdosRenyi,
  type Graph,
  graph,
  laplacianExtremes,
  path,
  randomStream,
  ring,
  star,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";

describe("laplacianExtremes(graph)", () => {
  it("agrees with the closed forms", () => {
    const forms: [Graph, number, number][] = [
      [complete(9), 9, 9],
      [star(9), 1, 9],
      [ring(12), 2 - 2 * Math.cos(Math.PI / 6), 4],
      [path(10), 2 - 2 * Math.cos(Math.PI / 10), 2 + 2 * Math.cos(Math.PI / 10)],
      [path(2), 2, 2],
    ];
    for (const [network, smallest, largest] of forms) {
      const found = laplacianExtremes(network);
      expect(found?.smallest).toBeCloseTo(smallest, 12);
      expect(found?.largest).toBeCloseTo(largest, 12);
    }
  });

  it("takes several components, isolated devices and weights", () => {
    const network = graph(6, [
      [0, 1, 0.5],
      [2, 3, 3],
    ]);
    const found = laplacianExtremes(network);
    expect(found?.smallest).toBeCloseTo(1, 12);
    expect(found?.largest).toBeCloseTo(6, 12);
  });

  it("is undefined without an edge", () => {
    expect(laplacianExtremes(graph(4, []))).toBeUndefined();
    expect(laplacianExtremes(graph(1, []))).toBeUndefined();
  });

  it("agrees with a dense eigen-solver on random weighted graphs", () => {
    const random = randomStream(2, "spectrum test");
    for (let trial = 0; trial < 30; trial++) {
      const drawn = erdosRenyi(12, 0.3, random);
      const links = drawn.neighbours.flatMap((row, i) =>
        Array.from(row).flatMap((j) => (i < j ? [[i, j, 0.1 + random()] as const] : [])),
      );
      const network = graph(12, links);
      const eigenvalues = jacobi(network).sort((a, b) => a - b);
      const found = laplacianExtremes(network);
      expect(found?.largest).toBeCloseTo(eigenvalues[11], 10);
      expect(found?.smallest).toBeCloseTo(eigenvalues.find((value) => value > 1e-9) as number, 10);
    }
  });

  it("estimates the extremes of a large graph", () => {
    const found = laplacianExtremes(ring(2000));
    expect(found?.largest).toBeCloseTo(4, 3);
    expect(found?.smallest).toBeGreaterThan(0);
  });
});

/** All eigenvalues of the Laplacian by Jacobi rotations. */
function jacobi({ size, neighbours, weights }: Graph): number[] {
  const a = Array.from({ length: size }, () => new Array<number>(size).fill(0));
  neighbours.forEach((row, i) => {
    row.forEach((j, at) => {
      a[i][i] += weights[i][at];
      a[i][j] -= weights[i][at];
    });
  });
  for (let sweep = 0; sweep < 60; sweep++) {
    for (let p = 0; p < size; p++) {
      for (let q = p + 1; q < size; q++) {
        if (a[p][q] === 0) continue;
        const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.hypot(1, theta));
        const c = 1 / Math.hypot(1, t);
        const s = t * c;
        for (let r = 0; r < size; r++) [a[r][p], a[r][q]] = [c * a[r][p] - s * a[r][q], s * a[r][p] + c * a[r][q]];
        for (let r = 0; r < size; r++) [a[p][r], a[q][r]] = [c * a[p][r] - s * a[q][r], s * a[p][r] + c * a[q][r]];
      }
    }
  }
  return a.map((row, i) => row[i]);
}
