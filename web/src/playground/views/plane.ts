// Where panels stand (equal squares in rows, as large as the room allows), and from the plane of the points to the pixels of
// a panel, with one scale for both directions and all panels.

import { projectOnAxes } from "@fedkm/pictures";
import type { PackedProblem } from "../../engine/messages.ts";

export interface PanelLayout {
  readonly columns: number;
  /** The side of a panel and the gap between two, in pixels of the page. */
  readonly side: number;
  readonly gap: number;
  readonly width: number;
  readonly height: number;
}

const LARGEST_SIDE = 260;
/** From here on a panel has room for its name, trails and the neighbours' centroids. */
export const LARGE_SIDE = 70;

export function panelLayout(panels: number, width: number, mostHeight: number): PanelLayout {
  let best: PanelLayout | undefined;
  for (let columns = 1; columns <= panels; columns++) {
    const gap = panels > 60 ? 3 : 8;
    const rows = Math.ceil(panels / columns);
    const side = Math.floor(
      Math.min(LARGEST_SIDE, (width - (columns - 1) * gap) / columns, (mostHeight - (rows - 1) * gap) / rows),
    );
    if (best === undefined || side >= best.side) {
      best = { columns, side: Math.max(8, side), gap, width, height: rows * (side + gap) - gap };
    }
  }
  return best ?? { columns: 1, side: 8, gap: 0, width, height: 8 };
}

export function panelCorner(
  { columns, side, gap }: PanelLayout,
  panel: number,
): { readonly x: number; readonly y: number } {
  return { x: (panel % columns) * (side + gap), y: Math.floor(panel / columns) * (side + gap) };
}

export interface Plane {
  readonly left: number;
  readonly top: number;
  /** Units of the data that a panel is wide and high. */
  readonly extent: number;
}

const MARGIN = 0.04;

/** Points beyond the middle ones by more than this many times their range are drawn at the border. */
const FAR = 3;

/** A square around all points but for a few that are far away: one of them would make all others a dot. */
export function panelPlane({ plane }: PackedProblem): Plane {
  const sides = [0, 1].map((side) => {
    const values = Float64Array.from(plane.flatMap((points) => Array.from(points.filter((_, at) => at % 2 === side))));
    values.sort();
    const at = (share: number) => values[Math.round(share * (values.length - 1))] ?? 0;
    const [low, high] = [at(0.02), at(0.98)];
    const room = FAR * Math.max(high - low, 1e-9);
    return [Math.max(at(0), low - room), Math.min(at(1), high + room)];
  });
  const [least, most] = [0, 1].map((end) => sides.map((ends) => ends[end]));
  const extent = Math.max(most[0] - least[0], most[1] - least[1], 1e-9) * (1 + 2 * MARGIN);
  return {
    left: (least[0] + most[0] - extent) / 2,
    // Up is up: the largest second coordinate is at the top.
    top: (least[1] + most[1] + extent) / 2,
    extent,
  };
}

/** Centroids as places in the plane, x and y in turn. */
export function panelCentroids(problem: PackedProblem, centroids: Float64Array): Float64Array {
  const { pooled, axes } = problem;
  if (pooled.cols === 2) return centroids;
  if (axes !== undefined) return projectOnAxes(centroids, axes);
  // Of one column, on a line.
  return Float64Array.from({ length: 2 * centroids.length }, (_, at) => (at % 2 === 0 ? centroids[at / 2] : 0));
}

/** Pixels within which a row is pointed at. */
const NEAR = 8;

/** The row of a device that lies nearest to a place in its panel, of this many pixels each way; undefined: none is near. */
export function nearestRow(
  points: Float64Array,
  { left, top, extent }: Plane,
  side: number,
  x: number,
  y: number,
): number | undefined {
  let [found, least]: [number | undefined, number] = [undefined, NEAR];
  for (let r = 0; 2 * r < points.length; r++) {
    const acrossX = ((points[2 * r] - left) / extent) * side - x;
    const acrossY = ((top - points[2 * r + 1]) / extent) * side - y;
    const away = Math.hypot(acrossX, acrossY);
    if (away < least) [found, least] = [r, away];
  }
  return found;
}
