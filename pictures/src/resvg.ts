// resvg with a font of our own, so that text is there on a machine without fonts, and the same on all.

import { createRequire } from "node:module";
import { Resvg } from "@resvg/resvg-js";

const require = createRequire(import.meta.url);

const fontFiles = [
  require.resolve("@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf"),
  require.resolve("@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf"),
];

export function resvg(svg: string, zoom: number): Resvg {
  const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: "Inter", sansSerifFamily: "Inter" };
  return new Resvg(svg, { font, fitTo: { mode: "zoom", value: zoom } });
}
