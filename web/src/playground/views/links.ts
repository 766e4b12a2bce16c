// How links are drawn: each in the shade of its discrepancy, and messages as dots on their way.

import type { PackedMoment } from "../../engine/messages.ts";
import { panelPixel } from "./painter.ts";

export type ScreenPoint = readonly [x: number, y: number];

/** A shade spans a factor of ten: devices that come closer are seen to come closer for as long as they do. */
const FACTOR = 10;

/** Of each shade, the least discrepancy that has it, the lightest first. `largest` is the largest there was until now. */
export function mapShades(largest: number, shades: number): readonly number[] {
  return Array.from({ length: shades }, (_, level) => (level === 0 ? 0 : largest / FACTOR ** (shades - level)));
}

export function mapShadeLevels(discrepancies: Float64Array, from: readonly number[]): Uint8Array {
  return Uint8Array.from(discrepancies, (value) => {
    let level = from.length - 1;
    while (level > 0 && value < from[level]) level--;
    return level;
  });
}

/** More lines than this are one disc of one colour: their density is painted instead. */
const MOST_LINES = 1000;

/** Whether so many links are drawn by their density. */
export function isMapDense(links: number): boolean {
  return links > MOST_LINES;
}

/** The darkest last: no light link crosses over one that matters. One stroke for all of a shade is fast. */
export function drawMapLinks(
  context: CanvasRenderingContext2D,
  links: Uint32Array,
  levels: Uint8Array,
  spots: readonly ScreenPoint[],
  shades: readonly string[],
): void {
  context.lineWidth = levels.length > 300 ? 0.6 : 2;
  shades.forEach((shade, level) => {
    context.strokeStyle = shade;
    context.beginPath();
    for (let link = 0; link < levels.length; link++) {
      if (levels[link] !== level) continue;
      const [fromX, fromY] = spots[links[2 * link]];
      const [toX, toY] = spots[links[2 * link + 1]];
      context.moveTo(fromX, fromY);
      context.lineTo(toX, toY);
    }
    context.stroke();
  });
}

/**
 * Of a dense network, on an image of `side` squares each way: the more links cross a square, the less of the ground is seen,
 * and its shade is the mean one of these links. `scale`: squares for a unit of the spots.
 */
export function mapDensity(
  links: Uint32Array,
  levels: Uint8Array,
  spots: readonly ScreenPoint[],
  shades: readonly string[],
  side: number,
  scale: number,
): Uint8ClampedArray<ArrayBuffer> {
  const counts = new Uint32Array(side * side);
  const sums = new Uint32Array(side * side);
  for (let link = 0; link < levels.length; link++) {
    const [fromX, fromY] = spots[links[2 * link]];
    const [toX, toY] = spots[links[2 * link + 1]];
    const steps = Math.max(1, Math.ceil(scale * Math.max(Math.abs(toX - fromX), Math.abs(toY - fromY))));
    const [stepX, stepY] = [(scale * (toX - fromX)) / steps, (scale * (toY - fromY)) / steps];
    let [x, y] = [scale * fromX, scale * fromY];
    for (let i = 0; i < steps; i++, x += stepX, y += stepY) {
      const at = Math.floor(y) * side + Math.floor(x);
      counts[at]++;
      sums[at] += levels[link];
    }
  }
  const most = counts.reduce((largest, count) => Math.max(largest, count), 1);
  const colours = shades.map(panelPixel);
  const image = new Uint32Array(side * side);
  counts.forEach((count, at) => {
    if (count === 0) return;
    const opacity = Math.round(230 * (Math.log1p(count) / Math.log1p(most)));
    image[at] = (colours[Math.round(sums[at] / count)] & 0xffffff) | (opacity << 24);
  });
  return new Uint8ClampedArray(image.buffer);
}

/** `travelled`: the share of the way that messages have gone, in both directions. */
export function drawMapMessages(
  context: CanvasRenderingContext2D,
  { links }: PackedMoment,
  spots: readonly ScreenPoint[],
  travelled: number,
): void {
  const size = 3.4;
  for (let link = 0; link < links.length; link += 2) {
    const [fromX, fromY] = spots[links[link]];
    const [toX, toY] = spots[links[link + 1]];
    const [alongX, alongY] = [travelled * (toX - fromX), travelled * (toY - fromY)];
    context.fillRect(fromX + alongX - size / 2, fromY + alongY - size / 2, size, size);
    context.fillRect(toX - alongX - size / 2, toY - alongY - size / 2, size, size);
  }
}

/** The link under a point of the screen, if any is within a few pixels. */
export function linkAt(
  [x, y]: ScreenPoint,
  { links }: PackedMoment,
  spots: readonly ScreenPoint[],
): readonly [number, number] | undefined {
  let found: readonly [number, number] | undefined;
  let least = 6;
  for (let link = 0; link < links.length; link += 2) {
    const ends = [links[link], links[link + 1]] as const;
    const [[fromX, fromY], [toX, toY]] = ends.map((end) => spots[end]);
    const [alongX, alongY] = [toX - fromX, toY - fromY];
    const share = ((x - fromX) * alongX + (y - fromY) * alongY) / (alongX ** 2 + alongY ** 2);
    if (share < 0 || share > 1) continue;
    const away = Math.hypot(x - fromX - share * alongX, y - fromY - share * alongY);
    if (away < least) [found, least] = [ends, away];
  }
  return found;
}
