// The points of all devices as pixels of one image, each in the colour of its cluster: the part that must be fast.

import type { PackedMoment, PackedProblem } from "../../engine/messages.ts";
import { cornerOf, type Grid } from "./grid.ts";
import type { Plane } from "./plane.ts";

/** Red, green and blue of a cluster, each from 0 to 255. */
export type Colour = readonly [number, number, number];

export interface Dots {
  readonly width: number;
  readonly height: number;
  /** Of each device, where its points are: the number of the pixel of their upper left corner. */
  readonly pixels: readonly Uint32Array[];
  /** Pixels that a point is wide and high. */
  readonly size: number;
}

/** `scale`: pixels of the screen for one of the page. */
export function placeDots({ plane }: PackedProblem, grid: Grid, { left, top, extent }: Plane, scale: number): Dots {
  const width = Math.round(grid.width * scale);
  const height = Math.round(grid.height * scale);
  const size = Math.max(1, Math.round((grid.side < 40 ? 1 : grid.side < 100 ? 2 : 3) * scale));
  const side = grid.side * scale;
  const pixels = plane.map((points, device) => {
    const corner = cornerOf(grid, device);
    const place = (value: number, at: number) =>
      Math.round(at * scale + Math.min(side - size, Math.max(0, value * side - size / 2)));
    return Uint32Array.from({ length: points.length / 2 }, (_, r) => {
      const x = place((points[2 * r] - left) / extent, corner.x);
      const y = place((top - points[2 * r + 1]) / extent, corner.y);
      return Math.min(height - size, y) * width + Math.min(width - size, x);
    });
  });
  return { width, height, pixels, size };
}

/** Paints a moment into the pixels of an image, which is cleared first. */
export function paintDots(
  /* OUT */ image: Uint32Array,
  dots: Dots,
  { datasets, pooled: { rows: k, cols } }: PackedProblem,
  { devices, centroids, clusters }: PackedMoment,
  colours: Uint32Array,
): void {
  image.fill(0);
  const { width, pixels, size } = dots;
  for (let at = 0; at < devices.length; at++) {
    const device = devices[at];
    const { data } = datasets[device];
    const places = pixels[device];
    const from = at * k * cols;
    for (let r = 0; r < places.length; r++) {
      let nearest = 0;
      let least = Infinity;
      for (let c = 0; c < k; c++) {
        let sum = 0;
        for (let x = 0; x < cols; x++) {
          const away = data[r * cols + x] - centroids[from + c * cols + x];
          sum += away * away;
        }
        if (sum < least) {
          least = sum;
          nearest = c;
        }
      }
      const colour = colours[clusters[at * k + nearest]];
      const place = places[r];
      for (let y = 0; y < size; y++) {
        for (let x = 0; x < size; x++) {
          const pixel = place + y * width + x;
          const before = image[pixel] >>> 24;
          // Points that lie on each other are darker.
          const opacity = before === 0 ? 0x73 : Math.min(255, before + ((255 - before) * 0x73) / 255);
          image[pixel] = (colour & 0xffffff) | (opacity << 24);
        }
      }
    }
  }
}

/** As they lie in the memory of an image, the opacity last. */
export function pixelColours(colours: readonly Colour[]): Uint32Array {
  return Uint32Array.from(colours, ([red, green, blue]) => red | (green << 8) | (blue << 16));
}
