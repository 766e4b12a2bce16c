// The points of a device as pixels, each in the colour of its cluster.

import { type Canvas, mixed } from "./pixels.ts";
import type { Plane } from "./plane.ts";

interface Ink {
  /** Of each point. */
  readonly clusters: Uint8Array;
  readonly colours: Uint32Array;
  /** Pixels that a point is wide and high. */
  readonly size: number;
  /** How much of what lies below it hides, in 256 parts. */
  readonly share: number;
}

/** Of points in the plane, x and y in turn: where each is in a square, as a number of pixels from its upper left corner. */
export function placeDots(
  points: Float64Array,
  { left, top, extent }: Plane,
  side: number,
  size: number,
  width: number,
): Uint32Array {
  const place = (share: number) => Math.round(Math.min(side - size, Math.max(0, share * side - size / 2)));
  return Uint32Array.from({ length: points.length / 2 }, (_, r) => {
    const [x, y] = [(points[2 * r] - left) / extent, (top - points[2 * r + 1]) / extent];
    return place(y) * width + place(x);
  });
}

/** `corner`: the pixel of the square's upper left corner. */
export function paintDots(
  { pixels, width }: Canvas,
  corner: number,
  places: Uint32Array,
  { clusters, colours, size, share }: Ink,
): void {
  for (let r = 0; r < places.length; r++) {
    const colour = colours[clusters[r]];
    const first = corner + places[r];
    for (let y = 0; y < size; y++) {
      const row = first + y * width;
      for (let pixel = row; pixel < row + size; pixel++) pixels[pixel] = mixed(pixels[pixel], colour, share);
    }
  }
}

/** Writes the cluster of each point; returns whether any is another one than before. */
export function relabel(
  /* INOUT */ labels: Uint8Array,
  points: Float64Array,
  centroids: Float64Array,
  clusters: Uint8Array,
  cols: number,
): boolean {
  let isChanged = false;
  const isPlane = cols === 2;
  for (let r = 0; r < labels.length; r++) {
    let nearest = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let c = 0; c < clusters.length; c++) {
      let sum = 0;
      if (isPlane) {
        // Most of what is drawn lies in the plane, and this is where the time goes.
        const across = points[2 * r] - centroids[2 * c];
        const up = points[2 * r + 1] - centroids[2 * c + 1];
        sum = across * across + up * up;
      } else {
        for (let x = 0; x < cols; x++) {
          const away = points[r * cols + x] - centroids[c * cols + x];
          sum += away * away;
        }
      }
      if (sum < least) {
        least = sum;
        nearest = c;
      }
    }
    if (labels[r] === clusters[nearest]) continue;
    labels[r] = clusters[nearest];
    isChanged = true;
  }
  return isChanged;
}
