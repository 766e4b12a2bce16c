// Algorithm 1 as one would first write it: arrays of arrays, everything recomputed. The yardstick for the packed loop.

type Rows = number[][];

const square = (a: number[], b: number[]) => a.reduce((sum, x, i) => sum + (x - b[i]) ** 2, 0);

function nearest(row: number[], rows: Rows): number {
  const squares = rows.map((other) => square(row, other));
  return squares.indexOf(Math.min(...squares));
}

function localObjective(points: Rows, own: Rows, neighbours: Rows[], alpha: number): number {
  const toNearest = (from: Rows, to: Rows) => from.reduce((sum, row) => sum + square(row, to[nearest(row, to)]), 0);
  const pulls = neighbours.map((other) => toNearest(own, other) + toNearest(other, own));
  return toNearest(points, own) / points.length + alpha * pulls.reduce((a, b) => a + b, 0);
}

function onePass(points: Rows, own: Rows, neighbours: Rows[], alpha: number): Rows {
  const sums = own.map((row) => row.map(() => 0));
  const weights = own.map(() => 0);
  const add = (c: number, row: number[], weight: number) => {
    weights[c] += weight;
    sums[c] = sums[c].map((x, i) => x + weight * row[i]);
  };
  for (const point of points) add(nearest(point, own), point, 1 / points.length);
  for (const other of neighbours) {
    for (const centroid of other) add(nearest(centroid, own), centroid, alpha);
    own.forEach((centroid, c) => {
      add(c, other[nearest(centroid, other)], alpha);
    });
  }
  return own.map((row, c) => (weights[c] > 0 ? sums[c].map((x) => x / weights[c]) : row));
}

export function straightforwardFit(
  datasets: Rows[],
  neighbours: number[][],
  start: Rows[],
  alpha: number,
  rounds: number,
): Rows[] {
  const centroids = [...start];
  for (let round = 0; round < rounds; round++) {
    datasets.forEach((points, i) => {
      const others = neighbours[i].map((j) => centroids[j]);
      let objective = localObjective(points, centroids[i], others, alpha);
      for (let pass = 0; pass < 100; pass++) {
        centroids[i] = onePass(points, centroids[i], others, alpha);
        const lower = localObjective(points, centroids[i], others, alpha);
        if (objective - lower <= 1e-12 * Math.max(1, objective)) break;
        objective = lower;
      }
    });
  }
  return centroids;
}
