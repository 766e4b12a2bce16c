// How links are drawn: each in the shade of its discrepancy, and messages as dots on their way.

import type { PackedMoment } from "../../engine/messages.ts";

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

/** More lines than this are one grey disc, and take seconds. */
const MOST_LINES = 5000;

/** Of so many links every how manieth is drawn. */
export function mapLinkStride(links: number): number {
  return Math.max(1, Math.ceil(links / MOST_LINES));
}

/** The darkest last: no light link crosses over one that matters. One stroke for all of a shade is fast. */
export function drawMapLinks(
  context: CanvasRenderingContext2D,
  links: Uint32Array,
  levels: Uint8Array,
  spots: readonly ScreenPoint[],
  shades: readonly string[],
): void {
  const stride = mapLinkStride(levels.length);
  context.lineWidth = levels.length > 300 ? 0.6 : 2;
  shades.forEach((shade, level) => {
    context.strokeStyle = shade;
    context.beginPath();
    for (let link = 0; link < levels.length; link += stride) {
      if (levels[link] !== level) continue;
      const [fromX, fromY] = spots[links[2 * link]];
      const [toX, toY] = spots[links[2 * link + 1]];
      context.moveTo(fromX, fromY);
      context.lineTo(toX, toY);
    }
    context.stroke();
  });
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
