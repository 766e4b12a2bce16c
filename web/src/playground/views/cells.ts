// The cells of centroids in a square: for each the part of it that is nearer to this centroid than to any other.

/** The corners of a convex polygon, x and y in turn. */
export type Polygon = readonly number[];

/** Of `count` sites, x and y in turn from `from` on, in the square from 0 to `side`. A site without a cell has no corners. */
export function cellsOf(sites: ArrayLike<number>, from: number, count: number, side: number): Polygon[] {
  return Array.from({ length: count }, (_, c) => {
    let cell: number[] = [0, 0, side, 0, side, side, 0, side];
    const [x, y] = [sites[from + 2 * c], sites[from + 2 * c + 1]];
    for (let other = 0; other < count && cell.length > 0; other++) {
      if (other === c) continue;
      const [otherX, otherY] = [sites[from + 2 * other], sites[from + 2 * other + 1]];
      // Where two coincide, the first has the cell.
      if (otherX === x && otherY === y) {
        if (other < c) cell = [];
        continue;
      }
      cell = nearerPart(cell, x, y, otherX, otherY);
    }
    return cell;
  });
}

/** Cuts a polygon by the line half-way between two sites. */
function nearerPart(cell: readonly number[], x: number, y: number, otherX: number, otherY: number): number[] {
  const [normalX, normalY] = [otherX - x, otherY - y];
  const limit = (otherX * otherX + otherY * otherY - x * x - y * y) / 2;
  const beyond = (at: number) => cell[at] * normalX + cell[at + 1] * normalY - limit;
  const kept: number[] = [];
  for (let at = 0; at < cell.length; at += 2) {
    const next = (at + 2) % cell.length;
    const [here, there] = [beyond(at), beyond(next)];
    if (here <= 0) kept.push(cell[at], cell[at + 1]);
    if (here <= 0 !== there <= 0) {
      const share = here / (here - there);
      kept.push(cell[at] + share * (cell[next] - cell[at]), cell[at + 1] + share * (cell[next + 1] - cell[at + 1]));
    }
  }
  return kept;
}
