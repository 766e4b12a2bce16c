// The panels of all devices as one image: cells, points and, where panels are small, centroids. This must be fast, so it is
// painted pixel by pixel, and a panel in which nothing has moved is left as it is: after a few rounds these are almost all.

import type { PackedMoment, PackedProblem } from "../../engine/messages.ts";
import { LARGE_SIDE, type PanelLayout, type Plane, panelCentroids, panelCorner } from "./plane.ts";

/** Of #rrggbb, or of #rgb as the build may shorten it: red in the lowest byte, and fully opaque. */
export function panelPixel(colour: string): number {
  const digits = colour.length === 4 ? colour.replaceAll(/[\da-f]/gi, "$&$&") : colour;
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
  return (red | (green << 8) | (blue << 16) | (255 << 24)) >>> 0;
}

/** `share` of `over`, from 0 to 256, and the rest of `under`. Red and blue are mixed in one multiplication. */
export function mixedPanelPixel(under: number, over: number, share: number): number {
  const rest = 256 - share;
  const redBlue = (Math.imul(under & 0xff00ff, rest) + Math.imul(over & 0xff00ff, share)) >>> 8;
  const green = (Math.imul(under & 0xff00, rest) + Math.imul(over & 0xff00, share)) >>> 8;
  return ((redBlue & 0xff00ff) | (green & 0xff00) | (255 << 24)) >>> 0;
}

/** An image to paint into, as its pixels row by row. */
interface Canvas {
  readonly pixels: Uint32Array;
  readonly width: number;
}

/** A square of it, in whole pixels. */
interface Square {
  readonly left: number;
  readonly top: number;
  readonly side: number;
}

/** A rectangle in a square: what lies outside of the square is left out. */
function fillWithin(
  { pixels, width }: Canvas,
  square: Square,
  [left, top, right, bottom]: readonly [number, number, number, number],
  colour: number,
): void {
  const from = square.left + Math.max(0, left);
  const to = square.left + Math.min(square.side, right);
  if (to <= from) return;
  for (let y = Math.max(0, top); y < Math.min(square.side, bottom); y++) {
    const row = (square.top + y) * width;
    pixels.fill(colour, row + from, row + to);
  }
}

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
function placeDots(
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
function paintDots(
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
      for (let pixel = row; pixel < row + size; pixel++) pixels[pixel] = mixedPanelPixel(pixels[pixel], colour, share);
    }
  }
}

/** Writes the cluster of each point; returns whether any is another one than before. */
function relabel(
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

/**
 * Cells: every pixel of a square has the colour of the centroid that it is nearest to. `sites`: x and y in turn, in pixels of the square; `colours`: one for each. Along a row of pixels the squared distances
 * are lines but for a common term, so that a row takes a step for each border between cells and none for each pixel.
 */
export function paintPanelCells(
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
      pixels[row + border] = mixedPanelPixel(colours[next], colours[site], Math.round(256 * Math.max(0, at - border)));
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

export interface PanelColours {
  readonly paper: string;
  readonly ink: string;
  readonly quiet: string;
  readonly faint: string;
  readonly clusters: readonly string[];
  /** From 0 to 1: points that lie on each other are darker. */
  readonly pointOpacity: number;
}

/** Of the colour of a cluster, in 256 parts: a tenth, or more where there is little room to see it. */
const [TINT, SMALL_TINT] = [26, 90];
/** Below it crosses have no halo, which would hide what lies around them. */
const SMALL_SIDE = 40;
/** Centroids are painted at quarters of a pixel: what moves less changes nothing, however often. */
const STEPS = 4;
const UNPAINTED = 255;

interface Panel {
  readonly square: Square;
  /** Where its points are, and the cluster of each. */
  readonly dots: Uint32Array;
  readonly labels: Uint8Array;
  /** Its centroids, in steps of pixels from its corner, and their clusters. */
  readonly sites: Int32Array;
  readonly clusters: Uint8Array;
  isPainted: boolean;
}

export class PanelPainter {
  readonly image: ImageData;
  readonly #problem: PackedProblem;
  readonly #plane: Plane;
  readonly #panels: readonly Panel[];
  readonly #canvas: Canvas;
  readonly #dotSize: number;
  readonly #dotShare: number;
  readonly #line: number;
  /** Of the arm of a cross; 0: crosses are drawn over the image. */
  readonly #arm: number;
  readonly #halo: number;
  readonly #colours: Uint32Array;
  readonly #tints: Uint32Array;
  readonly #look: { readonly paper: number; readonly ink: number; readonly faint: number };

  /** `scale`: pixels of the screen for one of the page. */
  constructor(problem: PackedProblem, grid: PanelLayout, plane: Plane, scale: number, look: PanelColours) {
    const width = Math.round(grid.width * scale);
    this.image = new ImageData(width, Math.round(grid.height * scale));
    this.#canvas = { pixels: new Uint32Array(this.image.data.buffer), width };
    this.#problem = problem;
    this.#plane = plane;
    this.#line = Math.max(1, Math.round(scale));
    const isSmall = grid.side < SMALL_SIDE;
    this.#dotSize = Math.max(1, Math.round((isSmall ? 1 : grid.side < 100 ? 2 : 3) * scale));
    this.#dotShare = Math.round(256 * look.pointOpacity);
    this.#arm = grid.side >= LARGE_SIDE ? 0 : Math.round((isSmall ? 1 : 3) * scale);
    this.#halo = isSmall ? 0 : this.#line;
    this.#look = { paper: panelPixel(look.paper), ink: panelPixel(look.ink), faint: panelPixel(look.faint) };
    this.#colours = Uint32Array.from(look.clusters, panelPixel);
    this.#tints = this.#colours.map((colour) => mixedPanelPixel(this.#look.paper, colour, isSmall ? SMALL_TINT : TINT));
    const side = Math.floor(grid.side * scale);
    const { rows: k } = problem.pooled;
    this.#panels = problem.plane.map((points, device) => {
      const { x, y } = panelCorner(grid, device);
      return {
        square: { left: Math.round(x * scale), top: Math.round(y * scale), side },
        dots: placeDots(points, plane, side, this.#dotSize, width),
        labels: new Uint8Array(points.length / 2).fill(UNPAINTED),
        sites: new Int32Array(2 * k),
        clusters: new Uint8Array(k),
        isPainted: false,
      };
    });
  }

  /** Returns the first row of pixels that has changed and the one behind the last; undefined: none has. */
  paint(moment: PackedMoment): readonly [number, number] | undefined {
    const { datasets, pooled } = this.#problem;
    const { rows: k, cols } = pooled;
    const places = panelCentroids(this.#problem, moment.centroids);
    const isThere = new Uint8Array(this.#panels.length);
    let [first, last] = [Number.POSITIVE_INFINITY, 0];
    const changed = ({ top, side }: Square) => {
      first = Math.min(first, top);
      last = Math.max(last, top + side);
    };
    moment.devices.forEach((device, at) => {
      isThere[device] = 1;
      const panel = this.#panels[device];
      const clusters = moment.clusters.subarray(at * k, (at + 1) * k);
      const centroids = moment.centroids.subarray(at * k * cols, (at + 1) * k * cols);
      const isRelabelled = relabel(panel.labels, datasets[device].data, centroids, clusters, cols);
      const isMoved = this.#move(panel, places, 2 * at * k, clusters);
      if (panel.isPainted && !isRelabelled && !isMoved) return;
      this.#paintPanel(panel);
      changed(panel.square);
    });
    this.#panels.forEach((panel, device) => {
      if (isThere[device] === 1 || !panel.isPainted) return;
      const { side } = panel.square;
      fillWithin(this.#canvas, panel.square, [0, 0, side, side], 0);
      panel.labels.fill(UNPAINTED);
      panel.isPainted = false;
      changed(panel.square);
    });
    return last === 0 ? undefined : [first, last];
  }

  /** Returns whether a centroid is at another step, or has another colour. */
  #move({ sites, clusters, square: { side } }: Panel, places: Float64Array, from: number, now: Uint8Array): boolean {
    const { left, top, extent } = this.#plane;
    const scale = (STEPS * side) / extent;
    let isMoved = false;
    for (let i = 0; i < sites.length; i++) {
      const site = Math.round((i % 2 === 0 ? places[from + i] - left : top - places[from + i]) * scale);
      if (site !== sites[i]) isMoved = true;
      sites[i] = site;
    }
    for (let c = 0; c < clusters.length; c++) {
      if (clusters[c] !== now[c]) isMoved = true;
      clusters[c] = now[c];
    }
    return isMoved;
  }

  #paintPanel(panel: Panel): void {
    const { square, sites, clusters, dots, labels } = panel;
    const { side, left, top } = square;
    const { paper, faint } = this.#look;
    const canvas = this.#canvas;
    panel.isPainted = true;
    // Cells of more than two columns do not exist in the plane.
    if (this.#problem.pooled.cols === 2) {
      const places = Array.from(sites, (site) => site / STEPS);
      const tints = Array.from(clusters, (cluster) => this.#tints[cluster]);
      paintPanelCells(canvas, square, places, tints);
    } else {
      fillWithin(canvas, square, [0, 0, side, side], paper);
    }
    const [size, share] = [this.#dotSize, this.#dotShare];
    paintDots(canvas, top * canvas.width + left, dots, { clusters: labels, colours: this.#colours, size, share });
    const line = this.#line;
    fillWithin(canvas, square, [0, 0, side, line], faint);
    fillWithin(canvas, square, [0, side - line, side, side], faint);
    fillWithin(canvas, square, [0, 0, line, side], faint);
    fillWithin(canvas, square, [side - line, 0, side, side], faint);
    if (this.#arm > 0) this.#paintCrosses(panel);
  }

  /** Centroids: crosses with a halo, so that they show on points of any colour. One outside of its panel is a block there. */
  #paintCrosses({ square, sites }: Panel): void {
    const { paper, ink } = this.#look;
    for (const [colour, around] of [[paper, this.#halo] as const, [ink, 0] as const]) {
      for (let i = 0; i < sites.length; i += 2) {
        const at = [Math.floor(sites[i] / STEPS), Math.floor(sites[i + 1] / STEPS)];
        const [x, y] = at.map((place) => Math.max(0, Math.min(square.side - 1, place)));
        const long = this.#arm + around;
        const thin = x === at[0] && y === at[1] ? around : long;
        fillWithin(this.#canvas, square, [x - long, y - thin, x + long + 1, y + thin + this.#line], colour);
        fillWithin(this.#canvas, square, [x - thin, y - long, x + thin + this.#line, y + long + 1], colour);
      }
    }
  }
}
