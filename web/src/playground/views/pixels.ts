// Colours as they lie in the memory of an image, and how two of them mix.

/** Of #rrggbb, or of #rgb as the build may shorten it: red in the lowest byte, and fully opaque. */
export function pixelOf(colour: string): number {
  const digits = colour.length === 4 ? colour.replaceAll(/[\da-f]/gi, "$&$&") : colour;
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
  return (red | (green << 8) | (blue << 16) | (255 << 24)) >>> 0;
}

/** `share` of `over`, from 0 to 256, and the rest of `under`. Red and blue are mixed in one multiplication. */
export function mixed(under: number, over: number, share: number): number {
  const rest = 256 - share;
  const redBlue = (Math.imul(under & 0xff00ff, rest) + Math.imul(over & 0xff00ff, share)) >>> 8;
  const green = (Math.imul(under & 0xff00, rest) + Math.imul(over & 0xff00, share)) >>> 8;
  return ((redBlue & 0xff00ff) | (green & 0xff00) | (255 << 24)) >>> 0;
}

/** An image to paint into, as its pixels row by row. */
export interface Canvas {
  readonly pixels: Uint32Array;
  readonly width: number;
}

/** A square of it, in whole pixels. */
export interface Square {
  readonly left: number;
  readonly top: number;
  readonly side: number;
}

/** A rectangle in a square: what lies outside of the square is left out. */
export function fillWithin(
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
