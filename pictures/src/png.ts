// PNG from SVG without a browser, with a font of our own, so that text is there on a machine without fonts, and the same on all.

import { createRequire } from "node:module";
import { Resvg } from "@resvg/resvg-js";

const require = createRequire(import.meta.url);

const fontFiles = [
  require.resolve("@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf"),
  require.resolve("@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf"),
];

/** The picture, read; also what PDF is written from. */
export function resvg(svg: string, zoom: number): Resvg {
  const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: "Inter", sansSerifFamily: "Inter" };
  return new Resvg(svg, { font, fitTo: { mode: "zoom", value: zoom } });
}

/** Two pixels for each of the picture's. */
export function toPng(svg: string): Uint8Array {
  return resvg(svg, 2).render().asPng();
}
