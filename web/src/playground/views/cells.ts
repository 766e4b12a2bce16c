// The cells of centroids in a square: every pixel has the colour of the centroid that it is nearest to.

import { type Canvas, mixed, type Square } from "./pixels.ts";

/**
 * `sites`: x and y in turn, in pixels of the square; `colours`: one for each. Along a row of pixels the squared distances
 * are lines but for a common term, so that a row takes a step for each border between cells and none for each pixel.
 */
export function paintCells(
  { pixels, width }: Canvas,
  { left, top, side }: Square,
  sites: ArrayLike<number>,
  colours: ArrayLike<number>,
): void {
  for (let y = 0; y < side; y++) {
    const row = (top + y) * width + left;
    let site = nearestAtStart(sites, y + 0.5);
    let from = 0;
    while (from < side) {
      const { next, at } = nextBorder(sites, site, y + 0.5);
      const border = Math.floor(Math.max(from, Math.min(side, at)));
      pixels.fill(colours[site], row + from, row + border);
      if (border >= side) break;
      // The pixel on the border has something of both.
      pixels[row + border] = mixed(colours[next], colours[site], Math.round(256 * Math.max(0, at - border)));
      from = border + 1;
      site = next;
    }
  }
}

/** The site nearest to the left end of a row; of equal ones the first. */
function nearestAtStart(sites: ArrayLike<number>, y: number): number {
  let [nearest, least] = [0, Number.POSITIVE_INFINITY];
  for (let c = 0; 2 * c < sites.length; c++) {
    const distance = sites[2 * c] ** 2 + (sites[2 * c + 1] - y) ** 2;
    if (distance < least) [nearest, least] = [c, distance];
  }
  return nearest;
}

/** Where a row leaves the cell of a site, and for which: only sites farther right can be nearer from there on. */
function nextBorder(sites: ArrayLike<number>, site: number, y: number): { readonly next: number; readonly at: number } {
  const x = sites[2 * site];
  const constant = x * x + (sites[2 * site + 1] - y) ** 2;
  let [next, at] = [site, Number.POSITIVE_INFINITY];
  for (let c = 0; 2 * c < sites.length; c++) {
    const other = sites[2 * c];
    if (other <= x) continue;
    const crossing = (other * other + (sites[2 * c + 1] - y) ** 2 - constant) / (2 * (other - x));
    if (crossing < at) [next, at] = [c, crossing];
  }
  return { next, at };
}
