// The public API of @fedkm/pictures, one line per file.

export { escaped } from "./html.ts";
export { lineStyle, methodTitles } from "./lines.ts";
export { blankPage, faint, ink, labelSize, type Page, quiet, roundCoordinates } from "./page.ts";
export { toPng } from "./png.ts";
export { principalComponents } from "./principal.ts";
