// The points of all devices as pixels of one image, each in the colour of its cluster: the part that must be fast.

import type { PackedMoment, PackedProblem } from "../../engine/messages.ts";
import { cornerOf, type Grid } from "./grid.ts";
import type { Plane } from "./plane.ts";

/** Red, green and blue of a cluster, each from 0 to 255. */
export type Colour = readonly [number, number, number];

interface Dots {
  readonly width: number;
  readonly height: number;
  /** Of each device, where its points are: the number of the pixel of their upper left corner. */
  readonly pixels: readonly Uint32Array[];
  /** Pixels that a point is wide and high. */
  readonly size: number;
}

/** `scale`: pixels of the screen for one of the page. */
function placeDots({ plane }: PackedProblem, grid: Grid, { left, top, extent }: Plane, scale: number): Dots {
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

/**
 * Paints moments into an image. A panel in which no point has changed its colour is left as it is: after a few rounds
 * these are almost all.
 */
export class DotPainter {
  readonly #dots: Dots;
  readonly #grid: Grid;
  readonly #scale: number;
  readonly image: ImageData;
  readonly #pixels: Uint32Array;
  /** For each device the cluster that each of its points was last painted for. */
  readonly #painted: readonly Uint8Array[];
  #colours: Uint32Array | undefined;

  constructor(problem: PackedProblem, grid: Grid, plane: Plane, scale: number) {
    this.#dots = placeDots(problem, grid, plane, scale);
    this.#grid = grid;
    this.#scale = scale;
    this.image = new ImageData(this.#dots.width, this.#dots.height);
    this.#pixels = new Uint32Array(this.image.data.buffer);
    this.#painted = this.#dots.pixels.map(({ length }) => new Uint8Array(length).fill(UNPAINTED));
  }

  /** Returns whether anything has changed. */
  paint({ datasets, pooled }: PackedProblem, moment: PackedMoment, colours: Uint32Array): boolean {
    const { rows: k, cols } = pooled;
    if (colours !== this.#colours) for (const painted of this.#painted) painted.fill(UNPAINTED);
    this.#colours = colours;
    const isThere = new Set(moment.devices);
    let isChanged = false;
    this.#painted.forEach((painted, device) => {
      if (isThere.has(device) || painted.length === 0 || painted[0] === UNPAINTED) return;
      painted.fill(UNPAINTED);
      this.#clear(device);
      isChanged = true;
    });
    moment.devices.forEach((device, at) => {
      const painted = this.#painted[device];
      const centroids = moment.centroids.subarray(at * k * cols, (at + 1) * k * cols);
      const clusters = moment.clusters.subarray(at * k, (at + 1) * k);
      if (!relabel(painted, datasets[device].data, centroids, clusters, cols)) return;
      this.#clear(device);
      this.#fill(device, painted, colours);
      isChanged = true;
    });
    return isChanged;
  }

  #clear(device: number): void {
    const { x, y } = cornerOf(this.#grid, device);
    const { width } = this.#dots;
    const [left, top] = [Math.floor(x * this.#scale), Math.floor(y * this.#scale)];
    const side = Math.ceil(this.#grid.side * this.#scale) + 1;
    for (let row = top; row < Math.min(this.#dots.height, top + side); row++) {
      this.#pixels.fill(0, row * width + left, row * width + Math.min(width, left + side));
    }
  }

  #fill(device: number, clusters: Uint8Array, colours: Uint32Array): void {
    const { width, size, pixels } = this.#dots;
    const places = pixels[device];
    const image = this.#pixels;
    for (let r = 0; r < places.length; r++) {
      const colour = colours[clusters[r]];
      for (let y = 0; y < size; y++) {
        for (let pixel = places[r] + y * width, end = pixel + size; pixel < end; pixel++) {
          const before = image[pixel] >>> 24;
          // Points that lie on each other are darker.
          const opacity = before === 0 ? 0x73 : before + (((255 - before) * 0x73) >> 8);
          image[pixel] = colour | (opacity << 24);
        }
      }
    }
  }
}

const UNPAINTED = 255;

/** Writes the cluster of each point; returns whether any is another one than before. */
function relabel(
  /* INOUT */ painted: Uint8Array,
  points: Float64Array,
  centroids: Float64Array,
  clusters: Uint8Array,
  cols: number,
): boolean {
  let isChanged = false;
  const isPlane = cols === 2;
  for (let r = 0; r < painted.length; r++) {
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
    if (painted[r] === clusters[nearest]) continue;
    painted[r] = clusters[nearest];
    isChanged = true;
  }
  return isChanged;
}

/** As they lie in the memory of an image, the opacity last. */
export function pixelColours(colours: readonly Colour[]): Uint32Array {
  return Uint32Array.from(colours, ([red, green, blue]) => red | (green << 8) | (blue << 16));
}
