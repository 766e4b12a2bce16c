// From the plane of the points to the pixels of a panel, with one scale for both directions and all panels.

import type { PackedProblem } from "../../engine/messages.ts";

export interface Plane {
  readonly left: number;
  readonly top: number;
  /** Units of the data that a panel is wide and high. */
  readonly extent: number;
}

const MARGIN = 0.04;

/** A square around all points. */
export function planeOf({ plane }: PackedProblem): Plane {
  const [least, most] = [
    [Infinity, Infinity],
    [-Infinity, -Infinity],
  ];
  for (const points of plane) {
    for (let at = 0; at < points.length; at++) {
      const side = at % 2;
      if (points[at] < least[side]) least[side] = points[at];
      if (points[at] > most[side]) most[side] = points[at];
    }
  }
  const extent = Math.max(most[0] - least[0], most[1] - least[1], 1e-9) * (1 + 2 * MARGIN);
  return {
    left: (least[0] + most[0] - extent) / 2,
    // Up is up: the largest second coordinate is at the top.
    top: (least[1] + most[1] + extent) / 2,
    extent,
  };
}

/** Centroids as places in the plane, x and y in turn. */
export function centroidsInPlane(problem: PackedProblem, centroids: Float64Array): Float64Array {
  const { cols } = problem.pooled;
  const rows = centroids.length / cols;
  if (cols === 2) return centroids;
  const { axes } = problem;
  return Float64Array.from({ length: 2 * rows }, (_, at) => {
    const row = Math.floor(at / 2) * cols;
    if (axes === undefined) return at % 2 === 0 ? centroids[row] : 0;
    let sum = 0;
    for (let x = 0; x < cols; x++) sum += (centroids[row + x] - axes.means[x]) * axes.axes[at % 2][x];
    return sum;
  });
}
