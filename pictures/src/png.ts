// PNG from SVG without a browser.

import { resvg } from "./resvg.ts";

/** Two pixels for each of the picture's. */
export function toPng(svg: string): Uint8Array {
  return resvg(svg, 2).render().asPng();
}
